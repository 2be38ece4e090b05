import { toast } from './toast';

/** navigator.keyboard, which TypeScript and some browsers lack. */
interface Keyboard {
	lock(): Promise<void>;
}

export function canFullScreen(): boolean {
	return document.fullscreenEnabled;
}

/** Enter or leave full screen. If the browser allows it, Ctrl+W, Ctrl+T, Alt+Tab and Esc go to the terminal meanwhile. */
export async function toggleFullScreen(): Promise<void> {
	if (document.fullscreenElement !== null) {
		await document.exitFullscreen();
		return;
	}
	await document.documentElement.requestFullscreen({ navigationUI: 'hide' });
	const { keyboard } = navigator as Navigator & { readonly keyboard?: Keyboard };
	const locked = await keyboard?.lock().then(() => true, () => false);
	toast(locked === true ? 'All keys go to the terminal. Hold Esc to leave.' : 'The browser keeps some keys. Press Esc to leave.');
}
