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
	/** The stream has ended or was refused, or is lost: the server cannot be reached. It is tried again. */
	refused(lost: boolean): void;
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
		socket.onclose = () => this.#ended(true);
	}

	#onFrame({ type, data }: Frame): void {
		if (type !== 'stream')
			this.#ended(false);
		else if (typeof data === 'string' && data !== '') // otherwise it is a sign of life
			this.#options.event(JSON.parse(data));
	}

	#ended(lost: boolean): void {
		this.#closeSocket();
		this.#timer = this.#options.clock.setTimeout(() => this.#connect(), lost ? RETRY_MS : REFUSED_MS);
		this.#options.refused(lost);
	}

	#closeSocket(): void {
		if (this.#socket === null)
			return;
		this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
		this.#socket.close();
		this.#socket = null;
	}
}
