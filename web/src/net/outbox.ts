/*
 * Typed input that the server has not acknowledged. The server counts the input bytes of a page over all its connections,
 * so after a lost connection the page can tell which bytes arrived, and sends none twice.
 *
 * Undelivered input is kept. After a short interruption it is sent automatically, in order. After a longer one the screen may
 * have changed, so the user has to confirm, as when it is not known which bytes arrived. Later input waits behind it.
 *
 * Of a paste only WINDOW bytes are on their way at a time. Later input waits behind it. Pure.
 */
import { pasteOf, PASTE_MAX, type Paste } from './paste';

const KEPT_MAX = 64 * 1024; // bytes, without pastes
const WINDOW = 128 * 1024; // bytes of a paste that are not acknowledged
const SLICE = 16 * 1024; // bytes of a paste in one frame
const SHOWN_BYTES = 1024; // of undelivered input

interface Piece {
	readonly data: Uint8Array<ArrayBuffer>;
	readonly typed: boolean; // by the user; replies of the terminal itself are not resent
	readonly paste?: Paste; // data is a part of it
}

export interface Undelivered {
	readonly keys: number; // 0: none
	readonly text: string; // the end of it
	readonly needsConfirmation: boolean; // the user has to send or drop it; otherwise it is being sent
	readonly doubtful: boolean; // some of it may have arrived
}

export interface Progress {
	readonly delivered: number; // bytes
	readonly total: number;
}

export class Outbox {
	#acknowledged = 0; // bytes acknowledged
	#sent: Piece[] = []; // sent on this connection, not acknowledged
	#kept: Piece[] = []; // not sent, or lost with a connection
	#keptBytes = 0; // without pastes
	#paste: Paste | null = null; // being sent or delivered
	#pasteAt = 0; // bytes of it that were sent
	#needsConfirmation = false;
	#doubtful = false;

	/** Bytes that the server has acknowledged. */
	get acknowledged(): number {
		return this.#acknowledged;
	}

	/** Whether the user has to confirm; new input waits until then. */
	get needsConfirmation(): boolean {
		return this.#needsConfirmation;
	}

	get isEmpty(): boolean {
		return this.#kept.length === 0 && !this.#sent.some(({ typed }) => typed);
	}

	/** Whether some of a paste is still to be sent; other input would become part of it. */
	get isPasting(): boolean {
		return this.#paste !== null && this.#pasteAt < this.#paste.data.length;
	}

