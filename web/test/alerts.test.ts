import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Alerts, type Alert } from '../src/blocks/alerts';
import type { Block } from '../src/blocks/block';
import { block as news, session } from './sessions';

const blockOf = (start: number, fields: Partial<Block> = {}): Block => ({
	id: `b${start}`, command: 'make', author: 'human', label: null, by: 'human', execId: null, state: 'running', startedAt: null,
	cwd: null, cwdAfter: null, endedAt: null, exitCode: null, start, end: null, inputMark: null, endMark: null, ...fields,
});

function make(blocks: readonly Block[] | null = []) {
	const alerts: Alert[] = [], asked: unknown[] = [];
	const watcher = new Alerts({
		blocks: (...what) => {
			asked.push(what);
			return blocks === null ? Promise.reject(new Error('away')) : Promise.resolve(blocks);
		},
		show: (what) => alerts.push(what),
	});
	return { watcher, alerts, asked, words: () => alerts.map(({ title, text }) => [title, text]) };
}

const at = (fields: object, more: object = {}) => [session({ block: news({ id: 'b5', ...fields }) }, { name: 'build', ...more })];
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('the end of a command raises one alert, whichever source reports it', () => {
	for (const source of ['the list', 'the view'] as const) {
		const { watcher, words } = make();
		watcher.update(at({}));
		watcher.add('s', blockOf(5));
		assert.ok(watcher.has('s', 'b5'));
		assert.ok(!watcher.has('other', 'b5'));
		watcher.update(at({ command: 'make' }));
		watcher.report('s', blockOf(5));
		assert.deepEqual(words(), []);
		if (source === 'the list')
			watcher.update(at({ command: 'make', state: 'done', exitCode: 2 }));
		else
			watcher.report('s', blockOf(5, { state: 'done', exitCode: 2 }));
		watcher.update(at({ command: 'make', state: 'done', exitCode: 2 }));
		assert.deepEqual(words(), [['Failed with 2 in build', 'make']], source);
		assert.ok(!watcher.has('s', 'b5'));
	}
});

test('if another command has started meanwhile, the command is fetched', async () => {
	const { watcher, words, asked } = make([blockOf(5, { state: 'done', exitCode: 0 }), blockOf(9)]);
	watcher.add('s', blockOf(5));
	watcher.update(at({ id: 'b9' }));
	watcher.update(at({ id: 'b9' }));
	await turn();
	assert.deepEqual(asked, [['s', 5]]);
	assert.deepEqual(words(), [['Done in build', 'make']]);
});

test('a failed fetch is retried', async () => {
	const { watcher, words, asked } = make(null);
	watcher.add('s', blockOf(5));
	for (const times of [1, 2]) {
		watcher.update(at({ id: 'b9' }));
		await turn();
		assert.equal(asked.length, times);
	}
	assert.deepEqual(words(), []);
	assert.ok(watcher.has('s', 'b5'));
});

test('if the session is deleted or replaced, the alert says so', () => {
	for (const after of [[], at({ state: 'done', exitCode: 0 }, { epoch: 2 })]) {
		const { watcher, words } = make();
		watcher.update(at({}));
		watcher.add('s', blockOf(5));
		watcher.update(after);
		watcher.update(after);
		assert.deepEqual(words(), [['The session was deleted', 'make']]);
	}
});
