// Sessions over HTTP: create, list, rename, resize, signal, input, output, delete.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { assertError } from './lib/api.mjs';
import { RawClient, Refused } from './lib/client.mjs';
import { isAlive } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { EventStream } from './lib/sse.mjs';
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

function assertInvalid(answer, field, where) {
	assertError(answer, 400, 'VALIDATION_FAILED', where);
	const { validationErrors } = answer.json.context;
	assert.ok(Array.isArray(validationErrors) && validationErrors.length > 0, `${where}: ${answer.text}`);
	for (const each of validationErrors) {
		for (const key of ['field', 'message', 'code']) assert.equal(typeof each[key], 'string', answer.text);
	}
	if (field) {
		assert.ok(validationErrors.some((each) => each.field === field), `${where}: not about ${field}: ${answer.text}`);
	}
}

const gone = (server, id) => until(() => `the end of ${id}`, async () => {
	const session = await server.api.get(id);
	return session.state === 'exited' && session;
});

scenario('a session is created with defaults and shown by get and list', async (server) => {
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

	const named = await api.create({
		id: 'second', name: 'The second', cols: 91, rows: 33, idleTimeoutMs: 3_600_000, unknownField: 1,
	});
	assertSession(named, {
		id: 'second', name: 'The second', cols: 91, rows: 33, idleTimeoutMs: 3_600_000,
	});
	assert.notEqual(named.epoch, session.epoch);
	assert.notEqual(named.pid, session.pid);

	const got = await api.call('GET', '/api/session/second');
	assert.match(got.timestamp, iso);
	assertSession(got.data, { id: 'second', epoch: named.epoch, pid: named.pid });

	const list = await api.list();
	assert.match(list.timestamp, iso);
	assert.deepEqual([...list.data].sort(), [session.id, 'second'].sort());
	assert.deepEqual(list.sessions.map(({ id }) => id).sort(), [...list.data].sort());
	for (const each of list.sessions) assertSession(each);
});

scenario('odd ids are valid', async (server) => {
	const { api } = server;
	for (const id of ['a', 'A-Za.z0_9:@-', '0', `${'x'.repeat(127)}y`, '-dash', 'con..txt']) {
		assertSession(await api.create({ id }), { id });
		await server.run(id, 'true');
		assert.equal((await api.get(encodeURIComponent(id))).id, id);
		await api.delete(id);
	}
});

scenario('bodies that are too large', async (server) => {
	const { api } = server;
	await api.create({ id: 's' });
	const routes = ['create', 'open', 'delete', 's/rename', 's/resize', 's/signal', 's/input', 's/links']
		.map((route) => `/api/session/${route}`);
	for (const route of routes) {
		const raw = new RawClient(server);
		raw.send(`POST ${route} HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n`
			+ 'Content-Type: application/json\r\nContent-Length: 1073741824\r\n\r\n{"name":"');
		assert.equal(await raw.status(), 413, route);
		raw.terminate();
	}
	const padded = (length) => `{"name":"x"${' '.repeat(length - 12)}}`;
	await api.call('POST', '/api/session/s/rename', padded(1 << 20));
	await api.refused(413, 'REQUEST_TOO_LARGE', 'POST', '/api/session/s/rename', padded((1 << 20) + 1));
	assert.equal((await api.get('s')).state, 'running');
	assert.deepEqual((await api.list()).data, ['s']);
});

scenario('creating a running session again is a conflict, an ended one a new session', async (server) => {
	const { api } = server;
	const first = await api.create({ id: 'one', cols: 100 });
	const conflict = await api.refused(409, 'SESSION_ALREADY_EXISTS', 'POST', '/api/session/create', { id: 'one' });
	assert.equal(conflict.context.sessionId, 'one');
	const opened = await api.open({ id: 'one', cols: 50 });
	assert.equal(opened.created, false);
	assert.deepEqual([opened.data.pid, opened.data.epoch, opened.data.cols], [first.pid, first.epoch, 100]);

	await server.shellReady('one');
	await api.input('one', 'exit 3\r');
	const ended = await gone(server, 'one');
	assert.deepEqual(ended.exit, { code: 3, signal: null, reason: 'exited', offset: ended.offset });
	const text = await api.text('one');
	assert.match(text, /exit 3/, 'the history of an ended session is gone');

	const second = await api.create({ id: 'one' });
	assert.notEqual(second.epoch, first.epoch);
	assert.notEqual(second.pid, first.pid);
	assert.equal(second.exit, null);
	assert.notEqual(second.state, 'exited');
	assert.doesNotMatch(await api.text('one'), /exit 3/, 'the new session has the old history');
	assert.deepEqual((await api.list()).data, ['one']);
});

scenario('exit statuses', async (server) => {
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
		const late = await api.raw('POST', '/api/session/x/input', { data: 'ls\r' });
		assert.ok(late.status >= 400 && late.status < 500, `input after the end: ${late.status} ${late.text}`);
		await api.delete('x');
	}
});

