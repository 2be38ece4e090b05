import type { Terminal } from '@xterm/xterm';
import type { SnapshotMessage } from '../net/wire';
import { dropAnchor, findAnchor, type Anchor } from './anchor';

/** Enough to begin with: it is there at once, however long the history. */
const FIRST_LINES = 1000;

type Selection = NonNullable<ReturnType<Terminal['getSelectionPosition']>> & { readonly text: string };

/** What the reader looks at: text that stays where it is on the window while the rest is made anew. */
interface Place {
	readonly anchor: Anchor;
	readonly scrolled: boolean; // else it is where the selection begins, and the end is in sight
	readonly selection: Selection | null;
}

/**
 * The lines above the screen. A snapshot brings the last of them, the rest is asked for when the
 * reader comes near the top. And where the reader is in them is kept across a snapshot.
 */
export class History {
	#terminal: Terminal;
	#ask: (lines: number) => boolean;
	#total = 0; // lines that the server has, if that is more than we were given
	#asked = false;
	#place: Place | null = null; // to be found again
	#follows = false; // more lines come by themselves
	#behind = false;

	/** ask: for a snapshot with so many lines; false if that is not possible now. */
	constructor(terminal: Terminal, ask: (lines: number) => boolean) {
		this.#terminal = terminal;
		this.#ask = ask;
		terminal.onScroll(() => {
			if (!this.#follows && this.#scrolled && terminal.buffer.active.viewportY < terminal.rows)
				this.fetchAll();
		});
		// Who types wants to be at the end, and not to be taken back to where they were before.
		terminal.onKey(() => {
			this.#place = null;
		});
	}

	/** The last snapshot was of the kind that hurries after a flood; a full one follows. */
	get behind(): boolean {
		return this.#behind;
	}

	/** How many lines to connect with; null for all: the reader is somewhere in them. */
	get lines(): number | null {
		return this.#scrolled || this.#place !== null ? null : FIRST_LINES;
	}

	/** On a new socket. keeps: how many lines the server keeps. */
	attached(keeps: number): void {
		this.#asked = false;
		this.#follows = this.#behind = false;
		this.#terminal.options.scrollback = keeps;
	}

	/** Ask for all there is. Returns false if it is here, or is not to be had, or not now. */
	fetchAll(): boolean {
		if (this.#total === 0 || this.#behind)
			return false;
		this.#asked ||= this.#ask(this.#total);
		return this.#asked;
	}

	/** A snapshot begins. resize: to its size. */
	enter(resize: () => void): void {
		const place = this.#look(resize);
		if (place !== null)
			this.#place = place;
	}

	/** The snapshot is in the terminal. */
	left({ lines, total, reason, partial }: SnapshotMessage): void {
		this.#asked = false;
		this.#follows = partial === true && lines < Math.min(total, FIRST_LINES);
		this.#behind = this.#follows && reason === 'lag';
		this.#total = total > lines && reason !== 'request' ? total : 0;
		const place = this.#place;
		this.#place = null;
		if (place === null || this.#goBack(place) || !place.scrolled)
			return;
		// What is not in this one may be in the next. Until then the end is in sight.
		if (this.#follows || this.fetchAll())
			this.#place = place;
		else
			this.#terminal.scrollToTop();
	}

	get #scrolled(): boolean {
		const { viewportY, baseY } = this.#terminal.buffer.active;
		return viewportY < baseY;
	}

	#look(resize: () => void): Place | null {
		const terminal = this.#terminal;
		const { viewportY, baseY, cursorY } = terminal.buffer.active;
		const scrolled = viewportY < baseY;
		const text = terminal.getSelection();
		const row = scrolled ? viewportY : terminal.getSelectionPosition()?.start.y;
		// A marker stays with its text when lines are wrapped in another width.
		const marker = row === undefined ? undefined : terminal.registerMarker(row - baseY - cursorY);
		resize();
		if (marker === undefined || marker.isDisposed)
			return null;
		const anchor = dropAnchor(terminal.buffer.active, marker.line);
		marker.dispose();
		const range = terminal.getSelectionPosition();
		return { anchor, scrolled, selection: range === undefined ? null : { ...range, text } };
	}

	/** Returns false if the text is not there. */
	#goBack({ anchor, scrolled, selection }: Place): boolean {
		const terminal = this.#terminal;
		const row = findAnchor(terminal.buffer.active, anchor);
		if (row === null)
			return false;
		if (scrolled)
			terminal.scrollToLine(row);
		if (selection !== null) {
			const { start, end, text } = selection;
			terminal.select(start.x, start.y + row - anchor.row,
				(end.y - start.y) * terminal.cols + end.x - start.x);
			if (terminal.getSelection() !== text)
				terminal.clearSelection();
		}
		return true;
	}
}
