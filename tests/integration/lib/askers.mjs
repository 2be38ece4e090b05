// Asking by HTTP/1.1, HTTP/2 and the control socket, as anybody: {status, code, text}. Those who are refused come from
// ever other addresses, so that none of them runs into the limits of guessing.
import http2 from 'node:http2';
import https from 'node:https';
import { ControlClient } from './control.mjs';
import { within } from './until.mjs';

const EACH = 4; // requests of an address
let asked = 0;
const address = () => {
	const number = Math.floor((asked += 1) / EACH);
	return `127.77.${(number >> 8) & 255}.${number & 255}`;
};

function answer(status, text) {
	let json;
	try {
		json = JSON.parse(text);
	} catch {
		// no JSON
	}
	return { status, text, json, code: json?.code };
}

const bearer = (token) => (token ? { authorization: `Bearer ${token}` } : {});
const bodyHeaders = (payload) => (payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) });
const handshake = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };

/** One request, on a connection of its own. */
export function http1(server, token, { method, path, body, headers = {}, stream, socket }) {
	const payload = body === undefined ? undefined : JSON.stringify(body);
	return within(`answer to ${method} ${path}`, new Promise((resolve, reject) => {
		const request = https.request({
			host: '127.0.0.1', port: server.port, ca: server.ca, agent: false, localAddress: address(), method, path,
			headers: { ...bearer(token), ...bodyHeaders(payload), ...(socket ? handshake : {}), ...headers },
		}, (response) => {
			let text = '';
			const end = () => {
				request.destroy();
				resolve(answer(response.statusCode, text));
			};
			response.setEncoding('utf8').on('data', (piece) => {
				text += piece;
				if (stream && response.statusCode === 200) end();
			}).on('end', end).on('error', reject);
		});
		request.on('upgrade', (response, socket_) => {
			socket_.destroy();
			resolve(answer(response.statusCode, ''));
		});
		request.on('error', reject);
		request.end(payload);
	}));
}

/** The same by HTTP/2; a connection carries a few requests, one after the other. */
export class Http2 {
	constructor(server) {
		this.server = server;
		this.count = 0;
		server.clients.add({ terminate: () => this.close() });
	}

	connection() {
		if (!this.session || this.session.destroyed || (this.count += 1) > EACH) {
			this.close();
			this.count = 1;
			this.session = http2.connect(this.server.base, { ca: this.server.ca, localAddress: `127.78.${asked >> 8 & 255}.${(asked += 1) & 255}` });
			this.session.on('error', () => {});
		}
		return this.session;
	}

	ask(token, { method, path, body, headers = {}, stream: events }) {
		const payload = body === undefined ? undefined : JSON.stringify(body);
		const session = this.connection();
		return within(`answer to ${method} ${path} by HTTP/2`, new Promise((resolve, reject) => {
			const stream = session.request({ ':method': method, ':path': path, ...bearer(token), ...bodyHeaders(payload), ...headers }, { endStream: payload === undefined });
			let status;
			let text = '';
			stream.on('response', (head) => { status = head[':status']; });
			stream.setEncoding('utf8').on('data', (piece) => {
				text += piece;
				if (!events || status !== 200) return;
				resolve(answer(status, text));
				this.close(); // and with it the stream
			}).on('end', () => resolve(answer(status, text))).on('error', reject).on('close', () => reject(new Error(`no answer to ${method} ${path}`)));
			if (payload !== undefined) stream.end(payload);
		}));
	}

	close() {
		this.session?.destroy();
		this.session = undefined;
	}
}

/** The same by a control socket; of one that is refused, its answer stands for that to every request. */
export class Frames {
	static async open(server, token) {
		const control = new ControlClient(server, { token: token ?? null });
		const refused = await control.connect().then(() => undefined, (error) => error);
		if (refused && !refused.status) throw refused;
		return Object.assign(new Frames(), { control, refused: refused && answer(refused.status, refused.text) });
	}

	async ask({ method, path, body, headers, stream }) {
		const { control, refused } = this;
		if (refused) return refused;
		const id = control.ask(method, path, body, headers);
		const frame = await control.until(`answer to ${method} ${path}`, (each) => each.id === id && (each.type !== 'stream' || (stream && each.data)));
		if (frame.type === 'stream') {
			control.cancel(id);
			return answer(200, frame.data);
		}
		const text = typeof frame.body === 'string' ? frame.body : JSON.stringify(frame.body ?? '');
		return frame.type === 'error' ? { status: frame.status, code: frame.code, text: JSON.stringify(frame) } : answer(frame.status, text);
	}

	close() {
		this.control.terminate();
	}
}
