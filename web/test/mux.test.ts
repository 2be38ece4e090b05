/* Many sockets on one WebSocket. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Socket } from '../src/net/connection';
import { Mux } from '../src/net/mux';
import { Stream } from '../src/net/stream';
import { FakeClock, FakeSocket } from './fakes';

function setUp() {
	const clock = new FakeClock();
	const sockets: FakeSocket[] = [];
	const mux = new Mux(() => {
		const socket = new FakeSocket(null, 0);
		sockets.push(socket);
		return socket;
	}, clock);
	const last = () => sockets[sockets.length - 1] as FakeSocket;
	return {
		clock, mux, sockets,
		get socket() {
			return last();
		},
		accept: () => last().onopen?.({} as Event),
		frame: (kind: number, channel: number, payload: Uint8Array | string) => {
			const bytes = typeof payload === 'string' ? new TextEncoder().encode(payload) : payload;
			const frame = new Uint8Array(8 + bytes.length);
			const head = new DataView(frame.buffer);
			head.setUint32(0, kind * 2 ** 24 + channel);
			head.setUint32(4, bytes.length);
			frame.set(bytes, 8);
			last().onmessage?.({ data: frame.buffer } as MessageEvent);
		},
	};
}

/** What a channel gets. */
function record(channel: Socket): string[] {
	const log: string[] = [];
	channel.onopen = () => log.push('open');
	channel.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) =>
		log.push(typeof data === 'string' ? `text ${data}` : `bytes ${new TextDecoder().decode(data)}`);
	channel.onclose = ({ code }) => log.push(`close ${code}`);
	return log;
}

test('channels share a socket, and get their own frames', () => {
	const t = setUp();
	const [one, two] = [t.mux.open('/ws/pty?sessionId=a'), t.mux.open('/ws')];
	const [first, second] = [record(one), record(two)];
	assert.equal(t.sockets.length, 1);
	t.accept();
	assert.deepEqual(t.socket.sentMessages('open'), [
		{ type: 'open', channel: 1, path: '/ws/pty?sessionId=a' }, { type: 'open', channel: 2, path: '/ws' }]);
	t.socket.json({ type: 'opened', channel: 2 });
	t.frame(0, 1, 'abc');
	t.frame(1, 2, '{"x":1}');
	const [head, tail] = [new TextEncoder().encode('{"ä'), new TextEncoder().encode('":1}')];
	t.frame(2, 1, head.subarray(0, 3));
	t.frame(0, 2, 'between');
	t.frame(2, 1, head.subarray(3));
	t.frame(1, 1, tail);
	t.frame(0, 77, 'of a closed channel');
	t.socket.json({ type: 'closed', channel: 1, code: 4410, reason: 'session deleted' });
	t.frame(0, 1, 'late');
	t.socket.json({ type: 'refused', channel: 2, status: 404, code: 'X', message: 'x' });
	assert.deepEqual(first, ['bytes abc', 'text {"ä":1}', 'close 4410']);
	assert.deepEqual(second, ['open', 'text {"x":1}', 'bytes between', 'close 1006']);
});

test('what a channel sends has its head; a closed one sends nothing', () => {
	const t = setUp();
	const channel = t.mux.open('/ws');
	t.accept();
	channel.send('ä');
	channel.send(new TextEncoder().encode('xyz'));
	assert.deepEqual(t.socket.sent.filter((data) => typeof data !== 'string').map((data) => [...(data as Uint8Array)]), [
		[1, 0, 0, 1, 0, 0, 0, 2, 0xc3, 0xa4], [0, 0, 0, 1, 0, 0, 0, 3, 120, 121, 122]]);
	channel.close();
	channel.send('late');
	assert.equal(t.socket.sent.filter((data) => typeof data !== 'string').length, 2);
	assert.deepEqual(t.socket.sentMessages('close'), [{ type: 'close', channel: 1 }]);
});

test('when the socket is lost, all channels close, and the next one connects again', () => {
	const t = setUp();
	const logs = ['/ws', '/ws'].map((path) => record(t.mux.open(path)));
	t.accept();
	t.socket.end(4401);
	assert.deepEqual(logs, [['close 4401'], ['close 4401']]);
	t.mux.open('/ws/pty?sessionId=a');
	assert.equal(t.sockets.length, 2);
	t.accept();
	assert.deepEqual(t.socket.sentMessages('open'), [{ type: 'open', channel: 3, path: '/ws/pty?sessionId=a' }]);
});

test('a socket that does not open within 10 s, or answers no ping, is given up', () => {
	const t = setUp();
	const log = record(t.mux.open('/ws'));
	t.clock.advance(10_000);
	assert.deepEqual(log, ['close 1006']);
	assert.ok(t.socket.closed);
	const second = record(t.mux.open('/ws'));
	t.accept();
	const [ping] = t.socket.sentMessages('ping');
	t.socket.json({ type: 'pong', t: ping?.['t'] });
	t.clock.advance(11_000);
	assert.deepEqual(second, []);
	t.clock.advance(6000);
	assert.deepEqual(second, ['close 1006']);
	const third = record(t.mux.open('/ws'));
	t.accept();
	t.socket.json({ type: 'pong', t: 0 });
	t.mux.nudge();
	t.clock.advance(1500);
	assert.deepEqual(third, ['close 1006']);
});

test('a stream of events begins again', () => {
	const t = setUp();
	const log: string[] = [];
	const stream = new Stream({
		open: () => t.mux.open('/ws'), clock: t.clock, path: '/api/session/events',
		event: (event) => log.push(JSON.stringify(event)), refused: (lost) => log.push(lost ? 'lost' : 'refused'),
	});
	const decode = () => t.socket.sent.filter((data) => typeof data !== 'string').map((data) => new TextDecoder().decode((data as Uint8Array).subarray(8)));
	t.accept();
	assert.deepEqual(decode(), []);
	t.socket.json({ type: 'opened', channel: 1 });
	assert.deepEqual(decode(), ['{"type":"request","id":"1","method":"GET","path":"/api/session/events"}']);
	t.frame(1, 1, '{"type":"stream","id":"1","data":"{\\"n\\":1}"}');
	t.frame(1, 1, '{"type":"stream","id":"1","data":""}');
	t.frame(1, 1, '{"type":"response","id":"1","status":200,"done":true}');
	assert.deepEqual(log, ['{"n":1}', 'refused']);
	t.clock.advance(5000);
	assert.deepEqual(t.socket.sentMessages('open').map(({ channel }) => channel), [1, 2]);
	t.socket.end(1006);
	t.clock.advance(2000);
	t.accept();
	t.socket.json({ type: 'opened', channel: 3 });
	t.frame(1, 3, '{"type":"stream","id":"1","data":"{\\"n\\":2}"}');
	assert.deepEqual(log.slice(2), ['lost', '{"n":2}']);
	stream.stop();
	t.socket.end(1006);
	t.clock.advance(60_000);
	assert.equal(t.sockets.length, 2);
});
