// A client of the terminal socket that counts bytes and reconnects.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import net from 'node:net';
import WebSocket from 'ws';
import { until, within } from './until.mjs';

/** A handshake that got an HTTP status. */
export class Refused extends Error {
	constructor(status, text) {
		super(`the handshake was refused: ${status} ${text}`);
		this.status = status;
		this.text = text;
		try {
			this.json = JSON.parse(text);
		} catch {
			// may be text
		}
	}
}

/**
 * One client over any number of connections. It keeps:
 *   offset     the next byte it expects (from `sync` on it counts binary bytes)
 *   log        every message and every run of bytes, in order
 *   chunks     the bytes since the last break, which begin at `since`
 *   gaps       [{from, to, skipped}]: gaps of the stream
 *   snapshots  each snapshot's message, and its bytes
 * `mux`: a channel of this multiplex socket (mux.mjs) is used instead of a WebSocket. `sink(bytes, offset)` takes the bytes instead of `chunks`; `keepLog` false keeps messages only.
 * Events: message, snapshot (its message and its bytes), sync, bytes (of the stream), reset, closed.
 */
export class TerminalClient extends EventEmitter {
	constructor({ server, sessionId, sink, keepLog = true, mux, ...query }) {
		super();
		this.server = server;
		this.mux = mux;
		this.sessionId = sessionId;
		this.sink = sink;
		this.keepLog = keepLog;
		const { token, headers, origin, cols, rows, name, link, path, agent, scrollback, lag, client, typed, person, blocks } = query;
		this.query = { cols, rows, name, link, scrollback, lag, client, typed, person, blocks };
		this.token = token;
		this.headers = headers;
		this.origin = origin;
		this.path = path;
		this.agent = agent;
		this.epoch = undefined;
		this.offset = undefined;
		this.since = undefined;
		this.chunks = [];
		this.held = 0;
		this.log = [];
		this.messages = [];
		this.gaps = [];
		this.received = 0;
		this.connections = 0;
		this.ready = false;
		this.snapshots = [];
		this.snapshot = undefined; // the incoming one
		this.unsynced = undefined; // the one whose sync is still to come
		this.socket = undefined;
		this.closed = undefined;
	}

	get url() {
		const query = new URLSearchParams({ sessionId: this.sessionId });
		for (const [key, value] of Object.entries(this.query)) {
			if (value !== undefined) query.set(key, String(value));
		}
		if (this.asked) {
			query.set('epoch', this.asked.epoch);
			query.set('offset', String(this.asked.offset));
		}
		return `${this.server.base.replace(/^http/, 'ws')}${this.path ?? '/ws/pty'}?${query}`;
	}

