import type { Terminal } from '@xterm/xterm';

/** Where the finger is, in CSS pixels of the window. */
export interface Point {
	readonly clientX: number;
	readonly clientY: number;
}

type Axis = 'scrollLeft' | 'scrollTop';

/**
 * Moves the text exactly as far as the finger: first a terminal that is larger than the window, then the history by whole
 * rows. Programs in the alternate screen or that use the mouse wheel get one wheel event for each row; xterm.js makes arrow
 * keys or mouse reports of them.
 */
export class Scroller {
	#terminal: Terminal;
	#mount: HTMLElement;
	#rest = 0; // pixels, at most half a row, that the text is behind the finger
	#panRest: Record<Axis, number> = { scrollLeft: 0, scrollTop: 0 }; // pixels that the browser has rounded off

	constructor(terminal: Terminal, mount: HTMLElement) {
		this.#terminal = terminal;
		this.#mount = mount;
	}

	/** Whether the text goes on after the finger has left it. It does not where each row is a key for a program. */
	get coasts(): boolean {
		return this.#wheel || this.#terminal.buffer.active.type === 'normal';
	}

	/**
	 * Move the view by so many pixels: the text moves the other way. at: for wheel events. Returns false at the end of the
	 * history.
	 */
	move(right: number, down: number, at: Point): boolean {
		this.#pan('scrollLeft', right);
		this.#rest += this.#pan('scrollTop', down);
		const height = this.#terminal.dimensions?.css.cell.height ?? 0;
		const rows = height > 0 ? Math.round(this.#rest / height) : 0;
		if (rows === 0)
			return true;
		this.#rest -= rows * height;
		if (this.#wheel || this.#terminal.buffer.active.type === 'alternate') {
			this.#turnWheel(rows, at);
			return true;
		}
		return scrollRows(this.#terminal, rows);
	}

	/** The program gets wheel events as mouse reports. */
	get #wheel(): boolean {
		const { mouseTrackingMode } = this.#terminal.modes;
		return mouseTrackingMode !== 'none' && mouseTrackingMode !== 'x10';
	}

	/** Pan a terminal that is larger than the window. Returns the pixels beyond its edge. */
	#pan(axis: Axis, pixels: number): number {
		const mount = this.#mount;
		if (!mount.classList.contains('pan'))
			return pixels;
		const wanted = pixels + this.#panRest[axis];
		const before = mount[axis];
		mount[axis] = before + wanted;
		const left = wanted - (mount[axis] - before);
		const end = axis === 'scrollTop' ? mount.scrollHeight - mount.clientHeight : mount.scrollWidth - mount.clientWidth;
		const atEdge = wanted < 0 ? mount[axis] < 1 : mount[axis] > end - 1;
		this.#panRest[axis] = atEdge ? 0 : left;
		return atEdge ? left : 0;
	}

	#turnWheel(rows: number, { clientX, clientY }: Point): void {
		const screen = this.#terminal.element?.querySelector('.xterm-screen');
		for (let row = 0; row < Math.abs(rows); row++)
			screen?.dispatchEvent(new WheelEvent('wheel', {
				deltaY: Math.sign(rows), deltaMode: WheelEvent.DOM_DELTA_LINE, clientX, clientY, bubbles: true, cancelable: true,
			}));
	}
}

/** Scroll the history. Returns false if the view was at its end. */
export function scrollRows(terminal: Terminal, rows: number): boolean {
	const before = terminal.buffer.active.viewportY;
	const wanted = Math.max(0, Math.min(terminal.buffer.active.baseY, before + rows));
	terminal.scrollLines(rows);
	// xterm.js scrolls to a wrong row the first time after the size of its cells has changed.
	if (terminal.buffer.active.viewportY !== wanted)
		terminal.scrollToLine(wanted);
	return wanted !== before;
}
