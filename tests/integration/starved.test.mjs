// An allocation failure is an error of one request, never the end of the server.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { descriptors } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { until } from './lib/until.mjs';

const measured = { memory: true, skip: !process.env.RINGSIDE_TEST_MEMORY && 'the sanitizers have an allocator of their own' };
const source = path.join(path.dirname(fileURLToPath(import.meta.url)), '../lib/starve.c');

/** A server whose allocations are counted and can fail: see starve.c. */
async function starving(body) {
	const directory = mkdtempSync(path.join(os.tmpdir(), 'rs-starve-'));
	const file = (name) => path.join(directory, name);
	execFileSync('cc', ['-O1', '-shared', '-fPIC', '-w', '-o', file('starve.so'), source]);
	writeFileSync(file('state'), Buffer.alloc(24));
	const fd = openSync(file('state'), 'r+');
	const number = Buffer.alloc(8);
	const put = (at, value) => {
		number.writeBigInt64LE(BigInt(value));
		writeSync(fd, number, 0, 8, at * 8);
	};
	try {
		await body({ LD_PRELOAD: file('starve.so'), STARVE_STATE: file('state'), STARVE_PROGRAM: 'ringside-server' }, {
			calls: () => readSync(fd, number, 0, 8, 16) && Number(number.readBigInt64LE()),
			refuse(toGo, more) {
				put(1, more);
				put(0, toGo);
			},
			feed() {
				put(0, 0);
				put(1, 0);
			},
		});
	} finally {
		closeSync(fd);
		rmSync(directory, { recursive: true });
	}
}

/** The requests. libmagic (reading files) and libjwt (links) end the program themselves, so they are left out. */
const asks = [
	['POST', '/api/run', { command: 'head -c 90000 /dev/zero | tr "\\0" x' }],
	['POST', '/api/session/s/exec', { command: 'echo hi', queue: true, timeoutMs: 5000 }],
	['POST', '/api/execute', { command: 'echo hi', sessionId: 's' }],
	['POST', '/api/session/s/keys', { text: 'x', keys: 'C-u' }],
	['POST', '/api/session/s/wait', { until: [{ type: 'prompt' }], timeoutMs: 500 }],
	['POST', '/api/session/s/resize', { cols: 90, rows: 30 }],
	['GET', '/api/session/s/screen?format=json'],
	['GET', '/api/session/s/screen?format=html'],
	['GET', '/api/session/s/output?from=0'],
	['GET', '/api/session/s/blocks'],
	['GET', '/api/session/s/exec'],
	['GET', '/api/session/s/state'],
	['POST', '/api/session/open', { id: 'n' }],
	['POST', '/api/session/delete', { sessionId: 'n' }],
	['GET', '/api/session/list'],
	['POST', '/api/process/start', { command: 'echo hi' }],
	['GET', '/api/process/list'],
	['POST', '/api/write', { path: 'f', content: 'x'.repeat(3000) }],
	['POST', '/api/list-files', { path: '.' }],
	['POST', '/api/stdin', {}],
	['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'exec', arguments: { session_id: 's', command: 'echo hi' } } }],
	['GET', '/metrics'],
	['GET', '/'],
];

scenario('one allocation after another fails', { ...measured, start: false, timeout: 200_000 }, (server) => starving(async (env, memory) => {
	server.options.env = env;
	await server.start();
	await server.session({ id: 's' });
	const ask = ([method, route, body]) => fetch(server.base + route, {
		method, signal: AbortSignal.timeout(30_000), headers: { Authorization: `Bearer ${server.token}`, Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json' }, body: body && JSON.stringify(body),
	}).then(async (answer) => answer.text().then(() => answer.status), (error) => {
		assert.notEqual(error.name, 'TimeoutError', `${method} ${route}`);
		return 0; // a connection that could not be accepted, or answered
	});
	for (const each of asks) {
		const before = memory.calls();
		await ask(each);
		const needed = Math.min(memory.calls() - before, 1500);
		const step = Math.max(1, needed / times(60, 600));
		let refused = 0;
		for (let n = 1; n <= needed + 5; n += step)
			for (const more of [0, 5, 100]) {
				memory.refuse(Math.floor(n), more);
				const status = await ask(each);
				memory.feed();
				refused += status === 0 || status >= 400;
				assert.equal(server.exit, undefined, `${each[1]}: ${n} ${more}: ${server.stderr.slice(-2000)}`);
			}
		assert.ok(refused > 0, each[1]);
		await until(`a response after ${each[1]}`, async () => await ask(['GET', '/healthz']) === 200);
	}
	// No memory is leaked.
	const { data } = await server.api.call('POST', '/api/session/s/exec', { command: 'echo sound', queue: true });
	assert.deepEqual([data.output, data.outputExact], ['sound\n', true]);
}));

scenario('the table of descriptors does not grow', { ...measured, start: false, timeout: 200_000 }, (server) => starving(async (env, memory) => {
	server.options.env = env;
	await server.start();
	const run = async () => (await server.api.raw('POST', '/api/run', { command: 'true' }).catch(() => ({}))).status;
	await run();
	const before = memory.calls();
	await run();
	const needed = memory.calls() - before;
	const { hostname, port } = new URL(server.base);
	const idle = Array.from({ length: 300 }, () => net.connect(port, hostname));
	try {
		await until('all connections', () => Object.keys(descriptors(server.pid)).length >= idle.length);
		for (let n = 1; n < needed; n += 1) {
			memory.refuse(n, 100_000); // all later ones
			await run();
			memory.feed();
			assert.equal(server.exit, undefined, `${n}: ${server.stderr.slice(-2000)}`);
		}
		assert.equal(await run(), 200);
	} finally {
		for (const socket of idle) socket.destroy();
	}
}));

scenario('an address space that is too small for all requests', { ...measured, prefix: ['prlimit', '--as=150000000', '--'] }, async (server) => {
	const run = async () => {
		const { status, json } = await server.api.raw('POST', '/api/run', { command: 'head -c 900000 /dev/zero | tr "\\0" x', streams: 'pipes' }, { timeout: 40_000 });
		assert.ok([200, 429, 500].includes(status), `${status}`);
		return status === 200 && !json.truncated && json.stdout.length === 900_000;
	};
	const all = await Promise.allSettled(Array.from({ length: 60 }, run));
	assert.ok(all.some(({ value }) => value), 'some responses are complete');
	await until('a run', run);
});
