/** A match: its line, by the row where that starts, and its place in the line's text. */
export interface Match {
	readonly row: number;
	readonly offset: number;
	readonly length: number;
}

export const MATCHES_MAX = 1_000_000; // 24 MB

/** All matches from the top to the end. Rows count from the first row that was searched, also when rows above are gone. */
export class Results {
	#rows: number[] = [];
	#offsets: number[] = [];
	#lengths: number[] = [];
	#gone = 0; // matches in rows that are gone

	get count(): number {
		return this.#rows.length - this.#gone;
	}

	get space(): number {
		return MATCHES_MAX - this.#rows.length;
	}

	clear(): void {
		this.#rows = [];
		this.#offsets = [];
		this.#lengths = [];
		this.#gone = 0;
	}

	/** Add a match below all others. Without space it is left out. */
	add(row: number, offset: number, length: number): void {
		if (this.space <= 0)
			return;
		this.#rows.push(row);
		this.#offsets.push(offset);
		this.#lengths.push(length);
	}

	/** Remove matches above the row. */
	removeAbove(row: number): void {
		this.#gone = Math.max(this.#gone, this.#lower(row, 0));
		if (this.#gone > this.#rows.length / 2) {
			for (const values of [this.#rows, this.#offsets, this.#lengths])
				values.splice(0, this.#gone);
			this.#gone = 0;
		}
	}

	/** Remove matches from the row on. */
	removeFrom(row: number): void {
		const length = Math.max(this.#gone, this.#lower(row, 0));
		this.#rows.length = this.#offsets.length = this.#lengths.length = length;
	}

	at(index: number): Match | null {
		const at = this.#gone + index;
		const row = index < 0 ? undefined : this.#rows[at], offset = this.#offsets[at], length = this.#lengths[at];
		return row === undefined || offset === undefined || length === undefined ? null : { row, offset, length };
	}

	/** The number of matches before this place. */
	before(row: number, offset: number): number {
		return Math.max(0, this.#lower(row, offset) - this.#gone);
	}

	/** The index of the match, or -1 if there is none at its place. */
	indexOf({ row, offset, length }: Match): number {
		const index = this.before(row, offset), found = this.at(index);
		return found?.row === row && found.offset === offset && found.length === length ? index : -1;
	}

	#lower(row: number, offset: number): number {
		let low = 0, high = this.#rows.length;
		while (low < high) {
			const middle = (low + high) >> 1, at = this.#rows[middle] ?? 0;
			if (at < row || (at === row && (this.#offsets[middle] ?? 0) < offset))
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}
}
