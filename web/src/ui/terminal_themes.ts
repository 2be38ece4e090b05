/* The terminal's colours. Backgrounds of dark and light are those of the stage in styles/tokens.css. */
import type { ITheme } from '@xterm/xterm';
import type { ThemeName } from './theme';

/** Programs choose colours for other palettes, and draw the default text on any background. */
export const MINIMUM_CONTRAST = 4.5;

export const TERMINAL_THEMES: Readonly<Record<ThemeName, ITheme>> = {
	dark: {
		background: '#101317', foreground: '#e4e1d8',
		cursor: '#f2b84b', cursorAccent: '#101317',
		selectionBackground: '#3b5680', selectionInactiveBackground: '#34496a',
		scrollbarSliderBackground: '#8b919e40', scrollbarSliderHoverBackground: '#8b919e70',
		scrollbarSliderActiveBackground: '#8b919ea0', overviewRulerBorder: '#00000000',
		black: '#23272f', red: '#f0776a', green: '#8fc27a', yellow: '#e8bb64',
		blue: '#78aeea', magenta: '#c796e8', cyan: '#6bc5c6', white: '#cfccc3',
		brightBlack: '#767d8b', brightRed: '#ff9a8e', brightGreen: '#acdb98', brightYellow: '#f7d48c',
		brightBlue: '#9cc8fa', brightMagenta: '#deb6f7', brightCyan: '#92dfdf', brightWhite: '#faf7ef',
	},
	light: {
		background: '#fdfbf6', foreground: '#2b2e35',
		cursor: '#b4530a', cursorAccent: '#fdfbf6',
		selectionBackground: '#b9d3f4', selectionInactiveBackground: '#cfdff2',
		scrollbarSliderBackground: '#6b665a38', scrollbarSliderHoverBackground: '#6b665a60',
		scrollbarSliderActiveBackground: '#6b665a90', overviewRulerBorder: '#00000000',
		black: '#2b2e35', red: '#bb3325', green: '#3c7624', yellow: '#8f6200',
		blue: '#1f62b5', magenta: '#8a3fae', cyan: '#0f7377', white: '#d9d4c7',
		brightBlack: '#6c6f78', brightRed: '#d3493a', brightGreen: '#4c8c30', brightYellow: '#a67300',
		brightBlue: '#2f76cf', brightMagenta: '#a053c6', brightCyan: '#178589', brightWhite: '#f7f3e9',
	},
};

interface Palette {
	readonly label: string;
	readonly base: ThemeName; // theme of the page
	readonly colors: ITheme;
}

export type PaletteName = 'dark' | 'light' | 'solarized-dark' | 'solarized-light' | 'gruvbox-dark' | 'nord' | 'contrast';

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white',
	'brightBlack', 'brightRed', 'brightGreen', 'brightYellow', 'brightBlue', 'brightMagenta', 'brightCyan', 'brightWhite'] as const;

/** colors: background, foreground, cursor, selection, and the sixteen ANSI colours, in hexadecimal. */
function known(label: string, base: ThemeName, colors: string): Palette {
	const [background = '', foreground = '', cursor = '', selection = '', ...sixteen] = colors.split(' ').map((each) => `#${each}`);
	return {
		label, base, colors: {
			...TERMINAL_THEMES[base], background, foreground, cursor, cursorAccent: background,
			selectionBackground: selection, selectionInactiveBackground: selection,
			...Object.fromEntries(NAMES.map((name, n) => [name, sixteen[n]])),
		},
	};
}

/* Without Solarized's greys among the bright colours, because bold text uses those. */
const SOLARIZED = '073642 dc322f 859900 b58900 268bd2 d33682 2aa198 eee8d5 586e75 cb4b16 859900 b58900 268bd2 6c71c4 2aa198 fdf6e3';

export const PALETTES: Readonly<Record<PaletteName, Palette>> = {
	dark: { label: 'Dark', base: 'dark', colors: TERMINAL_THEMES.dark },
	light: { label: 'Light', base: 'light', colors: TERMINAL_THEMES.light },
	'solarized-dark': known('Solarized dark', 'dark', `002b36 93a1a1 93a1a1 073642 ${SOLARIZED}`),
	'solarized-light': known('Solarized light', 'light', `fdf6e3 4a5f66 4a5f66 e4dec5 ${SOLARIZED}`),
	'gruvbox-dark': known('Gruvbox dark', 'dark', '282828 ebdbb2 ebdbb2 504945 '
		+ '282828 cc241d 98971a d79921 458588 b16286 689d6a a89984 928374 fb4934 b8bb26 fabd2f 83a598 d3869b 8ec07c ebdbb2'),
	nord: known('Nord', 'dark', '2e3440 d8dee9 d8dee9 4c566a '
		+ '3b4252 bf616a a3be8c ebcb8b 81a1c1 b48ead 88c0d0 e5e9f0 616e88 bf616a a3be8c ebcb8b 81a1c1 b48ead 8fbcbb eceff4'),
	contrast: known('Black, high contrast', 'dark', '000000 ffffff ffff00 264f78 '
		+ '000000 ff6b6b 5af78e f3f99d 7ab8ff ff92d0 9aedfe ffffff 9a9a9a ff8c8c 8affb0 ffffb0 a5d0ff ffb5e0 c0f5ff ffffff'),
};

/** The colours of a palette as the server wants them. */
export function themeMessage({ foreground, background, cursor, ...colors }: ITheme): object {
	return { foreground, background, cursor, colors: NAMES.map((name) => colors[name]) };
}

export function isPalette(name: string): name is PaletteName {
	return Object.hasOwn(PALETTES, name);
}
