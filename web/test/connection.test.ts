import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Diagnosis } from '../src/net/connection';
import { harness, settle, snapshotMessage } from './fakes';

test('attach: bytes are counted from sync, and ready makes the connection live', () => {
	const t = harness();
	assert.equal(t.socket.position, null);
	t.socket.attach(100, { history: 'hello' });
	assert.deepEqual(t.events(), ['connecting', 'replaying', 'message attached', 'resize 80x24',
		'bytes 100 hello', 'live', 'ready']);
	assert.equal(t.connection.offset, 105);
	assert.equal(t.connection.epoch, 'e1');
});

test('resume: requests the byte after the last one, and does not reset', () => {
	const t = harness();
	t.socket.attach(100, { history: 'hello' });
	t.socket.bytes('more');
	t.events();
	t.socket.end(1006);
	t.clock.advance(250);
	assert.deepEqual(t.socket.position, { epoch: 'e1', offset: 109 });
	t.socket.attach(109, { history: 'missed' });
	assert.deepEqual(t.events(), ['waiting 250', 'connecting', 'replaying', 'message attached',
		'resize 80x24', 'bytes 109 missed', 'live', 'ready']);
	assert.equal(t.connection.offset, 115);
});

test('attach with a snapshot: it is delivered whole, and its bytes are not counted', () => {
	const t = harness();
	t.socket.attach(700, { snapshot: 'screen', history: 'x' });
	assert.deepEqual(t.events(), ['connecting', 'replaying', 'message attached',
		'snapshot 80x24 attach screen', 'resize 80x24', 'bytes 700 x', 'live', 'ready']);
	assert.equal(t.connection.offset, 701);
});

for (const [why, offset, epoch] of [['a later offset', 5000, 'e1'], ['another epoch', 5, 'e2']] as const) {
	test(`resume answered with a snapshot of ${why}: goes on from there`, () => {
		const t = harness();
		t.socket.attach(0, { history: 'hello' });
		t.socket.end(1001);
		t.clock.advance(250);
		t.events();
		t.socket.attach(offset, { epoch, snapshot: 'screen', history: 'x' });
		assert.deepEqual(t.events().slice(2), ['snapshot 80x24 attach screen', 'resize 80x24',
			`bytes ${offset} x`, 'live', 'ready']);
		assert.equal(t.connection.offset, offset + 1);
		assert.equal(t.connection.epoch, epoch);
	});
}

test('a snapshot at any time, in pieces, with other messages between them', () => {
	const t = harness();
	t.socket.attach(0, { history: 'abc' });
	t.events();
	t.socket.json(snapshotMessage({ offset: 700, bytes: 8, cols: 100, rows: 30 }));
	t.socket.bytes('snap');
	t.socket.json({ type: 'presence', clients: [] });
	assert.deepEqual(t.events(), ['message presence']);
	t.socket.bytes('shot');
	t.socket.json({ type: 'sync', offset: 700, cols: 100, rows: 30 });
	t.socket.bytes('x');
	assert.deepEqual(t.events(), ['snapshot 100x30 lag snapshot', 'resize 100x30', 'bytes 700 x']);
	assert.equal(t.connection.offset, 701);
	assert.equal(t.connection.state.kind, 'live');
});

test('half a snapshot is ignored: the connection resumes from the old offset', () => {
	const t = harness();
	t.socket.attach(0, { history: 'abc' });
	t.socket.json(snapshotMessage({ offset: 700, bytes: 8 }));
	t.socket.bytes('snap');
	t.socket.end(1006);
	t.clock.advance(250);
	assert.deepEqual(t.socket.position, { epoch: 'e1', offset: 3 });
	t.events();
	t.socket.attach(3, { history: 'def' });
	assert.ok(t.events().includes('bytes 3 def'));
});

test('a snapshot can be requested only while the connection is live', () => {
	const t = harness();
	t.socket.json({ type: 'attached', epoch: 'e1', cols: 80, rows: 24 });
	assert.equal(t.connection.requestSnapshot(1), false);
	t.socket.json({ type: 'sync', offset: 0, cols: 80, rows: 24 });
	t.socket.json({ type: 'ready' });
	assert.equal(t.connection.requestSnapshot(5000), true);
	assert.deepEqual(t.socket.sentMessages('snapshot'), [{ type: 'snapshot', scrollback: 5000 }]);
});

test('a sync at the current offset changes nothing', () => {
	const t = harness();
	t.socket.attach(0, { history: 'abc' });
	t.events();
	t.socket.json({ type: 'sync', offset: 3, cols: 80, rows: 24 });
	assert.deepEqual(t.events(), ['resize 80x24']);
});

test('a sync that leaves a gap: reconnects without a position, to get a snapshot', () => {
	const t = harness();
	t.socket.attach(0, { history: 'abc' });
	t.events();
	t.socket.json({ type: 'sync', offset: 900, cols: 80, rows: 24 });
	assert.deepEqual(t.events(), ['waiting 250']);
	t.clock.advance(250);
	assert.equal(t.socket.position, null);
});

test('resize messages keep their place between the bytes', () => {
	const t = harness();
	t.socket.attach(0);
	t.events();
	t.socket.bytes('a');
	t.socket.json({ type: 'resize', cols: 120, rows: 40, offset: 1, by: null });
	t.socket.bytes('b');
	assert.deepEqual(t.events(), ['bytes 0 a', 'resize 120x40', 'message resize', 'bytes 1 b']);
});

