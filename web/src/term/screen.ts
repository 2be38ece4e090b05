import type { Terminal } from '@xterm/xterm';
import type { Size } from '../net/wire';
import { keyboardIsOpen } from '../ui/viewport';
import type { Font } from './fonts';
import { FullHeights } from './full_heights';
import { SCROLLBAR_WIDTH } from './terminal';

const SMALLEST_FONT = 6;
const FONT_STEP = 0.25;
const ROWS_MIN = 8; // visible rows on a phone, also while its keyboard is open
const LIMIT = { least: 2, most: 1000 } as const;
const fullHeights = new FullHeights(); // of all terminals on a phone, because one of them is visible

/**
 * Fits the terminal into the window. A session that is smaller than the window is centred. A larger one gets a smaller font,
 * not a CSS transform, so that text stays sharp and the mouse hits the right cell. Below 6 px it is panned instead, so that
 * the cursor is visible while the user types. On a phone only the width and a few rows have to fit, and the user can zoom.
 */
export class Screen {
	#mount: HTMLElement;
	#terminal: Terminal;
	#fontSize: number;
	#cell = { width: 0, height: 0 }; // at the normal font size, in CSS pixels

	#phone: boolean;
	#height = 0; // of the mount at the last layout
	#panned = { left: 0, top: 0 }; // by this class
	#follows = true; // pans to the cursor
	#touched = false; // a finger moves on it
	zoom = 1; // relative to the size that fits

