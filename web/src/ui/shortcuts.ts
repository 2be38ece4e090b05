import { isMac } from './platform';
import { recall } from './storage';

/**
 * A shortcut of the page: Ctrl+Shift and a letter, a bracket or Enter. Terminals cannot distinguish those from Ctrl and the
 * key, so programs do not need them.
 */
export interface Shortcut {
	readonly key: string;
	readonly label: string;
	run(): void;
}

const CODES: Readonly<Record<string, string>> = { '[': 'BracketLeft', ']': 'BracketRight', 'Enter': 'Enter' };

export interface ShortcutHandlers {
	/** Show the n-th session (Alt and a digit). Returns false if the key should go to the shell. */
	go(n: number): boolean;
	/** Change the font size of the terminal, which has the focus. */
	stepFontSize(step: FontStep): void;
}

/** Handle shortcuts before xterm.js and the browser, except while a dialog is open. Stops when signal is aborted. */
export function listenForShortcuts(shortcuts: readonly Shortcut[], handlers: ShortcutHandlers, signal: AbortSignal): void {
	document.addEventListener('keydown', (event) => {
		if (document.querySelector('dialog[open]') !== null || !handle(event, shortcuts, handlers))
			return;
		event.preventDefault();
		event.stopPropagation();
	}, { capture: true, signal });
}

function handle(event: KeyboardEvent, shortcuts: readonly Shortcut[], { go, stepFontSize }: ShortcutHandlers): boolean {
	const { altKey, code, ctrlKey, metaKey, shiftKey, target } = event;
	const digit = altKey && !ctrlKey && !shiftKey && !metaKey ? /^Digit([1-9])$/.exec(code)?.[1] : undefined;
	if (digit !== undefined)
		return go(Number(digit));
	const step = fontStep(event, isMac);
	if (step !== null && target instanceof Element && target.closest('.xterm') !== null) {
		stepFontSize(step);
		return true;
	}
	const shortcut = ctrlKey && shiftKey && !altKey && !metaKey
		? shortcuts.find(({ key }) => code === (CODES[key] ?? `Key${key}`)) : undefined;
	if (!event.repeat)
		shortcut?.run();
	return shortcut !== undefined;
}

/** Larger, smaller, or the default size. */
type FontStep = 1 | -1 | 0;

type Key = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'shiftKey' | 'altKey' | 'metaKey'>;

/** What Ctrl, or Cmd on Macs, does with plus, minus and 0. Ctrl+Shift+Minus is left to programs: it is undo in shells. */
export function fontStep({ key, code, ctrlKey, shiftKey, altKey, metaKey }: Key, mac: boolean): FontStep | null {
	if (altKey || ctrlKey === metaKey || (metaKey && !mac))
		return null;
	if (key === '+')
		return 1;
	if (shiftKey)
		return null;
	if (key === '=')
		return 1;
	if (key === '-')
		return -1;
	// Some keyboards have digits only with Shift.
	return key === '0' || code === 'Digit0' ? 0 : null;
}

export function screenReaderMode(): boolean {
	return recall('screen-reader') === 'on';
}
