/*
 * Typed input that the server has not acknowledged. The server counts the input bytes of a page over all its connections,
 * so after a lost connection the page can tell which bytes arrived, and sends none twice.
 *
 * Undelivered input is kept. After a short interruption it is sent automatically, in order. After a longer one the screen may
 * have changed, so the user has to confirm, as when it is not known which bytes arrived. Later input waits behind it. Pure.
 */

const KEPT_MAX = 64 * 1024; // bytes

interface Piece {
	readonly data: Uint8Array<ArrayBuffer>;
	readonly typed: boolean; // by the user; replies of the terminal itself are not resent
}

export interface Undelivered {
	readonly keys: number; // 0: none
	readonly text: string;
	readonly needsConfirmation: boolean; // the user has to send or drop it; otherwise it is being sent
	readonly doubtful: boolean; // some of it may have arrived
}

export class Outbox {
	#acknowledged = 0; // bytes acknowledged
	#sent: Piece[] = []; // sent on this connection, not acknowledged
	#kept: Piece[] = []; // not sent, or lost with a connection
	#keptBytes = 0;
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

	/** The server has acknowledged so many bytes in total. */
	acknowledge(acknowledged: number): void {
		let left = acknowledged - this.#acknowledged;
		while (left > 0 && this.#sent[0] !== undefined) {
			const { data, typed } = this.#sent[0];
			if (data.length > left)
				this.#sent[0] = { data: data.subarray(left), typed };
			else
				this.#sent.shift();
			this.#acknowledged += Math.min(left, data.length);
			left -= data.length;
		}
	}

	/**
	 * There is a new connection. acknowledged: bytes that arrived on earlier ones, null if unknown; long: the interruption was so
	 * long that the user has to confirm.
	 */
	attached(acknowledged: number | null, long: boolean): void {
		const unsent = this.#sent.reduce((sum, { data }) => sum + data.length, 0);
		const known = acknowledged !== null && acknowledged >= this.#acknowledged && acknowledged <= this.#acknowledged + unsent;
		if (known)
			this.acknowledge(acknowledged);
		const lost = this.#sent.filter(({ typed }) => typed);
		this.#sent = [];
		this.#acknowledged = acknowledged ?? this.#acknowledged;
		this.#doubtful ||= !known && lost.length > 0;
		this.#kept.unshift(...lost);
		this.#keptBytes += lost.reduce((sum, { data }) => sum + data.length, 0);
		this.#needsConfirmation = this.#kept.length > 0 && (this.#needsConfirmation || long || this.#doubtful);
	}

	/** Remove and return the kept input, to send it now. */
	takeKept(): readonly Uint8Array<ArrayBuffer>[] {
		const pieces = this.#kept.map(({ data }) => data);
		this.#forget();
		return pieces;
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
		const pieces = [...this.#sent.filter(({ typed }) => typed), ...this.#kept];
		const decoder = new TextDecoder();
		const text = pieces.map(({ data }) => decoder.decode(data)).join('');
		// A long piece is a paste: count its characters.
		const keys = pieces.some(({ data }) => data.length > 8) ? [...text].length : pieces.length;
		return { keys, text, needsConfirmation: this.#needsConfirmation, doubtful: this.#doubtful };
	}

	#forget(): void {
		this.#kept = [];
		this.#keptBytes = 0;
		this.#needsConfirmation = false;
		this.#doubtful = false;
	}
}
