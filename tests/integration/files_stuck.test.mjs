// Disks that do not answer: requests to them use a limited number of threads and get an error, and everything else goes on.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { outcome } from './lib/api.mjs';
import { hang, noHung } from './lib/hung.mjs';
import { sanitized, scenario } from './lib/server.mjs';
import { EventStream } from './lib/sse.mjs';
import { until } from './lib/until.mjs';

const skip = noHung();
const each = 4;

/** The metrics of files. */
async function numbers(server) {
	const { text } = await server.api.raw('GET', '/metrics');
	return Object.fromEntries([...text.matchAll(/^ringside_(file_\w+) (\d+)$/gm)].map(([, name, value]) => [name, Number(value)]));
}

const read = (api, sessionId, file) => api.raw('POST', '/api/read', { sessionId, path: file }, { timeout: 60_000 });

scenario('a client of a disk that does not answer uses at most four threads, and gets an error', { skip, args: ['--drivers-may-all'] }, async (server, t) => {
	const hung = path.join(server.cwd, 'hung'), fine = path.join(server.cwd, 'fine');
	mkdirSync(hung);
	writeFileSync(fine, 'text');
	for (const id of ['s', 't']) await server.session({ id, cwd: server.cwd });
	const release = await hang(hung);
	if (!release) return t.skip('nothing can be mounted');
	try {
		const { token } = await server.api.call('POST', '/api/session/s/links', { role: 'driver' });
		const driver = server.api.as(token);
		const waiting = [];
		const ask = (api, count) => Array.from({ length: count }, () => waiting.push(read(api, 's', path.join(hung, 'file'))));
		ask(driver, each);
		await until('the stuck threads', async () => (await numbers(server)).file_threads_stuck === each);
		await until('the warning in the log', () => /msg="a disk does not answer" threads=\d+ for=link:/.test(server.stderr));
		assert.equal(outcome(await read(driver, 's', fine)), '429 FILES_STUCK');
		assert.equal(outcome(await driver.raw('GET', '/api/file/fine?sessionId=s')), '429 FILES_STUCK');
		// The owner and other sessions are not affected.
		assert.equal(outcome(await read(server.api, 's', fine)), '200');
		ask(server.api, each + 3);
		const late = waiting.slice(-3);
		assert.deepEqual((await Promise.all(late)).map(outcome), Array(3).fill('429 FILES_STUCK'), 'requests that waited for a thread get the error');
		assert.equal(outcome(await read(server.api, 's', fine)), '429 FILES_STUCK');
		assert.equal(outcome(await read(server.api, 't', fine)), '200');
		assert.equal((await server.api.raw('GET', '/healthz')).status, 200);
		const n = await numbers(server);
		assert.deepEqual([n.file_threads_stuck, n.file_jobs_stuck_total, n.file_jobs_refused_total], [2 * each, 2 * each, 6]);
		await release();
		for (const answer of await Promise.all(waiting)) assert.match(outcome(answer), /^(500 FILESYSTEM_ERROR|404 FILE_NOT_FOUND|429 FILES_STUCK)$/);
		await until('the end of the stuck threads', async () => (await numbers(server)).file_threads_stuck === 0);
		assert.equal(outcome(await read(driver, 's', fine)), '200');
	} finally {
		await release();
	}
});

scenario('as many sessions as threads have disks that do not answer, and the next one works', { skip, timeout: 100_000 }, async (server, t) => {
	const hung = path.join(server.cwd, 'hung'), fine = path.join(server.cwd, 'fine');
	mkdirSync(hung);
	writeFileSync(fine, 'text');
	const ids = Array.from({ length: 6 }, (_, i) => `s${i}`);
	for (const id of [...ids, 'free']) await server.session({ id, cwd: server.cwd });
	const release = await hang(hung);
	if (!release) return t.skip('nothing can be mounted');
	try {
		const waiting = ids.flatMap((id) => Array.from({ length: each }, (_, i) => (i % 2 ? read(server.api, id, path.join(hung, 'x'))
			: server.api.raw('PUT', `/api/file/${encodeURIComponent('/')}${hung.slice(1)}/y?sessionId=${id}`, Buffer.from('x'), { timeout: 60_000 }))));
		await until('more stuck threads than usual threads', async () => (await numbers(server)).file_threads_stuck > 16, { timeout: 30_000 });
		assert.equal(outcome(await read(server.api, 'free', fine)), '200');
		await release();
		await Promise.all(waiting);
		await until('the end of the spare threads', async () => (await numbers(server)).file_threads <= 16 + 1);
		assert.equal(outcome(await read(server.api, 's0', fine)), '200');
	} finally {
		await release();
	}
});

