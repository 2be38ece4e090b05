// A client of the HTTP API. It opens a connection per request unless an agent is given, so that no pool keeps a connection to
// a killed server.
import assert from 'node:assert/strict';
import http from 'node:http';
import https from 'node:https';
import { within } from './until.mjs';

/** Send a request; resolves with {status, headers, body (Buffer), text, json}. */
export function request(base, {
	method = 'GET', path = '/', headers = {}, body, socketPath, ca, agent = false, timeout = 20_000,
} = {}) {
	const url = new URL(base);
	const secure = url.protocol === 'https:';
	const payload = body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
		? body : JSON.stringify(body);
	const answer = new Promise((resolve, reject) => {
		const outgoing = (secure ? https : http).request({
			host: url.hostname.replace(/^\[|\]$/g, ''),
			port: url.port,
			socketPath,
			method,
			path,
			ca,
			agent,
			headers: {
				...(payload === undefined ? {} : {
					'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(payload),
				}),
				...headers,
			},
		}, (incoming) => {
			const chunks = [];
			incoming.on('data', (chunk) => chunks.push(chunk));
			incoming.on('error', reject);
			incoming.on('end', () => {
				const whole = Buffer.concat(chunks);
				const text = whole.toString('utf8');
				let json;
				try {
					json = JSON.parse(text);
				} catch {
					// not every response is JSON
				}
				resolve({
					status: incoming.statusCode, headers: incoming.headers, body: whole, text, json,
				});
			});
		});
		outgoing.on('error', reject);
		outgoing.end(payload);
	});
	return within(`a response to ${method} ${path}`, answer, timeout);
}

/** Call body with an agent that keeps one connection to this address meanwhile. */
export async function keeping(base, body) {
	const agent = new (base.startsWith('https:') ? https : http).Agent({ keepAlive: true, maxSockets: 1 });
	try {
		return await body(agent);
	} finally {
		agent.destroy();
	}
}

export class Api {
	/** where(): the base URL at each call, as a restarted server may have another. */
	constructor(where, { token, headers = {}, socketPath, ca } = {}) {
		this.where = typeof where === 'function' ? where : () => where;
		this.token = token;
		this.headers = headers;
		this.socketPath = socketPath;
		this.ca = ca;
	}

	/** The same server with another token (null: none). */
	as(token, headers = {}) {
		return new Api(this.where, { token, headers, socketPath: this.socketPath, ca: this.ca });
	}

	raw(method, path, body, { headers = {}, ...options } = {}) {
		const token = typeof this.token === 'function' ? this.token() : this.token;
		return request(this.where(), {
			method,
			path,
			body,
			socketPath: this.socketPath,
			ca: this.ca,
			headers: {
				...(token ? { Authorization: `Bearer ${token}` } : {}),
				...this.headers,
				...headers,
			},
			...options,
		});
	}

	/** A request that must succeed; returns its JSON. */
	async call(method, path, body, options) {
		const answer = await this.raw(method, path, body, options);
		assert.equal(answer.status, 200, `${method} ${path}: ${answer.status} ${answer.text}`);
		assert.ok(answer.json, `${method} ${path}: no JSON: ${answer.text}`);
		assert.equal(answer.json.success, true, `${method} ${path}: ${answer.text}`);
		return answer.json;
	}

	/** A request that must fail with this status (and code); returns the error. */
	async refused(status, code, method, path, body, options) {
		const answer = await this.raw(method, path, body, options);
		assertError(answer, status, code, `${method} ${path}`);
		return answer.json;
	}

	create(fields = {}) {
		return this.call('POST', '/api/session/create', fields).then((json) => json.data);
	}

	open(fields) {
		return this.call('POST', '/api/session/open', fields);
	}

	get(id) {
		return this.call('GET', `/api/session/${id}`).then((json) => json.data);
	}

	list() {
		return this.call('GET', '/api/session/list');
	}

	delete(id) {
		return this.call('POST', '/api/session/delete', { sessionId: id });
	}

	input(id, data) {
		const body = typeof data === 'string' ? { data } : { base64: data.toString('base64') };
		return this.call('POST', `/api/session/${id}/input`, body);
	}

	resize(id, cols, rows) {
		return this.call('POST', `/api/session/${id}/resize`, { cols, rows });
	}

	signal(id, signal, target) {
		return this.call('POST', `/api/session/${id}/signal`, { signal, target });
	}

	link(id, role, expiresInMs) {
		return this.call('POST', `/api/session/${id}/links`, { role, expiresInMs });
	}

	/** A piece of the output: at most 1 MiB. */
	async outputPiece(id, from, to) {
		const query = to === undefined ? `from=${from}` : `from=${from}&to=${to}`;
		const answer = await this.raw('GET', `/api/session/${id}/output?${query}`);
		assert.equal(answer.status, 200, `output?${query}: ${answer.status} ${answer.text}`);
		const piece = {
			bytes: answer.body,
			from: Number(answer.headers['ringside-from']),
			to: Number(answer.headers['ringside-to']),
			head: Number(answer.headers['ringside-head']),
			oldest: Number(answer.headers['ringside-oldest']),
			type: answer.headers['content-type'],
		};
		assert.equal(piece.to - piece.from, piece.bytes.length, `output?${query}: length`);
		return piece;
	}

	/** All output from `from` on, up to the head or `to`. */
	async output(id, from = 0, to = Infinity) {
		const pieces = [];
		let at = from;
		while (at < to) {
			const piece = await this.outputPiece(id, at, Number.isFinite(to) ? to : undefined);
			assert.equal(piece.from, at);
			pieces.push(piece.bytes);
			if (piece.bytes.length === 0) break;
			at = piece.to;
		}
		return Buffer.concat(pieces);
	}

	async text(id, from = 0) {
		return (await this.output(id, from)).toString('utf8');
	}
}

/** Log in with a token; returns the cookie. */
export async function logIn(server, token = server.token) {
	const { status, headers, text } = await server.api.as(null).raw('POST', '/api/auth/login', { token }, { headers: { Origin: server.base } });
	assert.equal(status, 200, text);
	return headers['set-cookie'][0].split(';')[0];
}

/** The status of a response, and the code of its error. */
export const outcome = ({ status, json }) => `${status} ${json?.code ?? ''}`.trim();

export function assertError(answer, status, code, where = '') {
	assert.equal(answer.status, status, `${where}: ${answer.status} ${answer.text}`);
	assert.ok(answer.json, `${where}: the error is not JSON: ${JSON.stringify(answer.text)}`);
	const { json } = answer;
	assert.equal(typeof json.message, 'string', `${where}: ${answer.text}`);
	assert.ok(json.message.length > 0, `${where}: empty message`);
	assert.equal(json.httpStatus, status, `${where}: ${answer.text}`);
	assert.equal(typeof json.context, 'object', `${where}: ${answer.text}`);
	assert.ok(json.context !== null, `${where}: ${answer.text}`);
	assert.match(json.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/, where);
	if (code !== undefined) assert.equal(json.code, code, `${where}: ${answer.text}`);
}
