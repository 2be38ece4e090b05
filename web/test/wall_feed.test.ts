import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Control, type Reply } from '../src/net/control';
import { Feed } from '../src/wall/feed';
import type { Session } from '../src/net/wire';
import { FakeClock, FakeSocket } from './fakes';
import { session } from './sessions';

interface Request {
	readonly type: string;
	readonly id: string;
	readonly path: string;
	readonly body?: { readonly from?: number };
}

class Server {
	readonly clock = new FakeClock();
	readonly sockets: FakeSocket[] = [];
	readonly states: boolean[] = [];
	readonly changed: string[] = [];
	version = 1;
	answersPings = true;
	ended = 0;
	readonly control = new Control({
		clock: this.clock, random: () => 0,
		open: () => {
			const socket = new FakeSocket(null, 0);
			const send = socket.send.bind(socket);
			socket.send = (text) => {
				const { id, path } = JSON.parse(text as string) as Request;
				if (path !== '/api/ping')
					send(text);
				else if (this.answersPings)
					this.answer(id, {});
			};
			this.sockets.push(socket);
			this.#handled = 0;
			return socket;
		},
		changed: (open) => {
			this.states.push(open);
			this.feed.connectionChanged();
		},
		ended: () => { this.ended++; },
	});
	readonly feed = new Feed(this.control, this.clock, (id) => this.changed.push(id));
	#handled = 0;

	get socket(): FakeSocket {
		return this.sockets.at(-1)!;
	}

	open(): void {
		this.control.start();
		this.socket.onopen?.({} as Event);
	}

