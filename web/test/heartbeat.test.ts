import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median } from '../src/net/heartbeat';
import { harness } from './fakes';

function pong(t: ReturnType<typeof harness>, after: number): void {
	const pings = t.socket.sentMessages('ping');
	t.clock.advance(after);
	t.socket.json({ type: 'pong', t: pings[pings.length - 1]?.['t'] });
}

test('a ping at once and every 5 s; latency is the median of the last five', () => {
	const t = harness();
	t.socket.attach(0);
	for (const roundTrip of [10, 900, 20, 30, 40, 50]) {
		pong(t, roundTrip);
		t.clock.advance(5000 - roundTrip);
	}
	assert.equal(t.socket.sentMessages('ping').length, 8); // one for `attached`, one for `ready`
	assert.deepEqual(t.latencies, [10, 455, 20, 25, 30, 40]);
});

test('after 12 s of silence it reconnects', () => {
	const t = harness();
	t.socket.attach(0);
	t.clock.advance(11999);
	assert.equal(t.sockets.length, 1);
	t.clock.advance(1 + 250);
	assert.equal(t.sockets.length, 2);
	assert.ok(t.sockets[0]?.closed);
});

test('any message counts as an answer', () => {
	const t = harness();
	t.socket.attach(0);
	for (let i = 0; i < 10; i++) {
		t.clock.advance(4000);
		t.socket.bytes('.');
	}
	assert.equal(t.sockets.length, 1);
});

test('nudge pings at once and waits only 1.5 s', () => {
	const t = harness();
	t.socket.attach(0);
	pong(t, 10);
	t.clock.advance(1000);
	const before = t.socket.sentMessages('ping').length;
	t.connection.nudge();
	assert.equal(t.socket.sentMessages('ping').length, before + 1);
	t.clock.advance(1500 + 250);
	assert.equal(t.sockets.length, 2);
});

test('no pings while there is no connection', () => {
	const t = harness();
	t.socket.attach(0);
	t.socket.end(1006);
	const sent = t.sockets[0]?.sent.length;
	t.clock.advance(60000);
	assert.equal(t.sockets[0]?.sent.length, sent);
});

test('median', () => {
	assert.equal(median([]), 0);
	assert.equal(median([3]), 3);
	assert.equal(median([9, 1, 5]), 5);
	assert.equal(median([1, 2, 3, 10]), 2.5);
});