scenario('twenty opens and twenty creates at once make one session each', async (server) => {
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

scenario('ping, version, health and metrics', async (server) => {
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
	for (const bad of [{ 'A=B': 'x' }, { '': 'x' }, { X: 5 }, { X: 'a\0b' }, ['X=1'], 'X=1']) {
		assertInvalid(await api.raw('POST', '/api/session/create', { env: bad }), undefined, JSON.stringify(bad));
	}
});

scenario('the working directory', async (server) => {
	const { api } = server;
	await server.session({ id: 'default', cols: 200 });
	assert.equal(await server.run('default', 'pwd'), `${server.cwd}\n`);
	const there = path.join(server.root, 'dir with spaces ü');
	mkdirSync(there);
	const session = await server.session({ id: 'there', cwd: there, cols: 200 });
	assert.equal(session.cwd, there);
	assert.equal(await server.run('there', 'pwd'), `${there}\n`);
	const missing = path.join(server.root, 'missing');
	const file = path.join(server.root, 'file');
	writeFileSync(file, '');
	for (const cwd of [missing, file]) {
		for (const route of ['create', 'open']) {
			const answer = await api.raw('POST', `/api/session/${route}`, { id: 'nowhere', cwd });
			assertError(answer, 400, 'VALIDATION_FAILED');
			assert.ok(answer.json.message.includes(cwd), answer.text);
		}
	}
	await api.refused(404, 'SESSION_NOT_FOUND', 'GET', '/api/session/nowhere');

	rmSync(there, { recursive: true });
	assert.equal(await server.run('there', 'echo $((40+2))'), '42\n');
	assert.equal((await api.get('there')).state, 'running');
	assert.equal(await server.run('there', 'cd /; pwd'), '/\n');
	assert.ok((await api.list()).data.includes('there'));
});

scenario('input, output and their ranges', { args: ['--ring-size', '64K'] }, async (server) => {
	const { api } = server;
	await server.session({ id: 'io', cols: 200 });
	assert.equal((await api.input('io', 'ä\b')).bytes, 3);
	assert.equal((await api.input('io', Buffer.from([0x15]))).bytes, 1);
	for (const body of [{}, { data: 5 }, { base64: '!!!!' }, { base64: 'abc' }]) {
		assertInvalid(await api.raw('POST', '/api/session/io/input', body), undefined, JSON.stringify(body));
	}
	const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
	const { offset } = await api.get('io');
	await api.input('io', "stty -echo raw; echo go''es; head -c 256 | od -An -v -tx1 -w256; stty sane\r");
	await server.outputMatches('io', /goes/, offset);
	await api.input('io', every);
	const [, dump] = await server.outputMatches('io', /goes\r?\n((?: [0-9a-f]{2}){256})/, offset);
	assert.equal(dump.replaceAll(' ', ''), every.toString('hex'), 'the input was changed');

	await server.shellReady('io');
	const before = await api.get('io');
	assert.equal(await server.run('io', "printf '\\000\\377\\033[31mx\\n' | od -An -tx1"), ' 00 ff 1b 5b 33 31 6d 78 0a\n');
	const raw = await api.get('io');
	await api.input('io', "printf '\\001\\377\\376<%s>' e''nd\r");
	await server.outputMatches('io', /<end>/, raw.offset);
	assert.ok((await api.output('io', raw.offset)).includes(Buffer.concat([Buffer.from([1, 255, 254]), Buffer.from('<end>')])));

	const after = await api.get('io');
	assert.ok(after.offset > before.offset);
	assert.ok(Date.parse(after.lastActivityAt) >= Date.parse(before.lastActivityAt));
	const whole = await api.output('io', before.offset, after.offset);
	assert.equal(whole.length, after.offset - before.offset);
	for (const [from, to] of [[before.offset, before.offset + 1], [before.offset + 3, before.offset + 17], [after.offset - 1, after.offset]]) {
		const piece = await api.outputPiece('io', from, to);
		assert.deepEqual([piece.from, piece.to], [from, to]);
		assert.equal(piece.type, 'application/octet-stream');
		assert.deepEqual(piece.bytes, whole.subarray(from - before.offset, to - before.offset));
		assert.ok(piece.oldest <= from && piece.head >= to);
	}
	const { offset: head } = await until('the end of the output', async () => {
		const [one, two] = [await api.get('io'), await api.get('io')];
		return one.offset === two.offset && two;
	});
	assert.equal((await api.outputPiece('io', head)).bytes.length, 0);
	for (const query of ['from=abc', 'from=-1', 'from=1.5', 'from=5&to=x', 'from=99999999999999999999999']) {
		const answer = await api.raw('GET', `/api/session/io/output?${query}`);
		assert.ok(answer.status >= 400 && answer.status < 500, `${query}: ${answer.status}`);
	}

	await api.input('io', 'seq 1 60000; echo ov""er\r');
	await server.outputMatches('io', /\nover\r\n/);
	const full = await api.get('io');
	assert.ok(full.oldest > 0 && full.offset - full.oldest <= full.ringSize, JSON.stringify(full));
	const error = await api.refused(416, 'RANGE_GONE', 'GET', '/api/session/io/output?from=0');
	assert.ok(error.context.oldest >= full.oldest && error.context.head >= full.offset);
	const rest = await api.text('io', error.context.oldest);
	assert.match(rest, /59999\r\n60000\r\n/);
});

scenario('a response has at most 1 MiB of output', { args: ['--ring-size', '8M'] }, async (server) => {
	const { api } = server;
	await server.session({ id: 'big' });
	await server.run('big', 'head -c 3000000 /dev/zero | tr "\\0" x; echo', { timeout: 30_000 });
	const piece = await api.outputPiece('big', 0);
	assert.equal(piece.bytes.length, 1 << 20);
	assert.equal((await api.text('big')).match(/x{3000000}/).length, 1);
});

scenario('signals reach the foreground program, or the shell if requested', async (server) => {
	const { api } = server;
	await server.session({ id: 'sig' });
	for (const [signal, status] of [['INT', 130], ['TERM', 143], ['QUIT', 131], ['KILL', 137], ['USR1', 138]]) {
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
	for (const signal of ['NONE', 'int', '', 0, 65, -9, 1.5, 'KILL; rm', 'SIGNAL']) {
		assertInvalid(await api.raw('POST', '/api/session/sig/signal', { signal }), 'signal', String(signal));
	}
	assertInvalid(await api.raw('POST', '/api/session/sig/signal', {}), 'signal', 'no signal');
	assertInvalid(await api.raw('POST', '/api/session/sig/signal', { signal: 'INT', target: 'all' }), 'target', 'target all');
	assert.equal((await api.get('sig')).state, 'running');
	await api.input('sig', 'sleep 1000\r');
	await api.signal('sig', 'KILL', 'shell');
	const { exit } = await gone(server, 'sig');
	assert.deepEqual([exit.code, exit.signal, exit.reason], [null, 'KILL', 'signal']);
});

scenario('a resize reaches the terminal and its program', async (server) => {
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

scenario('delete', async (server) => {
	const { api } = server;
	const { pid } = await server.session({ id: 'del' });
	const answer = await api.delete('del');
	assert.equal(answer.sessionId, 'del');
	assert.match(answer.timestamp, iso);
	await api.refused(404, 'SESSION_NOT_FOUND', 'GET', '/api/session/del');
	await until('the end of the shell', () => !isAlive(pid));
	assert.deepEqual((await api.list()).data, []);
	await api.refused(500, 'INTERNAL_ERROR', 'POST', '/api/session/delete', { sessionId: 'del' });
	const again = await api.create({ id: 'del' });
	assert.notEqual(again.pid, pid);
});

scenario('the list as a stream of events', async (server) => {
	const { api } = server;
	await api.create({ id: 'before' });
	const stream = new EventStream(server, '/api/session/events');
	const first = await stream.until('the list', () => true);
	assert.equal(stream.status, 200);
	assert.match(stream.headers['content-type'], /^text\/event-stream/);
	assert.equal(first.type, 'sessions');
	assertSession(first.sessions[0], { id: 'before' });
	const has = (id, fits = () => true) => (event) => event.sessions.some((each) => each.id === id && fits(each));

	await api.create({ id: 'new' });
	await stream.until('the new session', has('new'));
	await api.call('POST', '/api/session/new/rename', { name: 'renamed' });
	await stream.until('the new name', has('new', ({ name }) => name === 'renamed'));
	await api.resize('new', 66, 22);
	await stream.until('the new size', has('new', ({ cols, rows }) => cols === 66 && rows === 22));
	const client = await server.client({ sessionId: 'new' }).connect();
	await stream.until('the client', has('new', ({ clients }) => clients === 1));
	await client.close();
	await stream.until('no client', has('new', ({ clients }) => clients === 0), stream.events.length - 1);
	await api.signal('new', 'KILL', 'shell');
	await stream.until('the exit', has('new', ({ state, exit }) => state === 'exited' && exit.signal === 'KILL'));
	await api.delete('new');
	await stream.until('the deletion', (event) => !has('new')(event), stream.events.findIndex(has('new')) + 1);

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
	await api.refused(429, 'LIMIT_REACHED', 'POST', '/api/session/create', { id: 'd' });
	await api.refused(429, 'LIMIT_REACHED', 'POST', '/api/session/open', { id: 'd' });
	await assert.rejects(server.client({ sessionId: 'd' }).connect(),
		(error) => error instanceof Refused && error.status === 429);
	assert.equal((await api.open({ id: 'a' })).created, false);
	await api.delete('b');
	await api.create({ id: 'd' });
	assert.deepEqual((await api.list()).data.sort(), ['a', 'c', 'd']);
	const many = await Promise.all(Array.from({ length: 10 }, () => api.raw('POST', '/api/session/create')));
	assert.ok(many.every(({ status }) => status === 429));
});
