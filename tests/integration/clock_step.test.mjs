// Time limits do not depend on the wall clock: it may be set while a command runs, or while there is no server. Holders do
// not get the stepped clock, so all that they record appears to be from before the step.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const source = path.join(path.dirname(fileURLToPath(import.meta.url)), '../lib/clock_step.c');
const skip = !process.env.RINGSIDE_TEST_MEMORY && 'the sanitizers want to be loaded first';

for (const [name, seconds] of [['an hour forward', 3600], ['five seconds back', -5], ['a day back', -86_400]])
	scenario(`the clock is set ${name}`, { memory: true, skip, start: false }, async (server) => {
		const directory = mkdtempSync(path.join(os.tmpdir(), 'rs-clock-'));
		const bytes = Buffer.alloc(8);
		writeFileSync(path.join(directory, 'state'), bytes);
		const state = openSync(path.join(directory, 'state'), 'r+');
		const set = (to) => {
			bytes.writeBigInt64LE(BigInt(to));
			writeSync(state, bytes, 0, 8, 0);
		};
		try {
			execFileSync('cc', ['-O1', '-shared', '-fPIC', '-w', '-o', path.join(directory, 'clock.so'), source]);
			server.options.env = { LD_PRELOAD: path.join(directory, 'clock.so'), CLOCK_STATE: path.join(directory, 'state') };
			await server.start();
			await server.session({ id: 's' });
			const exec = async (fields) => (await server.api.call('POST', '/api/session/s/exec', { queue: true, ...fields })).data;
			const final = async ({ id }) => (await server.api.call('GET', `/api/session/s/exec/${id}?waitMs=20000`)).data;
			const start = async (command) => (await server.api.call('POST', '/api/process/start', { command, timeoutMs: 60_000 })).processId;
			const exitCode = (id) => until(`the end of ${id}`, async () => {
				const { process: p } = await server.api.call('GET', `/api/process/${id}`);
				return Number.isInteger(p.exitCode) && [p.exitCode];
			});
			const earlier = await start('exit 2');
			assert.deepEqual(await exitCode(earlier), [2]);
			const slow = await exec({ command: 'sleep 2', timeoutMs: 60_000, yieldMs: 100 });
			const later = await start('sleep 2; exit 3');
			set(seconds);
			await server.kill();
			await server.start();
			const before = Date.now();
			const { timestamp } = await server.api.call('GET', '/api/session/s/exec');
			const unset = Date.parse(timestamp) - seconds * 1000;
			assert.ok(unset >= before - 100 && unset <= Date.now() + 100, `it is ${timestamp}`);
			assert.deepEqual(await final(slow).then(({ exitCode, timedOut }) => [exitCode, timedOut]), [0, false]);
			assert.deepEqual(await exitCode(later), [3]);
			// A process that exceeds its limit ends in time.
			const began = performance.now();
			const hanging = await exec({ command: 'sleep 50', timeoutMs: 1500, yieldMs: 0 });
			set(0);
			const { timedOut } = await final(hanging);
			const took = performance.now() - began;
			assert.ok(timedOut && took >= 1400 && took < 15_000, `${timedOut} ${took}`);
			assert.deepEqual([await exitCode(earlier), await exitCode(later)], [[2], [3]], 'they are kept');
		} finally {
			closeSync(state);
			rmSync(directory, { recursive: true });
		}
	});
