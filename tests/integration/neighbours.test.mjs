// Without authentication every local connection would be the owner: other users of the machine are refused.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { asUser, startAs } from './lib/other_user.mjs';
import { scenario } from './lib/server.mjs';
import { until, within } from './lib/until.mjs';

const root = process.getuid() === 0;
const skip = !root && 'only root can be another user';

/** Send bytes to the server as a user, over TCP or its socket; resolves with all received bytes. */
function send(server, uid, bytes, { socket = '', hurry = false } = {}) {
	const [command, ...args] = [...(uid === undefined ? [] : asUser(uid)), 'perl', '-MIO::Socket::INET', '-MIO::Socket::UNIX', '-e', `
		my ($port, $path, $hurry) = @ARGV;
		my $s = $path ? IO::Socket::UNIX->new(Peer => $path) : IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port);
		die "$!" unless $s;
		local $/; print $s <STDIN>; $s->flush;
		exit if $hurry;
		while (sysread($s, my $b, 65536)) { print $b; }`, String(server.port), socket, hurry ? '1' : ''];
	const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
	let text = '';
	child.stdout.setEncoding('latin1').on('data', (part) => { text += part; });
	child.stdin.end(bytes);
	return within('the response', new Promise((resolve) => { child.on('close', () => resolve(text)); }));
}

const head = (server, first, more = '') => `${first} HTTP/1.1\r\nHost: ${server.host}\r\nConnection: close\r\n${more}\r\n`;
const create = (server, id) => {
	const body = JSON.stringify({ id });
	return head(server, 'POST /api/session/create', `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`) + body;
};
const refused = /^HTTP\/1\.1 403 [^]*"code":"PEER_NOT_ALLOWED"/;

scenario('--no-auth: other users of the machine are refused, for any request', { skip, args: ['--no-auth'] }, async (server) => {
	await server.session({ id: 's' });
	const requests = {
		'the page': head(server, 'GET /'), 'the list': head(server, 'GET /api/session/list'), 'a session': create(server, 'theirs'),
		'a login': head(server, 'POST /api/auth/login', 'Content-Length: 2\r\n') + '{}',
		'two in one go': `GET / HTTP/1.1\r\nHost: ${server.host}\r\n\r\n${create(server, 'theirs')}`,
		'a terminal': `GET /ws/pty?sessionId=s HTTP/1.1\r\nHost: ${server.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n`,
		'the metrics': head(server, 'GET /metrics'),
	};
	for (const [what, bytes] of Object.entries(requests)) assert.match(await send(server, 4321, bytes), refused, what);
	assert.match(await send(server, undefined, requests['the list']), /^HTTP\/1\.1 200 /, 'the server\'s own user');
	assert.deepEqual((await server.api.list()).data, ['s']);
	assert.match((await server.api.raw('GET', '/metrics')).text, /^ringside_peers_refused_total [1-9]/m);
	// The process ends before the server looks: the kernel then reports root.
	await server.kill('SIGSTOP');
	await send(server, 4321, create(server, 'theirs'), { hurry: true });
	await server.kill('SIGCONT');
	const before = server.stderr.length;
	await until('the refusal', () => send(server, 4321, requests['the page']).then((text) => refused.test(text)));
	assert.deepEqual((await server.api.list()).data, ['s'], server.stderr.slice(before));
});

scenario('--no-auth: a server of another user serves that user, and root', { skip, start: false, args: ['--no-auth'], prefix: asUser(1234) }, async (server) => {
	const socket = `${server.root}/open`;
	server.options.listen = ['127.0.0.1:0', `unix:${socket}`];
	await startAs(server, 1234);
	const list = head(server, 'GET /api/session/list');
	assert.match(await send(server, 1234, list), /^HTTP\/1\.1 200 /, 'the server\'s user');
	assert.match(await send(server, undefined, list), /^HTTP\/1\.1 200 /, 'root');
	assert.match(await send(server, 4321, list), refused, 'another');
	// Another user may connect to the socket.
	chmodSync(socket, 0o666);
	chmodSync(server.root, 0o755);
	assert.match(await send(server, 1234, list, { socket }), /^HTTP\/1\.1 200 /);
	assert.match(await send(server, 4321, list, { socket }), refused);
});

scenario('with a token, the user of the process does not matter', { skip }, async (server) => {
	assert.match(await send(server, 4321, head(server, 'GET /api/session/list', `Authorization: Bearer ${server.token}\r\n`)), /^HTTP\/1\.1 200 /);
	assert.match(await send(server, 4321, head(server, 'GET /')), /^HTTP\/1\.1 200 /);
});
