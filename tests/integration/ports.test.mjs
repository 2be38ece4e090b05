// Listening ports and the processes that own them: as a list, and as events.
import assert from 'node:assert/strict';
import net from 'node:net';
import { newWebSocketRpcSession } from 'capnweb';
import WebSocket from 'ws';
import { assertError } from './lib/api.mjs';
import { cli } from './lib/cli.mjs';
import { scenario } from './lib/server.mjs';
import { EventStream } from './lib/sse.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

// Older versions of Node.js have no WebSocket; capnweb needs its constants.
globalThis.WebSocket ??= WebSocket;

const listen = (listener, host = '127.0.0.1') => new Promise((resolve, reject) => {
	listener.once('error', reject).listen(0, host, () => resolve(listener.address().port));
});
const script = (host = '127.0.0.1') => `import socket, time; s = socket.create_server(("${host}", 0)${host.includes(':') ? ', family=socket.AF_INET6' : ''}); print("at", s.getsockname()[1], flush=True); time.sleep(1000)`;

/** Start a listener in a session, in a process of this name; resolves with its port. */
async function listening(server, id, { host, name } = {}) {
	const { offset } = await server.api.get(id);
	const named = name ? `open("/proc/self/comm", "w").write("${name}"); ` : '';
	await server.api.input(id, `python3 -c '${named}${script(host)}' &\r`);
	return Number((await server.outputMatches(id, /at (\d+)\r\n/, offset))[1]);
}
const find = (ports, port) => ports.find((each) => each.port === port);

shared('a port is listed with its session and its process', async (server) => {
	await server.session({ id: 'a' });
	await server.session({ id: 'b' });
	const mine = net.createServer().unref(); // it must not keep a failed test alive
	const outside = await listen(mine);
	const [first, second] = [await listening(server, 'a'), await listening(server, 'b')];
	// On a busy machine a list may lack what could not be read in time; it says so.
	const { ports } = await until('a list with everything', async () => {
		const list = await server.api.call('GET', '/api/ports');
		return list.truncated ? undefined : list;
	});
	assert.deepEqual({ ...find(ports, first), pid: undefined }, { port: first, addresses: ['127.0.0.1'], sessionId: 'a', previewable: true, process: 'python3', pid: undefined });
	assert.equal(find(ports, second).sessionId, 'b');
	assert.deepEqual(find(ports, outside), { port: outside, addresses: ['127.0.0.1'], previewable: true });
	assert.equal(find(ports, server.port), undefined, 'Ringside itself');
	assert.deepEqual((await server.api.call('GET', '/api/ports?sessionId=a')).ports.map(({ port }) => port), [first]);
	await server.api.refused(404, 'SESSION_NOT_FOUND', 'GET', '/api/ports?sessionId=none');
	await server.api.refused(400, 'VALIDATION_FAILED', 'GET', '/api/ports?sessionId=a/b');
	await new Promise((resolve) => { mine.close(resolve); });
});

shared('events have the list, then its changes', async (server) => {
	await server.session({ id: 'a' });
	await server.session({ id: 'b' });
	const stream = new EventStream(server, '/api/ports/events?sessionId=a'), all = new EventStream(server, '/api/ports/events');
	await stream.until('the first event', ({ type }) => type === 'ports');
	assert.deepEqual(stream.events[0].ports, []);
	const port = await listening(server, 'a');
	await stream.until('the port', ({ ports }) => find(ports, port)?.sessionId === 'a');
	await listening(server, 'b');
	await all.until('both ports', ({ ports }) => ports.filter(({ sessionId }) => sessionId).length === 2);
	assert.equal(stream.events.length, 2, 'an event about another session');
	await server.api.input('a', 'kill %1\r');
	await stream.until('the end of the listener', ({ ports }) => ports.length === 0);
	const many = Array.from({ length: 20 }, () => new EventStream(server, '/api/ports/events?sessionId=b'));
	await Promise.all(many.map((each) => each.until('the first event', ({ ports }) => ports.length === 1)));
	[stream, all, ...many].forEach((each) => each.terminate());
});