	/** How much of the paste has been delivered; null: there is none. */
	get progress(): Progress | null {
		if (this.#paste === null)
			return null;
		const underWay = this.#sent.filter(({ paste }) => paste === this.#paste);
		return { delivered: this.#pasteAt - bytesOf(underWay), total: this.#paste.data.length };
	}

	sent(data: Uint8Array<ArrayBuffer>, typed: boolean): void {
		this.#sent.push({ data, typed });
	}

	/** Keep input to send it later. Returns false if there is too much already. */
	keep(data: Uint8Array<ArrayBuffer>): boolean {
		if (this.#keptBytes + data.length > KEPT_MAX)
			return false;
		this.#kept.push({ data, typed: true });
		this.#keptBytes += data.length;
		return true;
	}

	/** The same with a paste. */
	keepPaste(paste: Paste): boolean {
		const waiting = this.#kept.filter((piece) => piece.paste !== undefined);
		if (bytesOf(waiting) + paste.data.length > PASTE_MAX)
			return false;
		this.#kept.push({ data: paste.data, typed: true, paste });
		return true;
	}

	/** Remove and return the next kept input that may be sent now: a paste, which has then begun, or typed bytes. */
	takeKept(): Piece | null {
		const piece = this.isPasting ? undefined : this.#kept.shift();
		if (piece === undefined)
			return null;
		if (piece.paste === undefined)
			this.#keptBytes -= piece.data.length;
		else
			[this.#paste, this.#pasteAt] = [piece.paste, 0];
		return piece;
	}

	/** The next bytes of the paste that may be sent now; they count as sent. */
	nextSlice(): Uint8Array<ArrayBuffer> | null {
		const paste = this.#paste;
		const { delivered } = this.progress ?? { delivered: 0 };
		if (paste === null || !this.isPasting || this.#pasteAt - delivered >= WINDOW)
			return null;
		const data = paste.data.subarray(this.#pasteAt, sliceEnd(paste.data, this.#pasteAt));
		this.#pasteAt += data.length;
		this.#sent.push({ data, typed: true, paste });
		return data;
	}

	/** The paste is not sent further. Returns whether there was one. */
	endPaste(): boolean {
		const paste = this.#paste;
		if (paste === null)
			return false;
		this.#paste = null;
		this.#sent = this.#sent.map((piece) => piece.paste === paste ? { data: piece.data, typed: false } : piece);
		return true;
	}

	/** The server has acknowledged so many bytes in total. */
	acknowledge(acknowledged: number): void {
		let left = acknowledged - this.#acknowledged;
		while (left > 0 && this.#sent[0] !== undefined) {
			const piece = this.#sent[0], { length } = piece.data;
			if (length > left)
				this.#sent[0] = { ...piece, data: piece.data.subarray(left) };
			else
				this.#sent.shift();
			this.#acknowledged += Math.min(left, length);
			left -= length;
		}
		if (this.#paste !== null && !this.isPasting && !this.#sent.some(({ paste }) => paste === this.#paste))
			this.#paste = null;
	}

	/**
	 * There is a new connection. acknowledged: bytes that arrived on earlier ones, null if unknown; long: the interruption was so
	 * long that the user has to confirm.
	 */
	attached(acknowledged: number | null, long: boolean): void {
		const known = acknowledged !== null && acknowledged >= this.#acknowledged
			&& acknowledged <= this.#acknowledged + bytesOf(this.#sent);
		if (known)
			this.acknowledge(acknowledged);
		const lost = this.#takeLost();
		this.#acknowledged = acknowledged ?? this.#acknowledged;
		this.#doubtful ||= !known && lost.length > 0;
		this.#kept.unshift(...lost);
		this.#keptBytes += bytesOf(lost.filter(({ paste }) => paste === undefined));
		this.#needsConfirmation = this.#kept.length > 0 && (this.#needsConfirmation || long || this.#doubtful);
	}

	/** Typed input that was sent and has not arrived, and the rest of the paste, in order. */
	#takeLost(): Piece[] {
		const lost: Piece[] = [];
		let last: Paste | null = null;
		for (const { data, typed, paste } of this.#sent.filter((piece) => piece.typed))
			if (paste === undefined) {
				lost.push({ data, typed });
			} else if (paste !== last) {
				lost.push(rest(paste, data.byteOffset - paste.data.byteOffset));
				last = paste;
			}
		if (this.#paste !== null && this.isPasting && this.#paste !== last)
			lost.push(rest(this.#paste, this.#pasteAt));
		this.#sent = [];
		this.#paste = null;
		return lost;
	}

	/** The user has confirmed: all undelivered input may be sent. */
	confirm(): void {
		this.#needsConfirmation = false;
		this.#doubtful = false;
	}

	/** Drop all undelivered input. */
	drop(): void {
		this.#sent = this.#sent.map(({ data }) => ({ data, typed: false }));
		this.#forget();
	}

	/** Reset for another session. */
	clear(): void {
		this.#acknowledged = 0;
		this.#sent = [];
		this.#forget();
	}

	get undelivered(): Undelivered {
		const unsent = this.isPasting && this.#paste !== null ? [rest(this.#paste, this.#pasteAt)] : [];
		const pieces = [...this.#sent.filter(({ typed }) => typed), ...unsent, ...this.#kept];
		const decoder = new TextDecoder();
		const text = pieces.map(({ data }) => decoder.decode(data.subarray(-SHOWN_BYTES))).join('');
		// A long piece is a paste: count its characters.
		const keys = pieces.some(({ data }) => data.length > 8) ? pieces.reduce((sum, { data }) => sum + countCharacters(data), 0) : pieces.length;
		return { keys, text, needsConfirmation: this.#needsConfirmation, doubtful: this.#doubtful };
	}

	#forget(): void {
		this.#kept = [];
		this.#keptBytes = 0;
		this.#paste = null;
		this.confirm();
	}
}

function bytesOf(pieces: readonly Piece[]): number {
	return pieces.reduce((sum, { data }) => sum + data.length, 0);
}

/** The rest of a paste from that byte on. */
function rest(paste: Paste, from: number): Piece {
	const data = paste.data.subarray(from);
	return { data, typed: true, paste: pasteOf(data, paste.confirmed) };
}

/** The end of a slice that begins there: not within a character, as other input may come behind it. */
function sliceEnd(data: Uint8Array, from: number): number {
	let end = from + SLICE;
	while (end > from + 1 && end < data.length && ((data[end] ?? 0) & 0xc0) === 0x80)
		end--;
	return end;
}

function countCharacters(data: Uint8Array): number {
	let count = 0;
	for (const byte of data)
		count += (byte & 0xc0) === 0x80 ? 0 : 1;
	return count;
}