	/** phone: only the width and ROWS_MIN rows have to fit. */
	constructor(mount: HTMLElement, terminal: Terminal, phone: boolean) {
		this.#phone = phone;
		this.#mount = mount;
		this.#terminal = terminal;
		this.#fontSize = terminal.options.fontSize ?? 14;
		terminal.onCursorMove(() => {
			if (this.#follows)
				this.#panToCursor();
		});
		const listen = (type: 'wheel' | 'touchmove' | 'touchend' | 'touchcancel', panned: boolean, touched: boolean) =>
			mount.addEventListener(type, () => {
				this.#follows &&= !panned;
				this.#touched = touched;
			}, { passive: true });
		listen('wheel', true, false);
		listen('touchmove', true, true);
		listen('touchend', false, false);
		listen('touchcancel', false, false);
		mount.addEventListener('scroll', () => this.#checkPan());
	}

	/** The user types: the cursor is to be visible until the user pans. Keys that a swipe sends do not count. */
	followCursor(): void {
		if (this.#touched)
			return;
		this.#follows = true;
		this.#panToCursor();
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
		return this.#sizeFor(this.#mount.clientHeight);
	}

	/** The same for a session that is created now: without the on-screen keyboard. */
	wantedForNew(): Size | null {
		return this.#sizeFor(this.#fullHeight());
	}

	#sizeFor(height: number): Size | null {
		this.#measure();
		const { clientWidth } = this.#mount;
		if (clientWidth === 0 || height === 0 || this.#cell.width === 0)
			return null;
		const ratio = this.#ratioForRows(height);
		return {
			cols: clamp(Math.floor((clientWidth - SCROLLBAR_WIDTH) / (this.#cell.width * ratio))),
			rows: clamp(Math.floor(height / (this.#cell.height * ratio) + 0.001)),
		};
	}

	#fullHeight(): number {
		const { clientWidth, clientHeight } = this.#mount, open = keyboardIsOpen();
		if (!this.#phone)
			return clientHeight;
		// It may be unknown: the phone was turned with its keyboard. The font is not made smaller for that.
		return Math.max(fullHeights.of(clientWidth, clientHeight, open), open ? ROWS_MIN * this.#cell.height : 0);
	}

	/** Lay out the terminal. mine: this window sets the size, so keep the font while the session follows. */
	layout(mine: boolean): void {
		const wanted = this.wanted();
		const { element, cols, rows } = this.#terminal;
		if (wanted === null || element === undefined)
			return;
		this.#checkPan();
		this.#fullHeight(); // notes it
		const space = this.#space();
		const ratio = mine ? this.#ratioForRows() : Math.min(1, space.width / (cols * this.#cell.width),
			this.#phone ? this.#ratioForRows() : space.height / (rows * this.#cell.height));
		this.#fitFont(ratio, mine);
		const foreign = !mine && (cols !== wanted.cols || rows !== wanted.rows);
		this.#mount.classList.toggle('letterbox', foreign);
		const screen = this.#screenSize();
		element.style.width = foreign ? `${screen.width + SCROLLBAR_WIDTH}px` : '';
		element.style.height = foreign ? `${screen.height}px` : '';
		const { clientWidth, clientHeight } = this.#mount;
		const pan = foreign && (screen.width > clientWidth || screen.height > clientHeight);
		const before = this.#mount.classList.contains('pan');
		this.#mount.classList.toggle('pan', pan);
		// A phone's keyboard may have covered the cursor. If it has closed, the user may want to read.
		const covered = clientHeight < this.#height && this.#mount.contains(document.activeElement);
		this.#height = clientHeight;
		if (covered || (pan && !before))
			this.followCursor();
		else if (this.#follows)
			this.#panToCursor();
		this.#notePan();
	}

	/** How much smaller the font has to be for ROWS_MIN rows on a phone. */
	#ratioForRows(height = this.#mount.clientHeight): number {
		const ratio = this.#phone ? height / (ROWS_MIN * this.#cell.height) : 1;
		return Math.min(1, Math.max(ratio, SMALLEST_FONT / this.#fontSize));
	}

	/** Pan as little as possible so that the cursor is visible. */
	#panToCursor(): void {
		const { baseY, viewportY, cursorX, cursorY } = this.#terminal.buffer.active;
		const cell = this.#terminal.dimensions?.css.cell;
		const screen = this.#terminal.element?.querySelector('.xterm-screen');
		if (!this.#mount.classList.contains('pan') || viewportY !== baseY || cell === undefined || !screen)
			return;
		const mount = this.#mount, outer = mount.getBoundingClientRect(), inner = screen.getBoundingClientRect();
		const x = inner.left - outer.left + cursorX * cell.width, y = inner.top - outer.top + cursorY * cell.height;
		mount.scrollLeft += Math.min(x, Math.max(0, x + cell.width - mount.clientWidth));
		mount.scrollTop += Math.min(y, Math.max(0, y + cell.height - mount.clientHeight));
		this.#notePan();
	}

	/** Stop following the cursor if the user has panned, or another part of the page, for example to show what it has found. */
	#checkPan(): void {
		const { scrollLeft, scrollTop, clientHeight } = this.#mount, { left, top } = this.#panned;
		// Another height may have moved it.
		if (clientHeight === this.#height && (Math.abs(scrollLeft - left) > 1 || Math.abs(scrollTop - top) > 1))
			this.#follows = false;
	}

	/** The position is the result of a layout or of following the cursor. */
	#notePan(): void {
		this.#panned = { left: this.#mount.scrollLeft, top: this.#mount.scrollTop };
	}

	#fitFont(ratio: number, mine: boolean): void {
		const zoom = mine ? 1 : this.zoom;
		let size = Math.floor(this.#fontSize * ratio * zoom / FONT_STEP) * FONT_STEP;
		size = ratio === 1 && zoom === 1 ? this.#fontSize : Math.max(SMALLEST_FONT, size);
		if (this.#terminal.options.fontSize !== size)
			this.#terminal.options.fontSize = size;
		// Cells are whole device pixels, so the font may still be a step too large.
		while (ratio < 1 && zoom === 1 && size > SMALLEST_FONT && !this.#fits(mine)) {
			size -= FONT_STEP;
			this.#terminal.options.fontSize = size;
		}
	}

	/** mine: the session will take the size of the window. */
	#fits(mine: boolean): boolean {
		const screen = this.#screenSize(), space = this.#space();
		const rows = this.#phone ? ROWS_MIN : this.#terminal.rows;
		return (mine || screen.width <= space.width) && screen.height / this.#terminal.rows * rows <= space.height;
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
