/* The server's HTTP interface, one method a route. Every failure is an ApiError. */
import type { Block } from '../blocks/block';
import { httpUrl } from './place';
import type { Activity, Role, Session, Size, SizePolicy } from './wire';

/** Bytes of a command's output at once: the server's limit. */
const OUTPUT_MAX = 8 * 1024 * 1024;

export class ApiError extends Error {
	/** status: of HTTP, or 0 if there was no answer at all. */
	constructor(readonly status: number, readonly code: string, message: string) {
		super(message);
	}
}

/** What a link to type a secret is for. */
export interface Prompt {
	readonly sessionName: string | null;
	readonly block: NonNullable<Activity['block']> | null;
}

/** Who the server takes this page for. */
export interface Identity {
	readonly role: Role;
	readonly sessionId: string | null; // of a share link: its only session
	readonly link: string | null;
	readonly name: string | null; // of a share link: for whom it was made
	readonly expiresAt: string | null;
	readonly authRequired?: boolean;
	/** Of a link to type a secret, which is good for nothing else. */
	readonly answers?: Prompt | null;
}

export interface ShareLink {
	readonly id: string;
	readonly role: 'viewer' | 'driver';
	readonly name: string | null;
	readonly createdAt: string;
	readonly expiresAt: string;
}

/** Where a port is reached; null: the server has no domain for that. */
export interface Preview {
	readonly host: string | null;
	readonly url: string | null;
	readonly path: string;
}

export interface NewSession extends Partial<Size> {
	readonly id?: string;
	readonly name?: string;
	readonly cwd?: string;
	readonly shell?: string;
}

export class Api {
	/** The share link this page came with: an id that selects its cookie. */
	link: string | null = null;

	login(credential: string): Promise<Identity> {
		return this.#call('POST', 'api/auth/login', { token: credential });
	}

	whoami(): Promise<Identity> {
		return this.#call('GET', 'api/auth/whoami');
	}

	async logout(): Promise<void> {
		await this.#call('POST', 'api/auth/logout', {});
	}

