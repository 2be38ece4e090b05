// A receiver of webhooks that keeps events, verifies signatures, and can misbehave.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { metric } from './control.mjs';
import { scenario } from './server.mjs';

export class Receiver {
	/**
	 * misbehave(request, count, response): called after the body; may respond in its place, or not at all. count: number of
	 * requests so far, including this one. Returns whether it has handled the request. certificate: {cert, key}, files, for
	 * https.
	 */
	constructor({ misbehave = () => false, certificate } = {}) {
		this.misbehave = misbehave;
		this.certificate = certificate;
		this.got = []; // {method, url, headers, body, at} of all requests
		this.port = 0; // the previous port, or any
		this.now = this.most = 0; // concurrent requests
	}

	/** Start to listen, again at the same port. */
	async open() {
		this.sockets = new Set();
		const serve = (request, response) => { this.#serve(request, response).catch(() => {}); };
		this.server = this.certificate ? https.createServer({ cert: readFileSync(this.certificate.cert), key: readFileSync(this.certificate.key) }, serve)
			: http.createServer(serve);
		this.server.on('connection', (socket) => {
			this.sockets.add(socket);
			socket.on('error', () => {}).on('close', () => this.sockets.delete(socket));
		});
		this.server.listen(this.port, '127.0.0.1');
		await once(this.server, 'listening');
		this.port = this.server.address().port;
		return this;
	}

	/** The URL for the server's option. */
	url(path = '/hook') {
		return `${this.certificate ? 'https' : 'http'}://127.0.0.1:${this.port}${path}`;
	}

	/** The received events without duplicates: the first of each. */
	get events() {
		return [...new Map(this.got.toReversed().map(({ body }) => [JSON.parse(body).id, JSON.parse(body)])).values()].toReversed();
	}

	kinds(session) {
		return this.events.filter(({ data }) => !session || data.session === session).map(({ type }) => type);
	}

	async #serve(request, response) {
		this.most = Math.max(this.most, ++this.now);
		response.on('close', () => { this.now--; });
		let body = '';
		for await (const piece of request.setEncoding('utf8')) body += piece;
		const { method, url, headers } = request;
		this.got.push({ method, url, headers, body, at: Date.now() });
		if (this.misbehave(request, this.got.length, response)) return;
		response.writeHead(204);
		response.end();
	}

	close() {
		for (const socket of this.sockets) socket.destroy();
		return new Promise((resolve) => { this.server.close(resolve); });
	}
}

/** The expected webhook-signature, for a key in base64. */
export function signature({ headers, body }, key) {
	const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
	return `v1,${createHmac('sha256', Buffer.from(key, 'base64')).update(content).digest('base64')}`;
}

/** The options that name webhooks, and more. */
export const args = (urls, ...more) => [...urls.flatMap((url) => ['--webhook', url]), ...more];

/** Run a command that fails in a session. */
export const fail = (server, id = 's') => server.api.call('POST', `/api/session/${id}/exec`, { command: 'false', queue: true });

/** A metric of webhooks. */
export const webhookMetric = (server, name) => metric(server, `webhook_${name}`);

/** A scenario with receivers, which use these `misbehave` functions, and a server with a session `s` that sends events to them. */
export function webhookScenario(name, misbehaviours, body) {
	scenario(name, { start: false }, async (server) => {
		const receivers = await Promise.all(misbehaviours.map((misbehave) => new Receiver({ misbehave }).open()));
		try {
			await server.start({ args: args(receivers.map((receiver) => receiver.url())) });
			await server.session({ id: 's' });
			await body(server, ...receivers);
		} finally {
			await Promise.all(receivers.map((receiver) => receiver.close()));
		}
	});
}
