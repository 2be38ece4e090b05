import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Block } from '../src/blocks/block';
import { EntryFetcher } from '../src/blocks/entries';
import { block as news, session } from './sessions';

const blockOf = (start: number, state: Block['state']): Block => ({
	id: `b${start}`, command: 'ls', author: 'human', label: null, by: 'human', execId: null, state, startedAt: null,
	cwd: null, cwdAfter: null, endedAt: null, exitCode: state === 'done' ? 0 : null, start, end: null, inputMark: null, endMark: null,
});

test('only new commands are fetched, and only from sessions that have some', async () => {
	const asked: unknown[] = [];
	let answer: Block[] | null = [blockOf(5, 'done'), blockOf(9, 'running')];
	const followed = new EntryFetcher({
		blocks: (...what) => {
			asked.push(what);
			return answer === null ? Promise.reject(new Error('away')) : Promise.resolve(answer);
		},
	}, 2, 1000);
	const one = (state: 'running' | 'done', id: string, more: object = {}) => session({ block: news({ id, state }) }, { id: 'one', ...more });
	const idle = session({}, { id: 'idle', name: '' });
	const shown = async (...sessions: Parameters<EntryFetcher['refresh']>[0][number][]) =>
		(await followed.refresh(sessions)).map(({ name, block }) => `${name} ${block.id} ${block.state}`);
	const first = ['s b5 done', 's b9 running'];
	assert.deepEqual(await shown(one('running', 'b9')), first);
	assert.deepEqual(asked.splice(0), [['one', 1000, null]]);
	assert.deepEqual(await shown(one('running', 'b9')), first);
	assert.deepEqual(asked, [], 'nothing has changed');
	answer = [blockOf(9, 'done'), blockOf(12, 'done')];
	const later = ['s b5 done', 's b9 done', 's b12 done'];
	assert.deepEqual(await shown(one('done', 'b12')), later);
	assert.deepEqual(asked.splice(0), [['one', 1000, 9]]);
	answer = null;
	assert.deepEqual(await shown(one('running', 'b15')), later, 'the fetch has failed');
	answer = [blockOf(15, 'running')];
	assert.deepEqual(await shown(one('running', 'b15')), [...later, 's b15 running'], 'the fetch is retried');
	asked.length = 0;
	answer = [];
	assert.deepEqual(await shown(one('running', 'b15', { epoch: 2 }), idle), [], 'another session with the same id');
	assert.deepEqual(asked, [['one', 1000, null], ['idle', 1000, null]]);
	assert.deepEqual(await shown(), []);
});
