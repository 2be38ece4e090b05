import type { Terminal } from '@xterm/xterm';
import type { SearchColors } from './colors';
import { Highlights } from './highlights';
import { placeOf, readLine, type Place } from './lines';
import { compile, type Query } from './pattern';
import type { Match } from './results';
import { Scanner } from './scanner';

const PAUSE_MS = 200;
const PAUSE_FACTOR = 5; // a search takes at most a sixth of the time
const PAUSE_MAX_MS = 5000; // also after a search in a hidden tab, where timers are slow
const RULER_MARKS = 300;
const IN_VIEW_MAX = 1000;

/** index: of the match that is selected, from 0; -1: none. problem: why there is no result. */
export interface SearchState {
	readonly count: number;
	readonly index: number;
	readonly busy: boolean;
	readonly problem: string | null;
}

export interface TerminalSearchOptions {
	readonly terminal: Terminal;
	colors(): SearchColors;
	changed(state: SearchState): void;
	/** All lines were searched; others may be on the server. */
	searched(): void;
	/** The match is selected: make it visible. */
	reveal(place: Place): void;
}

/** Searches a terminal, follows its output, highlights the matches and selects one of them. */
export class TerminalSearch {
	#options: TerminalSearchOptions;
	#scanner: Scanner;
	#highlights: Highlights;
	#active = false;
	#busy = false; // a scan runs
	#stale = false; // there is new output
	#turn = 0; // number of the current search
	#current: Match | null = null;
	#steps: number | null = null; // after the scan, go so many matches down from the one nearest to the old place
	#origin = { row: 0, offset: 0 }; // the old place
	#timer: number | undefined;
	#frame: number | undefined;
	#pauseMs = PAUSE_MS;
	#listeners: readonly { dispose(): void }[];