	/**
	 * Connect; after the first time, or with `resume`, with (epoch, offset). history: the first time from the session's first
	 * byte, instead of a snapshot.
	 */
	async connect({ resume = true, history = false, waitReady = true } = {}) {
		assert.ok(!this.socket, 'it is connected');
		this.asked = undefined;
		if (history && this.epoch === undefined) {
			this.asked = { epoch: (await this.server.api.get(this.sessionId)).epoch, offset: 0 };
		} else if (resume && typeof resume === 'object') this.asked = resume;
		else if (resume && this.epoch !== undefined) this.asked = { epoch: this.epoch, offset: this.offset };
		const token = this.token === undefined ? this.server.token : this.token;
		const socket = this.mux ? this.mux.open(this.url.replace(/^.*?(?=\/ws\/)/, '')) : new WebSocket(this.url, {
			perMessageDeflate: false,
			autoPong: !this.mute,
			origin: this.origin,
			ca: this.server.ca,
			headers: { ...(token ? { Authorization: `Bearer ${token}` } : {}), ...this.headers },
		});
		this.socket = socket;
		this.current = socket;
		this.closed = undefined;
		this.ready = false;
		this.begun = false;
		this.snapshot = undefined;
		this.unsynced = undefined;
		this.connections += 1;
		socket.on('message', (data, binary) => {
			if (this.socket !== socket) return;
			try {
				if (binary) this.#bytes(data);
				else this.#message(JSON.parse(data.toString('utf8')));
			} catch (error) {
				this.failure ??= error;
				socket.terminate();
			}
		});
		socket.on('close', (code, reason) => {
			if (this.current !== socket) return;
			this.socket = undefined;
			this.closed = { code, reason: reason.toString('utf8') };
			this.emit('closed', this.closed);
		});
		const opened = new Promise((resolve, reject) => {
			socket.on('open', resolve);
			socket.on('error', reject);
			socket.on('unexpected-response', (_, response) => {
				let text = '';
				response.setEncoding('utf8').on('data', (piece) => { text += piece; });
				const refuse = () => {
					socket.removeAllListeners('close');
					this.socket = undefined;
					reject(new Refused(response.statusCode, text));
					socket.on('error', () => {});
					socket.terminate();
				};
				response.on('end', refuse).on('error', refuse);
			});
		});
		try {
			await within(`the response to the handshake of ${this.sessionId}`, opened);
			if (waitReady) await this.untilReady();
		} catch (error) {
			socket.on('error', () => {});
			socket.terminate();
			if (this.socket === socket) this.socket = undefined;
			throw this.failure ?? error;
		}
		return this;
	}

	untilReady() {
		return until(() => `"ready" for ${this.sessionId} (closed: ${JSON.stringify(this.closed)})`, () => {
			this.check();
			if (this.closed) {
				throw Object.assign(new Error(`closed with ${this.closed.code} before ready`),
					{ final: true, closed: this.closed });
			}
			return this.ready;
		}, { interval: 3 });
	}

	/** Throw the failure that occurred while receiving, if any. */
	check() {
		if (this.failure) throw Object.assign(this.failure, { final: true });
	}

