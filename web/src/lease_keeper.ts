/*
 * This page's lease of one session's keyboard: acquires it, renews it while the page is open, and releases it. The lease id
 * is a secret. It is kept in sessionStorage, so it survives a reload but not the tab.
 */
import { messageOf, type Api } from './net/api';
import type { LeaseMessage } from './net/wire';
import { leaseLabel } from './ui/lease_text';
import { myName } from './ui/my_name';
import { toast } from './ui/toast';

const TTL_MS = 120_000;
const RENEW_MS = 40_000;

export interface LeaseKeeperOptions {
	readonly api: Api;
	readonly session: string;
	/** Send the lease id on the connection, '' for none. */
	sendId(id: string): void;
}

export class LeaseKeeper {
	#options: LeaseKeeperOptions;
	#id: string | null;
	#timer: number;

	constructor(options: LeaseKeeperOptions) {
		this.#options = options;
		this.#id = read(this.#key);
		this.#timer = window.setInterval(() => void this.#renew(), RENEW_MS);
	}

	dispose(): void {
		window.clearInterval(this.#timer);
	}

	/** Every new connection has to send the lease id. */
	attached(): void {
		if (this.#id !== null)
			this.#options.sendId(this.#id);
	}

	/** Forget a lease that has ended, because the server would refuse its id. */
	onMessage({ lease, yours }: LeaseMessage): void {
		this.#mine = yours === true;
		if (this.#id !== null && yours === false && (lease === null || lease.heir == null))
			this.#setId(null);
	}

	/** after: acquire it when the running command has ended. */
	acquire(take: 'now' | 'after'): Promise<void> {
		return this.#attempt(async () => {
			const { api, session } = this.#options;
			const { lease } = await api.acquireLease(session, { owner: leaseLabel(myName()), ttlMs: TTL_MS, take });
			this.#setId(lease.id);
		});
	}

	/** note: for the previous holder; '' for none. */
	giveBack(note: string): Promise<void> {
		return this.#attempt(async () => {
			const { api, session } = this.#options;
			await api.endLease(session, this.#id, note);
			this.#setId(null);
		});
	}

	#mine = false;

	async #renew(): Promise<void> {
		if (this.#id === null || !this.#mine)
			return;
		const { api, session } = this.#options;
		// Renewal fails when the connection is lost, which the page reports anyway.
		await api.acquireLease(session, { owner: leaseLabel(myName()), ttlMs: TTL_MS, renew: this.#id }).catch(() => undefined);
	}

	#setId(id: string | null): void {
		this.#id = id;
		write(this.#key, id);
		this.#options.sendId(id ?? '');
	}

	get #key(): string {
		return `ringside.lease.${this.#options.session}`;
	}

	async #attempt(task: () => Promise<void>): Promise<void> {
		try {
			await task();
		} catch (error) {
			toast(messageOf(error));
		}
	}
}

function read(key: string): string | null {
	try {
		return sessionStorage.getItem(key);
	} catch {
		return null;
	}
}

function write(key: string, value: string | null): void {
	try {
		if (value === null)
			sessionStorage.removeItem(key);
		else
			sessionStorage.setItem(key, value);
	} catch {
		// Without storage a reload loses the lease id; the lease then expires.
	}
}
