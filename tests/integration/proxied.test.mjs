// Behind a proxy with a path prefix that it strips: --public-url, and --url with a path.
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { cli } from './lib/cli.mjs';
import { Server } from './lib/server.mjs';
import { until } from './lib/until.mjs';

async function good(server, args) {
	const { code, stdout, stderr } = await cli(server, args);
	assert.equal(code, 0, `${args}: ${stderr}`);
	return stdout;
}

/** A proxy for /term/, on a free port. backend() returns the port of the server. */
async function proxy(backend) {
	const seen = [];
	const pass = (url) => (url.startsWith('/term/') ? url.slice('/term'.length) : undefined);
	const front = http.createServer((request, response) => {
		const target = pass(request.url);
		seen.push(request.url);
		if (!target) return response.writeHead(404).end('another site');
		const onward = http.request({ port: backend(), path: target, method: request.method, headers: request.headers }, (answer) => {
			response.writeHead(answer.statusCode, answer.headers);
			answer.pipe(response);
		});
		onward.on('error', () => response.destroy());
		return request.pipe(onward);
	});
	front.on('upgrade', (request, socket, head) => {
		seen.push(request.url);
		const onward = net.connect(backend(), '127.0.0.1', () => {
			onward.write(`${request.method} ${pass(request.url)} HTTP/1.1\r\n${Array.from({ length: request.rawHeaders.length / 2 }, (_, i) => `${request.rawHeaders[2 * i]}: ${request.rawHeaders[2 * i + 1]}`).join('\r\n')}\r\n\r\n`);
			onward.write(head);
			socket.pipe(onward).pipe(socket);
		});
		for (const each of [socket, onward]) each.on('error', () => { socket.destroy(); onward.destroy(); });
	});
	await new Promise((resolve) => front.listen(0, '127.0.0.1', resolve));
	return { front, seen, port: front.address().port };
}

test('addresses of links and commands have the path of the proxy', async () => {
	let server;
	const { front, seen, port } = await proxy(() => server.port);
	const url = `http://127.0.0.1:${port}/term/`;
	server = new Server({ args: ['--public-url', `http://127.0.0.1:${port}/term`] });
	try {
		await server.start();
		const token = path.join(server.root, 'its-token');
		writeFileSync(token, `${server.token}\n`);
		const away = ['--url', url, '--token-file', token];
		await server.session({ id: 's' });
		assert.match(await good(server, ['ls', ...away]), /^s /m);
		assert.equal((await cli(server, ['exec', ...away, 's', 'echo far; (exit 4)'])).stdout, 'far\n');
		// Streams and sockets.
		assert.equal((await cli(server, ['run', ...away, '-i', 'cat'], { input: 'streamed\n' })).stdout, 'streamed\n');
		assert.ok(seen.every((each) => each.startsWith('/term/')), `${seen}`);
		assert.equal((await cli(server, ['ls', '--url', `http://127.0.0.1:${port}/other/`, '--token-file', token])).code !== 0, true);
		for (const wrong of [`${url}?a=b`, `${url}#x`, `${url}a b`]) assert.match((await cli(server, ['ls', '--url', wrong])).stderr, /only a path may follow the host/);
		// Links of the API, the command line and the page.
		const shared = await cli(server, ['share', 's']);
		assert.ok(shared.stdout.startsWith(`${url}?s=s#link=`) || shared.stdout.startsWith(`${url}#link=`), shared.stdout);
		assert.match(shared.stderr, /on this machine only/);
		assert.doesNotMatch((await cli(server, ['share', '--base', 'https://example.com/', 's'])).stderr, /this machine only/);
		assert.equal((await good(server, ['url'])).trim(), url);
		await server.api.input('s', 'read -s -p "secret? " x\r');
		await until('the address for typing it', async () => (await server.api.call('GET', '/api/session/s/state')).state.humanUrl?.startsWith(`${url}#link=`));
		// A browser behind the proxy sends that host, and that origin.
		const asked = await fetch(`${url}api/session/list`, { headers: { authorization: `Bearer ${server.token}`, origin: `http://127.0.0.1:${port}` } });
		assert.equal(asked.status, 200);
	} finally {
		await server.cleanup();
		front.closeAllConnections();
		front.close();
	}
});
