/** The part of xterm's Terminal that the feed drives. */
export interface FeedTarget {
	write(data: string | Uint8Array, parsed?: () => void): void;
	resize(cols: number, rows: number): void;
	reset(): void;
}

const HIGH_WATER = 16 * 1024 * 1024;
const LOW_WATER = 1024 * 1024;
// CAN: ends an escape sequence or character that was cut in two. As bytes, for the decoder's sake.
const CANCEL = Uint8Array.of(0x18);

/**
 * Brings a session's bytes and what happened between them into the terminal, in order. xterm
 * parses what is written to it later, in slices; everything else here waits for its turn behind
 * the bytes before it.
 *
 * Memory is bounded: with 16 MiB unparsed, further bytes are dropped. When the terminal has
 * caught up, `resume` is called with the offset of the first byte that was dropped (null: of a
 * snapshot), and the caller fetches the stream from there.
 */
export class Feed {
	#target: FeedTarget;
	#resume: (offset: number | null) => void;
	#pending = 0; // bytes written, not yet parsed
	#dropping: { from: number | null } | null = null;

	constructor(target: FeedTarget, resume: (offset: number | null) => void) {
		this.#target = target;
		this.#resume = resume;
	}

	bytes(data: Uint8Array, offset: number | null): void {
		if (this.#dropping === null && this.#pending + data.length > HIGH_WATER)
			this.#dropping = { from: offset };
		if (this.#dropping !== null)
			return;
		this.#pending += data.length;
		this.#target.write(data, () => {
			this.#pending -= data.length;
			this.#caughtUp();
		});
	}

	resize(cols: number, rows: number): void {
		this.then(() => this.#target.resize(cols, rows));
	}

	reset(): void {
		if (this.#dropping === null)
			this.#target.write(CANCEL, () => this.#target.reset());
	}

	/** Run at this place of the stream. */
	then(run: () => void): void {
		if (this.#dropping === null)
			this.#target.write('', run);
	}

	#caughtUp(): void {
		if (this.#dropping === null || this.#pending > LOW_WATER)
			return;
		const { from } = this.#dropping;
		this.#dropping = null;
		this.#resume(from);
	}
}
