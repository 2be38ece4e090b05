import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Feed, type FeedTarget } from '../src/term/feed';
import { bytes, newTerminal, numbered, parsed, row, snapshotOf } from './terminals';

/** A terminal that parses only when parse() is called. */
class SlowTerminal implements FeedTarget {
	readonly log: string[] = [];
	#queue: { data: string | Uint8Array; parsed: (() => void) | undefined }[] = [];

	write(data: string | Uint8Array, parsed?: () => void): void {
		this.#queue.push({ data, parsed });
	}

	parse(): void {
		for (let next; (next = this.#queue.shift()) !== undefined;) {
			const { data, parsed } = next;
			if (data.length > 0)
				this.log.push(typeof data === 'string' || data.length > 100
					? `${data.length} bytes` : new TextDecoder().decode(data));
			parsed?.();
		}
	}
}

test('an event runs after the bytes before it are parsed', () => {
	const terminal = new SlowTerminal();
	const feed = new Feed(terminal, () => undefined);
	feed.write(bytes('a'), 0);
	feed.whenParsed(() => terminal.log.push('resize'));
	feed.write(bytes('b'), 1);
	feed.whenParsed(() => terminal.log.push('ready'));
	assert.deepEqual(terminal.log, []);
	terminal.parse();
	assert.deepEqual(terminal.log, ['a', 'resize', 'b', 'ready']);
});

test('too many unparsed bytes: the rest is dropped, and fetched again from its first byte', () => {
	const terminal = new SlowTerminal();
	const resumed: number[] = [];
	const feed = new Feed(terminal, (offset) => resumed.push(offset));
	const mebibyte = new Uint8Array(1 << 20);
	for (let i = 0; i < 20; i++)
		feed.write(mebibyte, i << 20);
	feed.whenParsed(() => terminal.log.push('ready'));
	assert.deepEqual(resumed, []);
	terminal.parse();
	assert.deepEqual(resumed, [16 << 20]);
	assert.equal(terminal.log.length, 16);
	feed.write(bytes('on'), 16 << 20);
	terminal.parse();
	assert.equal(terminal.log[16], 'on');
});

test('a snapshot replaces dropped bytes', () => {
	const terminal = new SlowTerminal();
	const resumed: number[] = [];
	const feed = new Feed(terminal, (offset) => resumed.push(offset));
	for (let i = 0; i < 20; i++)
		feed.write(new Uint8Array(1 << 20), i << 20);
	feed.writeSnapshot(bytes('screen'), () => undefined, () => terminal.log.push('left'));
	terminal.parse();
	feed.write(bytes('on'), 99 << 20);
	terminal.parse();
	assert.deepEqual(resumed, []);
	assert.deepEqual(terminal.log.slice(16), ['screen', 'left', 'on']);
});

test('a large snapshot is parsed without a pause, and the terminal is resized before its first byte', async () => {
	const terminal = newTerminal();
	const feed = new Feed(terminal, () => undefined);
	const log: string[] = [];
	feed.write(bytes('old\r\n'.repeat(2000)), 0);
	feed.write(bytes('\x1b]0;cut in two \xc3'), 10_000);
	let pauses = 0;
	let entered = 0;
	const pause = () => {
		pauses++;
		timer = setImmediate(pause);
	};
	let timer = setImmediate(pause);
	const long = numbered(1, 9000).map((line) => line.padEnd(90, '.'));
	terminal.parser.registerEscHandler({ final: 'c' }, () => {
		entered = pauses;
		return false;
	});
	feed.writeSnapshot(snapshotOf([...long, 'end']), () => {
		log.push(`enter ${row(terminal, 0)}`);
		terminal.resize(100, 12);
	}, () => log.push(`left after ${pauses - entered} pauses`));
	feed.write(bytes(' and on'), 20_000);
	await parsed(feed);
	clearImmediate(timer);
	assert.deepEqual(log, ['enter old', 'left after 0 pauses']);
	assert.equal(terminal.buffer.active.length, 9001);
	assert.equal(row(terminal, 0), long[0]);
	assert.equal(row(terminal, 9000), 'end and on');
});

test('a reset by a program is not taken for a snapshot', async () => {
	const terminal = newTerminal();
	const feed = new Feed(terminal, () => undefined);
	const log: string[] = [];
	feed.write(bytes('\x1bcone'), 0);
	feed.whenParsed(() => log.push('one'));
	feed.writeSnapshot(snapshotOf(['two']), () => log.push('enter'), () => log.push('left'));
	feed.write(bytes('\x1bcthree'), 7);
	await parsed(feed);
	assert.deepEqual(log, ['one', 'enter', 'left']);
	assert.equal(row(terminal, 0), 'three');
});
