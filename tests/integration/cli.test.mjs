// The command line: each command, its JSON, its exit status. Commands that need no server are tested in unit/ws/client/test_program.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { request } from './lib/api.mjs';
import { cert, secure } from './lib/certificate.mjs';
import { cli, environment, good, socketOf } from './lib/cli.mjs';
import { kill, status } from './lib/proc.mjs';
import { binaries, scenario } from './lib/server.mjs';
import { together } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const GONE = 3, NO_SERVER = 69, TIME_OVER = 124, FAILED = 125;

const json = async (server, [command, ...args]) => JSON.parse(await good(server, [command, '--json', ...args]));

/** The same as exec, but over the API. */
const exec = (server, command, id = 'box') => server.api.call('POST', `/api/session/${id}/exec`, { command, queue: true });

const shared = together({}, { keep: ['box'] });

shared("the socket serves the server's own user, and no page", async (server) => {
	const socket = socketOf(server);
	assert.equal(statSync(socket).mode & 0o777, 0o600);
	const ask = (headers) => request('http://localhost', { path: '/api/auth/whoami', socketPath: socket, headers });
	assert.equal((await ask({})).json.role, 'owner');
	assert.equal((await ask({ Origin: server.base })).json.code, 'ORIGIN_NOT_ALLOWED');
	assert.equal((await ask({ Origin: 'http://localhost' })).json.code, 'ORIGIN_NOT_ALLOWED');
	assert.equal((await ask({ Authorization: 'Bearer wrong' })).json.code, 'UNAUTHENTICATED');
	assert.equal((await request(server.base, { path: '/api/auth/whoami' })).status, 401, 'TCP still requires credentials');
});

scenario('an explicit unix socket still requires the token, and the runtime directory may have a long path', { start: false }, async (server) => {
	const socket = path.join(server.root, 'asked.sock');
	server.dir = path.join(server.root, 'long'.repeat(30)); // too long for a socket address
	await server.start({ listen: [`unix:${socket}`, '127.0.0.1:0'] });
	const { status } = await request('http://localhost', { path: '/api/session/list', socketPath: socket });
	assert.equal(status, 401);
	assert.equal((await cli(server, ['ls'])).code, 0);
});

shared('other users get no access, even if the socket permits them to connect', {
	skip: process.getuid() !== 0 && 'needs root',
}, async (server) => {
	for (const folder of [server.root, server.dir]) chmodSync(folder, 0o755);
	assert.equal((await cli(server, ['ls'], { uid: 65534, cwd: '/' })).code, NO_SERVER);
	chmodSync(socketOf(server), 0o666);
	const { code, stderr } = await cli(server, ['ls'], { uid: 65534, cwd: '/' });
	assert.equal(code, FAILED);
	assert.match(stderr, /UNAUTHENTICATED/);
	assert.equal((await cli(server, ['ls'])).code, 0);
	for (const folder of [server.root, server.dir]) chmodSync(folder, 0o700);
	chmodSync(socketOf(server), 0o600);
});

shared("a dead server's socket is replaced, and a server that is terminated removes its own", async (server) => {
	await server.kill('SIGKILL');
	assert.ok(existsSync(socketOf(server)));
	assert.equal((await cli(server, ['ls'])).code, NO_SERVER);
	await server.start();
	assert.equal((await cli(server, ['ls'])).code, 0);
	await server.kill('SIGTERM');
	assert.ok(!existsSync(socketOf(server)));
	await server.start();
});

scenario('the default places of the server, and another server over HTTPS', { ...secure, start: false }, async (server) => {
	server.dir = path.join(server.root, 'ringside');
	await server.start();
	const byDefault = { RINGSIDE_SOCKET: '', XDG_RUNTIME_DIR: server.root };
	assert.equal((await cli(server, ['ls'], { env: byDefault })).code, 0);
	const elsewhere = await cli(server, ['ls', '--socket', '/nowhere/x'], { env: byDefault });
	assert.equal(elsewhere.code, NO_SERVER);
	chmodSync(server.dir, 0o777);
	assert.match((await cli(server, ['ls'], { env: byDefault })).stderr, /not a directory of this user/);
	chmodSync(server.dir, 0o700);

	const env = { RINGSIDE_TOKEN: server.token, SSL_CERT_FILE: cert };
	const url = `https://localhost:${server.port}`;
	assert.equal(await good(server, ['run', '--url', url, 'seq 30000 | tail -1'], { env }), '30000\n');
	const doubted = await cli(server, ['ls', '--url', url], { env: { ...env, SSL_CERT_FILE: '/dev/null' } });
	assert.equal(doubted.code, NO_SERVER);
	assert.match(doubted.stderr, /certificate is not trusted/);
});

