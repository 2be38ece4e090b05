// Previews at the border: headers for the program, logs, and smuggled requests.
import assert from 'node:assert/strict';
import http from 'node:http';
import { assertError, request } from './lib/api.mjs';
import { RawClient } from './lib/client.mjs';
import { scenario } from './lib/server.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

/** Run body with a program that responds with the request's lines, and its preview. */
async function previewed(server, body) {
	const asked = [];
	const program = http.createServer((incoming, answer) => {
		asked.push(incoming.method);
		answer.end(JSON.stringify(incoming.rawHeaders));
	});
	program.on('connect', (incoming, socket) => {
		asked.push(incoming.method);
		socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\n\r\n');
	});
	await new Promise((resolve) => { program.listen(0, '127.0.0.1', resolve); });
	try {
		const preview = await server.api.call('POST', '/api/expose-port', { port: program.address().port });
		await body(preview, `${preview.host}:${server.port}`, asked);
	} finally {
		program.closeAllConnections();
		await new Promise((resolve) => { program.close(resolve); });
	}
}

shared('no program gets a token, in any spelling', async (server) => {
	await server.session({ id: 's' });
	const { token } = await server.api.call('POST', '/api/session/s/links', { role: 'viewer' });
	await previewed(server, async (preview, host) => {
		for (const secret of [server.token, token]) {
			for (const before of ['Bearer ', 'bearer  ', 'BEARER\t', 'Bearer \t ', 'Bearer   ']) {
				const { status, text } = await request(server.base, { path: '/', headers: { Host: host, Authorization: before + secret } });
				assert.equal(status, 200);
				assert.ok(!text.includes(secret), before);
			}
		}
		// Other credentials are passed on.
		for (const value of ['Bearer  of-theirs', 'Basic dTpw', 'Bearerx y']) {
			const { json } = await request(server.base, { path: '/', headers: { Host: host, Authorization: value } });
			assert.equal(json[json.findIndex((each) => each.toLowerCase() === 'authorization') + 1], value);
		}
	});
});

shared('the client cannot forge the origin of its request', async (server) => {
	await previewed(server, async (preview, host) => {
		const own = { 'X_Forwarded_For': '192.0.2.1', 'X-Forwarded_Host': 'evil.example', 'X_Real_IP': '192.0.2.1', Proxy: 'http://192.0.2.1/', 'X-Mine_too': '1' };
		const { json } = await request(server.base, { path: '/', headers: { Host: host, ...own } });
		assert.ok(!json.some((each) => /192\.0\.2\.1|evil/.test(each)), JSON.stringify(json));
		assert.ok(json.includes('x-mine_too'));
	});
});

scenario('the name of a preview is not logged', { args: ['--verbose'] }, async (server) => {
	await previewed(server, async (preview, host) => {
		const before = server.stderr.length;
		for (const headers of [{ Origin: `http://${host}` }, { Origin: `http://${host.toUpperCase()}` }, { Origin: `https://${preview.host}` }]) {
			assertError(await server.api.raw('POST', '/api/session/create', {}, { headers }), 403, 'ORIGIN_NOT_ALLOWED');
			assertError(await server.api.as(null).raw('GET', '/api/session/list', undefined, { headers }), 403, 'ORIGIN_NOT_ALLOWED');
		}
		assertError(await server.api.raw('GET', '/api/session/list', undefined, { headers: { Origin: 'http://evil.example' } }), 403, 'ORIGIN_NOT_ALLOWED');
		await until('the log line', () => /origin=http:\/\/evil\.example/.test(server.stderr));
		assert.ok(!server.stderr.slice(before).toLowerCase().includes(preview.token), server.stderr.slice(before));
	});
});

shared('CONNECT does not open a tunnel', async (server) => {
	await previewed(server, async (preview, host, asked) => {
		for (const target of ['localhost:1', host, '/']) {
			const client = new RawClient(server).send(`CONNECT ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\nGET /healthz HTTP/1.1\r\nHost: ${server.host}\r\n\r\n`);
			await client.untilClosed();
			assert.match(client.text, /^HTTP\/1\.1 405 /);
			assert.equal(client.text.match(/HTTP\/1\.1 /g).length, 1, 'bytes behind it are not a request');
		}
		assert.deepEqual(asked, []);
	});
});
