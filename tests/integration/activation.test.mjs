// Socket activation and service notification, by the protocols of systemd.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cli } from './lib/cli.mjs';
import { freePort } from './lib/port.mjs';
import { kill } from './lib/proc.mjs';
import { binary, scenario, slowness } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const helper = fileURLToPath(new URL('lib/activate.py', import.meta.url));
const activate = (mode, ...what) => ['python3', helper, mode, ...what, '--'];

const urlsOf = async (server, count) => {
	await until(`${count} addresses`, () => server.urls.length >= count || server.exit);
	assert.equal(server.urls.length, count, server.report());
	await server.ready();
};

scenario('the server listens on inherited sockets', { start: false }, async (server) => {
	const local = path.join(server.root, 'local'), link = path.join(server.root, 'link');
	mkdirSync(server.dir, { mode: 0o700 });
	symlinkSync(server.dir, link); // as /var/run leads to /run
	const command = path.join(server.dir, 'ringside.sock');
	server.options.prefix = activate('once', 'tcp:127.0.0.1:0', `unix:${local}`, `unix:${path.join(link, 'ringside.sock')}`, 'tcp:[::1]:0', 'LISTEN_PIDFDID=1');
	const before = () => [local, command].map((place) => statSync(place).ino);
	await server.start({ listen: [], wait: false });
	await urlsOf(server, 3);
	const inodes = before();
	assert.match(server.urls[0], /^http:\/\/127\.0\.0\.1:\d+\/$/);
	assert.equal(server.urls[1], `unix:${local}`);
	assert.match(server.urls[2], /^http:\/\/\[::1\]:\d+\/$/, 'no listener is the default');
	await server.session({ id: 's' });
	assert.match((await cli(server, ['ls'])).stdout, /^s\b/m, 'the command line uses one of them');
	assert.equal(await server.run('s', 'env | grep -c ^LISTEN_'), '0\n');
	const shell = (await server.api.get('s')).pid ?? Number((await server.run('s', 'echo $$')).trim());
	const open = readdirSync(`/proc/${shell}/fd`).map((fd) => readlinkSync(`/proc/${shell}/fd/${fd}`));
	assert.deepEqual(open.filter((place) => place.startsWith('socket:')), []);
	await server.api.delete('s');
	await server.kill('SIGTERM');
	assert.deepEqual(before(), inodes, 'the server does not remove inherited sockets');
	// The sockets are stale now. A server that opens its own sockets replaces them.
	server.options.prefix = [];
	await server.start({ listen: [`unix:${local}`, '127.0.0.1:0'] });
	assert.equal((await cli(server, ['ls'])).code, 0);
});

scenario('the first connection starts the server, and connections wait while it restarts', { start: false, timeout: 90_000 }, async (server) => {
	const port = await freePort();
	mkdirSync(server.dir, { mode: 0o700 });
	server.options.prefix = activate('serve', `tcp:127.0.0.1:${port}`, `unix:${path.join(server.dir, 'ringside.sock')}`);
	await server.start({ listen: [], wait: false });
	await until('both sockets', () => existsSync(path.join(server.dir, 'ringside.sock')));
	assert.equal(server.stderr, '', 'nothing has been started');
	const made = await cli(server, ['new', 'kept']);
	assert.equal(made.code, 0, made.stderr + server.stderr);
	const started = () => [...server.stderr.matchAll(/^started (\d+)$/mg)].map((found) => Number(found[1]));
	await until('READY=1', () => /^notified READY=1$/m.test(server.stderr));
	assert.equal(started().length, 1);
	await urlsOf(server, 1);
	await server.run('kept', 'x=before');
	kill(started()[0]);
	await until('the end of the server', () => /^ended -9$/m.test(server.stderr));
	// The connection waits and is not refused.
	const listed = await cli(server, ['ls']);
	assert.match(listed.stdout, /^kept\b/m, listed.stderr + server.stderr);
	assert.equal(started().length, 2);
	assert.equal(await server.run('kept', 'echo $x'), 'before\n');
	await until('READY=1 of the second server', () => server.stderr.match(/^notified READY=1$/mg)?.length === 2);
	assert.equal((await server.api.delete('kept')).success, true);
	kill(started()[1], 'SIGTERM');
	await until('STOPPING=1', () => /^notified STOPPING=1\nended 0$/m.test(server.stderr.replace(/^ts=.*\n/mg, '')));
	assert.equal((await cli(server, ['ls'])).code, 0);
});

