import type { IMarker, Terminal } from '@xterm/xterm';
import { copyText } from '../ui/copy';
import { h } from '../ui/dom';
import { wholeCells, wordAt, type Range } from './cells';
import type { LongPress } from './gestures';
import { SelectionMenu } from './selection_menu';
import { scrollRows, type Point } from './scroller';
import './touch.css';

const EDGE = 28; // pixels at the upper and lower edge of the terminal where dragging scrolls
const SCROLL_MS = 60; // between two rows of that

export interface SelectionOptions {
	readonly terminal: Terminal;
	readonly mount: HTMLElement;
	/** Handles and the menu are placed in it; it does not scroll. */
	readonly stage: HTMLElement;
	/** Paste from the clipboard; null if this page may only watch. */
	readonly paste: (() => void) | null;
	/** Shows the details of the command with this row of the buffer; null if there is none. */
	commandAt(row: number): (() => void) | null;
}

/** Cells that stay selected while the other end is dragged. They stay with their text when the buffer scrolls. */
interface Anchor {
	readonly marker: IMarker; // of the first row
	readonly column: number;
	readonly length: number;
}

/**
 * Selection by touch: a long press selects a word, dragging extends it, also by the two handles, and a menu copies it. At
 * the edges of the terminal, dragging scrolls.
 */
export class TouchSelection implements LongPress {
	#options: SelectionOptions;
	#menu: SelectionMenu;
	#handles: readonly [HTMLElement, HTMLElement];
	#anchor: Anchor | null = null; // while something is dragged
	#finger: Point | null = null;
	#grip = { x: 0, y: 0 }; // from the finger to the text that it drags
	#scrolling: number | undefined;
	#place: Point | null = null; // of the menu if no text is selected
	#command: (() => void) | null = null; // shows the command that the long press was on
	#frame = 0;

