// Pages of other origins: those that --allow-origin names, and the rest.
import assert from 'node:assert/strict';
import { scenario } from './lib/server.mjs';
import { together } from './lib/together.mjs';
import { within } from './lib/until.mjs';
import http from 'node:http';

const app = 'https://app.example';
const configured = together({ args: ['--allow-origin', app, '--allow-origin', 'http://localhost:5173'] });

/** A response with its headers; each may occur once. */
async function ask(server, method, path, headers = {}, { agent = false } = {}) {
	const answer = await within(`answer to ${method} ${path}`, new Promise((resolve, reject) => {
		const request = http.request(`${server.base}${path}`, { method, headers, agent }, (response) => {
			const chunks = [];
			const finish = () => resolve({ status: response.statusCode, raw: response.rawHeaders, text: Buffer.concat(chunks).toString() });
			response.on('data', (chunk) => {
				chunks.push(chunk);
				if (!/event-stream/.test(response.headers['content-type'])) return;
				finish();
				request.destroy();
			});
			response.on('end', finish);
		});
		request.on('error', reject);
		request.end();
	}));
	answer.headers = {};
	for (let at = 0; at < answer.raw.length; at += 2) {
		const name = answer.raw[at].toLowerCase();
		assert.ok(!(name in answer.headers), `${name} comes twice in the answer to ${method} ${path}`);
		answer.headers[name] = answer.raw[at + 1];
	}
	return answer;
}

const preflight = (server, path, method, headers = {}) => ask(server, 'OPTIONS', path, {
	Origin: app, 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': 'authorization,content-type', ...headers,
});

configured('a page of a configured origin may send requests, with preflights without credentials', async (server) => {
	for (const [path, methods] of [
		['/api/session/create', /^GET, HEAD, POST$/], ['/api/session/s', /^GET, HEAD$/], ['/api/session/delete?x=y', /POST/],
		['/api/session/s/links/abc', /^DELETE$/], ['/api/auth/login', /^POST$/], ['/api/ping', /^GET, HEAD$/], ['/', /^GET, HEAD$/],
	]) {
		const { status, headers, text } = await preflight(server, path, 'POST');
		assert.equal(status, 204, path);
		assert.equal(text, '');
		assert.equal(headers['access-control-allow-origin'], app);
		assert.match(headers['access-control-allow-methods'], methods, path);
		assert.equal(headers['access-control-allow-headers'], 'Content-Type, Authorization, X-Session-Id, X-Sandbox-Id, X-Trace-Id, '
			+ 'MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID');
		assert.ok(Number(headers['access-control-max-age']) > 0);
		assert.equal(headers.vary, 'origin');
		assert.equal(headers['content-length'], undefined);
		assert.equal(headers['access-control-allow-credentials'], undefined, 'cookies are not for other origins');
	}
	const unknown = await preflight(server, '/api/nothing', 'GET');
	assert.equal(unknown.status, 404);
	assert.equal(unknown.headers['access-control-allow-origin'], app);
	const second = await preflight(server, '/api/ping', 'GET', { Origin: 'http://localhost:5173' });
	assert.equal(second.headers['access-control-allow-origin'], 'http://localhost:5173');
});

configured('preflights share a connection with the requests', async (server) => {
	const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
	const sockets = new Set();
	agent.on('free', (socket) => sockets.add(socket));
	for (let n = 0; n < 5; n += 1) {
		const first = await ask(server, 'OPTIONS', '/api/ping', { Origin: app, 'Access-Control-Request-Method': 'GET' }, { agent });
		assert.equal(first.status, 204);
		const answer = await ask(server, 'GET', '/api/ping', { Origin: app, Authorization: `Bearer ${server.token}` }, { agent });
		assert.equal(answer.status, 200);
	}
	assert.equal(sockets.size, 1);
	agent.destroy();
});

configured('it may read responses, errors and streams', async (server) => {
	const authorization = { Origin: app, Authorization: `Bearer ${server.token}` };
	for (const [method, path, headers, status] of [
		['GET', '/api/ping', authorization, 200], ['GET', '/api/ping', { Origin: app }, 401], ['GET', '/api/session/none', authorization, 404],
		['GET', '/api/session/events', authorization, 200], ['DELETE', '/api/ping', authorization, 405], ['HEAD', '/api/ping', authorization, 200],
		['GET', '/', { Origin: app }, 200], ['POST', '/api/auth/logout', authorization, 200],
	]) {
		const answer = await ask(server, method, path, headers);
		assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
		assert.equal(answer.headers['access-control-allow-origin'], app, path);
		assert.match(answer.headers.vary, /\borigin\b/i);
		assert.equal(answer.headers['cross-origin-resource-policy'], 'cross-origin');
		assert.equal(answer.headers['access-control-expose-headers'], '*');
		assert.equal(answer.headers['access-control-allow-credentials'], undefined);
	}
});

configured('other origins are refused as before', async (server) => {
	const closed = (answer, what) => {
		for (const name of Object.keys(answer.headers)) assert.ok(!name.startsWith('access-control'), `${name} for ${what}`);
		assert.equal(answer.headers['cross-origin-resource-policy'], 'same-origin', what);
	};
	for (const origin of ['https://evil.example', 'null', `${app}.evil.example`, 'http://app.example', `${app}:8443`]) {
		const refused = await preflight(server, '/api/ping', 'GET', { Origin: origin });
		assert.equal(refused.status, 403, origin);
		closed(refused, origin);
		const answer = await ask(server, 'GET', '/api/ping', { Origin: origin, Authorization: `Bearer ${server.token}` });
		assert.equal(answer.status, 403, origin);
		closed(answer, origin);
	}
	// Without an origin too: a cache may keep the response for a page that has one.
	const plain = await ask(server, 'GET', '/api/ping', { Authorization: `Bearer ${server.token}` });
	closed(plain, 'no origin');
	assert.equal(plain.headers.vary, 'origin');
	const own = await ask(server, 'GET', '/api/ping', { Origin: server.base, Authorization: `Bearer ${server.token}` });
	assert.equal(own.status, 200);
	closed(own, 'our own origin');
	assert.equal((await ask(server, 'OPTIONS', '/api/ping', { Origin: server.base })).status, 405);
	// Another host is refused with any origin.
	const host = await preflight(server, '/api/ping', 'GET', { Host: 'evil.example' });
	assert.equal(host.status, 403);
	closed(host, 'another host');
});

scenario('without --allow-origin no response has CORS headers', async (server) => {
	assert.equal((await preflight(server, '/api/ping', 'GET')).status, 403);
	const answer = await ask(server, 'GET', '/api/ping', { Authorization: `Bearer ${server.token}` });
	assert.equal(answer.headers.vary, undefined);
	assert.equal((await ask(server, 'OPTIONS', '/api/ping')).status, 405);
});
