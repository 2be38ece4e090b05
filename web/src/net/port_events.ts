import type { Api } from './api';
import { browserClock } from './clock';
import { Stream } from './stream';

/** A port that a program of the session listens on. */
export interface Port {
	readonly port: number;
	readonly process?: string;
	readonly previewable: boolean;
}

/** The ports that programs of the session listen on, live. */
export class PortEvents {
	#stream: Stream;

	constructor(api: Api, sessionId: string, changed: (ports: readonly Port[]) => void) {
		this.#stream = new Stream({
			open: () => api.mux.open('/ws'), clock: browserClock,
			path: `/api/ports/events?${new URLSearchParams({ sessionId })}`,
			event: (event) => {
				const { type, ports } = event as { type: string; ports: Port[] };
				if (type === 'ports')
					changed(ports);
			},
			refused: (lost) => {
				if (!lost) // otherwise dismissed offers would come back
					changed([]);
			},
		});
	}

	stop(): void {
		this.#stream.stop();
	}
}
