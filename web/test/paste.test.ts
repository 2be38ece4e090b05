/* Pastes: paced, exactly once, cancelled, refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanPaste, PASTE_MAX, pasteOf } from '../src/net/paste';
import { harness } from './fakes';

const encode = (text: string) => new TextEncoder().encode(text);
const KIB = 1024;

test('lines and the longest one', () => {
	const cases: [string, number, number][] = [
		['', 0, 0], ['a', 1, 1], ['ab\n', 1, 2], ['a\nbcd', 2, 3], ['a\r\nbc\r\n', 2, 2], ['a\rb\n\nc', 4, 1], ['\n\n', 2, 0], ['äö\nx', 2, 4],
	];
	for (const [text, lines, longest] of cases) {
		const paste = pasteOf(encode(cleanPaste(text)));
		assert.deepEqual([paste.lines, paste.longest], [lines, longest], JSON.stringify(text));
	}
});

test('a paste is announced, and later input comes behind it', () => {
	const t = harness();
	t.socket.attach(0);
	t.type('a');
	assert.equal(t.paste('one\ntwo'), true);
	t.type('b');
	assert.deepEqual(t.socket.sentMessages('paste'), [{ type: 'paste', id: 1, bytes: 7, lines: 2, longest: 3, confirmed: false }]);
	assert.equal(t.socket.sentText, 'aone\rtwob');
});

test('at most 128 KiB of a paste are under way, and keys wait until all of it is sent', () => {
	const t = harness();
	const text = 'x'.repeat(300 * KIB);
	t.socket.attach(0);
	t.events();
	t.paste(text);
	t.type('a');
	t.type('\x1b[I', false);
	assert.equal(t.socket.sentText.length, 128 * KIB);
	t.socket.json({ type: 'input', taken: 100 * KIB });
	assert.equal(t.socket.sentText.length, 240 * KIB);
	t.socket.json({ type: 'input', taken: 240 * KIB });
	assert.equal(t.socket.sentText, `${text}a`);
	assert.deepEqual(t.events(), [`pasting ${100 * KIB}/${300 * KIB}`, `pasting ${240 * KIB}/${300 * KIB}`]);
	t.socket.json({ type: 'input', taken: 300 * KIB });
	assert.deepEqual(t.events(), ['pasted']);
	t.socket.json({ type: 'input', taken: 300 * KIB + 1 });
	assert.equal(t.connection.undelivered.keys, 0);
});

test('the server has nothing to answer when it has taken a paste', () => {
	const t = harness();
	t.socket.attach(0);
	t.socket.json({ type: 'pong', t: 0 });
	t.clock.advance(1000);
	t.paste('x');
	t.socket.json({ type: 'input', taken: 1 });
	t.clock.advance(3500);
	assert.deepEqual(t.silences, []);
});

for (const taken of [0, 1, 50 * KIB, 128 * KIB])
	test(`connection lost after ${taken} bytes of a paste: the rest follows, and nothing twice`, () => {
		const t = harness();
		const text = Array.from({ length: 200 * KIB }, (_, index) => String.fromCharCode(97 + index % 26)).join('');
		t.socket.attach(0);
		t.paste(text);
		t.paste('second');
		t.type('k');
		t.socket.end(1006);
		assert.equal(t.connection.undelivered.keys, 200 * KIB + 7);
		assert.match(t.connection.undelivered.text, /secondk$/);
		t.clock.advance(250);
		t.socket.attach(0, { input: taken });
		const [head] = t.socket.sentMessages('paste');
		assert.equal(head?.['bytes'], 200 * KIB - taken);
		for (let sent = 0; sent !== t.socket.sentText.length;) {
			sent = t.socket.sentText.length;
			t.socket.json({ type: 'input', taken: taken + sent });
		}
		assert.equal(t.socket.sentText, `${text}secondk`.slice(taken));
		assert.deepEqual(t.socket.sentMessages('paste').map(({ id, bytes }) => [id, bytes]), [[2, 200 * KIB - taken], [3, 6]]);
	});

test('pastes that were sent whole, one behind the other, are both sent again', () => {
	const t = harness();
	t.socket.attach(0);
	t.paste('first');
	t.paste('second');
	t.socket.end(1006);
	t.clock.advance(250);
	t.socket.attach(0, { input: 2 });
	assert.equal(t.socket.sentText, 'rstsecond');
	assert.deepEqual(t.socket.sentMessages('paste').map(({ bytes }) => bytes), [3, 6]);
});

test('a refused paste ends: it is reported once, and keys follow', () => {
	const t = harness();
	t.socket.attach(0);
	t.events();
	t.paste('x'.repeat(200 * KIB));
	t.type('a');
	t.socket.json({ type: 'paste', id: 1, code: 'LEASED', message: 'no' });
	assert.deepEqual(t.events(), ['pasted', `refused LEASED of ${200 * KIB}`]);
	assert.deepEqual(t.socket.sentMessages('paste').at(-1), { type: 'paste', id: 1, end: true });
	assert.equal(t.socket.sentText, `${'x'.repeat(128 * KIB)}a`);
	t.socket.json({ type: 'paste', id: 1, code: 'LEASED', message: 'no' });
	assert.deepEqual(t.events(), []);
	// What was sent of it is not sent again.
	t.socket.end(1006);
	t.clock.advance(250);
	t.socket.attach(0, { input: 1000 });
	assert.equal(t.socket.sentText, 'a');
});

test('an interrupt cancels a paste', () => {
	const t = harness();
	t.socket.attach(0);
	t.paste('x'.repeat(200 * KIB));
	t.type('\x03');
	assert.deepEqual(t.socket.sentMessages('paste').at(-1), { type: 'paste', id: 1, end: true });
	assert.equal(t.socket.sentText, `${'x'.repeat(128 * KIB)}\x03`);
	t.connection.cancelPaste();
	assert.equal(t.socket.sentMessages('paste').length, 2);
});

test('pastes are kept while there is no connection, within a limit', () => {
	const t = harness();
	t.socket.attach(0);
	t.socket.end(1006);
	assert.equal(t.paste('x'.repeat(PASTE_MAX - 1)), true);
	assert.equal(t.paste('yy'), false);
	assert.equal(t.connection.undelivered.keys, PASTE_MAX - 1);
	t.connection.settle('drop');
	assert.equal(t.paste('pasted'), true);
	t.clock.advance(250);
	t.socket.attach(0, { input: 0 });
	assert.equal(t.socket.sentText, 'pasted');
});

test('a paste that was refused while the next one was sent is reported, and the next one goes on', () => {
	const t = harness();
	t.socket.attach(0);
	t.events();
	t.paste('first');
	t.paste('x'.repeat(200 * KIB));
	t.socket.json({ type: 'paste', id: 1, code: 'LEASED', message: 'no' });
	assert.deepEqual(t.events(), ['refused LEASED of 5']);
	t.socket.json({ type: 'input', taken: 5 + 128 * KIB });
	assert.equal(t.socket.sentText.length, 5 + 200 * KIB);
});

test('frames of a paste end between characters', () => {
	const t = harness();
	const text = `x${'€😀é'.repeat(9000)}`;
	t.socket.attach(0);
	t.paste(text);
	const frames = t.socket.sent.filter((data) => typeof data !== 'string');
	assert.ok(frames.length > 4);
	for (const frame of frames)
		assert.doesNotThrow(() => new TextDecoder('utf-8', { fatal: true }).decode(frame));
	assert.equal(t.socket.sentText, text);
});

test('a text is cleaned as by the server', () => {
	assert.equal(cleanPaste('a\r\nb\rc\nd\te\x1b[201~\x03\x7f\u009b201~\u00a0é'), 'a\rb\rc\rd\te[201~201~\u00a0é');
});
