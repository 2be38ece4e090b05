/*
 * All sockets of this page on one WebSocket: each channel is a socket to a terminal or for requests. See "The multiplex socket"
 * in ws/README.md. When the WebSocket is lost, all channels close; the next one to be opened connects again. No DOM, so that
 * unit tests cover it.
 */
import type { Clock } from './clock';
import type { Socket } from './connection';
import { Heartbeat } from './heartbeat';

const HEAD = 8; // bytes: kind 1, channel 3, length of the payload 4
const BINARY = 0;
const TEXT = 1;
const TEXT_PART = 2;
const CONNECT_TIMEOUT_MS = 10_000;
const LOST = 1006; // the close code of a connection that was lost

interface Message {
	readonly type?: unknown;
	readonly channel?: unknown;
	readonly code?: unknown;
	readonly t?: unknown;
}

class Channel implements Socket {
	binaryType = 'arraybuffer';
	onmessage: Socket['onmessage'] = null;
	onopen: Socket['onopen'] = null;
	onclose: Socket['onclose'] = null;
	readonly path: string;
	readonly number: number;
	#mux: Mux;
	#decoder = new TextDecoder();
	#text = '';

	constructor(mux: Mux, number: number, path: string) {
		this.#mux = mux;
		this.number = number;
		this.path = path;
	}

	send(data: string | Uint8Array<ArrayBuffer>): void {
		this.#mux.send(this.number, data);
	}

	close(): void {
		this.#mux.close(this.number);
	}

	/** A frame has come. */
	take(kind: number, payload: Uint8Array<ArrayBuffer>): void {
		if (kind === BINARY) {
			this.onmessage?.({ data: payload.slice().buffer } as MessageEvent);
			return;
		}
		this.#text += this.#decoder.decode(payload, { stream: kind === TEXT_PART });
		if (kind === TEXT) {
			const data = this.#text;
			this.#text = '';
			this.onmessage?.({ data } as MessageEvent);
		}
	}
}

export class Mux {
	#connect: () => Socket;
	#clock: Clock;
	#socket: Socket | null = null;
	#isOpen = false;
	#timer: unknown = null; // connect timeout
	#channels = new Map<number, Channel>();
	#last = 0; // number of the last channel
	#heartbeat: Heartbeat;

	constructor(connect: () => Socket, clock: Clock) {
		this.#connect = connect;
		this.#clock = clock;
		this.#heartbeat = new Heartbeat(clock, {
			ping: (t) => this.#sendMessage({ type: 'ping', t }),
			latency: () => undefined,
			dead: () => this.#lost(LOST),
			silence: () => undefined,
		});
	}

	/** Open a channel. path: of the socket that it replaces, with its query. */
	open(path: string): Socket {
		const channel = new Channel(this, ++this.#last, path);
		this.#channels.set(channel.number, channel);
		if (this.#socket === null)
			this.#open();
		else if (this.#isOpen)
			this.#request(channel);
		return channel;
	}

	/** The network may have changed: check the connection now. */
	nudge(): void {
		this.#heartbeat.pingNow();
	}

	send(number: number, data: string | Uint8Array<ArrayBuffer>): void {
		if (!this.#isOpen || !this.#channels.has(number))
			return;
		const payload = typeof data === 'string' ? new TextEncoder().encode(data) : data;
		const frame = new Uint8Array(HEAD + payload.length);
		const head = new DataView(frame.buffer);
		head.setUint32(0, (typeof data === 'string' ? TEXT : BINARY) * 2 ** 24 + number);
		head.setUint32(4, payload.length);
		frame.set(payload, HEAD);
		this.#socket?.send(frame);
	}

	close(number: number): void {
		if (this.#channels.delete(number) && this.#isOpen)
			this.#sendMessage({ type: 'close', channel: number });
	}

	#open(): void {
		const socket = this.#socket = this.#connect();
		socket.binaryType = 'arraybuffer';
		socket.onopen = () => {
			this.#clock.clearTimeout(this.#timer);
			this.#isOpen = true;
			this.#heartbeat.start();
			for (const channel of this.#channels.values())
				this.#request(channel);
		};
		socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
			this.#heartbeat.received();
			if (typeof data === 'string')
				this.#onMessage(JSON.parse(data) as Message);
			else
				this.#onFrame(data);
		};
		socket.onclose = ({ code }) => this.#lost(code);
		this.#timer = this.#clock.setTimeout(() => this.#lost(LOST), CONNECT_TIMEOUT_MS);
	}

	#request({ number, path }: Channel): void {
		this.#sendMessage({ type: 'open', channel: number, path });
	}

	#sendMessage(message: object): void {
		this.#socket?.send(JSON.stringify(message));
	}

	#onMessage({ type, channel: number, code, t }: Message): void {
		const channel = this.#channels.get(number as number);
		if (type === 'opened')
			channel?.onopen?.({} as Event);
		else if (type === 'closed' || type === 'refused')
			this.#end(channel, type === 'closed' && typeof code === 'number' ? code : LOST);
		else if (type === 'pong')
			this.#heartbeat.pong(t);
	}

	#onFrame(data: ArrayBuffer): void {
		const head = new DataView(data);
		const first = head.getUint32(0);
		this.#channels.get(first & 0xffffff)?.take(first >>> 24, new Uint8Array(data, HEAD));
	}

	#end(channel: Channel | undefined, code: number): void {
		if (channel !== undefined && this.#channels.delete(channel.number))
			channel.onclose?.({ code } as CloseEvent);
	}

	/** The WebSocket is closed, or taken as dead. */
	#lost(code: number): void {
		this.#clock.clearTimeout(this.#timer);
		this.#heartbeat.stop();
		this.#isOpen = false;
		if (this.#socket !== null) {
			this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
			this.#socket.close();
			this.#socket = null;
		}
		for (const channel of [...this.#channels.values()])
			this.#end(channel, code);
	}
}