scenario('watches of a disk that does not answer get an error, and others go on', { skip, timeout: 100_000 }, async (server, t) => {
	const hung = path.join(server.cwd, 'hung'), fine = path.join(server.cwd, 'fine');
	mkdirSync(hung);
	mkdirSync(fine);
	const release = await hang(hung);
	if (!release) return t.skip('nothing can be mounted');
	try {
		const ask = (what, i) => server.api.raw('POST', `/api/${what}`, { path: path.join(hung, `${i}`) }, { timeout: 60_000 });
		const waiting = ['watch', 'watch', 'watch/check'].map(ask);
		const stream = new EventStream(server, '/api/watch', { method: 'POST', body: { path: fine } });
		await until('the watch', () => stream.events.some(({ type }) => type === 'watching'));
		// Also with as many requests as permitted.
		waiting.push(ask('watch', 3), ask('watch', 4));
		await until('the error of the last request', async () => outcome(await waiting[4]) === '500 WATCH_START_ERROR');
		writeFileSync(path.join(fine, 'new'), '');
		await until('an event', () => stream.events.some(({ eventType }) => eventType === 'create'));
		assert.equal(outcome(await server.api.raw('POST', '/api/watch/check', { path: fine })), '200');
		assert.deepEqual((await Promise.all(waiting)).map(outcome), Array(5).fill('500 WATCH_START_ERROR'));
		await release();
		assert.equal(outcome(await server.api.raw('POST', '/api/watch/check', { path: hung })), '200');
	} finally {
		await release();
	}
});

scenario('a server ends while a disk does not answer', { memory: true, skip: skip || (sanitized() && 'LeakSanitizer waits for all threads') }, async (server, t) => {
	const hung = path.join(server.cwd, 'hung');
	mkdirSync(hung);
	await server.session({ id: 's', cwd: server.cwd });
	const release = await hang(hung);
	if (!release) return t.skip('nothing can be mounted');
	try {
		const waiting = Array.from({ length: 3 }, () => read(server.api, 's', path.join(hung, 'x')).catch(() => {}));
		waiting.push(server.api.raw('POST', '/api/watch', { path: path.join(hung, 'x') }, { timeout: 60_000 }).catch(() => {}));
		await until('the busy threads', async () => (await numbers(server)).file_threads_busy >= 3);
		server.child.kill('SIGTERM');
		await server.ended;
		await Promise.all(waiting);
		await server.start();
	} finally {
		await release();
	}
});

scenario('a working directory on a disk that does not answer delays only requests that name it', { skip, timeout: 100_000 }, async (server, t) => {
	const hung = path.join(server.cwd, 'hung');
	mkdirSync(hung);
	await server.session({ id: 's', cwd: server.cwd });
	const { contextId } = await server.api.call('POST', '/api/contexts', { language: 'python', cwd: hung });
	const code = (text) => server.api.raw('POST', '/api/execute/code', { context_id: contextId, code: text }, { timeout: 60_000 });
	// The executor has ended: the next code starts one in that directory.
	await code('import os; os._exit(1)');
	const release = await hang(hung);
	if (!release) return t.skip('nothing can be mounted');
	const cwd = path.join(hung, 'below');
	const post = (route, body) => server.api.raw('POST', route, body, { timeout: 60_000 });
	const named = [
		['/api/session/create', { id: 't', cwd }], ['/api/session/open', { id: 'u', cwd }],
		['/api/execute', { command: 'pwd', sessionId: 's', cwd }], ['/api/execute', { command: 'pwd', cwd }],
		['/api/execute/stream', { command: 'pwd', cwd }], ['/api/run', { command: 'pwd', cwd }],
		['/api/process/start', { command: 'pwd', cwd }], ['/api/process/start', { argv: ['pwd'], cwd }],
		['/api/contexts', { language: 'python', cwd }], ['/api/execute/code', { context_id: contextId, code: '1' }],
	];
	try {
		const waiting = [...Array.from({ length: each }, () => post('/api/run', { command: 'pwd', cwd })), post('/api/session/s/exec', { command: 'pwd', cwd })];
		await until('the stuck threads', async () => (await numbers(server)).file_threads_stuck === each + 1);
		for (const [route, body] of named) assert.equal(outcome(await post(route, body)), '429 FILES_STUCK', route);
		// Requests with another or no directory work.
		assert.equal((await post('/api/run', { command: 'echo here' })).json.stdout, 'here\n');
		assert.equal(outcome(await post('/api/session/s/exec', { command: 'true', cwd: server.cwd })), '200');
		assert.equal((await server.api.raw('GET', '/healthz')).status, 200);
		await release();
		for (const answer of await Promise.all(waiting)) assert.match(outcome(answer), /^(400 VALIDATION_FAILED|429 FILES_STUCK|200)$/);
		await until('the end of the stuck threads', async () => (await numbers(server)).file_threads_stuck === 0);
		assert.equal(outcome(await server.api.raw('POST', '/api/run', { command: 'pwd', cwd: server.cwd })), '200');
	} finally {
		await release();
	}
});