shared('a remote server', async (server) => {
	const file = path.join(server.root, 'its-token');
	writeFileSync(file, `${server.token}\n`);
	const env = { RINGSIDE_SOCKET: '/nowhere' };
	assert.match(await good(server, ['ls', '--url', server.base, '--token-file', file], { env }), /^$/);
	assert.equal((await cli(server, ['ls', '--url', `${server.base}/`],
		{ env: { ...env, RINGSIDE_TOKEN: server.token } })).code, 0);
	const wrong = await cli(server, ['ls', '--url', server.base], { env });
	assert.equal(wrong.code, FAILED);
	assert.match(wrong.stderr, /UNAUTHENTICATED/);
	assert.equal((await cli(server, ['ls', '--url', 'http://127.0.0.1:1', '--token-file', file])).code, NO_SERVER);
	assert.equal((await cli(server, ['run', '--url', server.base, '--token-file', file, 'echo far; exit 4'])).code, 4);
});

shared('new, ls, kill', async (server) => {
	for (const id of (await server.api.list()).data) await server.api.delete(id);
	assert.equal(await good(server, ['new', 'args', '--shell-arg', '-l', '--shell-arg=--noprofile']), 'args\n');
	assert.deepEqual((await server.api.get('args')).shellArgs, ['-l', '--noprofile']);
	await server.api.delete('args');
	assert.equal(await good(server, ['new', 'one', '--name', 'Eins', '--size', '90x30', '--env', 'A=b=c']), 'one\n');
	const again = await cli(server, ['new', 'one']);
	assert.equal(again.code, FAILED);
	assert.match(again.stderr, /SESSION_ALREADY_EXISTS/);
	assert.equal((await json(server, ['new', '--open', 'one'])).id, 'one');
	const made = (await good(server, ['new'])).trim();
	assert.match(made, /^session_/);
	assert.deepEqual((({ cwd, onShellExit }) => [cwd, onShellExit])(await json(server, ['new', 'two', '--cwd', '/', '--on-shell-exit', 'reexec'])), ['/', 'reexec']);
	assert.equal((await exec(server, 'echo $A; pwd; stty size', 'one')).data.output, `b=c\n${server.cwd}\n30 90\n`);

	const table = await good(server, ['ls']);
	assert.match(table, /^SESSION +STATE/);
	assert.match(table, /^one +running +90x30 +0 +\d{4}-\d\d-\d\d \d\d:\d\d +Eins$/m);
	assert.equal((await json(server, ['ls'])).find(({ id }) => id === 'one').name, 'Eins');

	await good(server, ['kill', 'one', made]);
	assert.equal(await good(server, ['ls', '--names']), 'two\n');
	const unknown = await cli(server, ['kill', 'one', 'two']);
	assert.equal(unknown.code, FAILED, 'one of the sessions does not exist');
	assert.deepEqual((await server.api.list()).data, []);
	await server.session({ id: 'three' });
	await server.api.input('three', 'bash -c "exec sleep 1000"; echo left=$?\r');
	await server.outputMatches('three', /exec sleep/);
	await until('the end of the sleep', async () => {
		await good(server, ['kill', '-s', 'TERM', 'three']);
		return /left=143/.test(await server.api.text('three', 0));
	});
});