	constructor(options: TerminalSearchOptions) {
		const { terminal } = options;
		this.#options = options;
		this.#scanner = new Scanner(terminal, () => new Promise((resolve) => { window.setTimeout(resolve); }));
		this.#highlights = new Highlights(terminal);
		const restart = () => this.#restart();
		this.#listeners = [
			terminal.onWriteParsed(() => this.#onOutput()), terminal.onResize(restart), terminal.buffer.onBufferChange(restart),
			terminal.onScroll(() => this.#drawSoon()),
		];
	}

	/** Search, and select the last match at or above the current one, or above the end of the view. */
	search(query: Query): void {
		this.stop();
		try {
			this.#scanner.reset(compile(query));
		} catch (error) {
			const problem = error instanceof Error ? error.message : String(error);
			this.#options.changed({ count: 0, index: -1, busy: false, problem });
			return;
		}
		this.#active = true;
		this.#steps = 0;
		void this.#scan();
	}

	/** Select the next match below (1) or above (-1). */
	move(step: 1 | -1): void {
		if (!this.#active)
			return;
		if (this.#steps !== null) {
			this.#steps += step;
			return;
		}
		if (!this.#follow() || !this.#scanner.complete) {
			this.#origin = this.#endOfView();
			this.#steps = Math.max(0, step);
			return;
		}
		const index = this.#current === null ? -1 : this.#scanner.results.indexOf(this.#current);
		this.#select(index >= 0 ? index + step : this.#nearest(this.#endOfView()) + Math.max(0, step));
	}

	/** Forget the search. What is selected stays selected. */
	stop(): void {
		const gone = this.#scanner.gone, current = this.#current;
		const { row, offset } = current === null ? this.#endOfView() : { row: current.row, offset: current.offset + 1 };
		this.#origin = { row: row - gone, offset };
		this.#turn++;
		this.#active = this.#busy = this.#stale = false;
		this.#current = this.#steps = null;
		this.#pauseMs = PAUSE_MS;
		window.clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#scanner.reset(null);
		this.#highlights.clear();
	}

	dispose(): void {
		this.stop();
		for (const listener of this.#listeners)
			listener.dispose();
	}

	/** Draw, perhaps with other colours. */
	redraw(): void {
		this.#draw();
		this.#drawRuler();
	}

	async #scan(): Promise<void> {
		const turn = this.#turn;
		const began = performance.now();
		window.clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#busy = true;
		this.#stale = false;
		if (!this.#scanner.update())
			this.#current = null; // the content is new: rows have other numbers
		this.#report();
		const complete = await this.#scanner.scan();
		if (turn !== this.#turn)
			return;
		this.#busy = false;
		this.#pauseMs = Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MS, PAUSE_FACTOR * (performance.now() - began)));
		if (complete)
			this.#onScanned();
		else
			this.#current = null;
		if (!complete || this.#stale)
			this.#scanSoon();
	}

	#onScanned(): void {
		const steps = this.#steps;
		this.#steps = null;
		if (steps !== null) {
			this.#select(this.#nearest(this.#origin) + steps);
		} else {
			if (this.#current === null || this.#scanner.results.indexOf(this.#current) < 0)
				this.#current = this.#selected();
			this.#report();
			this.redraw();
		}
		this.#options.searched();
	}

	#onOutput(): void {
		if (!this.#active)
			return;
		this.#stale = true;
		if (!this.#busy)
			this.#scanSoon();
	}

	#scanSoon(): void {
		this.#timer ??= window.setTimeout(() => void this.#scan(), this.#pauseMs);
	}

	/** The terminal has other content. */
	#restart(): void {
		if (!this.#active)
			return;
		this.#current = null;
		this.#scanner.reset();
		this.#highlights.clear();
		this.#onOutput();
	}

	/** Returns false if the results are no longer valid. */
	#follow(): boolean {
		if (this.#scanner.update())
			return true;
		this.#restart();
		return false;
	}

	/** The index of the last match before the place. */
	#nearest({ row, offset }: { readonly row: number; readonly offset: number }): number {
		return this.#scanner.results.before(row, offset) - 1;
	}

	#endOfView(): { row: number; offset: number } {
		const { terminal } = this.#options;
		return { row: terminal.buffer.active.viewportY + terminal.rows + this.#scanner.gone, offset: 0 };
	}

	/** Select a match; the last one is followed by the first. */
	#select(index: number): void {
		const { results } = this.#scanner, { terminal, reveal } = this.#options;
		const match = results.at((index % results.count + results.count) % results.count);
		this.#current = match;
		if (match === null) {
			terminal.clearSelection();
		} else {
			const place = this.#places()(match);
			terminal.select(place.column, place.row, place.size);
			reveal(place);
		}
		this.#report();
		this.redraw();
	}

	/** The match that is selected in the terminal. */
	#selected(): Match | null {
		const { results, gone } = this.#scanner;
		const range = this.#options.terminal.getSelectionPosition();
		if (range === undefined)
			return null;
		const { start, end } = range, placeOfMatch = this.#places();
		const size = (end.y - start.y) * this.#options.terminal.cols + end.x - start.x;
		const last = results.before(start.y + gone + 1, 0) - 1;
		for (let index = last; index > last - IN_VIEW_MAX; index--) {
			const match = results.at(index);
			if (match === null)
				break;
			const place = placeOfMatch(match);
			if (place.row === start.y && place.column === start.x && place.size === size)
				return match;
		}
		return null;
	}

	#report(): void {
		const { results } = this.#scanner;
		this.#options.changed({
			count: results.count, index: this.#current === null ? -1 : results.indexOf(this.#current),
			busy: this.#busy && !this.#scanner.complete, problem: null,
		});
	}

	#drawSoon(): void {
		if (this.#active)
			this.#frame ??= window.requestAnimationFrame(() => {
				this.#frame = undefined;
				this.#draw();
			});
	}

	#draw(): void {
		if (!this.#active || !this.#follow())
			return;
		const { results, gone } = this.#scanner, { terminal } = this.#options;
		const { viewportY } = terminal.buffer.active;
		const places: Place[] = [], placeOfMatch = this.#places();
		const current = this.#current === null ? -1 : results.indexOf(this.#current);
		for (let index = this.#firstInView(); places.length < IN_VIEW_MAX; index++) {
			const match = results.at(index);
			if (match === null || match.row - gone >= viewportY + terminal.rows)
				break;
			const place = placeOfMatch(match);
			if (place.row < viewportY + terminal.rows && index !== current)
				places.push(place);
		}
		this.#highlights.showView(places, this.#current === null || current < 0 ? null : placeOfMatch(this.#current));
	}

	/** The index of the first match in view. A line can start above the view. */
	#firstInView(): number {
		const { results, gone } = this.#scanner, buffer = this.#options.terminal.buffer.active;
		const index = results.before(buffer.viewportY + gone, 0), above = results.at(index - 1);
		if (above === null)
			return index;
		const pieces = readLine(buffer, above.row - gone);
		const hidden = pieces.slice(0, buffer.viewportY + gone - above.row).join('').length;
		return results.before(above.row, hidden);
	}

	#drawRuler(): void {
		if (!this.#active)
			return;
		const { results, gone } = this.#scanner, { terminal, colors } = this.#options;
		const step = terminal.buffer.active.length / RULER_MARKS;
		const rows: number[] = [];
		for (let mark = 0; mark < RULER_MARKS; mark++) {
			const match = results.at(results.before(gone + mark * step, 0));
			if (match !== null && match.row < gone + (mark + 1) * step)
				rows.push(match.row - gone);
		}
		this.#highlights.showRuler(rows, this.#current === null ? null : this.#current.row - gone, colors());
	}

	/** A function that returns the place of a match, fast if it is asked for several matches of one line. */
	#places(): (match: Match) => Place {
		const { gone } = this.#scanner, { cols, buffer } = this.#options.terminal;
		let line = -1, pieces: readonly string[] = [];
		return ({ row, offset, length }) => {
			if (row !== line)
				pieces = readLine(buffer.active, row - gone);
			line = row;
			return placeOf(buffer.active, row - gone, pieces, offset, length, cols);
		};
	}
}