	async sessions(): Promise<readonly Session[]> {
		return (await this.#call<{ sessions: Session[] }>('GET', 'api/session/list')).sessions;
	}

	async session(id: string): Promise<Session> {
		return (await this.#call<{ data: Session }>('GET', sessionPath(id))).data;
	}

	/**
	 * What opens the session for one answer to the password that this command (null: none that is known) waits for; null:
	 * it waits for none, or it is open already.
	 */
	async humanLink(id: string, block: string | null): Promise<string | null> {
		const { state } = await this.#call<{ state: { humanUrl?: string; block?: string | null } }>('GET', `${sessionPath(id)}/state`);
		return (state.block ?? null) === block ? state.humanUrl?.split('#link=')[1] ?? null : null;
	}

	/** The keyboard for this page alone. take: what becomes of another's; renew: the id of one that goes on. */
	takeLease(id: string, terms: { owner: string; ttlMs: number; take?: 'now' | 'after'; renew?: string }):
		Promise<{ lease: { id: string } }> {
		return this.#call('POST', `${sessionPath(id)}/lease`, terms);
	}

	/** Whoever has leased its keyboard has it no longer; lease: only of that id. */
	async endLease(id: string, lease: string | null, note: string): Promise<void> {
		await this.#call('DELETE', `${sessionPath(id)}/lease`, undefined,
			{ ...(lease === null ? {} : { id: lease }), ...(note === '' ? {} : { note }) });
	}

	/** A new one; one of that id that has ended is replaced. */
	async create(session: NewSession): Promise<Session> {
		return (await this.#call<{ data: Session }>('POST', 'api/session/create', session)).data;
	}

	/** The one of that id, made if there is none. */
	async open(session: NewSession & { readonly id: string }): Promise<Session> {
		return (await this.#call<{ data: Session }>('POST', 'api/session/open', session)).data;
	}

	async rename(id: string, name: string): Promise<void> {
		await this.#call('POST', `${sessionPath(id)}/rename`, { name });
	}

	async resize(id: string, size: Size): Promise<void> {
		await this.#call('POST', `${sessionPath(id)}/resize`, { cols: size.cols, rows: size.rows });
	}

	/** size: of the fixed size; the present one without. */
	async setSizePolicy(id: string, policy: SizePolicy, size?: Size): Promise<void> {
		await this.#call('POST', `${sessionPath(id)}/size`, { policy, ...size });
	}

	/** The newest of its commands, the newest last; at most 1000. after: only those that begin there or later. */
	async blocks(id: string, limit = 1000, after: number | null = null): Promise<readonly Block[]> {
		return (await this.#call<{ blocks: Block[] }>('GET', `${sessionPath(id)}/blocks`, undefined,
			{ limit: String(limit), ...(after === null ? {} : { after: String(after) }) })).blocks;
	}

	/** What a command has printed, as a terminal shows it. omitted: bytes of its end, of which there were too many; lost: that are gone. */
	async blockOutput(id: string, block: string): Promise<{ text: string; omitted: number; lost: number }> {
		const path = `${sessionPath(id)}/blocks/${encodeURIComponent(block)}/output`;
		const response = await this.#fetch('GET', path, undefined, { head: String(OUTPUT_MAX) });
		if (!response.ok)
			throw await errorOf(response);
		const count = (name: string) => Number(response.headers.get(name) ?? 0);
		return { text: await response.text(), omitted: count('Ringside-Omitted'), lost: count('Ringside-Lost') };
	}

	/** Where its shell is, as far as that is known. */
	async directory(id: string): Promise<unknown> {
		return (await this.#call<{ state: { cwd?: unknown } }>('GET', `${sessionPath(id)}/state`)).state.cwd;
	}

	/** Whether the session has something at the path. */
	async fileExists(sessionId: string, path: string): Promise<boolean> {
		return (await this.#call<{ exists: boolean }>('POST', 'api/exists', { path, sessionId })).exists;
	}

	async remove(id: string): Promise<void> {
		await this.#call('POST', 'api/session/delete', { sessionId: id });
	}

	async links(id: string): Promise<readonly ShareLink[]> {
		return (await this.#call<{ links: ShareLink[] }>('GET', `${sessionPath(id)}/links`)).links;
	}

	/** path: "/#link=…", the secret itself. It is shown once. */
	createLink(id: string, link: { role: ShareLink['role']; expiresInMs: number; name?: string }):
		Promise<{ link: ShareLink; path: string }> {
		return this.#call('POST', `${sessionPath(id)}/links`, link);
	}

	/** An address for a port; it ends with the session. */
	exposePort(port: number, sessionId: string): Promise<Preview> {
		return this.#call('POST', 'api/expose-port', { port, sessionId });
	}

	async revokeLink(id: string, linkId: string): Promise<void> {
		await this.#call('DELETE', `${sessionPath(id)}/links/${encodeURIComponent(linkId)}`);
	}

	/** Every request of a link's page names the link. */
	query(): Record<string, string> {
		return this.link === null ? {} : { link: this.link };
	}

	async #call<T>(method: string, path: string, body?: object, query?: Record<string, string>): Promise<T> {
		const response = await this.#fetch(method, path, body, query);
		if (!response.ok)
			throw await errorOf(response);
		const answer: unknown = await response.json().catch(() => null);
		if (answer === null)
			throw new ApiError(response.status, 'UNKNOWN_ERROR', 'The server’s answer makes no sense.');
		return answer as T;
	}

	async #fetch(method: string, path: string, body?: object, query?: Record<string, string>): Promise<Response> {
		const init: RequestInit = { method, credentials: 'same-origin', cache: 'no-store' };
		if (body !== undefined) {
			init.body = JSON.stringify(body);
			init.headers = { 'Content-Type': 'application/json' };
		}
		try {
			return await fetch(httpUrl(path, { ...this.query(), ...query }), init);
		} catch {
			throw new ApiError(0, 'UNREACHABLE', 'The server cannot be reached.');
		}
	}
}

async function errorOf(response: Response): Promise<ApiError> {
	const error = (await response.json().catch(() => null) ?? {}) as { code?: string; message?: string };
	return new ApiError(response.status, error.code ?? 'UNKNOWN_ERROR',
		error.message ?? `The server answered with status ${response.status}.`);
}

function sessionPath(id: string): string {
	return `api/session/${encodeURIComponent(id)}`;
}

export function isStatus(error: unknown, status: number): boolean {
	return error instanceof ApiError && error.status === status;
}

export function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
