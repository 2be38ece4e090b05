import type { Terminal } from '@xterm/xterm';
import type { Size } from '../net/wire';
import type { Font } from './fonts';
import { SCROLLBAR_WIDTH } from './terminal';

const SMALLEST_FONT = 6;
const FONT_STEP = 0.25;
const LIMIT = { least: 2, most: 1000 } as const;

/**
 * Fits the terminal into the window. A session that is smaller than the window is centred. A larger one gets a smaller font,
 * not a CSS transform, so that text stays sharp and the mouse hits the right cell. Below 6 px it is panned instead. On a
 * phone only the width has to fit, and the user can zoom.
 */
export class Screen {
	#mount: HTMLElement;
	#terminal: Terminal;
	#fontSize: number;
	#cell = { width: 0, height: 0 }; // at the normal font size, in CSS pixels

	#byWidth: boolean;
	zoom = 1; // relative to the size that fits

	/** byWidth: only the width has to fit. */
	constructor(mount: HTMLElement, terminal: Terminal, byWidth: boolean) {
		this.#byWidth = byWidth;
		this.#mount = mount;
		this.#terminal = terminal;
		this.#fontSize = terminal.options.fontSize ?? 14;
	}

	useFont({ family, size, lineHeight }: Font): void {
		this.#fontSize = size;
		// Use the normal size first, to measure the cells.
		this.#terminal.options.fontSize = size;
		this.#terminal.options.fontFamily = family;
		this.#terminal.options.lineHeight = lineHeight;
		this.#measure();
	}

	/** The size that fills the window at the normal font size; null while it cannot be measured. */
	wanted(): Size | null {
		this.#measure();
		const { clientWidth, clientHeight } = this.#mount;
		if (clientWidth === 0 || clientHeight === 0 || this.#cell.width === 0)
			return null;
		return {
			cols: clamp(Math.floor((clientWidth - SCROLLBAR_WIDTH) / this.#cell.width)),
			rows: clamp(Math.floor(clientHeight / this.#cell.height)),
		};
	}

	/** Lay out the terminal. mine: this window sets the size, so keep the font while the session follows. */
	layout(mine: boolean): void {
		const wanted = this.wanted();
		const { element, cols, rows } = this.#terminal;
		if (wanted === null || element === undefined)
			return;
		const space = this.#space();
		const ratio = mine ? 1 : Math.min(1, space.width / (cols * this.#cell.width),
			this.#byWidth ? 1 : space.height / (rows * this.#cell.height));
		this.#fitFont(ratio, mine ? 1 : this.zoom);
		const foreign = !mine && (cols !== wanted.cols || rows !== wanted.rows);
		this.#mount.classList.toggle('letterbox', foreign);
		const screen = this.#screenSize();
		element.style.width = foreign ? `${screen.width + SCROLLBAR_WIDTH}px` : '';
		element.style.height = foreign ? `${screen.height}px` : '';
		const { clientWidth, clientHeight } = this.#mount;
		const pan = foreign && (screen.width > clientWidth || screen.height > clientHeight);
		const before = this.#mount.classList.contains('pan');
		this.#mount.classList.toggle('pan', pan);
		if (pan && !before)
			this.#mount.scrollTop = screen.height; // show the end
	}

	#fitFont(ratio: number, zoom: number): void {
		let size = Math.floor(this.#fontSize * ratio * zoom / FONT_STEP) * FONT_STEP;
		size = ratio === 1 && zoom === 1 ? this.#fontSize : Math.max(SMALLEST_FONT, size);
		if (this.#terminal.options.fontSize !== size)
			this.#terminal.options.fontSize = size;
		// Cells are whole device pixels, so the font may still be a step too large.
		const space = this.#space();
		while (ratio < 1 && zoom === 1 && size > SMALLEST_FONT) {
			const screen = this.#screenSize();
			if (screen.width <= space.width && (this.#byWidth || screen.height <= space.height))
				break;
			size -= FONT_STEP;
			this.#terminal.options.fontSize = size;
		}
	}

	#measure(): void {
		if (this.#terminal.options.fontSize !== this.#fontSize)
			return; // keep the last measurement at the normal size
		const screen = this.#screenSize();
		if (screen.width > 0)
			this.#cell = {
				width: screen.width / this.#terminal.cols,
				height: screen.height / this.#terminal.rows,
			};
	}

	#space(): { width: number; height: number } {
		return {
			width: this.#mount.clientWidth - SCROLLBAR_WIDTH,
			height: this.#mount.clientHeight,
		};
	}

	/** xterm.js gives its screen element the exact size of all cells. */
	#screenSize(): { width: number; height: number } {
		const screen = this.#terminal.element?.querySelector<HTMLElement>('.xterm-screen');
		return {
			width: parseFloat(screen?.style.width ?? '') || 0,
			height: parseFloat(screen?.style.height ?? '') || 0,
		};
	}
}

function clamp(cells: number): number {
	return Math.max(LIMIT.least, Math.min(LIMIT.most, cells));
}