test('backoff doubles from 250 ms to 8 s; ready resets it', () => {
	const t = harness();
	const delays: string[] = [];
	for (let i = 0; i < 8; i++) {
		t.events();
		t.socket.end(1006);
		delays.push(...t.events().filter((line) => line.startsWith('waiting')));
		t.clock.advance(8000);
	}
	assert.deepEqual(delays, [250, 500, 1000, 2000, 4000, 8000, 8000, 8000].map((ms) => `waiting ${ms}`));
	t.socket.attach(0);
	t.socket.end(1006);
	assert.ok(t.events().includes('waiting 250'));
});

test('attached without ready does not reset the backoff', () => {
	const t = harness();
	for (const delay of [250, 500, 1000]) {
		t.socket.json({ type: 'attached', epoch: 'e1', cols: 80, rows: 24 });
		t.events();
		t.socket.end(1011);
		assert.deepEqual(t.events(), [`waiting ${delay}`]);
		t.clock.advance(delay);
	}
});

test('nudge reconnects at once', () => {
	const t = harness();
	t.socket.attach(0);
	t.socket.end(1006);
	assert.equal(t.sockets.length, 1);
	t.connection.nudge();
	assert.equal(t.sockets.length, 2);
	t.clock.advance(300);
	assert.equal(t.sockets.length, 2);
});

for (const [code, reason] of [[4401, 'access-ended'], [4410, 'deleted']] as const) {
	test(`close code ${code} closes for good: ${reason}`, () => {
		const t = harness();
		t.socket.attach(0);
		t.events();
		t.socket.end(code);
		assert.deepEqual(t.events(), [`closed ${reason}`]);
		t.clock.advance(60000);
		t.connection.nudge();
		assert.equal(t.sockets.length, 1);
	});
}

for (const diagnosis of ['signed-out', 'access-ended', 'deleted'] as const) {
	test(`a refused connection that is diagnosed as ${diagnosis} is not retried`, async () => {
		const t = harness(async () => diagnosis);
		t.socket.end(1006);
		await settle();
		assert.equal(t.events().pop(), `closed ${diagnosis}`);
		t.clock.advance(60000);
		assert.equal(t.sockets.length, 1);
	});
}

test('a diagnosis from before a restart is ignored', async () => {
	let answer: (diagnosis: Diagnosis) => void = () => undefined;
	const t = harness(() => new Promise((resolve) => {
		answer = resolve;
	}));
	t.socket.end(1006);
	t.connection.restart();
	answer('deleted');
	await settle();
	assert.equal(t.connection.state.kind, 'connecting');
});

test('a connection that was attached is not diagnosed', async () => {
	const t = harness(async () => 'signed-out');
	t.socket.attach(0);
	t.socket.end(1006);
	await settle();
	assert.equal(t.connection.state.kind, 'waiting');
});

test('connecting times out after 10 s', () => {
	const t = harness();
	t.clock.advance(10000);
	assert.ok(t.sockets[0]?.closed);
	t.clock.advance(250);
	assert.equal(t.sockets.length, 2);
});

test('restart drops the position', () => {
	const t = harness();
	t.socket.attach(0, { history: 'abc' });
	t.socket.end(4410);
	t.connection.restart();
	assert.equal(t.socket.position, null);
	t.events();
	t.socket.attach(0, { epoch: 'e2', snapshot: 'new' });
	assert.ok(t.events().includes('snapshot 80x24 attach new'));
});

test('resync goes back to an offset on a new socket', () => {
	const t = harness();
	t.socket.attach(0, { history: 'abcdef' });
	t.connection.resync(2);
	assert.ok(t.sockets[0]?.closed);
	assert.deepEqual(t.socket.position, { epoch: 'e1', offset: 2 });
	t.events();
	t.socket.attach(2, { history: 'cdef' });
	assert.ok(t.events().includes('bytes 2 cdef'));
});

test('keystrokes go out when live, in frames of at most 64 KiB', () => {
	const t = harness();
	assert.equal(t.connection.send(new Uint8Array(1), false), false);
	t.socket.json({ type: 'attached', epoch: 'e1', cols: 80, rows: 24 });
	t.socket.json({ type: 'sync', offset: 0, cols: 80, rows: 24 });
	assert.equal(t.connection.send(new Uint8Array(1), false), false);
	t.socket.json({ type: 'ready' });
	assert.equal(t.connection.send(new Uint8Array(150000), true), true);
	const sizes = t.socket.sent.filter((data) => typeof data !== 'string').map((data) => data.length);
	assert.deepEqual(sizes, [65536, 65536, 18928]);
});

test('unknown and broken messages are ignored', () => {
	const t = harness();
	t.socket.attach(0);
	t.events();
	t.socket.json({ type: 'unheard', id: 7 });
	t.socket.json(['what']);
	t.socket.onmessage?.({ data: 'not json' } as MessageEvent);
	assert.deepEqual(t.events(), []);
});

test('received bytes are acknowledged every 2 KiB, counted for each socket, snapshots included', () => {
	const t = harness();
	const acks = () => t.socket.sentMessages('ack').map(({ bytes }) => bytes);
	t.socket.attach(0, { snapshot: 's'.repeat(1500), history: 'h'.repeat(500) });
	assert.deepEqual(acks(), []);
	t.socket.bytes('b'.repeat(48));
	assert.deepEqual(acks(), [2048]);
	t.socket.bytes('b'.repeat(65000));
	t.socket.bytes('b'.repeat(2047));
	assert.deepEqual(acks(), [2048, 67048]);
	t.socket.end(1006);
	t.clock.advance(250);
	t.socket.attach(67595, { history: 'x' });
	t.socket.bytes('b'.repeat(2047));
	assert.deepEqual(acks(), [2048]);
});
