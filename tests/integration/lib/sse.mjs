// Server-sent events.
import http from 'node:http';
import { until } from './until.mjs';

export class EventStream {
	constructor(server, path, { token = server.token, method = 'GET', body, headers = {} } = {}) {
		this.events = [];
		this.status = undefined;
		this.closed = false;
		let pending = '';
		const payload = body === undefined ? undefined : JSON.stringify(body);
		this.request = http.request(`${server.base}${path}`, {
			agent: false,
			method,
			headers: {
				...headers,
				...(token ? { Authorization: `Bearer ${token}` } : {}),
				...(payload === undefined ? {} : {
					'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(payload),
				}),
			},
		}, (response) => {
			this.status = response.statusCode;
			this.headers = response.headers;
			response.setEncoding('utf8').on('data', (text) => {
				pending += text;
				const blocks = pending.split('\n\n');
				pending = blocks.pop();
				for (const block of blocks) {
					const data = block.split('\n').filter((line) => line.startsWith('data:'))
						.map((line) => line.slice(5).trimStart()).join('\n');
					if (data) this.events.push({ at: Date.now(), ...JSON.parse(data) });
				}
			});
			response.on('close', () => { this.closed = true; });
			response.on('error', () => {});
		});
		this.request.on('error', () => { this.closed = true; });
		this.request.end(payload);
		server.clients.add(this);
	}

	/** The first matching event, from index `from` on. */
	until(what, fits, from = 0) {
		return until(() => `event (${what}); there were ${JSON.stringify(this.events.slice(from)).slice(0, 2000)}`,
			() => this.events.slice(from).find(fits));
	}

	terminate() {
		this.request.destroy();
	}
}
