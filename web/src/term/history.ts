import type { Terminal } from '@xterm/xterm';
import type { SnapshotMessage } from '../net/wire';
import { createAnchor, findAnchor, type Anchor } from './anchor';

const FIRST_LINES = 1000; // of history in the first snapshot

type Selection = NonNullable<ReturnType<Terminal['getSelectionPosition']>> & { readonly text: string };

/** The text that the reader looks at, to find it again in the next snapshot. */
interface Place {
	readonly anchor: Anchor;
	readonly scrolled: boolean; // otherwise the anchor is the start of the selection, and the end is visible
	readonly selection: Selection | null;
}

/**
 * The lines above the screen. A snapshot contains the last of them; the rest is requested when the reader scrolls near the
 * top. The reader's position is restored after each snapshot.
 */
export class History {
	#terminal: Terminal;
	#request: (lines: number) => boolean;
	#total = 0; // lines on the server if it has more than the snapshot, else 0
	#requested = false;
	#place: Place | null = null; // to restore after the snapshot
	#moreFollows = false; // a snapshot with more lines follows
	#behind = false;
	#keeps = 0; // lines of history that the server keeps
	#limit: number | null = null; // lines that the page keeps; null: as many as the server

	/** request: asks for a snapshot with so many lines; returns false if that is not possible now. */
	constructor(terminal: Terminal, request: (lines: number) => boolean) {
		this.#terminal = terminal;
		this.#request = request;
		terminal.onScroll(() => {
			if (!this.#moreFollows && this.#scrolled && terminal.buffer.active.viewportY < terminal.rows)
				this.fetchAll();
		});
	}

	/** The user has typed, and wants to be at the end, not back at the old position. */
	typed(): void {
		this.#place = null;
	}

	/** The window cannot keep up: the last snapshot was partial and a full one follows. */
	get behind(): boolean {
		return this.#behind;
	}

	/** Lines of history to request when connecting: few, unless the reader has scrolled up; null: all. */
	get lines(): number | null {
		return this.#scrolled || this.#place !== null ? this.#limit : FIRST_LINES;
	}

	/** Keep so many lines; null: as many as the server. */
	setLimit(limit: number | null): void {
		const before = this.#limit ?? this.#keeps;
		this.#limit = limit;
		this.#terminal.options.scrollback = limit ?? this.#keeps;
		// Lines that were dropped may be on the server.
		if ((limit ?? this.#keeps) > before)
			this.#total = this.#wanted(this.#keeps);
	}

	/** There is a new connection. keeps: lines of history on the server. */
	attached(keeps: number): void {
		this.#requested = false;
		this.#moreFollows = this.#behind = false;
		this.#keeps = keeps;
		this.#terminal.options.scrollback = this.#limit ?? keeps;
	}

	/** Request the whole history. Returns false if it is loaded already or cannot be requested now. */
	fetchAll(): boolean {
		if (this.#total === 0 || this.#behind)
			return false;
		this.#requested ||= this.#request(this.#wanted(this.#total));
		return this.#requested;
	}

	/** A snapshot begins. resize: gives the terminal its size. */
	beginSnapshot(resize: () => void): void {
		const place = this.#savePlace(resize);
		if (place !== null)
			this.#place = place;
	}

	/** The snapshot is in the terminal. */
	endSnapshot({ lines, total, reason, partial }: SnapshotMessage): void {
		this.#requested = false;
		this.#moreFollows = partial === true && lines < Math.min(total, FIRST_LINES);
		this.#behind = this.#moreFollows && reason === 'lag';
		this.#total = this.#wanted(total) > lines && reason !== 'request' ? total : 0;
		const place = this.#place;
		this.#place = null;
		if (place === null || this.#restorePlace(place) || !place.scrolled)
			return;
		// The text may be in the next snapshot. Until then the end is visible.
		if (this.#moreFollows || this.fetchAll())
			this.#place = place;
		else
			this.#terminal.scrollToTop();
	}

	#wanted(total: number): number {
		return Math.min(total, this.#limit ?? total);
	}

	get #scrolled(): boolean {
		const { viewportY, baseY } = this.#terminal.buffer.active;
		return viewportY < baseY;
	}

	#savePlace(resize: () => void): Place | null {
		const terminal = this.#terminal;
		const { viewportY, baseY, cursorY } = terminal.buffer.active;
		const scrolled = viewportY < baseY;
		const text = terminal.getSelection();
		const row = scrolled ? viewportY : terminal.getSelectionPosition()?.start.y;
		// A marker stays with its text when lines are rewrapped.
		const marker = row === undefined ? undefined : terminal.registerMarker(row - baseY - cursorY);
		resize();
		if (marker === undefined || marker.isDisposed)
			return null;
		const anchor = createAnchor(terminal.buffer.active, marker.line);
		marker.dispose();
		const range = terminal.getSelectionPosition();
		return { anchor, scrolled, selection: range === undefined ? null : { ...range, text } };
	}

	/** Returns false if the text is gone. */
	#restorePlace({ anchor, scrolled, selection }: Place): boolean {
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
