/*
 * What this page has typed and the server has not yet given a receipt for. The server counts the bytes of a page over all
 * its connections, so after one that was lost it is known which have arrived, and none is sent twice.
 *
 * What has not arrived is kept. After a short interruption it is sent by itself, in order; after a longer one, in which
 * the screen may have become another, or when it is not known what has arrived, somebody is asked first. What is typed
 * until the answer waits behind it. Pure.
 */

const KEPT_MAX = 64 * 1024; // bytes: nobody types more blindly

interface Piece {
	readonly data: Uint8Array<ArrayBuffer>;
	readonly typed: boolean; // by somebody; not an answer of the terminal's own, which nobody misses
}

/** What has not arrived, for whoever is asked. */
export interface Undelivered {
	readonly keys: number; // 0: none
	readonly text: string;
	readonly asks: boolean; // to be sent or dropped; otherwise it is under way
	readonly doubtful: boolean; // some of it may have arrived
}

export class Outbox {
	#taken = 0; // bytes that have arrived
	#sent: Piece[] = []; // behind those, on this connection
	#kept: Piece[] = []; // not sent, or lost
	#keptBytes = 0;
	#asks = false;
	#doubtful = false;

	/** Bytes that are known to have arrived: the place where the next one is counted. */
	get taken(): number {
		return this.#taken;
	}

	/** Whether what is typed now has to wait. */
	get asks(): boolean {
		return this.#asks;
	}

	/** That was sent just now. */
	sent(data: Uint8Array<ArrayBuffer>, typed: boolean): void {
		this.#sent.push({ data, typed });
	}

	/** To be sent later. Returns false when there is too much of it already. */
	keep(data: Uint8Array<ArrayBuffer>): boolean {
		if (this.#keptBytes + data.length > KEPT_MAX)
			return false;
		this.#kept.push({ data, typed: true });
		this.#keptBytes += data.length;
		return true;
	}

	/** So many bytes have arrived, says the server. */
	receipt(taken: number): void {
		let left = taken - this.#taken;
		while (left > 0 && this.#sent[0] !== undefined) {
			const { data, typed } = this.#sent[0];
			if (data.length > left)
				this.#sent[0] = { data: data.subarray(left), typed };
			else
				this.#sent.shift();
			this.#taken += Math.min(left, data.length);
			left -= data.length;
		}
	}

	/**
	 * A new connection. taken: bytes that have arrived on those before, null if that is not known; long: it is so long
	 * since anything was heard that somebody is to be asked.
	 */
	attached(taken: number | null, long: boolean): void {
		const unsent = this.#sent.reduce((sum, { data }) => sum + data.length, 0);
		const known = taken !== null && taken >= this.#taken && taken <= this.#taken + unsent;
		if (known)
			this.receipt(taken);
		const lost = this.#sent.filter(({ typed }) => typed);
		this.#sent = [];
		this.#taken = taken ?? this.#taken;
		this.#doubtful ||= !known && lost.length > 0;
		this.#kept.unshift(...lost);
		this.#keptBytes += lost.reduce((sum, { data }) => sum + data.length, 0);
		this.#asks = this.#kept.length > 0 && (this.#asks || long || this.#doubtful);
	}

	/** What is to be sent now: it is no longer kept. */
	take(): readonly Uint8Array<ArrayBuffer>[] {
		const pieces = this.#kept.map(({ data }) => data);
		this.#forget();
		return pieces;
	}

	/** Nobody wants any of it to arrive. */
	drop(): void {
		this.#sent = this.#sent.map(({ data }) => ({ data, typed: false }));
		this.#forget();
	}

	/** Another session: its count begins anew. */
	clear(): void {
		this.#taken = 0;
		this.#sent = [];
		this.#forget();
	}

	get undelivered(): Undelivered {
		const pieces = [...this.#sent.filter(({ typed }) => typed), ...this.#kept];
		const decoder = new TextDecoder();
		const text = pieces.map(({ data }) => decoder.decode(data)).join('');
		// A paste is one piece, of many characters.
		const keys = pieces.some(({ data }) => data.length > 8) ? [...text].length : pieces.length;
		return { keys, text, asks: this.#asks, doubtful: this.#doubtful };
	}

	#forget(): void {
		this.#kept = [];
		this.#keptBytes = 0;
		this.#asks = false;
		this.#doubtful = false;
	}
}
