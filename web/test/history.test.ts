import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Feed } from '../src/term/feed';
import { History } from '../src/term/history';
import type { SnapshotMessage } from '../src/net/wire';
import { snapshotMessage } from './fakes';
import { bytes, newTerminal, numbered, parsed, snapshotOf, topRow } from './terminals';

function reader() {
	const terminal = newTerminal();
	const feed = new Feed(terminal, () => undefined);
	const asked: number[] = [];
	const can = { ask: true };
	const history = new History(terminal, (lines) => can.ask && asked.push(lines) > 0);
	history.attached(10_000);
	return {
		terminal, history, asked, can,
		async output(lines: readonly string[]): Promise<void> {
			feed.write(bytes(lines.map((line) => `\r\n${line}`).join('')), 0);
			await parsed(feed);
		},
		/** lines: the last lines of a history of fields.total lines (default: all of it). */
		async snapshot(lines: readonly string[], fields: Partial<SnapshotMessage> = {}): Promise<void> {
			const message = snapshotMessage({ cols: 40, rows: 10, reason: 'attach', ...fields, lines: lines.length - 10 });
			feed.writeSnapshot(snapshotOf(lines), () => history.beginSnapshot(() => terminal.resize(message.cols, message.rows)),
				() => history.endSnapshot({ ...message, total: Math.max(message.total, message.lines) }));
			await parsed(feed);
		},
		get atEnd(): boolean {
			return terminal.buffer.active.viewportY === terminal.buffer.active.baseY;
		},
	};
}

test('attached sets the number of lines to keep', () => {
	const t = reader();
	t.history.attached(7000);
	assert.equal(t.terminal.options.scrollback, 7000);
	assert.equal(t.history.lines, 1000);
});

test('the page can keep fewer lines than the server, and more again', async () => {
	const t = reader();
	t.history.setLimit(2000);
	assert.equal(t.terminal.options.scrollback, 2000);
	t.history.attached(10_000);
	assert.equal(t.terminal.options.scrollback, 2000);
	await t.snapshot(numbered(3991, 5000), { total: 4990 });
	assert.equal(t.history.fetchAll(), true);
	assert.deepEqual(t.asked, [2000]);
	await t.snapshot(numbered(2991, 5000), { total: 4990, reason: 'request' });
	t.terminal.scrollToTop();
	assert.equal(topRow(t.terminal), 'line 2991');
	assert.equal(t.history.fetchAll(), false, 'the page has all lines that it may keep');
	assert.equal(t.history.lines, 2000, 'scrolled up, so a new connection gives all lines');
	await t.snapshot(numbered(2991, 5000), { total: 4990 });
	assert.equal(t.history.fetchAll(), false, 'also after a new connection');

	t.history.setLimit(1000);
	assert.equal(t.terminal.buffer.active.length, 1010);
	assert.equal(t.history.fetchAll(), false);
	t.history.setLimit(null);
	assert.equal(t.terminal.options.scrollback, 10_000);
	assert.equal(t.history.fetchAll(), true);
	assert.deepEqual(t.asked, [2000, 10_000]);
	await t.snapshot(numbered(1, 5000), { total: 4990, reason: 'request' });
	assert.equal(t.history.fetchAll(), false);
	// More than the server: new output is kept.
	t.history.setLimit(50_000);
	t.history.attached(10_000);
	assert.equal(t.terminal.options.scrollback, 50_000);
});

test('near the top the rest is requested once, and the text does not move', async () => {
	const t = reader();
	await t.snapshot(numbered(3991, 5000), { total: 4990 });
	t.terminal.scrollToLine(10);
	assert.deepEqual(t.asked, []);
	t.terminal.scrollToLine(9);
	t.terminal.scrollToLine(2);
	assert.deepEqual(t.asked, [4990]);
	assert.equal(topRow(t.terminal), 'line 3993');
	await t.snapshot(numbered(1, 5000), { total: 4990, reason: 'request' });
	assert.equal(topRow(t.terminal), 'line 3993');
	t.terminal.scrollToTop();
	assert.equal(topRow(t.terminal), 'line 1');
	assert.deepEqual(t.asked, [4990]);
});

test('nothing is requested if the history is complete or while output scrolls', async () => {
	const t = reader();
	await t.snapshot(numbered(1, 500));
	t.terminal.scrollToTop();
	t.terminal.scrollToBottom();
	await t.snapshot(numbered(1, 20), { total: 1000 });
	await t.output(numbered(21, 40));
	assert.deepEqual(t.asked, []);
});

test('a reply with fewer lines than requested does not cause another request', async () => {
	const t = reader();
	await t.snapshot(numbered(3991, 5000), { total: 4990 });
	t.history.fetchAll();
	await t.snapshot(numbered(2001, 5000), { total: 4990, reason: 'request' });
	t.terminal.scrollToTop();
	assert.deepEqual(t.asked, [4990]);
});

test('a search requests the whole history if lines are missing', async () => {
	const t = reader();
	await t.snapshot(numbered(1, 500));
	assert.equal(t.history.fetchAll(), false);
	await t.snapshot(numbered(3991, 5000), { total: 4990 });
	assert.equal(t.history.fetchAll(), true);
	assert.equal(t.history.fetchAll(), true);
	assert.deepEqual(t.asked, [4990]);
});

test('a request that failed or was not answered is repeated', async () => {
	const t = reader();
	await t.snapshot(numbered(3991, 5000), { total: 4990 });
	t.can.ask = false;
	assert.equal(t.history.fetchAll(), false);
	t.can.ask = true;
	assert.equal(t.history.fetchAll(), true);
	t.history.attached(10_000); // resumed, without a snapshot
	t.history.fetchAll();
	assert.deepEqual(t.asked, [4990, 4990]);
});

