import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KnownFiles } from '../src/files/known_files';
import type { FileFacts } from '../src/net/wire';
import { FakeClock, settle } from './fakes';

const facts = (path: string): FileFacts => ({ absolutePath: path, type: 'file', size: 1, modifiedAt: '', readable: true });

/** Requests are answered by hand. */
function harness() {
	const clock = new FakeClock();
	const requests: { at: number; paths: readonly string[]; answer: (error?: Error) => Promise<void> }[] = [];
	const done: string[] = [];
	const failed: string[] = [];
	const known = new KnownFiles({
		clock, isRefusal: (error) => (error as Error).message === 'refused',
		stat: (paths) => new Promise((resolve, reject) => requests.push({
			at: clock.now(), paths,
			answer: (error) => {
				if (error === undefined)
					resolve(paths.map((path) => (path.startsWith('no') ? null : facts(path))));
				else
					reject(error);
				return settle();
			},
		})),
	});
	const ask = (...paths: string[]) => known.ask(paths, (answered) => (answered ? done : failed).push(paths.join()));
	return { clock, requests, known, done, failed, ask };
}

test('what is known is kept for a moment, also that a path does not exist', async () => {
	const { clock, requests, known, done, ask } = harness();
	assert.equal(known.get(['a']), null);
	ask('a', 'no');
	clock.advance(1000);
	await requests[0]?.answer();
	assert.deepEqual(done, ['a,no']);
	assert.deepEqual([...known.get(['no', 'a']) ?? []], [['no', null], ['a', facts('a')]]);
	assert.equal(known.get(['a', 'b']), null, 'one is not known');
	clock.advance(3001);
	assert.equal(known.get(['a']), null);
});

test('a pointer that crosses lines asks about the last one', () => {
	const { clock, requests, known, ask } = harness();
	for (let n = 0; n < 100; n++) {
		ask(`line ${n}`);
		clock.advance(20);
	}
	assert.deepEqual(requests, []);
	clock.advance(60);
	assert.deepEqual(requests.map(({ paths }) => paths), [['line 99']]);
	ask('other');
	known.cancel();
	clock.advance(10_000);
	assert.equal(requests.length, 1);
});

test('one request at a time, and few in a second', async () => {
	const { clock, requests, done, ask } = harness();
	for (let ms = 0; ms < 10_000; ms += 100) {
		ask(`at ${ms}`);
		clock.advance(100);
		if (ms === 3000)
			await requests.at(-1)?.answer();
	}
	assert.equal(requests.length, 2, 'the second is not answered');
	assert.deepEqual(done, [], 'another line was asked about meanwhile');
	for (let ms = 0; ms < 10_000; ms += 100) {
		await requests.at(-1)?.answer();
		ask(`later ${ms}`);
		clock.advance(100);
	}
	assert.ok(requests.length > 20, `${requests.length} requests`);
	for (const [nth, { at }] of requests.slice(1).entries())
		assert.ok(at - (requests[nth]?.at ?? 0) >= 250, `a request at ${requests[nth]?.at}, the next one at ${at}`);
});

test('a failure is followed by a pause, a refusal by silence', async () => {
	const { clock, requests, known, done, failed, ask } = harness();
	ask('a');
	clock.advance(100);
	await requests[0]?.answer(new Error('no connection'));
	assert.deepEqual(failed, ['a']);
	assert.equal(known.get(['a']), null);
	ask('b');
	clock.advance(4900);
	assert.equal(requests.length, 1);
	clock.advance(200);
	assert.equal(requests.length, 2);
	clock.advance(30_000);
	await requests[1]?.answer(new Error('no answer'));
	ask('c');
	clock.advance(59_000);
	assert.equal(requests.length, 2, 'the pause after a long request is longer');
	clock.advance(2000);
	assert.equal(requests.length, 3);
	assert.equal(known.refused, false);
	await requests[2]?.answer(new Error('refused'));
	assert.equal(known.refused, true);
	ask('d');
	clock.advance(600_000);
	assert.equal(requests.length, 3);
	assert.deepEqual(failed, ['a', 'b', 'c']);
	assert.deepEqual(done, []);
});

test('an exception of the caller is no failed request', async () => {
	const { clock, requests, known, ask } = harness();
	const errors: unknown[] = [];
	const listeners = process.listeners('unhandledRejection'); // of the test runner, which would fail the test
	process.removeAllListeners('unhandledRejection').on('unhandledRejection', (error) => errors.push(error));
	try {
		known.ask(['a'], () => {
			throw new Error('refused');
		});
		clock.advance(100);
		await requests[0]?.answer();
		await new Promise((resolve) => setImmediate(resolve));
	} finally {
		process.removeAllListeners('unhandledRejection');
		for (const listener of listeners)
			process.on('unhandledRejection', listener);
	}
	assert.deepEqual(errors.map((error) => (error as Error).message), ['refused']);
	assert.equal(known.refused, false);
	ask('b');
	clock.advance(300);
	assert.equal(requests.length, 2, 'no pause');
});
