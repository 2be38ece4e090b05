/* Everything for touch screens. Loaded only where there is one. */
import { Gestures } from './gestures';
import { Scroller } from './scroller';
import { TouchSelection, type SelectionOptions } from './selection';
import { SoftKeyboard, type SoftKeyboardOptions } from './soft_keyboard';

export interface TouchOptions extends SelectionOptions, SoftKeyboardOptions {}

export function handleTouch(options: TouchOptions, signal: AbortSignal): void {
	const { terminal, mount } = options;
	if (terminal.textarea !== undefined && options.paste !== null)
		new SoftKeyboard(options, terminal.textarea, signal);
	new Gestures(mount, new Scroller(terminal, mount), new TouchSelection(options, signal), signal);
}
