// Starting and ending the server: options, inherited descriptors, early signals, and a log that is not read.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, closeSync, mkdirSync, openSync, readdirSync, readlinkSync, readSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { metric } from './lib/control.mjs';
import { descendants, parentOf, status } from './lib/proc.mjs';
import { binary, scenario, slowness } from './lib/server.mjs';
import { long, times } from './lib/soak.mjs';
import { pause, until, within } from './lib/until.mjs';

const shell = (script) => ['bash', '-c', `${script}`];
const dropped = (server) => metric(server, 'log_lines_dropped_total');
const noise = (server, count, say = () => server.api.call('POST', '/api/run', { command: 'true' })) =>
	Promise.all(Array.from({ length: count }, say));

scenario('a log that is not read', { start: false, timeout: 120_000 }, async (server) => {
	const fifo = path.join(server.root, 'log');
	execFileSync('mkfifo', [fifo]);
	// The FIFO is open for both, so that its reader never reads; it is small (F_SETPIPE_SZ).
	server.options.prefix = shell('exec perl -e \'fcntl STDERR, 1031, 4096; exec @ARGV\' "$0" "$@" 2<>"$RINGSIDE_TEST_ROOT/log"');
	await server.start();
	// Each request logs a line, also if there is nothing to kill.
	const line = () => server.api.call('DELETE', '/api/process/kill-all');
	for (let n = 0; n < 40 && await dropped(server) === 0; n++) await noise(server, 50, line);
	const lost = await dropped(server);
	assert.ok(lost > 0, 'no line was dropped');
	await noise(server, 25, line);
	assert.ok(await dropped(server) >= lost + 25);

	const fd = openSync(fifo, 'r');
	let text = '';
	const read = () => {
		const buffer = Buffer.alloc(1 << 17);
		text += buffer.toString('utf8', 0, readSync(fd, buffer));
	};
	await until('the kept lines, then the number of dropped ones', async () => {
		await line();
		read();
		return /msg="lines were dropped because standard error was not read" lines=\d+/.test(text);
	});
	closeSync(fd);
	const lines = text.split('\n');
	assert.equal(lines.pop(), '');
	for (const line of lines) assert.match(line, /^ts=\S+ level=\w+ module=\w+ msg=/);
	const lostCounts = lines.map((line) => Number(/ lines=(\d+)$/.exec(line)?.[1] ?? 0));
	assert.equal(lostCounts.reduce((sum, n) => sum + n, 0), await dropped(server));
});

scenario('started with descriptors 0 and 2 closed', { prefix: shell('exec "$0" "$@" 0<&- 2>&-') }, async (server) => {
	for (const closed of [0, 2]) assert.equal(readlinkSync(`/proc/${server.pid}/fd/${closed}`), '/dev/null');
	await server.session({ id: 'one' });
	const { data } = await server.api.call('POST', '/api/session/one/exec', { command: 'echo here; false' });
	assert.deepEqual([data.output, data.exitCode], ['here\n', 1]);
	await noise(server, 4);
});