	/** The requests since the last call. */
	requests(): Request[] {
		const asked = this.socket.sent.slice(this.#handled).map((text) => JSON.parse(text as string) as Request);
		this.#handled = this.socket.sent.length;
		return asked;
	}

	/** Advance the clock until the next request. */
	next(within = 3000): Request | undefined {
		for (let passed = 0; ; passed += 10) {
			const asked = this.requests().filter(({ type }) => type === 'request');
			if (asked.length > 0 || passed >= within)
				return asked[0];
			this.clock.advance(10);
		}
	}

	paths(): string[] {
		return this.requests().map(({ type, path }) => type === 'cancel' ? 'cancel' : path);
	}

	answer(id: string, body: object, status = 200): void {
		this.socket.json({ type: 'response', id, status, body, done: true });
	}

	screen(id: string, more: object = {}): void {
		this.answer(id, { rows: 2, cols: 10, version: ++this.version, offset: 50, next: null, cursor: {}, lines: [{ row: 0, cells: [] }], ...more });
	}
}

function opened(...sessions: Session[]): Server {
	const server = new Server();
	server.open();
	server.feed.update(sessions);
	server.feed.setVisible(sessions.map(({ id }) => id));
	return server;
}

test('a screen is fetched, output is waited for, then only changes are fetched, at most four times a second', () => {
	const server = opened(session({}, { id: 'a/b' }));
	const [first] = server.requests();
	assert.equal(first?.path, '/api/session/a%2Fb/screen?format=json&cells=1&since=0');
	server.screen(first!.id);
	const [wait] = server.requests();
	assert.deepEqual([wait?.path, wait?.body?.from], ['/api/session/a%2Fb/wait', 50]);
	assert.deepEqual(server.changed, ['a/b']);
	server.clock.advance(100_000);
	assert.deepEqual(server.paths(), [], 'a quiet session costs nothing');
	server.answer(wait!.id, { type: 'bytes' });
	for (let i = 0; i < 8; i++) { // a busy session
		const [screen, ...more] = server.requests();
		assert.match(screen?.path ?? 'none', /screen\?format=json&cells=1&since=[2-9]\d*$/);
		assert.deepEqual(more, []);
		server.screen(screen!.id);
		const [again] = server.requests();
		server.answer(again!.id, { type: 'bytes' });
		assert.deepEqual(server.paths(), []);
		server.clock.advance(250);
	}
});

test('a screen that takes long is fetched less often', () => {
	const server = opened(session({}, { id: 'a' }));
	const [first] = server.requests();
	server.clock.advance(1000);
	server.screen(first!.id);
	server.answer(server.requests()[0]!.id, { type: 'bytes' });
	server.clock.advance(2500);
	assert.deepEqual(server.paths(), []);
	server.clock.advance(750);
	assert.match(server.paths().join(), /screen/);
});

test('sessions that are not visible are not fetched, and their requests are cancelled', () => {
	const [a, b] = [session({}, { id: 'a' }), session({}, { id: 'b' })];
	const server = opened(a, b);
	for (const { id } of server.requests())
		server.screen(id);
	assert.deepEqual(server.paths().length, 2);
	server.feed.setVisible(['b']);
	server.clock.advance(1000);
	assert.deepEqual(server.paths(), ['cancel']);
	server.feed.update([a]);
	server.clock.advance(1000);
	assert.deepEqual(server.paths(), ['cancel'], 'the session is gone');
	server.feed.setVisible(['a', 'b']);
	server.clock.advance(1000);
	assert.match(String(server.paths()), /^\/api\/session\/a\/screen/, 'its picture may be outdated');
});

test('a session that exits, is replaced or resized is fetched again, an exited one only once', () => {
	const server = opened(session({}, { id: 'a' }));
	const screened = (pattern: RegExp, more: object = {}) => {
		const screen = server.next();
		assert.match(screen?.path ?? 'none', pattern);
		server.screen(screen!.id, more);
	};
	screened(/since=0$/);
	server.requests();
	server.feed.update([session({}, { id: 'a', cols: 10, rows: 3 })]);
	screened(/since=2$/, { rows: 3 });
	screened(/since=0$/, { rows: 3 });
	assert.equal(server.feed.picture('a')?.rows.length, 3);
	server.requests();
	server.feed.update([session({}, { id: 'a', cols: 10, rows: 3, epoch: 2 })]);
	assert.equal(server.feed.picture('a'), null);
	screened(/since=0$/);
	server.requests();
	server.feed.update([session(null, { id: 'a', cols: 10, rows: 3, epoch: 2, state: 'exited' })]);
	screened(/since=\d+$/);
	server.clock.advance(10_000);
	assert.deepEqual(server.paths(), []);
});

test('errors are retried later, and a screen with too many styles is fetched as text', () => {
	const server = opened(session({}, { id: 'a' }));
	let asked = server.next()!;
	server.answer(asked.id, { code: 'RESOURCE_BUSY', message: 'no' }, 409);
	assert.equal(server.next(1500), undefined);
	asked = server.next()!;
	server.screen(asked.id, { next: 1 });
	asked = server.next()!;
	assert.equal(asked.path, '/api/session/a/screen?format=json&since=0');
	server.answer(asked.id, { what: 'nonsense' });
	assert.equal(server.next(1500), undefined);
	assert.match(server.next()!.path, /since=0$/);
});

test('after a lost connection everything is fetched again, and pictures stay meanwhile', () => {
	const server = opened(session({}, { id: 'a' }));
	server.screen(server.requests()[0]!.id);
	let lost: Reply | null = null;
	server.control.request('POST', '/x', {}, (answer) => { lost = answer; });
	server.socket.end(1006);
	assert.deepEqual(lost, { status: 0, body: null, message: 'The server cannot be reached.' });
	assert.equal(server.control.request('GET', '/x', null, () => undefined), null);
	assert.ok(server.feed.picture('a') !== null);
	server.clock.advance(1000);
	assert.equal(server.sockets.length, 2);
	server.socket.onopen?.({} as Event);
	assert.match(server.paths().join(), /since=0$/, 'earlier versions are invalid');
	assert.deepEqual(server.states, [true, false, true]);
	server.socket.json({ type: 'response', id: 'none' });
	server.socket.onmessage?.({ data: 'no JSON' } as MessageEvent);
	server.answersPings = false;
	server.clock.advance(30_000);
	assert.equal(server.states.at(-1), false, 'a dead connection is closed');
	assert.equal(server.ended, 0);
	server.clock.advance(10_000);
	server.socket.end(4401);
	assert.equal(server.ended, 1);
	server.control.stop();
	server.clock.advance(100_000);
	const made = server.sockets.length;
	server.clock.advance(100_000);
	assert.equal(server.sockets.length, made);
});

test('three hundred visible sessions: requests stay below the limit, and every session is fetched', () => {
	const server = opened(...Array.from({ length: 300 }, (_, i) => session({}, { id: `s${i}` })));
	const under = new Map<string, Request>();
	for (let round = 0; round < 60; round++) {
		for (const request of server.requests()) {
			if (request.type === 'cancel')
				under.delete(request.id);
			else
				under.set(request.id, request);
		}
		assert.ok(under.size <= 100);
		for (const [id, { path }] of [...under]) {
			under.delete(id);
			if (path.includes('/screen'))
				server.screen(id);
			else
				server.answer(id, { type: 'timeout' });
		}
		server.clock.advance(250);
	}
	assert.equal(new Set(server.changed).size, 300);
});