shared('exec: status, streams, words', async (server) => {
	await server.session({ id: 'box' });
	const run = (args, options) => cli(server, ['exec', ...args], options);
	assert.deepEqual(await run(['box', 'echo out; echo err >&2; (exit 7)']).then(({ code, stdout, stderr }) => [code, stdout, stderr]),
		[7, 'out\nerr\n', '']);
	const apart = await run(['--pipes', 'box', 'printf \'a\\0\\377\\r\\n\'; echo err >&2']);
	assert.deepEqual([apart.code, apart.bytes.toString('latin1'), apart.stderr], [0, 'a\0\xff\r\n', 'err\n']);
	assert.equal((await run(['box', '--', 'printf', '%s|', 'a b', '$HOME', 'it\'s', ''])).stdout, 'a b|$HOME|it\'s||');
	assert.equal((await run(['--isolate', 'box', 'kill -TERM $BASHPID'])).code, 143);
	assert.equal((await run(['-i', 'box', 'wc -c'], { input: Buffer.alloc(800_000) })).stdout.trim(), '800000');
	const late = await run(['-t', '0.4', 'box', 'sleep 100']);
	assert.equal(late.code, TIME_OVER);
	assert.equal((await run(['box', '--cwd', '/usr', '--env', 'X=y', 'echo $PWD $X'])).stdout, '/usr y\n');
	await exec(server, 'cd /tmp');
	assert.equal((await run(['box', 'pwd'])).stdout, '/tmp\n', 'it runs in the same shell');
});

shared('exec --json, --detach, --key, --queue', async (server) => {
	await server.session({ id: 'box' });
	const result = await cli(server, ['exec', '--json', 'box', 'echo hi; (exit 3)']);
	assert.equal(result.code, 3);
	const parsed = JSON.parse(result.stdout);
	assert.deepEqual([parsed.exitCode, parsed.output, parsed.state], [3, 'hi\n', 'done']);
	const gate = path.join(server.root, 'gate');
	execFileSync('mkfifo', [gate]);
	const keyed = ['--key', 'k1', 'box', `read -r <${gate}; echo done`];
	const id = (await good(server, ['exec', '-d', ...keyed])).trim();
	assert.match(id, /^exec_/);
	const busy = await cli(server, ['exec', 'box', 'true']);
	assert.equal(busy.code, FAILED);
	assert.match(busy.stderr, /RESOURCE_BUSY/);
	const [same] = await Promise.all([json(server, ['exec', ...keyed]), writeFile(gate, '\n')]);
	assert.equal(same.id, id, 'the same key returns the same command');
	await good(server, ['exec', '--queue', 'box', 'true']);
});

shared('exec: Ctrl-C cancels it, and so does a reader that closes the pipe', async (server) => {
	await server.session({ id: 'box' });
	const interrupted = await cli(server, ['exec', 'box', 'echo begun; sleep 1000'], {
		started: (child) => {
			until('the running sleep', async () => (await server.api.call('GET', '/api/session/box/state'))
				.state.foreground?.name === 'sleep').then(() => child.kill('SIGINT'));
		},
	});
	assert.equal(interrupted.stdout.startsWith('begun\n'), true);
	assert.equal(interrupted.code, 130);
	const broken = await cli(server, ['exec', 'box', 'yes more'], {
		started: (child, output) => {
			until('some output', () => output().includes('more')).then(() => child.stdout.destroy());
		},
	});
	assert.equal(broken.code, 141);
	assert.equal((await exec(server, 'echo free')).data.output, 'free\n');
});

shared('exec: Ctrl-C before the server has responded cancels it too', async (server) => {
	await server.session({ id: 'box' });
	kill(server.pid, 'SIGSTOP');
	const interrupted = await cli(server, ['exec', 'box', 'echo begun; sleep 1000'], {
		started: async (child) => {
			await until('a handler of SIGINT', () => BigInt(`0x${status(child.pid).SigCgt ?? 0}`) & 2n);
			child.kill('SIGINT');
			await until('the handled signal', () => /^0+$/.test(status(child.pid).ShdPnd) && /^S/.test(status(child.pid).State));
			kill(server.pid, 'SIGCONT');
		},
	});
	assert.equal(interrupted.code, 130);
	// The interrupt may still reach the shell and drop input that was typed just now: then the result says that nothing was run.
	const free = () => cli(server, ['exec', '--queue', 'box', 'echo free']);
	let next = await free();
	if (next.code === 125 && next.stderr.includes('nothing was run')) next = await free();
	assert.deepEqual([next.code, next.stdout, next.stderr], [0, 'free\n', '']);
});

