/* The server's HTTP interface, one method a route. Every failure is an ApiError. */
import { httpUrl } from './place';
import type { Role, Session, Size, SizePolicy } from './wire';

export class ApiError extends Error {
	/** status: of HTTP, or 0 if there was no answer at all. */
	constructor(readonly status: number, readonly code: string, message: string) {
		super(message);
	}
}

/** Who the server takes this page for. */
export interface Identity {
	readonly role: Role;
	readonly sessionId: string | null; // of a share link: its only session
	readonly link: string | null;
	readonly expiresAt: string | null;
	readonly authRequired?: boolean;
}

export interface ShareLink {
	readonly id: string;
	readonly role: 'viewer' | 'driver';
	readonly name: string | null;
	readonly createdAt: string;
	readonly expiresAt: string;
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

	/** Whoever has leased its keyboard has it no longer. */
	async endLease(id: string): Promise<void> {
		await this.#call('DELETE', `${sessionPath(id)}/lease`);
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

	async revokeLink(id: string, linkId: string): Promise<void> {
		await this.#call('DELETE', `${sessionPath(id)}/links/${encodeURIComponent(linkId)}`);
	}

	/** Every request of a link's page names the link. */
	query(): Record<string, string> {
		return this.link === null ? {} : { link: this.link };
	}

	async #call<T>(method: string, path: string, body?: object): Promise<T> {
		const init: RequestInit = { method, credentials: 'same-origin', cache: 'no-store' };
		if (body !== undefined) {
			init.body = JSON.stringify(body);
			init.headers = { 'Content-Type': 'application/json' };
		}
		let response: Response;
		try {
			response = await fetch(httpUrl(path, this.query()), init);
		} catch {
			throw new ApiError(0, 'UNREACHABLE', 'The server cannot be reached.');
		}
		const answer: unknown = await response.json().catch(() => null);
		if (response.ok && answer !== null)
			return answer as T;
		const error = (answer ?? {}) as { code?: string; message?: string };
		throw new ApiError(response.status, error.code ?? 'UNKNOWN_ERROR',
			error.message ?? `The server answered with status ${response.status}.`);
	}
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
