// Sessions over HTTP: create, list, rename, resize, signal, input, output, delete.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Refused } from './lib/client.mjs';
import { isAlive } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { EventStream } from './lib/sse.mjs';
import { shared } from './lib/together.mjs';
import { pause, until } from './lib/until.mjs';

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

function assertSession(session, expected = {}) {
	for (const field of ['id', 'name', 'epoch', 'shell', 'cwd']) {
		assert.equal(typeof session[field], 'string', `${field} of ${JSON.stringify(session)}`);
		assert.ok(session[field].length > 0, `${field} is empty`);
	}
	for (const field of ['pid', 'cols', 'rows', 'offset', 'oldest', 'ringSize', 'clients', 'idleTimeoutMs']) {
		assert.ok(Number.isSafeInteger(session[field]) && session[field] >= 0,
			`${field} of ${JSON.stringify(session)}`);
	}
	assert.match(session.createdAt, iso);
	assert.match(session.lastActivityAt, iso);
	assert.ok(['starting', 'running', 'exited'].includes(session.state), session.state);
	assert.ok(session.oldest <= session.offset);
	assert.ok('exit' in session);
	for (const [key, value] of Object.entries(expected)) {
		assert.deepEqual(session[key], value, key);
	}
}

const gone = (server, id) => until(() => `the end of ${id}`, async () => {
	const session = await server.api.get(id);
	return session.state === 'exited' && session;
});

shared('a session is created with defaults and shown by get and list', async (server) => {
	const { api } = server;
	assert.deepEqual((await api.list()).data, []);
	const answer = await api.raw('POST', '/api/session/create');
	assert.equal(answer.status, 200, answer.text);
	assert.match(answer.headers['content-type'], /^application\/json/);
	assert.equal(answer.json.success, true);
	assert.equal(answer.json.containerPlacementId, null);
	assert.match(answer.json.timestamp, iso);
	const session = answer.json.data;
	assertSession(session, { cwd: server.cwd, exit: null, clients: 0 });
	assert.ok(isAlive(session.pid), 'the shell does not run');

	const named = await api.create({ id: 'second', name: 'The second', cols: 91, rows: 33, unknownField: 1 });
	assertSession(named, { id: 'second', name: 'The second', cols: 91, rows: 33 });
	const list = await api.list();
	assert.match(list.timestamp, iso);
	assert.deepEqual([...list.data].sort(), [session.id, 'second'].sort());
	for (const each of list.sessions) assertSession(each);
	assert.equal((await api.delete('second')).sessionId, 'second');
	await until('the end of the shell', () => !isAlive(named.pid));
});

shared('exit statuses', async (server) => {
	const { api } = server;
	const cases = [
		['exit 0', { code: 0, signal: null, reason: 'exited' }],
		['exit 255', { code: 255, signal: null, reason: 'exited' }],
		['kill -9 $$', { code: null, signal: 'KILL', reason: 'signal' }],
		['trap - HUP; kill -HUP $$', { code: null, signal: 'HUP', reason: 'signal' }],
		['exec false', { code: 1, signal: null, reason: 'exited' }],
	];
	for (const [command, expected] of cases) {
		await server.session({ id: 'x' });
		await api.input('x', `${command}\r`);
		const { exit, offset, pid, clients } = await gone(server, 'x');
		assert.deepEqual(exit, { ...expected, offset }, command);
		assert.ok(!isAlive(pid));
		assert.equal(clients, 0);
		await api.delete('x');
	}
});

shared('twenty opens and twenty creates at once make one session each', async (server) => {
	const { api } = server;
	for (let round = 0; round < 5; round += 1) {
		const answers = await Promise.all(Array.from({ length: 20 }, () => api.open({ id: `open${round}` })));
		assert.equal(answers.filter(({ created }) => created).length, 1);
		assert.equal(new Set(answers.map(({ data }) => data.pid)).size, 1);
		assert.equal(new Set(answers.map(({ data }) => data.epoch)).size, 1);
		assert.ok(answers.every(({ data }) => data.id === `open${round}` && data.pid > 0));

		const creates = await Promise.all(Array.from({ length: 20 },
			() => api.raw('POST', '/api/session/create', { id: `create${round}` })));
		assert.deepEqual(creates.map(({ status }) => status).sort(), [200, ...Array(19).fill(409)]);
	}
	assert.equal((await api.list()).data.length, 10);
	const mixed = await Promise.all(Array.from({ length: 24 }, (_, at) => {
		if (at % 3 === 0) return api.raw('POST', '/api/session/delete', { sessionId: 'open0' });
		return api.raw('POST', '/api/session/open', { id: 'open0' });
	}));
	assert.ok(mixed.every(({ status }) => [200, 404, 409, 500].includes(status)), mixed.map(({ text }) => text).join());
	const last = await api.open({ id: 'open0' });
	assert.equal(await server.run('open0', 'echo still-$((1+1))'), 'still-2\n');
	assert.ok(isAlive(last.data.pid));
});

