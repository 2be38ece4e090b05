import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Awaited, type Told } from '../src/blocks/awaited';
import type { Block } from '../src/blocks/block';
import { block as news, session } from './sessions';

const blockOf = (start: number, fields: Partial<Block> = {}): Block => ({
	id: `b${start}`, command: 'make', author: 'human', label: null, by: 'human', execId: null, state: 'running', startedAt: null,
	endedAt: null, exitCode: null, start, end: null, inputMark: null, endMark: null, ...fields,
});

function make(blocks: readonly Block[] | null = []) {
	const told: Told[] = [], asked: unknown[] = [];
	const awaited = new Awaited({
		blocks: (...what) => {
			asked.push(what);
			return blocks === null ? Promise.reject(new Error('away')) : Promise.resolve(blocks);
		},
		tell: (what) => told.push(what),
	});
	return { awaited, told, asked, words: () => told.map(({ title, text }) => [title, text]) };
}

const at = (fields: object, more: object = {}) => [session({ block: news({ id: 'b5', ...fields }) }, { name: 'build', ...more })];
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('the end of a command raises one alert, whichever source reports it', () => {
	for (const bring of ['the list', 'the view'] as const) {
		const { awaited, words } = make();
		awaited.update(at({}));
		awaited.add('s', blockOf(5));
		assert.ok(awaited.has('s', 'b5'));
		assert.ok(!awaited.has('other', 'b5'));
		awaited.update(at({ command: 'make' }));
		awaited.told('s', blockOf(5));
		assert.deepEqual(words(), []);
		if (bring === 'the list')
			awaited.update(at({ command: 'make', state: 'done', exitCode: 2 }));
		else
			awaited.told('s', blockOf(5, { state: 'done', exitCode: 2 }));
		awaited.update(at({ command: 'make', state: 'done', exitCode: 2 }));
		assert.deepEqual(words(), [['Failed with 2 in build', 'make']], bring);
		assert.ok(!awaited.has('s', 'b5'));
	}
});

test('if another command has started meanwhile, the command is fetched', async () => {
	const { awaited, words, asked } = make([blockOf(5, { state: 'done', exitCode: 0 }), blockOf(9)]);
	awaited.add('s', blockOf(5));
	awaited.update(at({ id: 'b9' }));
	awaited.update(at({ id: 'b9' }));
	await turn();
	assert.deepEqual(asked, [['s', 5]]);
	assert.deepEqual(words(), [['Done in build', 'make']]);
});

test('a failed fetch is retried', async () => {
	const { awaited, words, asked } = make(null);
	awaited.add('s', blockOf(5));
	for (const times of [1, 2]) {
		awaited.update(at({ id: 'b9' }));
		await turn();
		assert.equal(asked.length, times);
	}
	assert.deepEqual(words(), []);
	assert.ok(awaited.has('s', 'b5'));
});

test('if the session is deleted or replaced, the alert says so', () => {
	for (const after of [[], at({ state: 'done', exitCode: 0 }, { epoch: 2 })]) {
		const { awaited, words } = make();
		awaited.update(at({}));
		awaited.add('s', blockOf(5));
		awaited.update(after);
		awaited.update(after);
		assert.deepEqual(words(), [['The session was deleted', 'make']]);
	}
});