scenario('trusted drivers see the ports of their session', { args: ['--drivers-may-all'] }, async (server) => {
	await server.session({ id: 'a' });
	await server.session({ id: 'b' });
	const port = await listening(server, 'a');
	await listening(server, 'b');
	const { token } = await server.api.call('POST', '/api/session/a/links', { role: 'driver' }), driver = server.api.as(token);
	assert.deepEqual((await driver.call('GET', '/api/ports')).ports.map((each) => each.port), [port]);
	assertError(await driver.raw('GET', '/api/ports?sessionId=b'), 403, 'PERMISSION_DENIED');
	const { token: watcher } = await server.api.call('POST', '/api/session/a/links', { role: 'viewer' });
	assertError(await server.api.as(watcher).raw('GET', '/api/ports'), 403, 'PERMISSION_DENIED');
});

shared('a server that ends during a scan', async (server) => {
	await server.session({ id: 'a' });
	const streams = Array.from({ length: 10 }, () => new EventStream(server, '/api/ports/events'));
	await until('all lists', () => streams.every(({ events }) => events.length > 0));
	await Promise.all([server.api.call('GET', '/api/ports'), server.api.call('GET', '/api/ports')]);
	const asked = Array.from({ length: 10 }, () => server.api.raw('GET', '/api/ports').catch(() => {}));
	await server.kill('SIGTERM');
	await Promise.all(asked);
	await server.start();
});

shared('the command line lists ports, and makes and revokes addresses', async (server) => {
	await server.session({ id: 'a' });
	const port = await listening(server, 'a');
	const good = async (...args) => {
		const { code, stdout, stderr } = await cli(server, ['ports', ...args]);
		assert.equal(code, 0, stderr);
		return stdout;
	};
	assert.match(await good('--session', 'a'), new RegExp(`^ *${port} {2}python3 {9}a\n$`));
	await server.session({ id: 'named' });
	const odd = await listening(server, 'named', { name: String.raw`\x1b[2Jx\u202ey` });
	assert.equal(await good('--session', 'named'), `${String(odd).padStart(5)}  ${String.raw`\x1b[2Jx\u202ey`.padEnd(15)} named\n`);
	const url = (await good('expose', String(port), '--session', 'a', '--name', 'web')).trim();
	assert.match(url, new RegExp(`^http://${port}-a-\\w{16}\\.localhost:${server.port}/$`));
	assert.ok((await good()).includes(`${url}  web\n`));
	const { ports, previews } = JSON.parse(await good('--json', '--session', 'a'));
	assert.equal(ports[0].port, port);
	assert.equal(previews[0].url, url);
	const named = (await good('expose', '--token', 'chosen_token', '2999')).trim();
	assert.match(named, /^http:\/\/2999-s-chosen_token\.localhost/);
	assert.match(await good(), /2999 {2}no listener\n/);
	await good('revoke', '2999', '--token', 'chosen_token');
	await good('revoke', String(port));
	assert.equal((await server.api.call('GET', '/api/exposed-ports')).count, 0);
	for (const wrong of [['none'], ['expose'], ['expose', 'x'], ['expose', '70000'], ['revoke', '1', '--name', 'x'], ['--token', 'x'], ['expose', '1', '2']]) assert.equal((await cli(server, ['ports', ...wrong])).code, 2, wrong.join(' '));
	const refused = await cli(server, ['ports', 'expose', '80']);
	assert.equal(refused.code, 125);
	assert.match(refused.stderr, /INVALID_PORT/);
});

shared('the same with the Sandbox SDK', async (server) => {
	await server.session({ id: 'a' });
	const socket = new WebSocket(`ws://127.0.0.1:${server.port}/rpc`, { headers: { Authorization: `Bearer ${server.token}` } });
	socket.on('error', () => {});
	server.clients.add({ terminate: () => socket.terminate() });
	const main = newWebSocketRpcSession(socket), ports = main.ports;
	const made = await ports.exposePort(2999, 'a', 'web');
	assert.equal(made.port, 2999);
	assert.equal(made.name, 'web');
	assert.deepEqual((await ports.getExposedPorts('a')).ports.map(({ token }) => token), [made.token]);
	assert.equal((await ports.unexposePort(2999, 'a')).removed, 1);
	assert.equal((await ports.getExposedPorts('a')).count, 0);
	await assert.rejects(async () => ports.exposePort(80, 'a'), /from 1024/);
	await assert.rejects(async () => ports.unexposePort('../session/delete', 'a'), /id/);
});
