import type { TouchOptions } from './touch';

/** Handle touches, with code that is loaded only where there is a touch screen. */
export async function loadTouch(options: TouchOptions, signal: AbortSignal): Promise<void> {
	if (navigator.maxTouchPoints === 0)
		return;
	const { handleTouch } = await import('./touch');
	if (!signal.aborted)
		handleTouch(options, signal);
}
