/** The part of xterm's Terminal that the feed drives. */
export interface FeedTarget {
	write(data: string | Uint8Array, parsed?: () => void): void;
	readonly parser: {
		registerEscHandler(id: { final: string }, callback: () => boolean): unknown;
	};
}

const HIGH_WATER = 16 * 1024 * 1024;
const LOW_WATER = 1024 * 1024;

/**
 * Brings a session's bytes and what happened between them into the terminal, in order. xterm
 * parses what is written to it later, in slices; everything else here waits for its turn behind
 * the bytes before it.
 *
 * Memory is bounded: with 16 MiB unparsed, further bytes are dropped. When the terminal has
 * caught up, `resume` is called with the offset of the first byte that was dropped, and the
 * caller fetches the stream from there.
 */
export class Feed {
	#target: FeedTarget;
	#resume: (offset: number) => void;
	#pending = 0; // bytes written, not yet parsed
	#dropping: { from: number } | null = null;
	#entering: (() => void) | null = null; // the next reset is that of a snapshot

	constructor(target: FeedTarget, resume: (offset: number) => void) {
		this.#target = target;
		this.#resume = resume;
		target.parser.registerEscHandler({ final: 'c' }, () => {
			this.#entering?.();
			this.#entering = null;
			return false;
		});
	}

	/** parsed: when they are in the terminal; never for those that are dropped. */
	bytes(data: Uint8Array, offset: number, parsed?: () => void): void {
		if (this.#dropping === null && this.#pending + data.length > HIGH_WATER)
			this.#dropping = { from: offset };
		if (this.#dropping === null)
			this.#write(data, parsed);
	}

	/**
	 * A snapshot: bytes that begin with a reset (CAN, ESC c) and leave nothing of what was before,
	 * dropped bytes included. It is one piece, and xterm parses a piece without a pause, however
	 * large: no frame is drawn and no key is heard between enter, which is called by the reset,
	 * and left.
	 */
	snapshot(data: Uint8Array, enter: () => void, left: () => void): void {
		this.#dropping = null;
		this.then(() => {
			this.#entering = enter;
		});
		this.#write(data, left);
	}

	/** Run at this place of the stream. */
	then(run: () => void): void {
		if (this.#dropping === null)
			this.#target.write('', run);
	}

	#write(data: Uint8Array, parsed?: () => void): void {
		this.#pending += data.length;
		this.#target.write(data, () => {
			this.#pending -= data.length;
			parsed?.();
			this.#caughtUp();
		});
	}

	#caughtUp(): void {
		if (this.#dropping === null || this.#pending > LOW_WATER)
			return;
		const { from } = this.#dropping;
		this.#dropping = null;
		this.#resume(from);
	}
}
