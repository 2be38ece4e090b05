import type { Api } from './api';
import { httpUrl } from './place';
import type { Session } from './wire';

const RETRY_MS = 5000;

/**
 * The list of sessions, live. Only while the tab can be seen: over HTTP/1.1 a browser has six
 * connections to a server for all its tabs, and six hidden tabs would starve the seventh.
 */
export class SessionEvents {
	#api: Api;
	#changed: (sessions: readonly Session[]) => void;
	#refused: () => void;
	#source: EventSource | null = null;
	#retry: number | undefined;
	#stopped = false;

	/** refused: the server does not want us (any more), or is away; asked again in 5 s. */
	constructor(api: Api, changed: (sessions: readonly Session[]) => void, refused: () => void) {
		this.#api = api;
		this.#changed = changed;
		this.#refused = refused;
		document.addEventListener('visibilitychange', () => this.#follow());
		this.#follow();
	}

	stop(): void {
		this.#stopped = true;
		this.#close();
	}

	#follow(): void {
		if (this.#stopped)
			return;
		if (document.visibilityState === 'hidden')
			this.#close();
		else if (this.#source === null)
			this.#open();
	}

	#open(): void {
		const source = new EventSource(httpUrl('api/session/events', this.#api.query()));
		this.#source = source;
		source.onmessage = (event: MessageEvent<string>) => {
			const message = JSON.parse(event.data) as { type: string; sessions: Session[] };
			if (message.type === 'sessions')
				this.#changed(message.sessions);
		};
		source.onerror = () => {
			// A lost stream reconnects by itself; one that was refused does not.
			if (source.readyState !== EventSource.CLOSED)
				return;
			this.#close();
			this.#retry = window.setTimeout(() => this.#follow(), RETRY_MS);
			this.#refused();
		};
	}

	#close(): void {
		window.clearTimeout(this.#retry);
		this.#source?.close();
		this.#source = null;
	}
}
