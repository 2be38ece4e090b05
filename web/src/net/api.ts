/* The HTTP API of the server, one method for each route. Every failure is an ApiError. */
import type { Block } from '../blocks/block';
import { httpUrl, socketUrl } from './address';
import { browserClock } from './clock';
import { Mux } from './mux';
import { complete } from './session_updates';
import type { Activity, FileFacts, Role, Session, Size, SizePolicy } from './wire';

const TIMEOUT_MS = 30_000; // until a request is answered; the body of the reply may take longer
const OUTPUT_MAX = 8 * 1024 * 1024; // bytes of a command's output in one reply, as on the server

export class ApiError extends Error {
	/** status: HTTP status, or 0 if there was no reply. */
	constructor(readonly status: number, readonly code: string, message: string) {
		super(message);
	}
}

/** The prompt that a link for one secret answers. */
export interface Prompt {
	readonly sessionName: string | null;
	readonly block: NonNullable<Activity['block']> | null;
}

/** The login of this page. */
export interface Identity {
	readonly role: Role;
	readonly sessionId: string | null; // the only session of a share link
	readonly link: string | null;
	readonly name: string | null; // the name that a share link was given
	readonly expiresAt: string | null;
	readonly authRequired?: boolean;
	/** Set if the login is a link for one secret, which allows nothing else. */
	readonly answers?: Prompt | null;
}

export interface ShareLink {
	readonly id: string;
	readonly role: 'viewer' | 'driver';
	readonly name: string | null;
	readonly createdAt: string;
	readonly expiresAt: string;
}

