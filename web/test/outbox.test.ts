/* What is typed arrives once: the connection and its outbox against a server that counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { harness } from './fakes';

test('what is typed before the first ready goes out with it, in order', () => {
	const t = harness();
	t.type('a');
	t.socket.json({ type: 'attached', epoch: 'e1', cols: 80, rows: 24, input: 0 });
	t.type('b');
	t.socket.json({ type: 'sync', offset: 0, cols: 80, rows: 24 });
	assert.equal(t.socket.sentText, '');
	t.socket.json({ type: 'ready' });
	t.type('c');
	assert.equal(t.socket.sentText, 'abc');
	assert.equal(t.connection.undelivered.asks, false);
});

test('what the terminal says by itself is never kept', () => {
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
	test(`dropped when ${cut} of 6 bytes had arrived: the rest is sent, and nothing twice`, () => {
		const t = harness();
		t.socket.attach(0);
		for (const key of ['a', 'bc', 'd', 'ef'])
			t.type(key);
		if (cut > 2)
			t.socket.json({ type: 'input', taken: 2 });
		t.socket.end(1006);
		t.type('g');
		t.clock.advance(250);
		assert.equal(t.socket.typed, cut > 2 ? 2 : 0);
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

test('after more than three seconds somebody is asked; what is typed meanwhile waits behind it', () => {
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
	assert.deepEqual(t.connection.undelivered, { keys: 3, text: 'abc', asks: true, doubtful: false });
	t.connection.settle('send');
	t.type('d');
	assert.equal(t.socket.sentText, 'abcd');
	assert.equal(t.connection.undelivered.asks, false);
});

test('dropped is dropped: also what had been sent, and has not arrived', () => {
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
	assert.equal(t.socket.typed, 0);
});

test('a server that does not know what has arrived: somebody is asked, however short it was', () => {
	const t = harness();
	t.socket.attach(0);
	t.type('a');
	t.socket.end(1006);
	t.clock.advance(250);
	t.socket.attach(0, { input: null });
	assert.deepEqual(t.connection.undelivered, { keys: 1, text: 'a', asks: true, doubtful: true });
	// So does one that counts otherwise: the session is another.
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

test('there is a limit, and another session has nothing of it', () => {
	const t = harness();
	assert.equal(t.type('x'.repeat(64 * 1024)), true);
	assert.equal(t.type('y'), false);
	t.connection.restart();
	t.socket.attach(0);
	assert.equal(t.socket.sentText, '');
});

test('no answer for three seconds is told, each second, until there is one', () => {
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