shared('exec outlives the server', async (server) => {
	await server.session({ id: 'box' });
	const lines = Array.from({ length: 40 }, (_, i) => `${i + 1}\n`).join('');
	const result = await cli(server, ['exec', 'box', 'for i in {1..40}; do echo $i; sleep 0.05; done; (exit 5)'], {
		started: async (child, output) => {
			await until('a part of the output', () => output().includes('10\n'));
			await server.restart();
		},
	});
	assert.deepEqual([result.code, result.stdout, result.stderr], [5, lines, '']);
});

shared('run', async (server) => {
	const result = await cli(server, ['run', 'echo out; echo err >&2; pwd; [ -t 1 ] || echo pipe; exit 9']);
	assert.deepEqual([result.code, result.stdout, result.stderr], [9, `out\n${server.cwd}\npipe\n`, 'err\n']);
	assert.equal((await cli(server, ['run', '-i', 'cat; printf "\\377"'], { input: 'x\r\n' })).bytes.toString('latin1'), 'x\r\n\xff');
	assert.equal((await cli(server, ['run', 'kill -KILL $$'])).code, 137);
	assert.equal((await cli(server, ['run', '-t', '0.3', 'sleep 100'])).code, TIME_OVER);
	assert.equal(await good(server, ['run', '--terminals', '[ -t 1 ] && echo terminal']), 'terminal\n');
	assert.equal(await good(server, ['run', 'echo', '--json']), '--json\n', 'options after the command belong to it');
	const parsed = JSON.parse((await cli(server, ['run', '--json', 'echo hi; exit 2'])).stdout);
	assert.deepEqual([parsed.stdout, parsed.exitCode], ['hi\n', 2]);
	const marker = path.join(server.root, 'running');
	const interrupted = await cli(server, ['run', `echo $$ > ${marker}; exec sleep 1000`], {
		started: (child) => {
			until('the command', () => existsSync(marker) && readFileSync(marker, 'utf8').trim())
				.then(() => child.kill('SIGINT'));
		},
	});
	assert.equal(interrupted.code, 130);
	const pid = Number(readFileSync(marker, 'utf8'));
	await until('the end of the command', () => !existsSync(`/proc/${pid}`));
});