	constructor(options: SelectionOptions, signal: AbortSignal) {
		this.#options = options;
		const { terminal, mount, stage, paste } = options;
		this.#menu = new SelectionMenu({
			copy: () => void copyText(terminal.getSelection(), 'Copied.').then(() => this.clear()),
			selectAll: () => {
				this.#place = null;
				this.#command = null;
				terminal.selectAll();
			},
			paste: paste && (() => {
				this.clear();
				paste();
			}),
			command: () => {
				this.clear();
				this.#command?.();
			},
		});
		this.#handles = [this.#handle('start'), this.#handle('end')];
		stage.append(...this.#handles, this.#menu.element);
		const changes = [
			terminal.onSelectionChange(() => this.#onSelection()), terminal.onRender(() => this.#drawSoon()),
			terminal.onScroll(() => this.#drawSoon()), terminal.onResize(() => this.#drop()),
			terminal.buffer.onBufferChange(() => this.clear()),
			// xterm.js clears the selection when the user types.
			terminal.onData(() => {
				if (this.#place !== null)
					this.clear();
			}),
		];
		mount.addEventListener('scroll', () => this.#drawSoon(), { signal });
		signal.addEventListener('abort', () => {
			this.#drop();
			cancelAnimationFrame(this.#frame);
			for (const change of changes)
				change.dispose();
		});
	}

	get active(): boolean {
		return this.#menu.open || this.#handles.some((handle) => !handle.hidden);
	}

	begin(at: Point): void {
		const { terminal } = this.#options;
		this.#drop();
		this.#menu.hide();
		terminal.clearSelection();
		const cell = this.#cellAt(at);
		if (cell === null)
			return;
		this.#command = this.#options.commandAt(Math.floor(cell / terminal.cols));
		const word = wordAt(terminal.buffer.active, terminal.cols, terminal.options.wordSeparator ?? ' ', cell);
		this.#place = word === null ? at : null;
		if (word === null) {
			this.finish();
			return;
		}
		this.#select(word);
		this.#grab(word, at, { x: 0, y: 0 });
	}

	extend(to: Point): void {
		if (this.#anchor === null)
			return;
		this.#finger = to;
		this.#dragTo(to);
		this.#scrollAtEdge();
	}

	finish(): void {
		this.#drop();
		if (this.#place !== null || this.#options.terminal.hasSelection())
			this.#showMenu();
		this.#draw();
	}

	clear(): void {
		this.#drop();
		this.#place = null;
		this.#menu.hide();
		if (this.#options.terminal.hasSelection())
			this.#options.terminal.clearSelection();
		this.#draw();
	}

	#showMenu(): void {
		this.#menu.show({ copy: this.#options.terminal.hasSelection(), command: this.#command !== null });
	}

	#onSelection(): void {
		if (this.#options.terminal.hasSelection()) {
			if (this.#menu.open)
				this.#showMenu();
		} else if (this.#place === null) {
			this.#drop();
			this.#menu.hide();
		}
		this.#drawSoon();
	}

	#handle(end: 'start' | 'end'): HTMLElement {
		const drag = (event: PointerEvent) => {
			event.preventDefault();
			if (event.type === 'pointermove')
				this.extend(event);
			else
				this.finish();
		};
		const handle: HTMLElement = h('div', {
			class: 'touch-handle', 'data-end': end, 'data-testid': `touch-handle-${end}`, 'aria-hidden': 'true', hidden: true,
			pointerdown: (event: PointerEvent) => {
				const range = this.#range();
				if (range === null)
					return;
				event.preventDefault();
				handle.setPointerCapture(event.pointerId);
				const moved = end === 'start' ? range.start : range.end - 1;
				this.#menu.hide();
				this.#grab(end === 'start' ? { start: range.end, end: range.end } : { start: range.start, end: range.start },
					event, this.#gripOf(moved, event));
			},
			pointermove: (event: PointerEvent) => {
				if (handle.hasPointerCapture(event.pointerId))
					drag(event);
			},
			pointerup: drag, pointercancel: drag,
		});
		return handle;
	}

	/** Keep these cells selected until #drop(). */
	#grab({ start, end }: Range, finger: Point, grip: { x: number; y: number }): void {
		const { terminal } = this.#options;
		const { baseY, cursorY } = terminal.buffer.active;
		const marker = terminal.registerMarker(Math.floor(start / terminal.cols) - baseY - cursorY);
		this.#anchor = { marker, column: start % terminal.cols, length: end - start };
		this.#finger = finger;
		this.#grip = grip;
	}

	#drop(): void {
		this.#anchor?.marker.dispose();
		this.#anchor = null;
		window.clearTimeout(this.#scrolling);
		this.#scrolling = undefined;
	}

	#dragTo(finger: Point): void {
		const anchor = this.#anchor, { terminal } = this.#options;
		const cell = this.#cellAt({ clientX: finger.clientX + this.#grip.x, clientY: finger.clientY + this.#grip.y });
		if (anchor === null || cell === null)
			return;
		if (anchor.marker.isDisposed) {
			this.#drop(); // its text has left the history
			return;
		}
		const start = anchor.marker.line * terminal.cols + anchor.column;
		this.#select({ start: Math.min(start, cell), end: Math.max(start + anchor.length, cell < start ? start : cell + 1) });
	}

	#select(range: Range): void {
		const { terminal } = this.#options;
		const { start, end } = wholeCells(terminal.buffer.active, terminal.cols, range);
		terminal.select(start % terminal.cols, Math.floor(start / terminal.cols), end - start);
		this.#drawSoon();
	}

	/** While the finger stays at an edge, scroll there and select further. */
	#scrollAtEdge(): void {
		if (this.#scrolling !== undefined || this.#finger === null || this.#anchor === null)
			return;
		const { terminal, mount } = this.#options;
		const { top, bottom } = mount.getBoundingClientRect();
		const y = this.#finger.clientY + this.#grip.y;
		const step = y < top + EDGE ? -1 : y > bottom - EDGE ? 1 : 0;
		if (step === 0)
			return;
		const before = mount.scrollTop;
		if (mount.classList.contains('pan'))
			mount.scrollTop += step * this.#cellSize().height;
		if (mount.scrollTop === before)
			scrollRows(terminal, step);
		this.#dragTo(this.#finger);
		this.#scrolling = window.setTimeout(() => {
			this.#scrolling = undefined;
			this.#scrollAtEdge();
		}, SCROLL_MS);
	}

	#range(): Range | null {
		const { terminal } = this.#options;
		const position = terminal.getSelectionPosition();
		if (position === undefined)
			return null;
		const { start, end } = position;
		return { start: start.y * terminal.cols + start.x, end: end.y * terminal.cols + end.x };
	}

	#cellSize(): { width: number; height: number } {
		return this.#options.terminal.dimensions?.css.cell ?? { width: 0, height: 0 };
	}

	#screen(): DOMRect | null {
		return this.#options.terminal.element?.querySelector('.xterm-screen')?.getBoundingClientRect() ?? null;
	}

	/** The cell of the buffer at a point, or the nearest one. */
	#cellAt({ clientX, clientY }: Point): number | null {
		const { terminal } = this.#options, { width, height } = this.#cellSize(), screen = this.#screen();
		if (screen === null || width === 0 || height === 0)
			return null;
		const limit = (value: number, count: number) => Math.max(0, Math.min(count - 1, Math.floor(value)));
		const column = limit((clientX - screen.left) / width, terminal.cols);
		const row = limit((clientY - screen.top) / height, terminal.rows);
		return (terminal.buffer.active.viewportY + row) * terminal.cols + column;
	}

	/** From the finger to the middle of a cell. */
	#gripOf(cell: number, finger: Point): { x: number; y: number } {
		const { x, y } = this.#pointOf(cell), { width, height } = this.#cellSize(), stage = this.#options.stage.getBoundingClientRect();
		return { x: stage.left + x + width / 2 - finger.clientX, y: stage.top + y + height / 2 - finger.clientY };
	}

	/** The upper left corner of a cell, in the stage. */
	#pointOf(cell: number): { x: number; y: number } {
		const { terminal, stage } = this.#options, { width, height } = this.#cellSize();
		const screen = this.#screen() ?? new DOMRect(), outer = stage.getBoundingClientRect();
		return {
			x: screen.left - outer.left + (cell % terminal.cols) * width,
			y: screen.top - outer.top + (Math.floor(cell / terminal.cols) - terminal.buffer.active.viewportY) * height,
		};
	}

	#drawSoon(): void {
		if (this.#frame === 0 && this.active)
			this.#frame = requestAnimationFrame(() => {
				this.#frame = 0;
				this.#draw();
			});
	}

	#draw(): void {
		const { stage } = this.#options, { height, width } = this.#cellSize(), range = this.#range();
		const [first, last] = this.#handles;
		const shown = range !== null && (this.#menu.open || this.#anchor !== null);
		if (shown) {
			const start = this.#pointOf(range.start), end = this.#pointOf(range.end - 1);
			this.#put(first, start.x, start.y + height);
			this.#put(last, end.x + width, end.y + height);
			this.#menu.place(stage, start.y, end.y + height, (start.x + end.x + width) / 2);
			return;
		}
		first.hidden = last.hidden = true;
		if (this.#place !== null) {
			const { left, top } = stage.getBoundingClientRect();
			const y = this.#place.clientY - top;
			this.#menu.place(stage, y - height, y + height, this.#place.clientX - left);
		}
	}

	/** Place a handle, or hide it if its text is not visible. */
	#put(handle: HTMLElement, x: number, y: number): void {
		const { clientWidth, clientHeight } = this.#options.stage;
		handle.hidden = y < 0 || y > clientHeight || x < -1 || x > clientWidth + 1;
		handle.style.left = `${x}px`;
		handle.style.top = `${y}px`;
	}
}
