/* Everything for touch screens. Loaded only where there is one. */
import { Gestures } from './gestures';
import { Scroller } from './scroller';
import { TouchSelection, type SelectionOptions } from './selection';

export type TouchOptions = SelectionOptions;

export function handleTouch(options: TouchOptions, signal: AbortSignal): void {
	const { terminal, mount } = options;
	new Gestures(mount, new Scroller(terminal, mount), new TouchSelection(options, signal), signal);
}
