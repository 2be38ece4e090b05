// Sessions over HTTP with real shells. unit/ws/api/session tests each request, shell_exit tests exit statuses, and
// size_policy and terminal test resizes.
import assert from 'node:assert/strict';
import { Refused } from './lib/client.mjs';
import { isAlive } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { EventStream } from './lib/sse.mjs';
import { shared } from './lib/together.mjs';
import { pause, until } from './lib/until.mjs';

shared('twenty opens and twenty creates at once make one session each', async (server) => {
	const { api } = server;
	const answers = await Promise.all(Array.from({ length: 20 }, () => api.open({ id: 'open' })));
	assert.equal(answers.filter(({ created }) => created).length, 1);
	assert.equal(new Set(answers.map(({ data }) => data.pid)).size, 1);
	assert.equal(new Set(answers.map(({ data }) => data.epoch)).size, 1);
	assert.ok(answers.every(({ data }) => data.id === 'open' && data.pid > 0));

	const creates = await Promise.all(Array.from({ length: 20 }, () => api.raw('POST', '/api/session/create', { id: 'create' })));
	assert.deepEqual(creates.map(({ status }) => status).sort(), [200, ...Array(19).fill(409)]);
	assert.deepEqual((await api.list()).data.sort(), ['create', 'open']);
	const mixed = await Promise.all(Array.from({ length: 24 }, (_, at) => {
		if (at % 3 === 0) return api.raw('POST', '/api/session/delete', { sessionId: 'open' });
		return api.raw('POST', '/api/session/open', { id: 'open' });
	}));
	assert.ok(mixed.every(({ status }) => [200, 404, 409, 500].includes(status)), mixed.map(({ text }) => text).join());
	const last = await api.open({ id: 'open' });
	assert.equal(await server.run('open', 'echo still-$((1+1))'), 'still-2\n');
	assert.ok(isAlive(last.data.pid));
});

shared('metrics are Prometheus text', async (server) => {
	const { api } = server;
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
	env: { TMUX: '/tmp/tmux-0/default,1,0', TERM: 'dumb', COLORTERM: 'no', SERVERS_OWN: 'kept', AWS_SECRET_ACCESS_KEY: 'x', RINGSIDE_TOKEN: 'a-token-that-must-not-leak-0123456789' },
	args: ['--env', 'SERVERS_OWN', '--env', 'SET=by option'],
}, async (server) => {
	await server.session({ id: 'env', cols: 200, rows: 50, env: { GIVEN: 'by hand = "x" $y', EMPTY: '', LANG: 'C' } });
	const env = new Map((await server.run('env', 'env -0 | tr "\\0\\n" "\\n~"')).split('\n').filter(Boolean)
		.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
	for (const [name, value] of Object.entries({ TERM: 'xterm-256color', COLORTERM: 'truecolor', GIVEN: 'by hand = "x" $y', EMPTY: '', LANG: 'C',
		SERVERS_OWN: 'kept', SET: 'by option', HOME: server.home, TMUX: undefined, AWS_SECRET_ACCESS_KEY: undefined, RINGSIDE_TOKEN: undefined }))
		assert.equal(env.get(name), value, name);
	for (const [name, value] of env) {
		assert.ok(!value.includes('a-token-that-must-not-leak'), `${name} holds the token`);
	}
});

shared('a response has at most 1 MiB of output', async (server) => {
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
	for (const [signal, status] of [['INT', 130], ['USR1', 138]]) {
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
	const { exit } = await until('the end', async () => {
		const session = await api.get('sig');
		return session.state === 'exited' && session;
	});
	assert.deepEqual([exit.code, exit.signal, exit.reason], [null, 'KILL', 'signal']);
});

shared('the list as a stream of events', async (server) => {
	const { api } = server;
	await api.create({ id: 'before' });
	const stream = new EventStream(server, '/api/session/events');
	const first = await stream.until('the list', () => true);
	assert.equal(stream.status, 200);
	assert.match(stream.headers['content-type'], /^text\/event-stream/);
	assert.equal(first.type, 'sessions');
	assert.equal(first.sessions[0].id, 'before');
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
	for (const id of ['a', 'b', 'c']) await server.api.create({ id });
	await assert.rejects(server.client({ sessionId: 'd' }).connect(),
		(error) => error instanceof Refused && error.status === 429);
});
