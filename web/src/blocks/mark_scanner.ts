/* Finds the shell's marks (OSC 133) in a byte stream that arrives in chunks. */

/** B: start of the input line; D: end of a command. at: index after the mark in the scanned chunk. */
export interface FoundMark {
	readonly kind: 'B' | 'D';
	readonly at: number;
}

const ESC = 0x1b;
const BEL = 0x07;
const BACKSLASH = 0x5c;
const PREFIX = [ESC, 0x5d, 0x31, 0x33, 0x33, 0x3b]; // ESC ] 1 3 3 ;
const LONGEST = 1024;

/** Also finds marks that programs print. Those are harmless: only offsets that the server reports are used. */
export class MarkScanner {
	#next = -1; // offset that continues the last chunk
	#matched = 0; // bytes of PREFIX
	#kind = 0; // of the current mark, or 0
	#length = 0;
	#escaped = false;

	/** offset: of the first byte of data. */
	scan(data: Uint8Array, offset: number): FoundMark[] {
		const found: FoundMark[] = [];
		if (offset !== this.#next)
			this.#matched = 0;
		this.#next = offset + data.length;
		let at = 0;
		while (at < data.length) {
			if (this.#matched === 0) {
				const escape = data.indexOf(ESC, at);
				if (escape < 0)
					break;
				this.#matched = 1;
				at = escape + 1;
				continue;
			}
			const byte = data[at++]!;
			if (this.#matched < PREFIX.length)
				this.#matched = byte === PREFIX[this.#matched] ? this.#matched + 1 : Number(byte === ESC);
			else if (this.#matched === PREFIX.length)
				this.#begin(byte);
			else if (this.#isOver(byte)) {
				if (this.#kind !== 0)
					found.push({ kind: this.#kind === 0x42 ? 'B' : 'D', at });
				this.#matched = 0;
			}
		}
		return found;
	}

	#begin(kind: number): void {
		this.#matched++;
		this.#kind = kind === 0x42 || kind === 0x44 ? kind : 0;
		this.#length = 0;
		this.#escaped = false;
		if (kind === BEL)
			this.#matched = 0;
	}

	#isOver(byte: number): boolean {
		if (byte === BEL || (this.#escaped && byte === BACKSLASH))
			return true;
		this.#escaped = byte === ESC;
		if (++this.#length > LONGEST)
			this.#matched = 0;
		return false;
	}
}
