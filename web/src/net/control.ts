/*
 * The control socket: any number of requests on one WebSocket, which reconnects when it is lost. Pending requests then fail
 * with status 0, and the caller may repeat them. No DOM, so that unit tests cover it.
 */
import { backoffDelay } from './backoff';
import type { Clock } from './clock';
import type { Socket } from './connection';
import { Heartbeat } from './heartbeat';
import { CLOSE_ACCESS_ENDED } from './wire';

const CONNECT_TIMEOUT_MS = 10_000;

/** status: HTTP status, or 0 if the connection was lost before the reply. */
export interface Reply {
	readonly status: number;
	readonly body: unknown;
	readonly message: string; // of an error, otherwise ''
}

export interface ControlOptions {
	open(): Socket;
	readonly clock: Clock;
	random(): number;
	/** The socket has been opened, or was lost and all pending requests have failed. */
	changed(open: boolean): void;
	/** The access of this page has ended. */
	ended(): void;
}

interface Frame {
	readonly type?: unknown;
	readonly id?: unknown;
	readonly status?: unknown;
	readonly body?: unknown;
	readonly message?: unknown;
}

export class Control {
	#options: ControlOptions;
	#socket: Socket | null = null;
	#open = false;
	#stopped = true;
	#attempt = 0;
	#timer: unknown = null;
	#next = 0;
	#pending = new Map<string, (answer: Reply) => void>();
	#heartbeat: Heartbeat;

	constructor(options: ControlOptions) {
		this.#options = options;
		this.#heartbeat = new Heartbeat(options.clock, {
			ping: () => void this.request('GET', '/api/ping', null, () => undefined),
			latency: () => undefined,
			dead: () => this.#lost(),
			silence: () => undefined,
		});
	}

	get open(): boolean {
		return this.#open;
	}

	start(): void {
		if (!this.#stopped)
			return;
		this.#stopped = false;
		this.#attempt = 0;
		this.#connect();
	}

	stop(): void {
		this.#stopped = true;
		this.#closeSocket();
	}

	/** The network may work again: retry now, or check the connection now. */
	nudge(): void {
		if (this.#open)
			this.#heartbeat.pingNow();
		else if (!this.#stopped && this.#socket === null) {
			this.#attempt = 0;
			this.#connect();
		}
	}

	/** Returns an id for cancel(), or null if there is no connection. Then `done` is never called. */
	request(method: string, path: string, body: object | null, done: (answer: Reply) => void): string | null {
		if (!this.#open || this.#socket === null)
			return null;
		const id = String(++this.#next);
		this.#pending.set(id, done);
		this.#socket.send(JSON.stringify({ type: 'request', id, method, path, ...(body === null ? {} : { body }) }));
		return id;
	}

	/** Cancel a request. Its `done` is not called. */
	cancel(id: string): void {
		if (this.#pending.delete(id))
			this.#socket?.send(JSON.stringify({ type: 'cancel', id }));
	}

	#connect(): void {
		this.#options.clock.clearTimeout(this.#timer);
		const socket = this.#socket = this.#options.open();
		socket.onopen = () => {
			this.#options.clock.clearTimeout(this.#timer);
			this.#open = true;
			this.#attempt = 0;
			this.#heartbeat.start();
			this.#options.changed(true);
		};
		socket.onmessage = ({ data }) => {
			this.#heartbeat.received();
			if (typeof data === 'string')
				this.#onMessage(data);
		};
		socket.onclose = ({ code }) => {
			this.#lost();
			if (code === CLOSE_ACCESS_ENDED)
				this.#options.ended();
		};
		this.#timer = this.#options.clock.setTimeout(() => this.#lost(), CONNECT_TIMEOUT_MS);
	}

	#onMessage(text: string): void {
		let frame: Frame;
		try {
			frame = JSON.parse(text) as Frame;
		} catch {
			return;
		}
		if ((frame.type !== 'response' && frame.type !== 'error') || typeof frame.id !== 'string')
			return;
		const done = this.#pending.get(frame.id);
		this.#pending.delete(frame.id);
		const message = frame.type === 'error' ? frame.message : (frame.body as { message?: unknown } | null | undefined)?.message;
		const status = typeof frame.status === 'number' ? frame.status : 0;
		done?.({ status, body: frame.body ?? null, message: status === 200 ? '' : typeof message === 'string' ? message : `The server answered with status ${status}.` });
	}

	#lost(): void {
		const { clock, random } = this.#options;
		this.#closeSocket();
		this.#timer = clock.setTimeout(() => this.#connect(), backoffDelay(this.#attempt++, random()));
	}

	#closeSocket(): void {
		this.#options.clock.clearTimeout(this.#timer);
		this.#heartbeat.stop();
		if (this.#socket !== null) {
			this.#socket.onopen = null;
			this.#socket.onmessage = null;
			this.#socket.onclose = null;
			this.#socket.close();
			this.#socket = null;
		}
		const pending = [...this.#pending.values()];
		this.#pending.clear();
		const wasOpen = this.#open;
		this.#open = false;
		for (const done of pending)
			done({ status: 0, body: null, message: 'The server cannot be reached.' });
		if (wasOpen)
			this.#options.changed(false);
	}
}
