import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keySequence } from '../src/term/key_codes';
import { Sticky } from '../src/term/sticky';
import { fontStep } from '../src/ui/shortcuts';

test('cursor keys depend on the application mode unless modifiers are held', () => {
	for (const [key, modifiers, application, want] of [
		['Up', 1, false, '\x1b[A'], ['Up', 1, true, '\x1bOA'], ['Left', 5, true, '\x1b[1;5D'],
		['Home', 1, false, '\x1b[H'], ['End', 1, true, '\x1bOF'],
		['PgUp', 1, true, '\x1b[5~'], ['PgDn', 3, false, '\x1b[6;3~'],
	] as const)
		assert.equal(keySequence(key, modifiers, application), want);
});

test('held modifiers change the next key only', () => {
	const sticky = new Sticky();
	sticky.toggle('ctrl');
	assert.equal(sticky.apply('c'), '\x03');
	assert.equal(sticky.apply('c'), 'c');
	sticky.toggle('alt');
	assert.equal(sticky.apply('é'), '\x1bé');
	sticky.toggle('ctrl');
	sticky.toggle('alt');
	assert.equal(sticky.apply('['), '\x1b\x1b');
	sticky.toggle('ctrl');
	assert.equal(sticky.apply(' '), '\0');
	sticky.toggle('ctrl');
	assert.equal(sticky.apply('1'), '1');
});

test('sequences are not changed, and a second tap releases a modifier', () => {
	const sticky = new Sticky();
	sticky.toggle('ctrl');
	assert.equal(sticky.apply('\x1b[A'), '\x1b[A');
	assert.ok(sticky.isHeld('ctrl'));
	sticky.toggle('ctrl');
	assert.equal(sticky.apply('c'), 'c');
	sticky.toggle('ctrl');
	sticky.toggle('alt');
	assert.equal(sticky.release(), 7);
	assert.equal(sticky.release(), 1);
});

test('Ctrl, or Cmd on Macs, and plus, minus or 0 change the font', () => {
	const step = (keys: string, code = '', mac = false) => {
		const held = keys.split(' '), key = held.pop() ?? '';
		return fontStep({
			key, code, ctrlKey: held.includes('Ctrl'), shiftKey: held.includes('Shift'), altKey: held.includes('Alt'), metaKey: held.includes('Meta'),
		}, mac);
	};
	for (const [keys, code, want] of [
		['Ctrl =', 'Equal', 1], ['Ctrl Shift +', 'Equal', 1], ['Ctrl +', 'NumpadAdd', 1], ['Ctrl +', 'BracketRight', 1], ['Ctrl -', 'Minus', -1],
		['Ctrl -', 'NumpadSubtract', -1], ['Ctrl 0', 'Digit0', 0], ['Ctrl 0', 'Numpad0', 0], ['Ctrl à', 'Digit0', 0],
		['Ctrl Shift _', 'Minus', null], ['Ctrl Shift =', 'Digit0', null], ['+', 'Equal', null], ['Ctrl Alt +', 'Equal', null],
		['Ctrl Meta +', 'Equal', null], ['Meta +', 'Equal', null], ['Ctrl _', 'Minus', null], ['Ctrl 1', 'Digit1', null],
	] as const)
		assert.equal(step(keys, code), want, keys);
	assert.deepEqual([step('Meta =', 'Equal', true), step('Ctrl -', 'Minus', true), step('Meta 0', 'Digit0', true)], [1, -1, 0]);
});
