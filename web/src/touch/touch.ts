/* Everything for touch screens. Loaded only where there is one. */
import { Gestures } from './gestures';
import { Scroller } from './scroller';
import { TouchSelection, type SelectionOptions } from './selection';
import { SoftKeyboard, type SoftKeyboardOptions } from './soft_keyboard';

export interface TouchOptions extends SelectionOptions, SoftKeyboardOptions {
	/** Lies over the terminal; a finger scrolls there too. */
	readonly cover: HTMLElement;
}

export function handleTouch(options: TouchOptions, signal: AbortSignal): void {
	const { terminal, mount, cover } = options;
	if (terminal.textarea !== undefined && options.paste !== null)
		new SoftKeyboard(options, terminal.textarea, signal);
	new Gestures(mount, cover, new Scroller(terminal, mount), new TouchSelection(options, signal), signal);
}
