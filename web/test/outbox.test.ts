/* Typed input arrives exactly once: a connection and its outbox with a server that counts bytes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { harness } from './fakes';

test('input that is typed before the first ready is sent then, in order', () => {
	const t = harness();
	t.type('a');
	t.socket.json({ type: 'attached', epoch: 'e1', cols: 80, rows: 24, input: 0 });
	t.type('b');
	t.socket.json({ type: 'sync', offset: 0, cols: 80, rows: 24 });
	assert.equal(t.socket.sentText, '');
	t.socket.json({ type: 'ready' });
	t.type('c');
	assert.equal(t.socket.sentText, 'abc');
	assert.equal(t.connection.undelivered.needsConfirmation, false);
});

test('replies of the terminal are never kept', () => {
	const t = harness();
	assert.equal(t.type('\x1b[0n', false), false);
	t.socket.attach(0);
	t.type('\x1b[0n', false);
	t.socket.end(1006);
	assert.equal(t.connection.undelivered.keys, 0);
	t.clock.advance(250);
	t.socket.attach(0, { input: 0 });
	assert.equal(t.socket.sentText, '');
});

for (let cut = 0; cut <= 6; cut++) {
	test(`connection lost after ${cut} of 6 bytes: the rest is sent, and nothing twice`, () => {
		const t = harness();
		t.socket.attach(0);
		for (const key of ['a', 'bc', 'd', 'ef'])
			t.type(key);
		if (cut > 2)
			t.socket.json({ type: 'input', taken: 2 });
		t.socket.end(1006);
		t.type('g');
		t.clock.advance(250);
		assert.equal(t.socket.acknowledged, cut > 2 ? 2 : 0);
		t.socket.attach(0, { input: cut });
		assert.equal(t.socket.sentText, 'abcdefg'.slice(cut));
		t.socket.json({ type: 'input', taken: 7 });
		assert.equal(t.connection.undelivered.keys, 0);
		t.socket.end(1006);
		t.clock.advance(250);
		t.socket.attach(0, { input: 7 });
		assert.equal(t.socket.sentText, '');
	});
}

test('after more than three seconds the user has to confirm; later input waits', () => {
	const t = harness();
	t.socket.attach(0);
	t.type('a');
	t.clock.advance(2000);
	t.socket.end(1006);
	t.type('b');
	t.clock.advance(250);
	t.socket.end(1006);
	t.clock.advance(4000);
	t.socket.attach(0, { input: 0 });
	t.type('c');
	assert.equal(t.socket.sentText, '');
	assert.deepEqual(t.connection.undelivered, { keys: 3, text: 'abc', needsConfirmation: true, doubtful: false });
	t.connection.settle('send');
	t.type('d');
	assert.equal(t.socket.sentText, 'abcd');
	assert.equal(t.connection.undelivered.needsConfirmation, false);
});

test('drop also drops input that was sent but has not arrived', () => {
	const t = harness();
	t.socket.attach(0);
	t.type('a');
	t.socket.end(1006);
	t.type('b');
	t.connection.settle('drop');
	assert.equal(t.connection.undelivered.keys, 0);
	t.clock.advance(250);
	t.socket.attach(0, { input: 0 });
	t.type('c');
	assert.equal(t.socket.sentText, 'c');
	assert.equal(t.socket.acknowledged, 0);
});

test('if the server does not know what has arrived, the user has to confirm', () => {
	const t = harness();
	t.socket.attach(0);
	t.type('a');
	t.socket.end(1006);
	t.clock.advance(250);
	t.socket.attach(0, { input: null });
	assert.deepEqual(t.connection.undelivered, { keys: 1, text: 'a', needsConfirmation: true, doubtful: true });
	// The same if the count is impossible, because the session is another.
	t.connection.settle('send');
	t.socket.end(1006);
	t.clock.advance(250);
	t.socket.attach(0, { epoch: 'e2', snapshot: 'x', input: 50 });
	assert.equal(t.connection.undelivered.doubtful, true);
	t.connection.settle('drop');
	t.type('z');
	t.socket.json({ type: 'input', taken: 51 });
	assert.equal(t.connection.undelivered.keys, 0);
});

test('kept input is limited, and is not sent to another session', () => {
	const t = harness();
	assert.equal(t.type('x'.repeat(64 * 1024)), true);
	assert.equal(t.type('y'), false);
	t.connection.restart();
	t.socket.attach(0);
	assert.equal(t.socket.sentText, '');
});

test('silence is reported after three seconds, and every second until there is an answer', () => {
	const t = harness();
	t.socket.attach(0);
	t.socket.json({ type: 'pong', t: 0 });
	t.clock.advance(1000);
	t.type('a');
	t.clock.advance(2999);
	assert.deepEqual(t.silences, []);
	t.clock.advance(2001);
	assert.deepEqual(t.silences, [3000, 4000, 5000]);
	t.socket.json({ type: 'input', taken: 1 });
	assert.deepEqual(t.silences, [3000, 4000, 5000, 0]);
});
