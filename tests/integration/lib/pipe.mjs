// HTTP/1.1 requests as text, pipelined, and their responses.
import assert from 'node:assert/strict';
import net from 'node:net';
import tls from 'node:tls';
import { ca } from './certificate.mjs';
import { until } from './until.mjs';

/** A connection that parses responses: status, headers and body. */
export class Pipe {
	constructor(server, { secure = false, socketPath, encoding = 'utf8' } = {}) {
		this.encoding = encoding;
		this.server = server;
		this.bytes = Buffer.alloc(0);
		this.answers = [];
		this.informed = 0; // 1xx responses
		this.closed = false;
		this.methods = []; // methods of the requests, if the framing of responses depends on them
		this.socket = secure ? tls.connect({ port: server.port, host: '127.0.0.1', ca, ALPNProtocols: ['http/1.1'] })
			: net.connect(socketPath ? { path: socketPath } : { port: server.port, host: '127.0.0.1' });
		this.socket.setNoDelay?.(true);
		this.socket.on('data', (data) => {
			this.bytes = Buffer.concat([this.bytes, data]);
			while (this.#take());
		});
		this.socket.on('error', (error) => { this.error = error; });
		this.socket.on('close', () => {
			this.#take(true);
			this.closed = true;
		});
		server.clients.add({ terminate: () => this.socket.destroy() });
	}

	#take(ended = false) {
		const end = this.bytes.indexOf('\r\n\r\n');
		if (end < 0) return false;
		const [first, ...lines] = this.bytes.subarray(0, end).toString('latin1').split('\r\n');
		const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
		assert.ok(status, `invalid status line: ${first}`);
		const headers = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]));
		let rest = this.bytes.subarray(end + 4);
		if (status < 200) {
			this.informed += 1;
			this.bytes = rest;
			return true;
		}
		let body = Buffer.alloc(0);
		if (this.methods[this.answers.length] === 'HEAD' || status === 204 || status === 304) {
			// no body
		} else if (headers['transfer-encoding'] === 'chunked') {
			for (;;) {
				const line = rest.indexOf('\r\n');
				if (line < 0) return false;
				const size = parseInt(rest.subarray(0, line).toString(), 16);
				if (rest.length < line + 2 + size + 2) return false;
				body = Buffer.concat([body, rest.subarray(line + 2, line + 2 + size)]);
				rest = rest.subarray(line + 2 + size + 2);
				if (size === 0) break;
			}
		} else if (headers['content-length'] !== undefined) {
			const length = Number(headers['content-length']);
			if (rest.length < length) return false;
			body = rest.subarray(0, length);
			rest = rest.subarray(length);
		} else {
			if (!ended) return false;
			body = rest;
			rest = Buffer.alloc(0);
		}
		const text = body.toString(this.encoding);
		let json;
		try {
			json = JSON.parse(text);
		} catch {
			// not JSON
		}
		this.answers.push({ status, headers, text, json });
		this.bytes = rest;
		return true;
	}

	send(data) {
		this.socket.write(data);
		return this;
	}

	/** The next `count` responses, in order. */
	async take(count, options) {
		await until(() => `${count} responses; ${this.answers.length} came, closed: ${this.closed}, ${JSON.stringify(this.bytes.subarray(0, 200).toString())}`, () => {
			if (this.answers.length < count && this.closed) throw Object.assign(new Error(`closed after ${this.answers.length} of ${count}: ${this.error}`), { final: true });
			return this.answers.length >= count;
		}, options);
		return this.answers.slice(0, count);
	}

	async end() {
		await until('the end of the connection', () => this.closed);
	}
}

/** A request as text. */
export const ask = (server, method, route, { body, headers = {}, version = '1.1', token = server.token, host = server.host ?? 'localhost' } = {}) => {
	const lines = [`${method} ${route} HTTP/${version}`, `Host: ${host}`, ...(token ? [`Authorization: Bearer ${token}`] : []),
		...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]), ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)];
	return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
};
