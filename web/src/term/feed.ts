export interface FeedTarget {
	write(data: string | Uint8Array, parsed?: () => void): void;
	readonly parser: {
		registerEscHandler(id: { final: string }, callback: () => boolean): unknown;
	};
}

const HIGH_WATER = 16 * 1024 * 1024;
const LOW_WATER = 1024 * 1024;

/**
 * Writes a session's bytes, and the events between them, to the terminal in order. xterm.js parses bytes later, in slices,
 * so events wait until the bytes before them are parsed.
 *
 * Memory is bounded: if 16 MiB are unparsed, further bytes are dropped. When the terminal has caught up, `resume` is called
 * with the offset of the first dropped byte.
 */
export class Feed {
	#target: FeedTarget;
	#resume: (offset: number) => void;
	#pending = 0; // bytes written, not yet parsed
	#dropping: { from: number } | null = null;
	#onReset: (() => void) | null = null; // set if the next reset is that of a snapshot

	constructor(target: FeedTarget, resume: (offset: number) => void) {
		this.#target = target;
		this.#resume = resume;
		target.parser.registerEscHandler({ final: 'c' }, () => {
			this.#onReset?.();
			this.#onReset = null;
			return false;
		});
	}

	/** parsed: called when the bytes are in the terminal; never if they are dropped. */
	write(data: Uint8Array, offset: number, parsed?: () => void): void {
		if (this.#dropping === null && this.#pending + data.length > HIGH_WATER)
			this.#dropping = { from: offset };
		if (this.#dropping === null)
			this.#write(data, parsed);
	}

	/**
	 * A snapshot: bytes that start with a reset (CAN, ESC c) and replace everything before, including dropped bytes. It is
	 * written as one piece, which xterm.js parses without a pause: no frame is drawn and no key is handled between begin, which
	 * the reset calls, and end.
	 */
	writeSnapshot(data: Uint8Array, begin: () => void, end: () => void): void {
		this.#dropping = null;
		this.whenParsed(() => {
			this.#onReset = begin;
		});
		this.#write(data, end);
	}

	/** Run when the bytes so far are parsed. */
	whenParsed(run: () => void): void {
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
