import { toast } from './toast';

/** Not in all browsers' types, nor in all browsers. */
interface Keyboard {
	lock(): Promise<void>;
}

export function mayFullScreen(): boolean {
	return document.fullscreenEnabled;
}

/** By a click or a key, there and back. While it lasts, Ctrl+W, Ctrl+T, Alt+Tab and Esc are the terminal's, where the browser lets go of them. */
export async function toggleFullScreen(): Promise<void> {
	if (document.fullscreenElement !== null) {
		await document.exitFullscreen();
		return;
	}
	await document.documentElement.requestFullscreen({ navigationUI: 'hide' });
	const { keyboard } = navigator as Navigator & { readonly keyboard?: Keyboard };
	const locked = await keyboard?.lock().then(() => true, () => false);
	toast(locked === true ? 'All keys are the terminal’s. Hold Esc to leave.' : 'The browser keeps some keys to itself. Press Esc to leave.');
}
