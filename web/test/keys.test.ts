import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keySequence } from '../src/term/key_codes';
import { Sticky } from '../src/term/sticky';

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
