// A client of the control socket (/ws).
import WebSocket from 'ws';
import { Refused } from './client.mjs';
import { until, within } from './until.mjs';

/** Frames by request: `frames` has all, `of(id)` those of one. */
export class ControlClient {
	constructor(server, { path = '/ws', token = server.token, base = server.base, headers = {}, origin, mute = false, mux } = {}) {
		Object.assign(this, { server, path, token, base, headers, origin, mute, mux });
		this.frames = [];
		this.closed = undefined;
		this.count = 0;
		server.clients.add(this);
	}

	async connect() {
		const socket = this.mux ? this.mux.open(this.path) : new WebSocket(`${this.base.replace(/^http/, 'ws')}${this.path}`, {
			perMessageDeflate: false,
			autoPong: !this.mute,
			origin: this.origin,
			ca: this.server.ca,
			headers: { ...(this.token ? { Authorization: `Bearer ${this.token}` } : {}), ...this.headers },
		});
		this.socket = socket;
		socket.on('message', (data, binary) => {
			if (binary) throw new Error('a binary frame');
			this.frames.push(JSON.parse(data.toString('utf8')));
		});
		socket.on('close', (code, reason) => { this.closed = { code, reason: reason.toString('utf8') }; });
		await within('the response to the handshake', new Promise((resolve, reject) => {
			socket.on('open', resolve);
			socket.on('error', reject);
			socket.on('unexpected-response', (_, response) => {
				let text = '';
				response.setEncoding('utf8').on('data', (piece) => { text += piece; });
				const refuse = () => reject(new Refused(response.statusCode, text));
				response.on('end', refuse).on('error', refuse);
			});
		}));
		socket.on('error', () => {});
		return this;
	}

	send(message) {
		this.socket.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message));
	}

	/** Send a request; returns its id. */
	ask(method, path, body, headers) {
		this.count += 1;
		const id = `r${this.count}`;
		this.send({ type: 'request', id, method, path, body, headers });
		return id;
	}

	cancel(id) {
		this.send({ type: 'cancel', id });
	}

	of(id) {
		return this.frames.filter((frame) => frame.id === id);
	}

	until(what, fits, options) {
		return until(() => `${what}; there came ${JSON.stringify(this.frames).slice(0, 2000)} and ${JSON.stringify(this.closed)}`,
			() => this.frames.find(fits), options);
	}

	/** The last frame of a request: its response or an error. */
	end(id, options) {
		return this.until(`the end of ${id}`, (frame) => frame.id === id && frame.type !== 'stream', options);
	}

	async request(method, path, body, headers) {
		return this.end(this.ask(method, path, body, headers));
	}

	/** The nth event of a stream. */
	event(id, n = 0) {
		return until(`event ${n} of ${id}`, () => this.of(id).filter((frame) => frame.type === 'stream' && frame.data)[n])
			.then((frame) => JSON.parse(frame.data));
	}

	untilClosed(options) {
		return until('close by the server', () => this.closed, options);
	}

	async close() {
		this.socket.close();
		await this.untilClosed();
	}

	terminate() {
		this.socket?.on('error', () => {});
		this.socket?.terminate();
	}
}

/** A value of /metrics. */
export async function metric(server, name) {
	const { text } = await server.api.raw('GET', '/metrics');
	return Number(new RegExp(`^ringside_${name} (\\d+)$`, 'm').exec(text)[1]);
}

/** Break a busy connection in one of several ways: stop reading, wait for a frame, close properly. */
export async function breakOff(control, way) {
	if (way % 3 === 0) control.socket.pause();
	else if (way % 4) await control.until('frame', () => true);
	if (way % 2) control.terminate();
	else control.socket.close();
	if (way % 3 === 0) control.terminate();
}

export const untilMetric = (server, name, value, options) => until(`${name} of ${value}`,
	async () => await metric(server, name) === value, options);
