/*
 * A stream of the server's events, over a channel of the page's socket. It begins again when it was lost or has ended. No DOM, so
 * that unit tests cover it.
 */
import type { Clock } from './clock';
import type { Socket } from './connection';

const RETRY_MS = 2000;
const REFUSED_MS = 5000;

export interface StreamOptions {
	/** Open a socket for requests. */
	open(): Socket;
	readonly clock: Clock;
	/** Of the events, with its query. */
	readonly path: string;
	event(data: unknown): void;
	/** The stream has ended, was refused, or cannot be reached. It is tried again. */
	refused(): void;
}

interface Frame {
	readonly type?: unknown;
	readonly data?: unknown;
}

export class Stream {
	#options: StreamOptions;
	#socket: Socket | null = null;
	#timer: unknown = null;

	constructor(options: StreamOptions) {
		this.#options = options;
		this.#connect();
	}

	stop(): void {
		this.#options.clock.clearTimeout(this.#timer);
		this.#closeSocket();
	}

	#connect(): void {
		const socket = this.#socket = this.#options.open();
		socket.onopen = () => socket.send(JSON.stringify({ type: 'request', id: '1', method: 'GET', path: this.#options.path }));
		socket.onmessage = ({ data }: MessageEvent<string>) => this.#onFrame(JSON.parse(data) as Frame);
		socket.onclose = () => this.#ended(RETRY_MS);
	}

	#onFrame({ type, data }: Frame): void {
		if (type !== 'stream')
			this.#ended(REFUSED_MS);
		else if (typeof data === 'string' && data !== '') // otherwise it is a sign of life
			this.#options.event(JSON.parse(data));
	}

	#ended(retry: number): void {
		this.#closeSocket();
		this.#timer = this.#options.clock.setTimeout(() => this.#connect(), retry);
		this.#options.refused();
	}

	#closeSocket(): void {
		if (this.#socket === null)
			return;
		this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
		this.#socket.close();
		this.#socket = null;
	}
}
