import type { IBuffer, IMarker, Terminal } from '@xterm/xterm';
import { readLine } from './lines';
import { findMatches } from './pattern';
import { Results } from './results';

const SLICE_MS = 8;
const LINES_BETWEEN_CLOCKS = 32;

/**
 * Finds all matches in a terminal. Rows above the screen do not change, so after new output only the rows from the last
 * screen on are searched again. The rest of a line is not searched once its start has left the buffer. Rows are numbered from
 * the first one that was searched: row n of the buffer is n + gone.
 */
export class Scanner {
	readonly results = new Results();
	#terminal: Terminal;
	#pause: () => Promise<void>;
	#sliceMs: number;
	#pattern: RegExp | null = null;
	#next = 0; // the first row that has to be searched; a line starts there
	#gone = 0; // rows that have left the buffer since the first search
	#known: { readonly marker: IMarker; readonly row: number } | null = null; // shows how far rows have moved
	#scan = 0; // number of the current scan
	#complete = false;

	/** pause: called every few milliseconds; lets the page do other things. */
	constructor(terminal: Terminal, pause: () => Promise<void>, sliceMs = SLICE_MS) {
		this.#terminal = terminal;
		this.#sliceMs = sliceMs;
		this.#pause = pause;
	}

	get gone(): number {
		return this.#gone;
	}

	/** Whether all rows have been searched since the results were last forgotten. New rows may not have been. */
	get complete(): boolean {
		return this.#complete;
	}

	/** Forget all results, and stop. pattern: what the next scan looks for; null: nothing; none: the same again. */
	reset(pattern = this.#pattern): void {
		this.#pattern = pattern;
		this.#scan++;
		this.#forget();
	}

	/**
	 * Search what is new. Returns false if it has to be repeated, because the content was replaced meanwhile or reset() was
	 * called.
	 */
	async scan(): Promise<boolean> {
		const scan = ++this.#scan;
		this.update();
		this.results.removeFrom(this.#next);
		const end = this.#gone + this.#buffer.length;
		let row = this.#next;
		while (this.#pattern !== null && row < end && this.results.space > 0) {
			row = this.#searchFrom(row, this.#pattern);
			if (row >= end)
				break;
			await this.#pause();
			if (scan !== this.#scan || !this.update())
				return false;
			row = Math.max(row, this.#gone);
		}
		this.#complete = true;
		return true;
	}

	/** Follow rows that have moved. Returns false, and forgets all results, if they cannot be followed. */
	update(): boolean {
		const { baseY, cursorY, length } = this.#buffer;
		const { rows, options } = this.#terminal;
		const known = this.#known;
		const follows = known === null ? length < rows + (options.scrollback ?? 0) || baseY === 0 : !known.marker.isDisposed;
		if (!follows)
			this.#forget();
		else if (known !== null) {
			this.#gone = known.row - known.marker.line;
			this.#next = Math.max(this.#next, this.#gone);
			this.results.removeAbove(this.#gone);
		}
		known?.marker.dispose();
		// On the row above the screen: rows of the screen lose their markers when they are cleared.
		this.#known = baseY === 0 ? null
			: { marker: this.#terminal.registerMarker(-1 - cursorY), row: this.#gone + baseY - 1 };
		return follows;
	}

	/** Search for some milliseconds. Returns the row where to continue. */
	#searchFrom(from: number, pattern: RegExp): number {
		const buffer = this.#buffer, gone = this.#gone;
		const until = performance.now() + this.#sliceMs;
		let row = from - gone;
		for (let lines = 1; row < buffer.length; lines++) {
			const pieces = readLine(buffer, row);
			findMatches(pattern, pieces.join(''), (offset, length) => this.results.add(row + gone, offset, length));
			if (row < buffer.baseY) // the line may go on in the screen
				this.#next = row + gone;
			row += pieces.length;
			if (lines % LINES_BETWEEN_CLOCKS === 0 && performance.now() >= until)
				break;
		}
		return row + gone;
	}

	get #buffer(): IBuffer {
		return this.#terminal.buffer.active;
	}

	#forget(): void {
		this.results.clear();
		this.#known?.marker.dispose();
		this.#known = null;
		this.#next = this.#gone = 0;
		this.#complete = false;
	}
}
