import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchesFilter } from '../src/ui/session_match';
import { at, block, session } from './sessions';

const found = (query: string) => [
	session({ cwd: '/root/src/ringside' }, { id: 'a', name: 'Build server' }),
	session({ status: 'running', block: block({ command: 'npm run dev' }), cwd: '/home/ada/shop' }, { id: 'b', name: 'shell 2' }),
	session({ status: 'fullscreen', input: 'raw', foreground: { name: 'vim', startedAt: at(0) }, title: 'Caf\u00e9.md - VIM' }, { id: 'c', name: '' }),
	session(null, { id: 'd', name: 'new', cwd: '/var/log' }),
].filter((each) => matchesFilter(each, query)).map(({ id }) => id).join('');

test('a filter matches name, id, directory, command, program and title', () => {
	assert.equal(found(''), 'abcd');
	assert.equal(found('  '), 'abcd');
	assert.equal(found('BUILD'), 'a');
	assert.equal(found('ringside'), 'a');
	assert.equal(found('~/shop'), 'b');
	assert.equal(found('/home/ada'), 'b');
	assert.equal(found('npm'), 'b');
	assert.equal(found('dev shell'), 'b', 'all words, in any order');
	assert.equal(found('dev build'), '');
	assert.equal(found('vim'), 'c');
	assert.equal(found('cafe\u0301'), 'c', 'decomposed');
	assert.equal(found('/var'), 'd');
	assert.equal(found('.*'), '', 'no pattern');
});

test('the command of a session that is at its prompt again is not shown, so it does not match', () => {
	const done = (exitCode: number) => session({ block: block({ state: 'done', exitCode, endedAt: at(1) }) });
	assert.deepEqual([matchesFilter(done(0), 'npm'), matchesFilter(done(1), 'npm')], [false, true]);
});
