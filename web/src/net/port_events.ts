import type { Api } from './api';
import { httpUrl } from './address';

const RETRY_MS = 5000;

/** A port that a program of the session listens on. */
export interface Port {
	readonly port: number;
	readonly process?: string;
	readonly previewable: boolean;
}

/** The ports that programs of the session listen on, live. Connected only while the tab is visible, see SessionEvents. */
export class PortEvents {
	#url: string;
	#changed: (ports: readonly Port[]) => void;
	#source: EventSource | null = null;
	#retry: number | undefined;
	#follow = () => {
		if (document.visibilityState === 'hidden')
			this.#close();
		else if (this.#source === null)
			this.#open();
	};

	constructor(api: Api, sessionId: string, changed: (ports: readonly Port[]) => void) {
		this.#url = httpUrl('api/ports/events', { ...api.query(), sessionId });
		this.#changed = changed;
		document.addEventListener('visibilitychange', this.#follow);
		this.#follow();
	}

	stop(): void {
		document.removeEventListener('visibilitychange', this.#follow);
		this.#close();
	}

	#open(): void {
		const source = new EventSource(this.#url);
		this.#source = source;
		source.onmessage = (event: MessageEvent<string>) => {
			const message = JSON.parse(event.data) as { type: string; ports: Port[] };
			if (message.type === 'ports')
				this.#changed(message.ports);
		};
		source.onerror = () => {
			// A lost stream reconnects by itself, a refused one does not. The session may have ended.
			if (source.readyState !== EventSource.CLOSED)
				return;
			this.#close();
			this.#changed([]);
			this.#retry = window.setTimeout(this.#follow, RETRY_MS);
		};
	}

	#close(): void {
		window.clearTimeout(this.#retry);
		this.#source?.close();
		this.#source = null;
	}
}
