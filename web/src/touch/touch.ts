/* Everything for touch screens. Loaded only where there is one. */
import { Gestures } from './gestures';
import { Scroller } from './scroller';
import { TouchSelection, type SelectionOptions } from './selection';
import { SoftKeyboard, type SoftKeyboardOptions } from './soft_keyboard';

export interface TouchOptions extends SelectionOptions, SoftKeyboardOptions {
	/** Lies over the terminal; a finger scrolls there too. */
	readonly cover: HTMLElement;
}

/** Returns null if this page may only watch. */
export function handleTouch(options: TouchOptions, signal: AbortSignal): SoftKeyboard | null {
	const { terminal, mount, cover } = options;
	new Gestures(mount, cover, new Scroller(terminal, mount), new TouchSelection(options, signal), signal);
	return terminal.textarea === undefined || options.paste === null ? null : new SoftKeyboard(options, terminal.textarea, signal);
}