shared('screen and log', async (server) => {
	await server.session({ id: 'shown' });
	await exec(server, 'seq 100; printf "\\033[31mred\\033[m\\n"', 'shown');
	const screen = await good(server, ['screen', 'shown']);
	assert.match(screen, /\n100\nred\n/);
	assert.doesNotMatch(screen, /^50$/m);
	assert.match(await good(server, ['screen', '--ansi', 'shown']), /\x1b\[[0-9;]*31m/);
	assert.match(await good(server, ['screen', '--html', 'shown']), /<span/);
	const long = await good(server, ['screen', '--scrollback', 'all', 'shown']);
	assert.match(long, /\n50\n51\n/);
	assert.equal(long.split('\n').filter((line) => line === '100').length, 1);
	const parsed = await json(server, ['screen', '--scrollback', '20', 'shown']);
	assert.equal(parsed.rows, 24);
	assert.equal(parsed.above.length, 20);
	const { offset } = await server.api.get('shown');
	const log = await cli(server, ['log', 'shown']);
	const exact = await server.api.raw('GET', '/api/session/shown/output?from=0');
	assert.deepEqual(log.bytes, exact.body);
	assert.equal((await cli(server, ['log', '--from', String(offset - 10), 'shown'])).bytes.length, 10);
	const pieces = (await good(server, ['log', '--json', 'shown'])).trim().split('\n').map(JSON.parse);
	assert.deepEqual(Buffer.concat(pieces.map(({ base64 }) => Buffer.from(base64, 'base64'))), exact.body);
});

shared('share', async (server) => {
	await server.session({ id: 'box' });
	const address = (await good(server, ['share', '--drive', '--expires', '2h', '--name', 'Ada', 'box'])).trim();
	const url = new URL(address);
	assert.equal(url.origin, server.base);
	const token = url.hash.replace('#link=', '');
	const identity = await request(server.base, { path: '/api/auth/whoami', headers: { Authorization: `Bearer ${token}` } });
	assert.equal(identity.json.role, 'driver');
	assert.match(await good(server, ['share', '--base', 'https://x.example/', 'box']), /^https:\/\/x\.example\/#link=/);
	const links = await json(server, ['share', '--list', 'box']);
	const ada = links.find(({ name }) => name === 'Ada');
	assert.ok(Math.abs(Date.parse(ada.expiresAt) - Date.now() - 7_200_000) < 60_000);
	// Times are local: nine hours ahead of the server's UTC.
	const { stdout: there } = await cli(server, ['share', '--list', 'box'], { env: { TZ: 'JST-9' } });
	const local = new Date(Date.parse(ada.expiresAt) + 9 * 3_600_000).toISOString().slice(0, 16).replace('T', ' ');
	assert.match(there, new RegExp(`driver +until ${local} +Ada$`, 'm'));
	await good(server, ['share', '--revoke', ada.id, 'box']);
	const gone = await request(server.base, { path: '/api/auth/whoami', headers: { Authorization: `Bearer ${token}` } });
	assert.equal(gone.status, 401);
	assert.equal((await cli(server, ['share', '--revoke', ada.id, 'box'])).code, FAILED);
	assert.equal((await json(server, ['share', 'box'])).link.role, 'viewer');
});

shared('wait', async (server) => {
	await server.session({ id: 'awaited' });
	assert.equal(await good(server, ['wait', '--prompt', 'awaited']), '');
	const waiting = cli(server, ['wait', '--match', 'mark-[0-9]+', 'awaited']);
	const typing = setInterval(() => { server.api.input('awaited', 'echo mark-$((41+1))\r').catch(() => {}); }, 200);
	const { code, stdout } = await waiting;
	clearInterval(typing);
	assert.deepEqual([code, stdout], [0, 'mark-42\n']);
	const late = await cli(server, ['wait', '-t', '0.2', '--match', 'never', 'awaited']);
	assert.equal(late.code, TIME_OVER);
	assert.equal(JSON.parse((await cli(server, ['wait', '--json', '-t', '0.1', '--bytes', '1000000', 'awaited'])).stdout).type, 'timeout');
	await good(server, ['wait', '--idle', '100', 'awaited']);
	// With an offset, only later output counts.
	const { offset: head } = await server.api.get('awaited');
	await good(server, ['wait', '--stable', '50', 'awaited']);
	await server.api.input('awaited', 'echo more\r');
	await good(server, ['wait', '--prompt', '--from', String(head), 'awaited']);
	const { data } = await server.api.call('POST', '/api/session/awaited/exec', { command: 'sleep 0.2', queue: true, yieldMs: 0 });
	await good(server, ['wait', '--exec', data.id, 'awaited']);
	// It survives a restart of the server without missing output, because it passes an offset.
	const { offset } = await server.api.get('awaited');
	const connections = async () => Number(/^ringside_connections_accepted_total (\d+)/m.exec(
		(await request('http://localhost', { path: '/metrics', socketPath: socketOf(server) })).text)[1]);
	const before = await connections();
	let own = 0;
	const patient = cli(server, ['wait', '--match', 'after-it', '--from', String(offset), 'awaited']);
	await until('the request', async () => await connections() - before - (own += 1) >= 2);
	await server.restart();
	await server.api.input('awaited', 'echo after-it\r');
	assert.equal((await patient).code, 0);
	const gone = cli(server, ['wait', '--match', 'never', 'awaited']);
	await server.api.input('awaited', 'exit\r');
	assert.equal((await gone).code, GONE);
	assert.equal((await cli(server, ['wait', '--exit', 'awaited'])).code, 0);
});

shared('send', async (server) => {
	await server.session({ id: 'box' });
	await good(server, ['send', '--text', 'echo ty\'\'p', 'box', 'e', 'd', 'Enter']);
	await server.outputMatches('box', /typed\r/);
	await good(server, ['send', '--text', 'cat', '--enter', 'box']);
	await until('cat', async () => (await server.api.call('GET', '/api/session/box/state')).state.foreground?.name === 'cat');
	await good(server, ['send', '-i', 'box'], { input: 'piped\n' });
	await server.outputMatches('box', /piped\r\npiped/);
	const parsed = await json(server, ['send', 'box', 'C-c']);
	assert.ok('queued' in parsed && parsed.state);
	await server.untilPrompt('box');
});

shared('blocks', async (server) => {
	await server.session({ id: 'marked' });
	await cli(server, ['exec', '--label', 'robot', 'marked', 'echo one; (exit 3)']);
	await exec(server, 'printf "\\033[32mgreen\\033[m\\n"', 'marked');
	await until('both blocks', async () => (await server.api.call('GET', '/api/session/marked/blocks')).blocks.filter(({ by }) => by === 'exec').length === 2);
	const { blocks: list } = await json(server, ['blocks', 'marked']);
	const [first, second] = list.filter(({ by }) => by === 'exec');
	assert.match(await good(server, ['blocks', 'marked']), new RegExp(`^${first.id} +3 +owner +"robot" echo one; \\(exit 3\\)$`, 'm'));
	assert.equal((await good(server, ['blocks', '--status', '3', '--author', 'owner', '--label', 'robot', 'marked'])).trim().split('\n').length, 1);
	assert.equal(await good(server, ['blocks', '--output', first.id, 'marked']), 'one\n');
	assert.match(await good(server, ['blocks', '--output', second.id, '--ansi', 'marked']), /\x1b\[[0-9;]*32mgreen/);
});

shared('log --follow', async (server) => {
	await server.session({ id: 'followed' });
	const exact = async () => (await server.api.raw('GET', '/api/session/followed/output?from=0')).body;
	let output;
	const following = cli(server, ['log', '-f', 'followed'], { started: (child, text) => { output = text; } });
	await exec(server, 'echo be\'\'fore', 'followed');
	await until('the first output', () => /before\r/.test(output()));
	await server.restart();
	await exec(server, 'echo be\'\'hind', 'followed');
	await until('output after the restart', () => /behind\r/.test(output()));
	await server.api.input('followed', 'exit\r');
	const { code, bytes } = await following;
	assert.equal(code, 0);
	assert.deepEqual(bytes, await exact());
});

shared('mcp', async (server) => {
	await server.session({ id: 'box' });
	const lines = [
		{ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } } },
		{ jsonrpc: '2.0', method: 'notifications/initialized' },
		{ jsonrpc: '2.0', id: 'two', method: 'tools/list' },
		{ jsonrpc: '2.0', id: 3, method: 'no/such/method' },
	].map((message) => `${JSON.stringify(message)}\n`).join('');
	const answers = (await good(server, ['mcp'], { input: `${lines}\nno json\n` })).trim().split('\n').map(JSON.parse);
	const byId = new Map(answers.map((answer) => [answer.id, answer]));
	assert.equal(byId.get(1).result.serverInfo.name.toLowerCase(), 'ringside');
	assert.ok(byId.get('two').result.tools.length > 3);
	assert.equal(byId.get(3).error.code, -32601);
	assert.equal(byId.get(undefined).error.code, -32700);
	assert.equal(answers.length, 4, 'a notification has no response');
});

// Candidates without a server are tested in unit/ws/client/test_program.
shared('completion by bash', async (server) => {
	for (const id of (await server.api.list()).data) await server.api.delete(id);
	for (const id of ['alpha', 'beta']) await server.api.create({ id });
	const script = path.join(server.root, 'completion');
	writeFileSync(script, await good(server, ['completion', 'bash']));
	const lines = [[['at'], ['attach']], [['attach', ''], ['alpha', 'beta']], [['screen', '--h'], ['--help', '--html']], [['kill', 'alpha', 'b'], ['beta']],
		[['rename', '"al'], ['alpha']], [['new', '--cwd', '/us'], ['/usr']], [['exec', 'alpha', 'mapfil'], ['mapfile']]];
	const asked = lines.map(([words]) => `COMP_WORDS=(ringside ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; COMPREPLY=()
		_ringside; printf '%s\\n' "\${COMPREPLY[@]}" ---`).join('\n');
	const { stdout, stderr } = spawnSync('bash', ['--norc', '--noprofile', '-c', `source ${script}\n${asked}`], {
		env: { ...environment(server), PATH: `${binaries}:${process.env.PATH}` }, encoding: 'utf8',
	});
	const parsed = stdout.split('---\n').slice(0, -1).map((text) => text.trim().split('\n').filter(Boolean).sort());
	assert.deepEqual(parsed, lines.map(([, want]) => want), stderr);
});
