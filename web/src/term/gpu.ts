import type { Terminal } from '@xterm/xterm';

const HIDDEN_TAB_MS = 250;
let trusted: Promise<boolean> | null = null;

/**
 * Draw with WebGL. Without it xterm.js draws with DOM elements. lost: the context was lost (sleep, driver update), so the
 * size of cells has changed.
 */
export async function useGpu(terminal: Terminal, lost: () => void): Promise<void> {
	trusted ??= reportsDevicePixels();
	try {
		const [{ WebglAddon }, usable] = await Promise.all([import('@xterm/addon-webgl'), trusted]);
		if (!usable || !terminal.element?.isConnected)
			return;
		const webgl = new WebglAddon();
		webgl.onContextLoss(() => {
			webgl.dispose();
			lost();
		});
		terminal.loadAddon(webgl);
	} catch {
		// No WebGL2, or the addon could not be loaded: the DOM renderer is already drawing.
	}
}

/**
 * Dispose of a terminal and free its WebGL contexts at once. Browsers allow sixteen for a page and drop the oldest for a new
 * one. The contexts are freed last, because a live terminal that loses one switches its renderer.
 */
export function disposeTerminal(terminal: Terminal): void {
	const contexts = [...terminal.element?.querySelectorAll('canvas') ?? []].map((canvas) => canvas.getContext('webgl2'));
	// The addon does not stop the timers of a blinking cursor, which keep the whole terminal in memory.
	terminal.options.cursorBlink = false;
	terminal.blur();
	terminal.dispose();
	for (const context of contexts)
		context?.getExtension('WEBGL_lose_context')?.loseContext();
}

/**
 * Check that the browser reports the right number of device pixels, which the WebGL renderer relies on. For an emulated phone
 * (developer tools, Playwright) Chromium reports a wrong one, and most of the terminal would be missing.
 */
function reportsDevicePixels(): Promise<boolean> {
	return new Promise((resolve) => {
		const observer = new ResizeObserver(([entry]) => {
			observer.disconnect();
			const device = entry?.devicePixelContentBoxSize?.[0]?.inlineSize;
			const css = entry?.contentBoxSize[0]?.inlineSize ?? 0;
			resolve(device === undefined || Math.abs(device - css * window.devicePixelRatio) < 2);
		});
		// A hidden tab measures nothing. Safari does not support this box, which the renderer handles.
		window.setTimeout(() => resolve(true), HIDDEN_TAB_MS);
		try {
			observer.observe(document.documentElement, { box: 'device-pixel-content-box' });
		} catch {
			resolve(true);
		}
	});
}
