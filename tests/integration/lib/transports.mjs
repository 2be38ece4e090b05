// Requests by HTTP/1.1, the control socket and /rpc, as any principal; they return {status, code, text}. Requests without
// valid credentials come from ever new addresses, to stay below the limit of wrong tokens. Credentials are a token, or the
// headers of a login.
import https from 'node:https';
import { newWebSocketRpcSession } from 'capnweb';
import WebSocket from 'ws';
import { ControlClient } from './control.mjs';
import { within } from './until.mjs';

// capnweb needs the constants of the global one.
globalThis.WebSocket ??= WebSocket;

const EACH = 8; // wrong tokens per address
let addresses = 0;
const address = () => {
	addresses += 1;
	return `127.77.${(addresses >> 8) & 255}.${addresses & 255}`;
};

function answer(status, text) {
	let json;
	try {
		json = JSON.parse(text);
	} catch {
		// not JSON
	}
	// The bridge uses another code.
	return { status, text, json, code: json?.code === 'unauthorized' ? 'UNAUTHENTICATED' : json?.code };
}

const credentials = (known) => (typeof known === 'object' ? known : known ? { authorization: `Bearer ${known}` } : {});
const bodyHeaders = (payload) => (payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) });
const handshake = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };

/** HTTP/1.1 on persistent connections, each up to a number of wrong tokens. */
export class Http1 {
	constructor(server) {
		this.server = server;
		this.wrong = 0;
		server.clients.add({ terminate: () => this.close() });
	}

	connection() {
		if (this.wrong >= EACH) this.close();
		this.agent ??= new https.Agent({ keepAlive: true, maxSockets: 1, localAddress: address(), ca: this.server.ca });
		return this.agent;
	}

	async ask(token, { method, path, body, headers = {}, stream, socket }) {
		const payload = body === undefined ? undefined : JSON.stringify(body);
		const got = await within(`a response to ${method} ${path}`, new Promise((resolve, reject) => {
			const request = https.request({
				host: '127.0.0.1', port: this.server.port, agent: this.connection(), method, path,
				headers: { ...credentials(token), ...bodyHeaders(payload), ...(socket ? handshake : {}), ...headers },
			}, (response) => {
				let text = '';
				const end = () => resolve(answer(response.statusCode, text));
				response.setEncoding('utf8').on('data', (piece) => {
					text += piece;
					if (!stream || response.statusCode !== 200) return;
					end();
					request.destroy(); // and the stream with it
				}).on('end', end).on('error', reject);
			});
			request.on('upgrade', (response, socket_) => {
				socket_.destroy();
				resolve(answer(response.statusCode, ''));
			});
			request.on('error', reject);
			request.end(payload);
		}));
		if (got.status === 401) this.wrong += 1;
		return got;
	}

	close() {
		this.agent?.destroy();
		this.agent = undefined;
		this.wrong = 0;
	}
}

/** The same over a control socket; the response to a refused handshake stands for every response. */
export class Frames {
	static async open(server, token, path = '/ws') {
		const control = new ControlClient(server, { path, token: null, headers: credentials(token) });
		const refused = await control.connect().then(() => undefined, (error) => error);
		if (refused && !refused.status) throw refused;
		return Object.assign(new Frames(), { control, refused: refused && answer(refused.status, refused.text) });
	}

	async ask({ method, path, body, headers, stream }) {
		const { control, refused } = this;
		if (refused) return refused;
		const id = control.ask(method, path, body, headers);
		const frame = await control.until(`a response to ${method} ${path}`, (each) => each.id === id && (each.type !== 'stream' || (stream && each.data)));
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

const statuses = { UNAUTHENTICATED: 401, ACCESS_ENDED: 401, PERMISSION_DENIED: 403, READ_ONLY: 403 };

/** Methods over /rpc; the response to a refused handshake stands for every response. */
export class Calls {
	static async open(server, token, { path = '/rpc' } = {}) {
		const socket = new WebSocket(`${server.base.replace(/^http/, 'ws')}${path}`, { ca: server.ca, localAddress: address(), headers: credentials(token) });
		server.clients.add({ terminate: () => socket.terminate() });
		const refused = await within('the response to the handshake', new Promise((resolve, reject) => {
			socket.on('open', () => resolve(undefined)).on('error', reject).on('unexpected-response', (_, response) => {
				let text = '';
				response.setEncoding('utf8').on('data', (piece) => { text += piece; }).on('end', () => resolve(answer(response.statusCode, text)));
			});
		}));
		const main = refused ? undefined : newWebSocketRpcSession(socket);
		return Object.assign(new Calls(), { socket, refused, main });
	}

	async ask(method, args) {
		if (this.refused) return this.refused;
		const [space, name] = method.split('.');
		try {
			const value = await within(`a response to ${method}`, Promise.resolve(this.main[space][name](...args)));
			return { status: 200, text: typeof value === 'object' ? JSON.stringify(value) : `${typeof value}` };
		} catch (error) {
			return { status: statuses[error.code] ?? 400, code: error.code, text: error.message };
		}
	}

	close() {
		this.socket.terminate();
	}
}
