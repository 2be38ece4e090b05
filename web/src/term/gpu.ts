import { WebglAddon } from '@xterm/addon-webgl';
import type { Terminal } from '@xterm/xterm';

const HIDDEN_TAB_MS = 250;
let trusted: Promise<boolean> | null = null;

/**
 * Draw by WebGL. When there is none, or it is taken away (a phone that slept, a driver that was
 * replaced), xterm.js draws with DOM elements. lost: that has happened; cells have another size.
 */
export async function useGpu(terminal: Terminal, lost: () => void): Promise<void> {
	trusted ??= countsPixelsRight();
	if (!await trusted || !terminal.element?.isConnected)
		return;
	try {
		const webgl = new WebglAddon();
		webgl.onContextLoss(() => {
			webgl.dispose();
			lost();
		});
		terminal.loadAddon(webgl);
	} catch {
		// No WebGL2 here. The DOM renderer is already drawing.
	}
}

/**
 * The end of a terminal. A browser has sixteen contexts for a page and takes the oldest away for another, so this one's
 * is given back rather than left to the garbage collector; afterwards, for a terminal that loses it draws otherwise.
 */
export function disposeTerminal(terminal: Terminal): void {
	const contexts = [...terminal.element?.querySelectorAll('canvas') ?? []].map((canvas) => canvas.getContext('webgl2'));
	// Addon 0.19 lets the timers of a blinking cursor run on, and they hold all the rest.
	terminal.options.cursorBlink = false;
	terminal.blur();
	terminal.dispose();
	for (const context of contexts)
		context?.getExtension('WEBGL_lose_context')?.loseContext();
}

/**
 * The WebGL renderer believes what the browser says about the pixels of its canvas. For an
 * emulated phone (developer tools, Playwright) Chromium says something else than it paints, and
 * most of the terminal would be missing.
 */
function countsPixelsRight(): Promise<boolean> {
	return new Promise((resolve) => {
		const observer = new ResizeObserver(([entry]) => {
			observer.disconnect();
			const device = entry?.devicePixelContentBoxSize?.[0]?.inlineSize;
			const css = entry?.contentBoxSize[0]?.inlineSize ?? 0;
			resolve(device === undefined || Math.abs(device - css * window.devicePixelRatio) < 2);
		});
		// Nothing is measured in a hidden tab; and Safari cannot measure this, which the renderer knows.
		window.setTimeout(() => resolve(true), HIDDEN_TAB_MS);
		try {
			observer.observe(document.documentElement, { box: 'device-pixel-content-box' });
		} catch {
			resolve(true);
		}
	});
}
