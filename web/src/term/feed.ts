export interface FeedTarget {
	write(data: string | Uint8Array, parsed?: () => void): void;
}

/** Bytes, or an event between them. */
type Item = { readonly data: Uint8Array; readonly parsed: (() => void) | undefined } | { readonly run: () => void };

const HIGH_WATER = 16 * 1024 * 1024;
const LOW_WATER = 1024 * 1024;

/**
 * Writes a session's bytes, and the events between them, to the terminal in order. xterm.js parses bytes later, in slices,
 * so events wait until the bytes before them are parsed. The bytes after an event are written only then, because an event
 * may resize the terminal, and xterm.js parses all that has been written before it resizes.
 *
 * Memory is bounded: if 16 MiB are unparsed, further bytes are dropped. When the terminal has caught up, `resume` is called
 * with the offset of the first dropped byte.
 */
export class Feed {
	#target: FeedTarget;
	#resume: (offset: number) => void;
	#items: Item[] = []; // after the event that waits
	#waits = false; // an event waits for the bytes before it
	#pending = 0; // bytes not yet parsed
	#dropping: { from: number } | null = null;

	constructor(target: FeedTarget, resume: (offset: number) => void) {
		this.#target = target;
		this.#resume = resume;
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
	 * written as one piece, which xterm.js parses without a pause: no frame shows a part of it, and no key is handled between
	 * its first byte and end. begin: called before, to resize the terminal. xterm.js may draw a frame between begin and the
	 * bytes, with the old content in the new size.
	 */
	writeSnapshot(data: Uint8Array, begin: () => void, end: () => void): void {
		this.#dropping = null;
		this.whenParsed(begin);
		this.#write(data, end);
	}

	/** Run when the bytes so far are parsed. */
	whenParsed(run: () => void): void {
		if (this.#dropping === null)
			this.#put({ run });
	}

	#write(data: Uint8Array, parsed: (() => void) | undefined): void {
		this.#pending += data.length;
		this.#put({ data, parsed });
	}

	#put(item: Item): void {
		this.#items.push(item);
		this.#writeItems();
	}

	#writeItems(): void {
		for (let item; !this.#waits && (item = this.#items.shift()) !== undefined;)
			if ('run' in item)
				this.#wait(item.run);
			else
				this.#writeBytes(item.data, item.parsed);
	}

	#wait(run: () => void): void {
		this.#waits = true;
		this.#target.write('', () => {
			try {
				run();
			} finally {
				this.#waits = false;
				this.#writeItems();
			}
		});
	}

	#writeBytes(data: Uint8Array, parsed: (() => void) | undefined): void {
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