	#message(message) {
		this.messages.push(message);
		this.log.push({ ...message, at: this.offset });
		if (message.type === 'attached') {
			this.attached = message;
			if (this.epoch !== undefined && this.epoch !== message.epoch) this.offset = undefined;
			this.epoch = message.epoch;
		} else if (message.type === 'snapshot') {
			assert.ok(!this.snapshot, 'a snapshot inside a snapshot');
			this.snapshot = { ...message, chunks: [], left: message.bytes };
			this.begun = false;
		} else if (message.type === 'sync') {
			assert.ok(!this.snapshot, 'the snapshot is shorter than announced');
			const { skipped = this.unsynced?.skipped } = message;
			if (this.unsynced) {
				const { offset, cols, rows } = this.unsynced;
				assert.deepEqual([message.offset, message.cols, message.rows], [offset, cols, rows],
					'the sync after a snapshot has other values');
			}
			this.unsynced = undefined;
			if (this.offset !== undefined && message.offset !== this.offset) {
				this.gaps.push({ from: this.offset, to: message.offset, skipped, chunks: this.chunks });
			}
			if (message.offset !== this.offset) {
				this.chunks = [];
				this.held = 0;
				this.since = message.offset;
				this.emit('reset', message.offset);
			}
			this.offset = message.offset;
			this.begun = true;
		} else if (message.type === 'ready') {
			this.ready = true;
		} else if (message.type === 'exit') {
			this.exit = message;
		}
		this.emit('message', message);
	}

	/** A snapshot is complete: its sync follows, or a newer snapshot. */
	#endSnapshot() {
		const { chunks, left, ...header } = this.snapshot;
		this.snapshot = undefined;
		this.unsynced = { ...header, data: Buffer.concat(chunks), took: performance.now() };
		this.snapshots.push(this.unsynced);
		this.emit('snapshot', this.unsynced);
	}

	#bytes(data) {
		if (this.snapshot) {
			assert.ok(data.length <= this.snapshot.left, 'a snapshot is longer than announced');
			this.snapshot.left -= data.length;
			this.snapshot.chunks.push(data);
			this.received += data.length;
			this.emit('piece', data);
			if (this.snapshot.left === 0) this.#endSnapshot();
			return;
		}
		assert.ok(this.begun, 'bytes before the first sync');
		const last = this.log[this.log.length - 1];
		if (this.keepLog && last?.type === 'bytes') last.length += data.length;
		else if (this.keepLog) this.log.push({ type: 'bytes', offset: this.offset, length: data.length });
		const { offset } = this;
		this.offset += data.length;
		this.received += data.length;
		if (this.sink) {
			this.sink(data, offset);
		} else {
			this.chunks.push(data);
			this.held += data.length;
		}
		this.emit('bytes', data, offset);
	}

	/** The bytes since the last break. */
	get bytes() {
		if (this.chunks.length > 1) this.chunks = [Buffer.concat(this.chunks)];
		return this.chunks[0] ?? Buffer.alloc(0);
	}

	get text() {
		return this.bytes.toString('utf8');
	}

	type(data) {
		this.socket.send(Buffer.from(data));
	}

	control(message) {
		this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
	}

	/** Stop reading from the socket; the kernel's buffers fill, then the server's. */
	stall() {
		this.socket.pause();
	}

	unstall() {
		this.socket.resume();
	}

	async untilText(pattern, options) {
		return until(() => `${pattern} at ${this.sessionId}, which shows ${JSON.stringify(this.text.slice(-2000))}`,
			() => {
				this.check();
				return typeof pattern === 'string' ? this.text.includes(pattern) : pattern.exec(this.text);
			}, options);
	}

	async untilOffset(offset, options) {
		return until(() => `offset ${offset} at ${this.sessionId}: it is at ${this.offset}`, () => {
			this.check();
			return this.offset >= offset;
		}, options);
	}

	/** Wait for the first message (from index `from` on) that fits. */
	async untilMessage(type, fits = () => true, { from = 0, ...options } = {}) {
		return until(() => `message "${type}" at ${this.sessionId}; there were ${JSON.stringify(this.messages.slice(from))}`,
			() => {
				this.check();
				return this.messages.slice(from).find((each) => each.type === type && fits(each));
			}, options);
	}

	async untilClosed(options) {
		return until(() => `the close of ${this.sessionId}`, () => this.closed, options);
	}

	/** Close; epoch and offset are kept for the next connect. */
	async close(code = 1000) {
		if (!this.socket) return;
		this.socket.resume();
		this.socket.close(code);
		await this.untilClosed();
	}

	terminate() {
		this.stopped = true;
		if (!this.socket) return;
		this.socket.on('error', () => {});
		this.socket.terminate();
		this.socket = undefined;
	}

	/** Stay connected until `terminate`, across any number of server deaths. A refusal with 404 ends it: the session is gone. */
	async follow() {
		this.stopped = false;
		while (!this.stopped) {
			try {
				await this.connect({ waitReady: false });
			} catch (error) {
				if (this.stopped) break;
				this.check();
				if (error instanceof Refused && error.status !== 429 && error.status < 500) throw error;
				await new Promise((resolve) => setTimeout(resolve, 5));
				continue;
			}
			await new Promise((resolve) => {
				if (this.closed) resolve();
				else this.once('closed', resolve);
			});
			this.check();
		}
	}
}

/** A client for the raw protocol: sends a handshake (or any bytes) and keeps the received bytes. */
export class RawClient {
	constructor(server, { port = server.port, host = '127.0.0.1' } = {}) {
		this.data = Buffer.alloc(0);
		this.closed = false;
		this.server = server;
		this.socket = net.connect(port, host);
		this.socket.on('data', (chunk) => {
			this.data = this.data.length < 1 << 24 ? Buffer.concat([this.data, chunk]) : this.data;
		});
		this.socket.on('error', (error) => { this.error = error; });
		this.socket.on('close', () => { this.closed = true; });
		server.clients?.add(this);
	}

