import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Feed, type FeedTarget } from '../src/term/feed';

/** A terminal that parses when it is told to, as xterm.js does some time later. */
class SlowTerminal implements FeedTarget {
	readonly log: string[] = [];
	#queue: { data: string | Uint8Array; parsed: (() => void) | undefined }[] = [];

	write(data: string | Uint8Array, parsed?: () => void): void {
		this.#queue.push({ data, parsed });
	}

	resize(cols: number, rows: number): void {
		this.log.push(`resize ${cols}x${rows}`);
	}

	reset(): void {
		this.log.push('reset');
	}

	parse(): void {
		for (const { data, parsed } of this.#queue.splice(0)) {
			if (data.length > 0)
				this.log.push(data.length > 100 ? `${data.length} bytes` : text(data));
			parsed?.();
		}
	}
}

function text(data: string | Uint8Array): string {
	return typeof data === 'string' ? data : new TextDecoder().decode(data).replace('\x18', 'CAN');
}

const bytes = (value: string) => new TextEncoder().encode(value);

test('resize, reset and ready take their turn behind the bytes before them', () => {
	const terminal = new SlowTerminal();
	const feed = new Feed(terminal, () => undefined);
	feed.bytes(bytes('a'), 0);
	feed.resize(100, 30);
	feed.bytes(bytes('b'), 1);
	feed.reset();
	feed.bytes(bytes('c'), 2);
	feed.then(() => terminal.log.push('ready'));
	assert.deepEqual(terminal.log, []);
	terminal.parse();
	assert.deepEqual(terminal.log, ['a', 'resize 100x30', 'b', 'CAN', 'reset', 'c', 'ready']);
});

test('too much unparsed: the rest is dropped, and fetched again from its first byte', () => {
	const terminal = new SlowTerminal();
	const resumed: (number | null)[] = [];
	const feed = new Feed(terminal, (offset) => resumed.push(offset));
	const mebibyte = new Uint8Array(1 << 20);
	for (let i = 0; i < 20; i++)
		feed.bytes(mebibyte, i << 20);
	feed.resize(1, 1);
	feed.then(() => terminal.log.push('ready'));
	assert.deepEqual(resumed, []);
	terminal.parse();
	assert.deepEqual(resumed, [16 << 20]);
	assert.equal(terminal.log.length, 16);
	feed.bytes(bytes('on'), 16 << 20);
	terminal.parse();
	assert.equal(terminal.log[16], 'on');
});
