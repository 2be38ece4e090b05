import type { Api } from './api';
import { httpUrl } from './address';
import { applySessionEvent, type SessionEvent } from './session_updates';
import type { Session } from './wire';

const RETRY_MS = 5000;
const POLL_MS = 10_000; // while the tab is hidden; browsers delay it to a minute

/**
 * The list of sessions, live while the tab is visible. A hidden tab polls instead: browsers allow six HTTP/1.1 connections
 * to a server for all tabs, so six hidden tabs would block the seventh.
 */
export class SessionEvents {
	#api: Api;
	#changed: (sessions: readonly Session[]) => void;
	#refused: () => void;
	#source: EventSource | null = null;
	#retry: number | undefined;
	#sessions: readonly Session[] = [];
	#stopped = new AbortController();

	/** refused: the server refused the stream or cannot be reached. It is retried after 5 s. */
	constructor(api: Api, changed: (sessions: readonly Session[]) => void, refused: () => void) {
		this.#api = api;
		this.#changed = changed;
		this.#refused = refused;
		document.addEventListener('visibilitychange', () => this.#follow(), { signal: this.#stopped.signal });
		this.#follow();
	}

	stop(): void {
		this.#stopped.abort();
		this.#close();
	}

	#follow(): void {
		if (this.#stopped.signal.aborted)
			return;
		if (document.visibilityState === 'hidden') {
			this.#close();
			this.#pollLater();
		} else if (this.#source === null) {
			this.#close();
			this.#open();
		}
	}

	#pollLater(): void {
		this.#retry = window.setTimeout(() => void this.#poll(), POLL_MS);
	}

	async #poll(): Promise<void> {
		const mine = this.#retry;
		const sessions = await this.#api.sessions().catch(() => null);
		if (mine !== this.#retry)
			return; // the tab is visible again, or stop() was called
		if (sessions !== null)
			this.#apply({ type: 'sessions', sessions });
		this.#pollLater();
	}

	#apply(event: SessionEvent): void {
		const sessions = applySessionEvent(this.#sessions, event);
		if (sessions === this.#sessions)
			return;
		this.#sessions = sessions;
		this.#changed(sessions);
	}

	#open(): void {
		const source = new EventSource(httpUrl('api/session/events', { ...this.#api.query(), activity: '1' }));
		this.#source = source;
		source.onmessage = (event: MessageEvent<string>) => this.#apply(JSON.parse(event.data) as SessionEvent);
		source.onerror = () => {
			// A lost stream reconnects by itself, a refused one does not.
			if (source.readyState !== EventSource.CLOSED)
				return;
			this.#close();
			this.#retry = window.setTimeout(() => this.#follow(), RETRY_MS);
			this.#refused();
		};
	}

	#close(): void {
		window.clearTimeout(this.#retry);
		this.#retry = undefined;
		this.#source?.close();
		this.#source = null;
	}
}
