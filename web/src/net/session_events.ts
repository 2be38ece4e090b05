import type { Api } from './api';
import { browserClock } from './clock';
import { applySessionEvent, type SessionEvent } from './session_updates';
import { Stream } from './stream';
import type { Session } from './wire';

/** The list of sessions, live. */
export class SessionEvents {
	#sessions: readonly Session[] = [];
	#stream: Stream;

	/** refused: the stream has ended or was refused, or the server cannot be reached. It is tried again. */
	constructor(api: Api, changed: (sessions: readonly Session[]) => void, refused: () => void) {
		this.#stream = new Stream({
			open: () => api.mux.open('/ws'), clock: browserClock, path: '/api/session/events?activity=1', refused,
			event: (event) => {
				const sessions = applySessionEvent(this.#sessions, event as SessionEvent);
				if (sessions === this.#sessions)
					return;
				this.#sessions = sessions;
				changed(sessions);
			},
		});
	}

	stop(): void {
		this.#stream.stop();
	}
}
