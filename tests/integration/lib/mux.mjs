// The multiplex socket: many terminals and control sockets on one WebSocket.
import { EventEmitter } from 'node:events';
import WebSocket from 'ws';
import { Refused } from './client.mjs';

const HEAD = 8;
const kinds = { binary: 0, text: 1, textPart: 2 };

export function muxFrame(kind, channel, payload) {
	const head = Buffer.alloc(HEAD);
	head.writeUInt32BE(kind * 2 ** 24 + channel, 0);
	head.writeUInt32BE(payload.length, 4);
	return Buffer.concat([head, payload]);
}

/** One channel, with the interface of a WebSocket of the package ws. */
class Channel extends EventEmitter {
	#mux;
	#texts = [];

	constructor(mux, number) {
		super();
		this.#mux = mux;
		this.number = number;
		this.readyState = WebSocket.CONNECTING;
	}

	get bufferedAmount() {
		return this.#mux.socket.bufferedAmount;
	}

	send(data) {
		const binary = typeof data !== 'string';
		this.#mux.socket.send(muxFrame(binary ? kinds.binary : kinds.text, this.number, Buffer.from(data)));
	}

	close() {
		this.#mux.control({ type: 'close', channel: this.number });
		this.end(1000, '');
	}

	terminate() {
		this.close();
	}

	/** All channels wait: they share a connection. */
	pause() {
		this.#mux.socket.pause();
	}

	resume() {
		this.#mux.socket.resume();
	}

	frame(kind, payload) {
		if (kind === kinds.binary) {
			this.emit('message', payload, true);
			return;
		}
		this.#texts.push(payload);
		if (kind === kinds.text) this.emit('message', Buffer.concat(this.#texts.splice(0)), false);
	}

	end(code, reason) {
		if (!this.#mux.channels.delete(this.number)) return;
		this.readyState = WebSocket.CLOSED;
		this.emit('close', code, Buffer.from(reason));
	}
}

export class Mux {
	channels = new Map();
	messages = [];
	#next = 0;

	constructor(server, { token = server.token, headers } = {}) {
		this.socket = new WebSocket(`${server.base.replace(/^http/, 'ws')}/ws/mux`, {
			perMessageDeflate: false, ca: server.ca, headers: { ...(token ? { Authorization: `Bearer ${token}` } : {}), ...headers },
		});
		server.clients.add({ terminate: () => this.socket.terminate() });
		this.socket.on('message', (data, binary) => (binary ? this.#frame(data) : this.#message(JSON.parse(data))));
		this.closed = new Promise((resolve) => {
			this.socket.on('close', (code, reason) => {
				for (const channel of this.channels.values()) channel.end(code, reason);
				resolve({ code, reason: String(reason) });
			});
		});
	}

	/** Resolves when it is open; rejects with Refused. */
	async connect() {
		await new Promise((resolve, reject) => {
			this.socket.on('open', resolve).on('error', reject);
			this.socket.on('unexpected-response', (_, response) => reject(new Refused(response.statusCode, '')));
		});
		return this;
	}

	control(message) {
		this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
	}

	open(path, number = ++this.#next) {
		const channel = new Channel(this, number);
		this.channels.set(number, channel);
		this.control({ type: 'open', channel: number, path });
		return channel;
	}

	#message(message) {
		this.messages.push(message);
		const channel = this.channels.get(message.channel);
		if (message.type === 'opened' && channel) {
			channel.readyState = WebSocket.OPEN;
			channel.emit('open');
		} else if (message.type === 'refused' && channel) {
			channel.emit('error', new Refused(message.status, JSON.stringify(message)));
			channel.end(1006, '');
		} else if (message.type === 'closed') {
			channel?.end(message.code, message.reason);
		}
	}

	#frame(data) {
		const [kind, number, length] = [data[0], data.readUInt32BE(0) & 0xffffff, data.readUInt32BE(4)];
		if (data.length !== HEAD + length) throw new Error(`a frame of ${data.length} bytes has ${length} as its length`);
		this.channels.get(number)?.frame(kind, data.subarray(HEAD));
	}
}
