import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find, item, type ItemKind } from '../src/palette/items';
import { match, searchText } from '../src/palette/match';

const nothing = () => undefined;
const of = (kind: ItemKind, ...texts: string[]) => texts.map((text) => item(kind, text, '', nothing));
const order = (query: string, texts: string[]) =>
	find(of('command', ...texts), query).shown.map(({ item: { text } }) => text.characters.join(''));

test('letters match in order, adjacent or with others between them', () => {
	const text = searchText('git checkout main');
	for (const query of ['', 'git', 'GIT', 'main git', 'gco', 'chkout', 'g c m', '  out '])
		assert.notEqual(match(query, text), null, query);
	for (const query of ['tig', 'gitz', 'git x', 'gx', 'niam'])
		assert.equal(match(query, text), null, query);
	assert.deepEqual([...match('cm', text)?.indices ?? []], [7, 13]);
});

test('better matches come first', () => {
	assert.deepEqual(order('make', ['cmake .', 'remake', 'make', 'make all the world', 'm a k e']), ['make', 'make all the world', 'remake', 'cmake .', 'm a k e']);
	assert.deepEqual(order('nr', ['inner', 'npm run']), ['npm run', 'inner']);
	assert.deepEqual(order('abc', [`a${'x'.repeat(100)}b${'y'.repeat(100)}c`]), [], 'scattered letters do not match');
	const kinds = [...of('again', 'web'), ...of('command', 'web'), ...of('action', 'web'), ...of('session', 'web')];
	assert.deepEqual(find(kinds, 'web').shown.map(({ item: { kind } }) => kind), ['session', 'action', 'command', 'again']);
});

test('facts are searched too, and rank lower', () => {
	const items = [item('session', 'one', '/srv/blue', nothing), item('session', 'blue', '', nothing), item('session', 'two', '/srv/red', nothing)];
	assert.deepEqual(find(items, 'blue').shown.map(({ item: { text } }) => text.characters.join('')), ['blue', 'one']);
	assert.equal(find(items, 'two red').all, 1);
});

test('hostile text becomes one line of visible characters with a limited length', () => {
	assert.equal(searchText('a\n\tb\x1b[31m\u202etxt\ud800').characters.join(''), 'a b·[31m·txt·');
	assert.equal(searchText('x'.repeat(1e6)).characters.length, 300);
	// This becomes longer in lower case, but indices stay right.
	const dotted = searchText('İİİ x');
	assert.deepEqual([...match('x', dotted)?.indices ?? []], [4]);
	assert.notEqual(match('i', dotted), null);
	assert.deepEqual([...match('😀b', searchText('a😀b'))?.indices ?? []], [1, 2]);
	for (const query of ['.*', '(', '\\', '[', '\ud800', '\0'])
		assert.doesNotThrow(() => find(of('command', '.*(\\[', 'plain'), query));
	assert.deepEqual(order('.*', ['.* all', 'xyz']), ['.* all']);
});

test('the number of results is limited; an empty query shows some of each kind', () => {
	const many = [...of('session', ...Array.from({ length: 300 }, (_, n) => `session ${n}`)), ...of('action', 'End'), ...of('command', 'ls')];
	assert.deepEqual(new Set(find(many, ' ').shown.map(({ item: { kind } }) => kind)), new Set(['session', 'action', 'command']));
	const { shown, all } = find(many, 'session');
	assert.deepEqual([shown.length, all], [50, 300]);
	assert.equal(find(many, 'session 299').shown[0]?.item.text.characters.join(''), 'session 299');
});
