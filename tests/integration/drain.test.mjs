// A draining server: it starts nothing new, serves everything else to its end, and tells all clients.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import http from 'node:http';
import { assertError } from './lib/api.mjs';
import { cli, environment, good } from './lib/cli.mjs';
import { binary } from './lib/server.mjs';
import { EventStream } from './lib/sse.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const LONG = { timeout: 30_000 };

/** A load balancer's probe: without credentials, with any host name. */
function probe(server, path) {
	return new Promise((resolve, reject) => {
		http.get(`${server.base}${path}`, { headers: { Host: '10.1.2.3' }, agent: false }, (answer) => {
			let text = '';
			answer.setEncoding('utf8').on('data', (data) => { text += data; }).on('end', () => resolve([answer.statusCode, text]));
		}).on('error', reject);
	});
}

const refused = async (server, ...call) => {
	const answer = await server.api.raw(...call);
	assertError(answer, 503, 'SERVER_DRAINING');
	assert.match(answer.headers['retry-after'], /^\d+$/);
	return answer;
};

shared('nothing new starts, and everything else goes on', async (server) => {
	await server.session({ id: 's' });
	await server.api.call('POST', '/api/process/start', { command: 'cat', processId: 'p', stdin: 'pipe' });
	const list = new EventStream(server, '/api/session/events');
	await list.until('the list', ({ type }) => type === 'sessions');
	const client = await server.client({ sessionId: 's' }).connect();
	assert.deepEqual(await probe(server, '/readyz'), [200, 'ready\n']);
	const before = await server.api.call('GET', '/api/drain');
	assert.deepEqual([before.draining, before.since, before.sessions, before.processes, before.runs], [false, null, 1, 1, 0]);

	const drained = await server.api.call('POST', '/api/drain');
	assert.deepEqual([drained.draining, drained.sessions, drained.processes], [true, 1, 1]);
	assert.ok(Date.parse(drained.since) <= Date.now());
	assert.equal((await server.api.call('POST', '/api/drain')).since, drained.since, 'a second drain changes nothing');
	await list.until('the event', ({ type, draining }) => type === 'drain' && draining);
	await client.untilMessage('drain', ({ draining }) => draining);
	assert.deepEqual(await probe(server, '/readyz'), [503, 'the server is being drained\n']);
	assert.deepEqual(await probe(server, '/healthz'), [200, 'ok\n']);
	assert.match((await server.api.raw('GET', '/metrics')).text, /^ringside_draining 1$/m);

	await refused(server, 'POST', '/api/session/create', { id: 'new' });
	await refused(server, 'POST', '/api/execute', { command: 'true', sessionId: 'new' });
	const sandbox = await server.api.raw('POST', '/v1/sandbox/box/exec', { argv: ['true'] });
	assert.equal(sandbox.status, 502);
	const fresh = server.client({ sessionId: 'new' });
	await fresh.connect().catch(() => {});
	await until('the refusal', () => fresh.messages.some(({ type, code }) => type === 'error' && code === 'SERVER_DRAINING'), LONG);
	assert.equal((await server.api.list()).data.join(), 's');

	assert.equal(await server.run('s', 'echo still here'), 'still here\n');
	assert.equal((await server.api.call('POST', '/api/session/open', { id: 's' })).created, false);
	assert.equal((await server.api.call('POST', '/api/execute', { command: 'echo here', sessionId: 's' })).stdout, 'here');
	await server.api.call('POST', '/api/process/p/input', { data: 'x\n' });
	const late = await server.client({ sessionId: 's' }).connect();
	await late.untilMessage('drain', ({ draining }) => draining);
	const lateList = new EventStream(server, '/api/session/events');
	await lateList.until('the event', ({ type, draining }) => type === 'drain' && draining);

	const again = await server.api.call('DELETE', '/api/drain');
	assert.deepEqual([again.draining, again.since], [false, null]);
	await list.until('the event', ({ type, draining }) => type === 'drain' && !draining);
	await client.untilMessage('drain', ({ draining }) => !draining);
	assert.deepEqual(await probe(server, '/readyz'), [200, 'ready\n']);
	await server.session({ id: 'new' });
	assert.match(server.stderr, /module=drain msg="draining: nothing new is started" peer=\S+/);
});

shared('a new server is not draining', async (server) => {
	await server.session({ id: 's' });
	await server.api.call('POST', '/api/drain');
	await server.restart();
	assert.deepEqual(await probe(server, '/readyz'), [200, 'ready\n']);
	await server.session({ id: 'new' });
});

shared('the command waits for the end of all work; --cancel stops draining', async (server) => {
	const drain = (...args) => good(server, ['drain', ...args]);
	await server.session({ id: 's' });
	assert.equal(await drain(), 'nothing new starts; left: 1 sessions, 0 processes, 0 runs\n');
	assert.equal(await drain('--cancel'), '');
	assert.equal((await cli(server, ['drain', '--wait', '--cancel'])).code, 2);
	await server.api.call('POST', '/api/process/start', { command: 'sleep 1000', processId: 'p' });
	const child = spawn(binary, ['drain', '--wait', '--json'], { env: environment(server), stdio: ['ignore', 'pipe', 'pipe'] });
	let text = '', ended = false;
	child.stdout.setEncoding('utf8').on('data', (data) => { text += data; });
	const over = new Promise((resolve) => { child.on('close', (code) => { ended = true; resolve(code); }); });
	await until('the drain', async () => (await server.api.call('GET', '/api/drain')).draining, LONG);
	const refusal = await cli(server, ['new', 'other']);
	assert.notEqual(refusal.code, 0);
	assert.match(refusal.stderr, /being drained/);
	await server.api.input('s', 'exit\r');
	await until('the end of the session', async () => (await server.api.call('GET', '/api/drain')).sessions === 0, LONG);
	assert.ok(!ended, 'it still waits for the process');
	await server.api.call('DELETE', '/api/process/p');
	assert.equal(await over, 0);
	const { draining, sessions, processes, runs } = JSON.parse(text);
	assert.deepEqual([draining, sessions, processes, runs], [true, 0, 0, 0]);
	// Another command cancels the drain: this one does not wait forever.
	await drain('--cancel');
	await server.session({ id: 'third' });
	const waits = cli(server, ['drain', '--wait']);
	await until('the drain', async () => (await server.api.call('GET', '/api/drain')).draining, LONG);
	await drain('--cancel');
	const { code, stderr } = await waits;
	assert.notEqual(code, 0);
	assert.match(stderr, /the drain was cancelled/);
});
