/* xterm.js with its addons. */
import { ClipboardAddon, type IClipboardProvider } from '@xterm/addon-clipboard';
import { WebLinksAddon } from '@xterm/addon-web-links';
import { Terminal, type ITheme } from '@xterm/xterm';
import { MINIMUM_CONTRAST } from '../ui/terminal_themes';
import '@xterm/xterm/css/xterm.css';
import { graphemes, wcwidth } from './unicode';

export const SCROLLBAR_WIDTH = 12;

export interface TerminalOptions {
	readonly theme: ITheme;
	readonly fontFamily: string; // a CSS value
	readonly fontSize: number;
	readonly lineHeight: number;
	readonly cursorStyle: 'block' | 'bar' | 'underline';
	readonly cursorBlink: boolean;
	readonly optionIsMeta: boolean; // the Option key of Macs sends ESC and the key
	readonly readOnly: boolean;
	readonly screenReader: boolean;
	/** A link was clicked; visible: its text is its address. */
	openLink(uri: string, visible: boolean): void;
	/** A program in the session sets the clipboard (OSC 52). */
	putOnClipboard(text: string): void;
}

export function createTerminal(options: TerminalOptions): Terminal {
	const terminal = new Terminal({
		allowProposedApi: true, // for unicode and decorations
		cursorBlink: options.cursorBlink,
		cursorInactiveStyle: 'outline',
		cursorStyle: options.cursorStyle,
		disableStdin: options.readOnly,
		fontFamily: options.fontFamily,
		fontSize: options.fontSize,
		lineHeight: options.lineHeight,
		linkHandler: { activate: (_event, uri) => options.openLink(uri, false) },
		macOptionClickForcesSelection: true, // as Shift does elsewhere
		macOptionIsMeta: options.optionIsMeta,
		minimumContrastRatio: MINIMUM_CONTRAST,
		rightClickSelectsWord: false,
		screenReaderMode: options.screenReader,
		scrollbar: { width: SCROLLBAR_WIDTH },
		theme: options.theme,
		// What the server's emulator supports. The server itself answers queries of the colour scheme.
		vtExtensions: { colorSchemeQuery: false, kittyKeyboard: true },
		windowOptions: { popTitle: true, pushTitle: true },
	});
	terminal.unicode.register(wcwidth);
	terminal.unicode.register(graphemes);
	terminal.unicode.activeVersion = wcwidth.version;
	terminal.loadAddon(new WebLinksAddon((_event, uri) => options.openLink(uri, true)));
	terminal.loadAddon(new ClipboardAddon(undefined, writeOnly(options.putOnClipboard)));
	// Later handlers run first. This one consumes clipboard queries: even an empty reply would be typed into the shell.
	terminal.parser.registerOscHandler(52, (data) => data.endsWith(';?'));
	return terminal;
}

function writeOnly(put: (text: string) => void): IClipboardProvider {
	return {
		readText: () => '',
		// Do not wait for the clipboard: the parser would stop until then.
		writeText: (_selection, text) => {
			if (text !== '')
				put(text);
		},
	};
}