shared('ping, version, health and metrics', async (server) => {
	const { api } = server;
	const ping = await api.call('GET', '/api/ping');
	assert.deepEqual([ping.status, ping.message], ['healthy', 'pong']);
	assert.match(ping.timestamp, iso);
	const version = await api.call('GET', '/api/version');
	assert.match(version.version, /^\d+\.\d+\.\d+/);
	assert.match(version.timestamp, iso);
	const health = await api.as(null).raw('GET', '/healthz');
	assert.deepEqual([health.status, health.text], [200, 'ok\n']);
	assert.match(health.headers['content-type'], /^text\/plain/);
	await api.create({});
	const metrics = await api.raw('GET', '/metrics');
	assert.equal(metrics.status, 200);
	assert.match(metrics.headers['content-type'], /^text\/plain/);
	for (const line of metrics.text.split('\n')) {
		if (!line || line.startsWith('#')) continue;
		assert.match(line, /^[a-zA-Z_:][a-zA-Z0-9_:]*(\{[^}]*\})? -?[0-9.eE+-]+$/, 'not Prometheus text');
	}
	assert.match(metrics.text, /^ringside_\w*sessions\w*(\{[^}]*\})? 1$/m);
});

scenario('the environment: inherited, set, and hidden variables', {
	env: {
		TMUX: '/tmp/tmux-0/default,1,0', TMUX_PANE: '%0', STY: '1.pts-0', WINDOW: '0', VTE_VERSION: '7200',
		TERM_PROGRAM: 'vscode', TERM_PROGRAM_VERSION: '1', COLUMNS: '33', LINES: '11', SSH_TTY: '/dev/pts/99',
		TERM: 'dumb', COLORTERM: 'no', WINDOWID: '77', KITTY_WINDOW_ID: '1', TERMCAP: 'x',
		SERVERS_OWN: 'kept', AWS_SECRET_ACCESS_KEY: 'x', SSH_AUTH_SOCK: '/x', DISPLAY: ':9', NOTIFY_SOCKET: '/x', LISTEN_FDS: '1',
		RINGSIDE_TOKEN: 'a-token-that-must-not-leak-0123456789',
	},
	args: ['--env', 'SERVERS_OWN', '--env', 'SET=by option'],
}, async (server) => {
	const { api } = server;
	await server.session({ id: 'env', cols: 200, rows: 50, env: { GIVEN: 'by hand = "x" $y', EMPTY: '', LANG: 'C' } });
	const env = new Map((await server.run('env', 'env -0 | tr "\\0\\n" "\\n~"')).split('\n').filter(Boolean)
		.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
	assert.equal(env.get('TERM'), 'xterm-256color');
	assert.equal(env.get('COLORTERM'), 'truecolor');
	assert.equal(env.get('GIVEN'), 'by hand = "x" $y');
	assert.equal(env.get('EMPTY'), '');
	assert.equal(env.get('LANG'), 'C');
	assert.equal(env.get('SERVERS_OWN'), 'kept');
	assert.equal(env.get('SET'), 'by option');
	assert.equal(env.get('HOME'), server.home);
	for (const name of ['TMUX', 'TMUX_PANE', 'STY', 'WINDOW', 'VTE_VERSION', 'COLUMNS', 'LINES', 'SSH_TTY',
		'WINDOWID', 'KITTY_WINDOW_ID', 'TERMCAP', 'RINGSIDE_TOKEN', 'NOTIFY_SOCKET', 'LISTEN_FDS',
		'AWS_SECRET_ACCESS_KEY', 'SSH_AUTH_SOCK', 'DISPLAY']) {
		assert.ok(!env.has(name), `${name}=${env.get(name)}`);
	}
	assert.notEqual(env.get('TERM_PROGRAM'), 'vscode');
	assert.notEqual(env.get('TERM_PROGRAM_VERSION'), '1');
	for (const [name, value] of env) {
		assert.ok(!value.includes('a-token-that-must-not-leak'), `${name} holds the token`);
	}
});

shared('the working directory', async (server) => {
	const { api } = server;
	await server.session({ id: 'default', cols: 200 });
	assert.equal(await server.run('default', 'pwd'), `${server.cwd}\n`);
	const there = path.join(server.root, 'dir with spaces ü');
	mkdirSync(there);
	const session = await server.session({ id: 'there', cwd: there, cols: 200 });
	assert.equal(session.cwd, there);
	assert.equal(await server.run('there', 'pwd'), `${there}\n`);
	rmSync(there, { recursive: true });
	assert.equal(await server.run('there', 'echo $((40+2))'), '42\n');
	assert.equal((await api.get('there')).state, 'running');
	assert.equal(await server.run('there', 'cd /; pwd'), '/\n');
	assert.ok((await api.list()).data.includes('there'));
});

shared('every byte of input and output is unchanged', async (server) => {
	const { api } = server;
	await server.session({ id: 'io', cols: 200 });
	const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
	const { offset } = await api.get('io');
	await api.input('io', "stty -echo raw; echo go''es; head -c 256 | od -An -v -tx1 -w256; stty sane\r");
	await server.outputMatches('io', /goes/, offset);
	await api.input('io', every);
	const [, dump] = await server.outputMatches('io', /goes\r?\n((?: [0-9a-f]{2}){256})/, offset);
	assert.equal(dump.replaceAll(' ', ''), every.toString('hex'), 'the input was changed');

	await server.shellReady('io');
	assert.equal(await server.run('io', "printf '\\000\\377\\033[31mx\\n' | od -An -tx1"), ' 00 ff 1b 5b 33 31 6d 78 0a\n');
	const raw = await api.get('io');
	await api.input('io', "printf '\\001\\377\\376<%s>' e''nd\r");
	await server.outputMatches('io', /<end>/, raw.offset);
	assert.ok((await api.output('io', raw.offset)).includes(Buffer.concat([Buffer.from([1, 255, 254]), Buffer.from('<end>')])));
});

scenario('a response has at most 1 MiB of output', { args: ['--ring-size', '8M'] }, async (server) => {
	const { api } = server;
	await server.session({ id: 'big' });
	await server.run('big', 'head -c 3000000 /dev/zero | tr "\\0" x; echo', { timeout: 30_000 });
	const piece = await api.outputPiece('big', 0);
	assert.equal(piece.bytes.length, 1 << 20);
	assert.equal((await api.text('big')).match(/x{3000000}/).length, 1);
});

shared('signals reach the foreground program, or the shell if requested', async (server) => {
	const { api } = server;
	await server.session({ id: 'sig' });
	for (const [signal, status] of [['INT', 130], ['QUIT', 131], ['USR1', 138]]) {
		const { offset } = await api.get('sig');
		await api.input('sig', "bash -c 'echo pid=$$=; exec sleep 1000'\r");
		const [, pid] = await server.outputMatches('sig', /pid=(\d+)=/, offset);
		await until('the sleep', () => isAlive(Number(pid)));
		await api.signal('sig', signal);
		await until('the end of the sleep', () => !isAlive(Number(pid)));
		await api.input('sig', 'echo status=$?=\r');
		const [, got] = await server.outputMatches('sig', /status=(\d+)=/, offset);
		assert.equal(Number(got), status, signal);
	}
	await api.input('sig', 'sleep 1000\r');
	await api.signal('sig', 'KILL', 'shell');
	const { exit } = await gone(server, 'sig');
	assert.deepEqual([exit.code, exit.signal, exit.reason], [null, 'KILL', 'signal']);
});

shared('a resize reaches the terminal and its program', async (server) => {
	const { api } = server;
	await server.session({ id: 'size', cols: 101, rows: 31 });
	assert.equal(await server.run('size', 'stty size'), '31 101\n');
	const { offset } = await api.get('size');
	await api.input('size', "bash -c 'trap \"stty size; exit\" WINCH; echo wait''ing; while :; do sleep 0.05; done'\r");
	await server.outputMatches('size', /waiting/, offset);
	await api.resize('size', 120, 40);
	await server.outputMatches('size', /^40 120\r$/m, offset);
	const { cols, rows } = await api.get('size');
	assert.deepEqual([cols, rows], [120, 40]);
});

shared('the list as a stream of events', async (server) => {
	const { api } = server;
	await api.create({ id: 'before' });
	const stream = new EventStream(server, '/api/session/events');
	const first = await stream.until('the list', () => true);
	assert.equal(stream.status, 200);
	assert.match(stream.headers['content-type'], /^text\/event-stream/);
	assert.equal(first.type, 'sessions');
	assertSession(first.sessions[0], { id: 'before' });
	const has = (id, fits = () => true) => (event) => event.sessions.some((each) => each.id === id && fits(each));
	const client = await server.client({ sessionId: 'before' }).connect();
	await stream.until('the client', has('before', ({ clients }) => clients === 1));
	await client.close();
	await stream.until('no client', has('before', ({ clients }) => clients === 0), stream.events.length - 1);

	const begun = Date.now();
	const seen = stream.events.length;
	for (let at = 0; at < 60; at += 1) {
		await api.call('POST', '/api/session/before/rename', { name: `name ${at}` });
		await pause(20);
	}
	await stream.until('the last name', has('before', ({ name }) => name === 'name 59'), seen);
	const seconds = (Date.now() - begun) / 1000;
	const events = stream.events.length - seen;
	assert.ok(events <= 5 * seconds + 2, `${events} events in ${seconds} s`);
	assert.ok(events >= 2, `only ${events} events in ${seconds} s`);
});

scenario('no more sessions than permitted', { args: ['--max-sessions', '3'] }, async (server) => {
	const { api } = server;
	for (const id of ['a', 'b', 'c']) await api.create({ id });
	await assert.rejects(server.client({ sessionId: 'd' }).connect(),
		(error) => error instanceof Refused && error.status === 429);
	const many = await Promise.all(Array.from({ length: 10 }, () => api.raw('POST', '/api/session/create')));
	assert.ok(many.every(({ status }) => status === 429));
});