scenario('started with all three descriptors closed', { start: false, mayHaveDied: true }, async (server) => {
	const socket = path.join(server.root, 'socket');
	server.options.prefix = shell('exec "$0" "$@" 0<&- 1>&- 2>&-');
	await server.start({ listen: [`unix:${socket}`], wait: false });
	const ask = () => new Promise((resolve, reject) => {
		const peer = net.connect(socket, () => peer.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'));
		peer.on('data', (data) => resolve(String(data))).on('error', reject);
	});
	await until('a response', async () => /^HTTP\/1.1 200/.test(await ask()));
	for (const fd of [0, 1, 2]) assert.equal(readlinkSync(`/proc/${server.pid}/fd/${fd}`), '/dev/null');
	const { code } = await server.kill('SIGTERM');
	assert.equal(code, 0);
});

scenario('terminated at any moment of its start, with pending connections', { timeout: 180_000 }, async (server) => {
	const [sessions, tries] = [times(3, 12), times(5, 40)];
	for (let n = 0; n < sessions; n++) await server.api.create({ id: `s${n}` });
	const clock = process.hrtime.bigint();
	await server.restart();
	const startMs = Number(process.hrtime.bigint() - clock) / 1e6;
	const { port } = server;
	let knocking = true;
	const knock = async () => {
		while (knocking) {
			const peer = net.connect(port, '127.0.0.1', () => peer.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'));
			peer.on('error', () => {});
			await pause(1);
		}
	};
	const knocks = [knock(), knock(), knock()];
	try {
		for (let n = 0; n < tries; n++) {
			if (server.child) await server.kill('SIGKILL');
			await server.start({ wait: false });
			await pause((n / tries) * 1.2 * startMs);
			const { code, signal } = await server.kill('SIGTERM');
			// Before it handles the signal, the default action applies.
			assert.ok(code === 0 || signal === 'SIGTERM', `try ${n}: ended with ${code ?? signal}`);
		}
	} finally {
		knocking = false;
		await Promise.all(knocks);
	}
	await server.start();
	assert.equal((await server.api.list()).data.length, sessions);
});

scenario('commands are logged only with --log-commands', { timeout: 90_000 }, async (server) => {
	const secret = 'echo Bearer SEKRIT';
	const all = async () => {
		await server.session({ id: 'one' });
		await server.api.call('POST', '/api/session/one/exec', { command: secret });
		await server.api.call('POST', '/api/execute', { command: secret, sessionId: 'one' });
		await server.api.call('POST', '/api/run', { command: secret });
		const { processId } = await server.api.call('POST', '/api/process/start', { command: secret });
		await until('the end of the process', async () => (await server.api.call('GET', `/api/process/${processId}`))
			.process.status === 'completed');
	};
	await all();
	assert.doesNotMatch(server.stderr, /SEKRIT/);
	const digests = new Set(server.stderr.match(/command="18 bytes digest [0-9a-f]{16}"/g));
	assert.equal(digests.size, 1, server.stderr);
	await server.kill('SIGTERM');
	server.options.args = ['--log-commands'];
	await server.start();
	await all();
	for (const module of ['exec', 'run', 'process'])
		assert.match(server.stderr, new RegExp(`module=${module} .*command="echo Bearer SEKRIT"`));
});

const huge = 'x'.repeat(120_000);
// unit/ws/serve/test_options, unit/ws/auth/test_origin and isolated test other options.
/** Refused values by option: [n, values]. The first n are refused by different checks. */
const hostile = {
	'ring-size': [2, ['-1', huge]],
	...Object.fromEntries(['trust-proxy', 'public-url', 'allow-origin', 'env'].map((name) => [name, [0, [huge]]])),
	listen: [6, ['0.0.0.0:0', '127.1:80', huge, '127.0.0.1:65536', 'localhost:\n80', `unix:/${huge}`, '', '127.0.0.1', '127.0.0.1:-1', '127.0.0.1:0x50', '127.0.0.1: 80', '127.0.0.1:', '[::1]',
		'[::1]:80x', 'unix:', '127.0.0.1\n:80', '*:80', ':80', '%s%n:80']],
	'runtime-dir': [6, ['', huge, '/tmp/\x1b]0;x\x07', '/dev/null', '/nonexistent/x', `/tmp/${'y'.repeat(300)}`, `/tmp/${'./'.repeat(3000)}x`, '/tmp/a\nb', '/proc/self/mem']],
	'token-file': [5, ['', huge, '/dev/zero', '/etc', '/tmp/a\nb', '/nonexistent', '/dev/null', '/proc/self/mem']],
	'tls-cert': [3, ['/nonexistent', huge, '/dev/zero', '', '/dev/null', '/etc']],
	bind: [2, ['/tmp/a\nb', huge, '', '/nonexistent']],
};

/** The error for these arguments, in a new directory. Accepted values make it serve: then there is no error. */
function refusal(server, args, env = {}) {
	return new Promise((resolve) => {
		execFile(binary, ['serve', ...args], { encoding: 'latin1', timeout: 20_000 * slowness, cwd: server.cwd,
			env: { PATH: process.env.PATH, HOME: server.home, ASAN_OPTIONS: process.env.ASAN_OPTIONS ?? '', ...env } },
		(error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }));
	});
}

scenario('invalid values are refused in one line that names them', { start: false, mayHaveDied: true, timeout: 170_000 }, async (server) => {
	const wrong = [];
	const cases = Object.entries(hostile).flatMap(([name, [count, values]]) => values.slice(0, long ? undefined : count).map((value) => [name, value]));
	const judge = async (name, value, args, env) => {
		const { code, stdout, stderr } = await refusal(server, args, env);
		const lines = stderr.split('\n').slice(0, -1);
		const clear = lines.length >= 1 && lines.length <= (name === 'tls-cert' ? 6 : 2) && lines.every((line) => /^ringside: |^ts=/.test(line) && !/[\0-\x08\x0b-\x1f\x7f]/.test(line));
		if (![1, 2].includes(code) || !clear || stdout || (value === huge && stderr.length > 16_384))
			wrong.push(`${name} ${JSON.stringify(value.slice(0, 40))}: ${code} ${JSON.stringify(stderr.slice(0, 300))}`);
	};
	while (cases.length > 0) {
		await Promise.all(cases.splice(0, 4).map(([name, value]) => judge(name, value, [
			...(name === 'listen' ? [] : ['--listen', '127.0.0.1:0']), ...(name === 'runtime-dir' ? [] : ['--runtime-dir', `${server.dir}-${cases.length}-${name}`]),
			...(name === 'bind' ? ['--isolate'] : []), ...(name === 'tls-cert' ? ['--tls-key', value] : []), `--${name}`, value])));
	}
	const start = ['--listen', '127.0.0.1:0', '--runtime-dir', server.dir];
	for (const [name, value] of [['RINGSIDE_TOKEN', huge], ['RINGSIDE_TOKEN', 'sixteen characters'], ['RINGSIDE_TOKEN', 'x'.repeat(20) + '\n'], ['RINGSIDE_HOLDER', ''],
		['RINGSIDE_HOLDER', '/nonexistent/a\nb'], ['RINGSIDE_TOKEN', 'x'], ['RINGSIDE_TOKEN', ''], ['RINGSIDE_TOKEN', '\u00e9'.repeat(20)], ['RINGSIDE_HOLDER', huge],
		['RINGSIDE_HOLDER', '/etc/passwd']].slice(0, times(5, 10)))
		await judge(name, value, start, { [name]: value });
	assert.deepEqual(wrong, []);
});

scenario("a directory that is not the server's own is left alone", { start: false, mayHaveDied: true }, async (server) => {
	const place = path.join(server.root, 'place');
	mkdirSync(place, { mode: 0o755 });
	writeFileSync(path.join(place, 'diary'), 'dear');
	const { code, stderr } = await refusal(server, ['--listen', '127.0.0.1:0', '--runtime-dir', place]);
	assert.equal(code, 1);
	assert.match(stderr, /is open to others and has files that are not ours/);
	assert.equal(statSync(place).mode & 0o777, 0o755);
	assert.deepEqual(readdirSync(place), ['diary']);
	// An empty directory is accepted, and one that a server has used.
	rmSync(path.join(place, 'diary'));
	server.dir = place;
	for (let at = 0; at < 2; at += 1) {
		await server.start();
		assert.equal(statSync(place).mode & 0o777, 0o700);
		await server.kill('SIGTERM');
		chmodSync(place, 0o755);
	}
});

scenario('a directory below one that another user controls is refused', { start: false, mayHaveDied: true }, async (server) => {
	const above = path.join(server.root, 'above'), place = path.join(above, 'deeper', 'place');
	mkdirSync(place, { recursive: true, mode: 0o700 });
	const refused = async () => {
		const { code, stderr } = await refusal(server, ['--listen', '127.0.0.1:0', '--runtime-dir', place]);
		assert.equal(code, 1);
		assert.match(stderr, /place: is in \S*above, where another user can replace it/);
	};
	chmodSync(above, 0o777);
	await refused();
	chmodSync(above, 0o700);
	if (process.getuid() === 0) {
		chownSync(above, 12_345, 12_345);
		await refused();
		chownSync(above, 0, 0);
	}
	chmodSync(above, 0o1777);
	server.dir = place;
	await server.start();
});

scenario('a workspace is the default directory', { start: false }, async (server) => {
	const place = path.join(server.root, 'work space'), link = path.join(server.root, 'link');
	mkdirSync(place);
	symlinkSync(place, link);
	await server.start({ args: ['--workspace', link] });
	await server.session({ id: 's' });
	assert.equal(await server.run('s', 'pwd'), `${place}\n`);
	assert.equal((await server.api.call('POST', '/api/run', { command: 'pwd', streams: 'pipes' })).stdout, `${place}\n`);
	await server.api.call('POST', '/api/process/start', { command: 'pwd', processId: 'p' });
	await server.api.call('POST', '/api/process/p/wait', { for: 'exit' });
	assert.equal((await server.api.call('GET', '/api/process/p/logs')).stdout, `${place}\n`);
});

scenario('invalid workspaces', { start: false, mayHaveDied: true }, async (server) => {
	const file = path.join(server.root, 'file'), inside = path.join(server.dir, 'inside');
	writeFileSync(file, '');
	mkdirSync(inside, { recursive: true, mode: 0o700 });
	chmodSync(server.dir, 0o711);
	mkdirSync(path.join(server.dir, 'sessions'), { mode: 0o700 });
	writeFileSync(path.join(server.dir, 'lock'), '', { mode: 0o600 });
	for (const [place, why] of [
		[path.join(server.root, 'none'), /No such file/], [file, /Not a directory/], [inside, /for the server alone/],
		['', /No such file/],
	]) {
		const error = await new Promise((resolve) => {
			execFile(binary, ['serve', '--listen', '127.0.0.1:0', '--runtime-dir', server.dir, '--workspace', place],
				{ timeout: 20_000 * slowness }, (failure, stdout, stderr) => resolve({ failure, stderr }));
		});
		assert.equal(error.failure?.code, 1, place);
		assert.match(error.stderr, why, place);
	}
});

scenario('as the init process of a container', {
	prefix: ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'], pids: true, mayHaveDied: true,
	skip: process.getuid() !== 0 && 'only root may make a namespace',
}, async (server) => {
	const below = () => descendants(server.pid), first = below().find((pid) => parentOf(pid) === server.pid);
	for (let n = 0; n < 30; n++) await server.api.call('POST', '/api/run', { command: '(setsid sleep .1 &)' });
	await until('the end of all orphans', () =>
		below().every((pid) => !status(pid).State?.startsWith('Z') && status(pid).Name !== 'sleep'));
	process.kill(first, 'SIGTERM');
	assert.deepEqual(await within('the end of the server', server.ended), { code: 0, signal: null });
});
