import type { WebglAddon } from '@xterm/addon-webgl';
import type { Terminal } from '@xterm/xterm';

const HIDDEN_TAB_MS = 250;
const REPLACEMENTS_MAX = 3; // of lost contexts within the next time
const REPLACEMENTS_MS = 60_000;

let trusted: Promise<boolean> | null = null;
// Fetched at the same time as the list of sessions.
const addon = import('@xterm/addon-webgl').catch(() => null);

/**
 * Draw with WebGL. Without it xterm.js draws with DOM elements. failed: the context was lost and cannot be replaced, so the
 * size of cells has changed.
 */
export async function useGpu(terminal: Terminal, failed: () => void): Promise<void> {
	trusted ??= reportsDevicePixels();
	const [loaded, usable] = await Promise.all([addon, trusted]);
	if (loaded !== null && usable && terminal.element?.isConnected)
		new Gpu(terminal, loaded.WebglAddon, failed);
}

/** A context is lost when the computer sleeps, the driver is updated, or the page has too many. It is replaced at once. */
class Gpu {
	#terminal: Terminal;
	#Addon: typeof WebglAddon;
	#failed: () => void;
	#replaced: number[] = []; // when

	constructor(terminal: Terminal, Addon: typeof WebglAddon, failed: () => void) {
		this.#terminal = terminal;
		this.#Addon = Addon;
		this.#failed = failed;
		this.#draw();
	}

	/** Returns false without WebGL2: the DOM renderer draws then. */
	#draw(): boolean {
		const before = new Set(this.#canvases());
		try {
			const webgl = new this.#Addon();
			this.#terminal.loadAddon(webgl);
			const canvas = this.#canvases().find((candidate) => !before.has(candidate) && candidate.getContext('webgl2') !== null);
			canvas?.addEventListener('webglcontextlost', () => {
				// Disposing of the addon removes the canvas and loses the context.
				if (canvas.isConnected)
					this.#replace(webgl);
			}, { once: true });
			return true;
		} catch {
			return false;
		}
	}

	#canvases(): HTMLCanvasElement[] {
		return [...this.#terminal.element?.querySelectorAll('canvas') ?? []];
	}

	/** No frame is drawn meanwhile, so the number of columns does not change. */
	#replace(lost: WebglAddon): void {
		const now = performance.now();
		this.#replaced = this.#replaced.filter((time) => now - time < REPLACEMENTS_MS);
		lost.dispose();
		if (this.#replaced.push(now) > REPLACEMENTS_MAX || !this.#draw())
			this.#failed();
	}
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