test('a reader at the end stays at the end', async () => {
	const t = reader();
	await t.snapshot(numbered(1, 100));
	await t.snapshot(numbered(1, 300), { reason: 'lag' });
	assert.ok(t.atEnd);
	await t.output(['more']);
	assert.ok(t.atEnd);
});

test('a reader who has scrolled up stays at the same text', async () => {
	const t = reader();
	await t.snapshot(numbered(1, 500));
	t.terminal.scrollToLine(200);
	assert.equal(t.history.lines, null);
	await t.snapshot(numbered(101, 900));
	assert.equal(topRow(t.terminal), 'line 201');
	await t.output(['more']);
	assert.equal(topRow(t.terminal), 'line 201');
});

test('a reader who has scrolled up stays at the same text in another width', async () => {
	const t = reader();
	const long = numbered(1, 300).map((line) => `${line} ${'word '.repeat(12)}`);
	await t.snapshot(long);
	t.terminal.scrollToLine(200); // two rows each
	assert.match(topRow(t.terminal) ?? '', /^line 101 /);
	await t.snapshot([...long, ...numbered(301, 400)], { cols: 100, rows: 20 });
	assert.match(topRow(t.terminal) ?? '', /^line 101 /);
});

test('if the text is gone, the oldest line is shown', async () => {
	const t = reader();
	await t.snapshot(numbered(1, 500));
	t.terminal.scrollToLine(50);
	await t.snapshot(numbered(401, 900));
	assert.equal(topRow(t.terminal), 'line 401');
});

test('a slow window is behind until a full snapshot, which restores the position', async () => {
	const t = reader();
	await t.snapshot(numbered(1, 500));
	t.terminal.scrollToLine(200);
	for (const last of [1500, 2500]) {
		await t.snapshot(numbered(last - 30, last), { total: last - 10, reason: 'lag', partial: true });
		assert.ok(t.history.behind);
		assert.ok(t.atEnd);
		assert.equal(t.history.lines, null);
	}
	await t.snapshot(numbered(1, 2600), { reason: 'lag' });
	assert.ok(!t.history.behind);
	assert.equal(topRow(t.terminal), 'line 201');
	assert.deepEqual(t.asked, []);
});

test('if the full snapshot lacks the text, the rest is requested and then the position restored', async () => {
	const t = reader();
	await t.snapshot(numbered(1, 2000));
	t.terminal.scrollToLine(200);
	await t.snapshot(numbered(1491, 2500), { total: 2490, reason: 'lag' });
	assert.deepEqual(t.asked, [2490]);
	assert.ok(t.atEnd);
	await t.snapshot(numbered(1, 2500), { reason: 'request' });
	assert.equal(topRow(t.terminal), 'line 201');
});

test('on a slow connection more lines are requested only when the reader scrolls up', async () => {
	const t = reader();
	await t.snapshot(numbered(1, 500));
	await t.snapshot(numbered(2200, 2500), { total: 2490, reason: 'lag' });
	assert.ok(!t.history.behind);
	assert.deepEqual(t.asked, []);
	t.terminal.scrollToTop();
	assert.deepEqual(t.asked, [2490]);
});

test('scrolling between snapshots sets the new position', async () => {
	const t = reader();
	await t.snapshot(numbered(1, 500));
	t.terminal.scrollToLine(200);
	await t.snapshot(numbered(1470, 1500), { total: 1490, reason: 'lag', partial: true });
	t.terminal.scrollToLine(5);
	await t.snapshot(numbered(1, 1500), { reason: 'lag' });
	assert.equal(topRow(t.terminal), 'line 1475');
});

test('a partial first snapshot does not count as being behind', async () => {
	const t = reader();
	await t.snapshot(numbered(4991, 5000), { total: 4990, partial: true });
	assert.ok(!t.history.behind);
	await t.output(numbered(5001, 5010));
	t.terminal.scrollToTop();
	t.terminal.scrollToBottom();
	await t.snapshot(numbered(3991, 5000), { total: 4990, reason: 'lag' });
	assert.deepEqual(t.asked, []);
	t.terminal.scrollToTop();
	assert.deepEqual(t.asked, [4990]);
});

test('the whole history can be requested after a partial first snapshot', async () => {
	const t = reader();
	await t.snapshot(numbered(4991, 5000), { total: 4990, partial: true });
	assert.equal(t.history.fetchAll(), true);
	assert.deepEqual(t.asked, [4990]);
	await t.snapshot(numbered(4000, 5000), { total: 4990, partial: true, reason: 'lag' });
	await t.snapshot(numbered(4991, 5000), { total: 4990, partial: true, reason: 'lag' });
	assert.equal(t.history.fetchAll(), false, 'while it is behind');
});

test('if the connection breaks after a partial snapshot, the history can be requested', async () => {
	const t = reader();
	await t.snapshot(numbered(4991, 5000), { total: 4990, partial: true });
	t.history.attached(10_000); // resumed, without a snapshot
	assert.equal(t.history.fetchAll(), true);
	assert.deepEqual(t.asked, [4990]);
});

test('after a partial snapshot the position is restored by the full one', async () => {
	const t = reader();
	await t.snapshot(numbered(1, 2000));
	t.terminal.scrollToLine(200);
	await t.snapshot(numbered(2491, 2500), { total: 2490, partial: true });
	await t.snapshot(numbered(1, 2500), { reason: 'lag' });
	assert.equal(topRow(t.terminal), 'line 201');
	assert.deepEqual(t.asked, []);
});