	connected() {
		return until('the connection', () => this.closed || this.socket.readyState === 'open', { interval: 2 });
	}

	send(data) {
		if (!this.socket.destroyed) this.socket.write(data);
		return this;
	}

	get text() {
		return this.data.toString('latin1');
	}

	/** The status of the first response; 0 if the connection was closed without one. */
	async status() {
		await until(() => `answer; there came ${JSON.stringify(this.text.slice(0, 200))}`,
			() => this.closed || this.text.includes('\r\n'));
		return Number(/^HTTP\/1\.[01] (\d+)/.exec(this.text)?.[1] ?? 0);
	}

	untilClosed(options) {
		return until(() => `close by the server; there came ${JSON.stringify(this.text.slice(0, 200))}`,
			() => this.closed, options);
	}

	/** Send a WebSocket handshake. */
	upgrade(path, headers = {}) {
		const lines = Object.entries({
			Host: this.server.host,
			Upgrade: 'websocket',
			Connection: 'Upgrade',
			'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
			'Sec-WebSocket-Version': '13',
			...(this.server.token ? { Authorization: `Bearer ${this.server.token}` } : {}),
			...headers,
		}).filter(([, value]) => value !== undefined).map(([key, value]) => `${key}: ${value}\r\n`);
		return this.send(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
	}

	/** The frames after the response: [{opcode, payload}]. */
	frames() {
		const end = this.data.indexOf('\r\n\r\n');
		const found = [];
		for (let at = end + 4; end >= 0 && at + 2 <= this.data.length;) {
			const opcode = this.data[at] & 15;
			let length = this.data[at + 1] & 127;
			let head = 2;
			if (length === 126) {
				if (at + 4 > this.data.length) break;
				length = this.data.readUInt16BE(at + 2);
				head = 4;
			} else if (length === 127) {
				if (at + 10 > this.data.length) break;
				length = Number(this.data.readBigUInt64BE(at + 2));
				head = 10;
			}
			if (at + head + length > this.data.length) break;
			found.push({ opcode, payload: this.data.subarray(at + head, at + head + length) });
			at += head + length;
		}
		return found;
	}

	closeCode() {
		const frame = this.frames().find(({ opcode }) => opcode === 8);
		return frame && frame.payload.length >= 2 ? frame.payload.readUInt16BE(0) : undefined;
	}

	terminate() {
		this.socket.destroy();
	}
}

/** A WebSocket frame; every field may be invalid. */
export function frame({
	opcode = 1, payload = Buffer.alloc(0), fin = true, reserved = 0, masked = true, length,
} = {}) {
	const body = Buffer.from(payload);
	const announced = length ?? body.length;
	const first = (fin ? 0x80 : 0) | (reserved << 4) | opcode;
	const bit = masked ? 0x80 : 0;
	let head;
	if (announced < 126) {
		head = Buffer.from([first, bit | announced]);
	} else if (announced < 65_536) {
		head = Buffer.alloc(4);
		head[0] = first;
		head[1] = bit | 126;
		head.writeUInt16BE(announced, 2);
	} else {
		head = Buffer.alloc(10);
		head[0] = first;
		head[1] = bit | 127;
		head.writeBigUInt64BE(BigInt(announced), 2);
	}
	if (!masked) return Buffer.concat([head, body]);
	const mask = randomBytes(4);
	return Buffer.concat([head, mask, Buffer.from(body.map((byte, at) => byte ^ mask[at % 4]))]);
}

/** A sink that hashes: {hash, length, push}. */
export function hashing() {
	const hash = createHash('sha256');
	const sink = { length: 0, push: undefined, digest: () => hash.copy().digest('hex') };
	sink.push = (bytes) => {
		hash.update(bytes);
		sink.length += bytes.length;
	};
	return sink;
}

export const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
