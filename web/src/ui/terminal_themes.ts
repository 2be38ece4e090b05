/* The terminal's colours. Backgrounds are those of the stage in styles/tokens.css. */
import type { ISearchOptions } from '@xterm/addon-search';
import type { ITheme } from '@xterm/xterm';
import type { ThemeName } from './theme';

type SearchColors = NonNullable<ISearchOptions['decorations']>;

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

/** The search marks its current match by selecting it, so that is the selection's colour. */
export const SEARCH_COLORS: Readonly<Record<ThemeName, SearchColors>> = {
	dark: {
		matchBackground: '#6b5215', activeMatchBackground: '#3b5680',
		matchOverviewRuler: '#c08f2c', activeMatchColorOverviewRuler: '#9cc8fa',
	},
	light: {
		matchBackground: '#f8dc9a', activeMatchBackground: '#b9d3f4',
		matchOverviewRuler: '#d9a441', activeMatchColorOverviewRuler: '#1f62b5',
	},
};