/** Addresses of a port preview; host and url are null if the server has no preview domain. */
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
	/** Id of the share link of this page; it selects the cookie. */
	link: string | null = null;
	/** All sockets of this page. */
	readonly mux = new Mux(() => new WebSocket(socketUrl('ws/mux', this.query())), browserClock);

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
		return (await this.#call<{ sessions: Session[] }>('GET', 'api/session/list')).sessions.map(complete);
	}

	async session(id: string): Promise<Session> {
		return (await this.#call<{ data: Session }>('GET', sessionPath(id))).data;
	}

	/**
	 * A link token for one answer to the password prompt of this command (null: unknown command). Returns null if the command
	 * is not at such a prompt or another client is answering it.
	 */
	async humanLink(id: string, block: string | null): Promise<string | null> {
		const { state } = await this.#call<{ state: { humanUrl?: string; block?: string | null } }>('GET', `${sessionPath(id)}/state`);
		return (state.block ?? null) === block ? state.humanUrl?.split('#link=')[1] ?? null : null;
	}

	/** Lease the keyboard. take: when to take over an existing lease; renew: id of the lease to extend. */
	acquireLease(id: string, terms: { owner: string; ttlMs: number; take?: 'now' | 'after'; renew?: string }):
		Promise<{ lease: { id: string } }> {
		return this.#call('POST', `${sessionPath(id)}/lease`, terms);
	}

	/** End the lease of the keyboard. lease: only if it has this id. */
	async endLease(id: string, lease: string | null, note: string): Promise<void> {
		await this.#call('DELETE', `${sessionPath(id)}/lease`, undefined,
			{ ...(lease === null ? {} : { id: lease }), ...(note === '' ? {} : { note }) });
	}

	/** Create a session. An exited session with the same id is replaced. */
	async create(session: NewSession): Promise<Session> {
		return (await this.#call<{ data: Session }>('POST', 'api/session/create', session)).data;
	}

	/** Get the session with this id, and create it if it does not exist. */
	async open(session: NewSession & { readonly id: string }): Promise<Session> {
		return (await this.#call<{ data: Session }>('POST', 'api/session/open', session)).data;
	}

	async rename(id: string, name: string): Promise<void> {
		await this.#call('POST', `${sessionPath(id)}/rename`, { name });
	}

	async resize(id: string, size: Size): Promise<void> {
		await this.#call('POST', `${sessionPath(id)}/resize`, { cols: size.cols, rows: size.rows });
	}

	/** size: for the policy "fixed"; default: the current size. */
	async setSizePolicy(id: string, policy: SizePolicy, size?: Size): Promise<void> {
		await this.#call('POST', `${sessionPath(id)}/size`, { policy, ...size });
	}

	/** The newest commands of the session, at most 1000, oldest first. after: only those that start at this offset or later. */
	async blocks(id: string, limit = 1000, after: number | null = null): Promise<readonly Block[]> {
		return (await this.#call<{ blocks: Block[] }>('GET', `${sessionPath(id)}/blocks`, undefined,
			{ limit: String(limit), ...(after === null ? {} : { after: String(after) }) })).blocks;
	}

	/** The output of a command as a terminal shows it. omitted: bytes cut off at the end; lost: bytes no longer available. */
	async blockOutput(id: string, block: string): Promise<{ text: string; omitted: number; lost: number }> {
		const path = `${sessionPath(id)}/blocks/${encodeURIComponent(block)}/output`;
		const response = await this.#fetch('GET', path, undefined, { head: String(OUTPUT_MAX) });
		if (!response.ok)
			throw await errorOf(response);
		const count = (name: string) => Number(response.headers.get(name) ?? 0);
		return { text: await response.text(), omitted: count('Ringside-Omitted'), lost: count('Ringside-Lost') };
	}

	/** The directory of the session's shell, if it is known. */
	async directory(id: string): Promise<unknown> {
		return (await this.#call<{ state: { cwd?: unknown } }>('GET', `${sessionPath(id)}/state`)).state.cwd;
	}

	async fileExists(sessionId: string, path: string): Promise<boolean> {
		return (await this.#call<{ exists: boolean }>('POST', 'api/exists', { path, sessionId })).exists;
	}

	/** Facts about each path, null if it does not exist. At most 256 paths: absolute, relative to the shell, or below `~/`. */
	async stat(sessionId: string, paths: readonly string[]): Promise<readonly (FileFacts | null)[]> {
		return (await this.#call<{ entries: (FileFacts | null)[] }>('POST', 'api/stat', { paths, sessionId })).entries;
	}

	/** The address of a file, which browsers download. */
	fileUrl(sessionId: string, path: string): string {
		return httpUrl(filePath(path), { ...this.query(), sessionId });
	}

	/** force: forget the session of a node that is away. */
	async remove(id: string, force = false): Promise<void> {
		await this.#call('POST', 'api/session/delete', { sessionId: id, force });
	}

	async links(id: string): Promise<readonly ShareLink[]> {
		return (await this.#call<{ links: ShareLink[] }>('GET', `${sessionPath(id)}/links`)).links;
	}

	/** Create a share link. path: "/#link=…", which contains the secret and is returned only once. */
	createLink(id: string, link: { role: ShareLink['role']; expiresInMs: number; name?: string }):
		Promise<{ link: ShareLink; path: string }> {
		return this.#call('POST', `${sessionPath(id)}/links`, link);
	}

	/** Create a preview address for a port. It is valid as long as the session exists. */
	exposePort(port: number, sessionId: string): Promise<Preview> {
		return this.#call('POST', 'api/expose-port', { port, sessionId });
	}

	async revokeLink(id: string, linkId: string): Promise<void> {
		await this.#call('DELETE', `${sessionPath(id)}/links/${encodeURIComponent(linkId)}`);
	}

	/** The output from one offset to another. An ApiError with status 416: the server does not keep all of it any more. */
	async output(id: string, from: number, to: number): Promise<Uint8Array> {
		const all = new Uint8Array(Math.max(0, to - from));
		let at = from;
		for (let length = -1; at < to && length !== 0; at += length) {
			const response = await this.#fetch('GET', `${sessionPath(id)}/output`, undefined, { from: String(at), to: String(to) });
			if (!response.ok)
				throw await errorOf(response);
			const piece = new Uint8Array(await response.arrayBuffer()).subarray(0, to - at);
			all.set(piece, at - from);
			({ length } = piece);
		}
		return all.subarray(0, at - from);
	}

	/** Query parameters that every request of a share link's page needs. */
	query(): Record<string, string> {
		return this.link === null ? {} : { link: this.link };
	}

	async #call<T>(method: string, path: string, body?: object, query?: Record<string, string>): Promise<T> {
		const response = await this.#fetch(method, path, body, query);
		if (!response.ok)
			throw await errorOf(response);
		const answer: unknown = await response.json().catch(() => null);
		if (answer === null)
			throw new ApiError(response.status, 'UNKNOWN_ERROR', 'The server sent an invalid reply.');
		return answer as T;
	}

	async #fetch(method: string, path: string, body?: object, query?: Record<string, string>): Promise<Response> {
		const late = new AbortController();
		const timer = browserClock.setTimeout(() => late.abort(), TIMEOUT_MS);
		const init: RequestInit = { method, credentials: 'same-origin', cache: 'no-store', signal: late.signal };
		if (body !== undefined) {
			init.body = JSON.stringify(body);
			init.headers = { 'Content-Type': 'application/json' };
		}
		try {
			return await fetch(httpUrl(path, { ...this.query(), ...query }), init);
		} catch {
			throw new ApiError(0, 'UNREACHABLE', late.signal.aborted ? 'The server does not answer.' : 'The server cannot be reached.');
		} finally {
			browserClock.clearTimeout(timer);
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

/** The path of a file's route. */
export function filePath(path: string): string {
	return `api/file/${path.split('/').map(encodeURIComponent).join('/')}`;
}

export function isStatus(error: unknown, status: number): boolean {
	return error instanceof ApiError && error.status === status;
}

/** Whether the same request may succeed later. */
export function isTransient(error: unknown): boolean {
	return error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);
}

export function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