scenario('the checks of listeners hold for inherited sockets too', { start: false, mayHaveDied: true, timeout: 120_000 }, async (server) => {
	const refused = async (why, what, ...args) => {
		const [command, ...words] = activate('once', ...what);
		const { status, stderr } = spawnSync(command, [...words, binary, 'serve', '--runtime-dir', server.dir, ...args],
			{ encoding: 'utf8', timeout: 30_000 * slowness, cwd: server.cwd });
		assert.equal(status, 1, `${what}: ${stderr}`);
		assert.match(stderr, why, `${what}`);
		assert.equal(stderr.split('\n').length, 2, stderr);
	};
	for (const [kind, why] of [['udp', /3: is not a stream socket/], ['silent', /3: is not listening: set Accept=no/], ['connected', /set Accept=no/],
		['file', /3: is not a stream socket/], ['closed', /3: Bad file descriptor/], [`abstract:rs-${process.pid}`, /an address that --listen does not support/]]) {
		await refused(why, [kind]);
	}
	await refused(/4: is not a stream socket/, ['tcp:127.0.0.1:0', 'udp']);
	await refused(/listeners beyond loopback require/, ['tcp:0.0.0.0:0']);
	await refused(/listeners beyond loopback require/, ['tcp:[::]:0']);
	await refused(/--no-auth: only for loopback/, ['tcp:0.0.0.0:0'], '--no-auth', '--insecure-http');
	for (const count of ['0', '-1', 'x', '17', '1\n'])
		await refused(/LISTEN_FDS: must be a number from 1 to 16/, ['tcp:127.0.0.1:0', `LISTEN_FDS=${count}`]);
	await refused(/4: Bad file descriptor|4: is not a stream socket/, ['tcp:127.0.0.1:0', 'LISTEN_FDS=2', 'closed']);
});

for (const pid of ['1', 'x'])
	scenario(`variables for another process (${pid}) are ignored`, { start: false }, async (server) => {
		server.options.prefix = activate('once', 'tcp:127.0.0.1:0', `LISTEN_PID=${pid}`, `NOTIFY_SOCKET=${path.join(server.root, 'missing')}`);
		await server.start();
		assert.equal(server.urls.length, 1);
		await until('the warning', () => /cannot notify the service manager.*READY=1/.test(server.stderr));
		assert.equal((await server.api.call('POST', '/api/run', { command: 'env | grep -cE "^(LISTEN|NOTIFY)" || :' })).stdout, '0\n');
	});

const theirs = '/usr/bin/systemd-socket-activate';
scenario('by systemd-socket-activate', { start: false, skip: !existsSync(theirs) && 'systemd-socket-activate is not installed' }, async (server) => {
	const port = await freePort();
	server.options.prefix = [theirs, '--listen', `127.0.0.1:${port}`];
	await server.start({ listen: [], wait: false });
	await until('a response', () => new Promise((resolve) => {
		const peer = net.connect(port, '127.0.0.1', () => peer.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'));
		let text = '';
		peer.on('data', (data) => { text += data; }).on('error', () => resolve(false)).on('close', () => resolve(/^HTTP\/1.1 200/.test(text)));
	}));
	await urlsOf(server, 1);
	assert.equal(server.port, port);
	await server.session({ id: 's' });
	assert.match(readFileSync(`/proc/${server.pid}/comm`, 'utf8'), /^ringside-server\n$/);
});
