import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlockList, durationOf, showDuration, type Block } from '../src/blocks/block';
import { MarkScanner } from '../src/blocks/mark_scanner';
import { Marks } from '../src/blocks/marks';
import { authorsOf, filterEntries, windowOf, type Entry, type PanelFilter } from '../src/blocks/panel_rows';
import { headOf, neighbour, placeBlocks, segmentsOf, type MarkPlace } from '../src/blocks/place';
import { typeable } from '../src/blocks/typeable';
import { Feed } from '../src/term/feed';
import { snapshotMessage } from './fakes';
import { bytes, newTerminal, parsed, row } from './terminals';

const blockOf = (start: number, fields: Partial<Block> = {}): Block => ({
	id: `b${start}`, command: 'ls', author: 'human', label: null, by: 'human', execId: null, state: 'done', startedAt: null,
	cwd: null, cwdAfter: null, endedAt: null, exitCode: 0, start, end: start + 5, inputMark: start - 3, endMark: start + 8, ...fields,
});

const marksOf = (places: Record<number, MarkPlace>) => (offset: number) => places[offset] ?? null;
const at = (where: number, left = false): MarkPlace => ({ row: where, left });
const ranges = (blocks: Block[], places: Record<number, MarkPlace>, cursor = 99) =>
	placeBlocks(blocks, marksOf(places), cursor).map(({ block, row: from, endRow }) => [block.start, from, endRow]);

test('a command goes from its line to the last line of its output', () => {
	assert.deepEqual(ranges([blockOf(10)], { 7: at(4), 18: at(6, true) }), [[10, 4, 5]]);
	assert.deepEqual(ranges([blockOf(10)], { 7: at(4), 18: at(6) }), [[10, 4, 6]], 'a last line without newline counts');
	assert.deepEqual(ranges([blockOf(10)], { 7: at(4), 18: at(4, true) }), [[10, 4, 4]]);
});

test('a running command ends at the cursor; a command without marks is not placed', () => {
	const running = blockOf(10, { state: 'running', end: null, endMark: null });
	assert.deepEqual(ranges([running], { 7: at(4) }, 9), [[10, 4, 9]]);
	assert.deepEqual(ranges([running], { 7: at(4) }, 2), [[10, 4, 4]]);
	assert.deepEqual(ranges([blockOf(10), blockOf(30, { inputMark: null, endMark: null })], {}), []);
});

test('a command whose first row is gone begins after the previous one, or at the top', () => {
	assert.deepEqual(ranges([blockOf(10)], { 18: at(3, true) }), [[10, 0, 2]]);
	assert.deepEqual(ranges([blockOf(10), blockOf(40)], { 7: at(0), 18: at(2, true), 48: at(5, true) }),
		[[10, 0, 1], [40, 2, 4]]);
	assert.deepEqual(ranges([blockOf(10)], { 18: at(0, true) }), [], 'a command that cleared the screen is not placed');
});

test('segments are the visible parts of commands', () => {
	const placed = placeBlocks([blockOf(10, { exitCode: 3 }), blockOf(40, { by: 'exec' })],
		marksOf({ 7: at(2), 18: at(10, true), 37: at(10), 48: at(30, true) }), 40);
	assert.deepEqual(segmentsOf(placed, { top: 5, rows: 10 }).map(({ top, height, kind, begins, color }) =>
		[top, height, kind, begins, color !== null]), [[0, 5, 'failed', false, false], [5, 5, 'done', true, true]]);
	assert.deepEqual(segmentsOf(placed, { top: 30, rows: 10 }), []);
});

test('the header names the command whose line has scrolled away; neighbours are relative to the top row', () => {
	const placed = placeBlocks([blockOf(10), blockOf(40)], marksOf({ 7: at(2), 18: at(10, true), 37: at(10), 48: at(30, true) }), 40);
	const head = (top: number) => headOf(placed, top)?.block.start ?? null;
	assert.deepEqual([head(0), head(2), head(3), head(9), head(10), head(29), head(30)], [null, null, 10, 10, null, 40, null]);
	assert.deepEqual([2, 3, 10, 11].map((top) => neighbour(placed, top, 'before')), [null, 2, 2, 10]);
	assert.deepEqual([0, 2, 10].map((top) => neighbour(placed, top, 'after')), [2, 10, null]);
});

test('the list: a finished command stays finished, and a fetched list does not undo later messages', () => {
	const list = new BlockList();
	list.put(blockOf(10));
	list.put(blockOf(10, { state: 'running' }));
	assert.equal(list.all[0]?.state, 'done');
	list.put(blockOf(50, { state: 'running' }));
	list.replace([blockOf(5), blockOf(10, { state: 'running' })]);
	assert.deepEqual(list.all.map(({ start, state }) => [start, state]), [[5, 'done'], [10, 'done'], [50, 'running']]);
	assert.equal(list.running?.start, 50);
	for (let start = 100; start < 5000; start++)
		list.put(blockOf(start));
	assert.equal(list.all.length, 1000);
	assert.equal(list.all.at(-1)?.start, 4999);
});

test('durations', () => {
	assert.deepEqual([300, 12_000, 187_000, 7_212_000].map(showDuration), ['0.3 s', '12 s', '3:07', '2:00:12']);
	const ran = { startedAt: '2024-01-01T00:00:00Z', endedAt: '2024-01-01T00:00:02Z' };
	assert.equal(durationOf(blockOf(1, ran), 0), 2000);
	assert.equal(durationOf(blockOf(1), 0), null);
});

const TEXT = '\x1b]0;title\x07$ \x1b]133;B;aid=x\x07ls\r\n\x1b]133;C\x07one\r\n\x1b\x1b]133;D;3;aid=x\x1b\\\x1b]133;A\x07';

test('marks are found however the bytes are split', () => {
	const data = bytes(TEXT);
	const whole = new MarkScanner().scan(data, 100).map(({ kind, at: end }) => [kind, end]);
	assert.deepEqual(whole.map(([kind]) => kind), ['B', 'D']);
	for (const size of [1, 2, 3, 7]) {
		const scanner = new MarkScanner();
		const found: unknown[] = [];
		for (let from = 0; from < data.length; from += size)
			for (const { kind, at: end } of scanner.scan(data.subarray(from, from + size), 100 + from))
				found.push([kind, from + end]);
		assert.deepEqual(found, whole, `in pieces of ${size}`);
	}
	const scanner = new MarkScanner();
	scanner.scan(bytes('\x1b]133;B;'), 0);
	assert.deepEqual(scanner.scan(bytes('x\x07'), 50), [], 'a gap in the offsets ends a mark');
	assert.deepEqual(new MarkScanner().scan(bytes(`\x1b]133;B${'x'.repeat(5000)}\x07`), 0), [], 'too long for a mark');
});

function marked() {
	const terminal = newTerminal();
	const feed = new Feed(terminal, () => undefined);
	const marks = new Marks(terminal, () => undefined);
	let offset = 0;
	return {
		terminal, marks,
		async output(text: string): Promise<number> {
			const data = bytes(text);
			marks.pass(data, offset, (piece, from) => feed.write(piece, from), (run) => feed.whenParsed(run));
			await parsed(feed);
			return offset += data.length;
		},
		async snapshot(text: string, lines: number, line: number): Promise<void> {
			feed.writeSnapshot(bytes(`\x18\x1bc${text}`), () => marks.beginSnapshot(), () => marks.endSnapshot(snapshotMessage({ lines, line })));
			await parsed(feed);
		},
	};
}

test('a mark is in the row of the cursor, and moves with that row', async () => {
	const t = marked();
	const input = await t.output('first\r\n$ \x1b]133;B\x07');
	const end = await t.output('ls\r\none\r\n\x1b]133;D;0\x07');
	assert.deepEqual(t.marks.find(input), { row: 1, left: false });
	assert.deepEqual(t.marks.find(end), { row: 3, left: true });
	await t.output('x'.repeat(60) + '\r\n'.repeat(30));
	assert.deepEqual(t.marks.find(input), { row: 1, left: false });
	t.terminal.resize(20, 10);
	assert.match(row(t.terminal, t.marks.find(input)!.row) ?? '', /^\$ ls/);
	await t.output('\x1b[3J');
	assert.equal(t.marks.find(input), null);
	const later = await t.output('\x1b]133;B\x07');
	await t.output('\x1bc');
	assert.equal(t.marks.find(later), null, 'a reset removes all marks');
	const full = await t.output('\x1b[?1049h\x1b]133;B\x07');
	assert.equal(t.marks.find(full), null, 'the alternate screen has no marks');
});

test('a snapshot contains marks, also below a full screen program; OSC 7007 in output is ignored', async () => {
	const t = marked();
	const before = await t.output('\x1b]133;B\x07\x1b]7007;mB0900,1\x07');
	assert.equal(t.marks.find(900), null);
	const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\r\n');
	await t.snapshot(`${lines}\x1b[?1049h\x1b]7007;mB1400,123\x07\x1b]7007;mD0420,129\x07\x1b]7007;mB07,5\x07\x1b]7007;mB09,999\x07`, 20, 100);
	assert.equal(t.marks.find(before), null);
	assert.deepEqual(t.marks.find(400), { row: 23, left: false });
	assert.deepEqual(t.marks.find(420), { row: 29, left: true });
	assert.deepEqual([t.marks.find(7), t.marks.find(9)], [null, null], 'marks outside of the snapshot');
	await t.output('\x1b[?1049l');
	assert.deepEqual(t.marks.find(400), { row: 23, left: false });
});

test('the number of marks is limited', async () => {
	const t = marked();
	const first = await t.output('\x1b]133;B\x07');
	await t.output('\x1b]133;B\x07'.repeat(2000));
	assert.equal(t.marks.find(first), null);
});

test('a command that is typed again has no control characters', () => {
	assert.equal(typeable('ls -l\n'), 'ls -l');
	assert.equal(typeable('for i in 1 2\r\ndo\n\techo $i\ndone'), 'for i in 1 2\ndo\n\techo $i\ndone');
	assert.equal(typeable('echo \x1b[201~\x03\rrm -rf'), 'echo [201~rm -rf');
	assert.deepEqual([typeable(null), typeable(' \x03 '), typeable('x'.repeat(4096))], [null, null, null]);
});

const NOTHING = { text: '', author: '', kind: '', session: '' } as const;
const entries = Array.from({ length: 2000 }, (_, at): Entry => ({
	session: at % 2 ? 'two' : 'one', name: 'x', block: blockOf(at, {
		command: `echo Number ${at}`, exitCode: at % 10 === 0 ? 1 : 0, by: at % 4 === 0 ? 'exec' : 'human', label: at % 4 === 0 ? 'agent' : null,
		startedAt: new Date(at * 1000).toISOString(),
	}),
}));

test('the panel: 2000 commands of two sessions, by text, author, result and session', () => {
	const starts = (filter: Partial<PanelFilter>) => filterEntries(entries, { ...NOTHING, ...filter }).map(({ block }) => block.start);
	assert.deepEqual(starts({}).slice(0, 3), [1999, 1998, 1997]);
	assert.deepEqual(starts({ text: ' NUMBER 199' }), [1999, 1998, 1997, 1996, 1995, 1994, 1993, 1992, 1991, 1990, 199]);
	assert.deepEqual([starts({ kind: 'failed' }).length, starts({ author: 'agent' }).length, starts({ session: 'two' }).length], [200, 500, 1000]);
	assert.deepEqual(starts({ kind: 'failed', session: 'two' }), []);
	assert.deepEqual(authorsOf(entries), ['a person', 'agent']);
});

test('the panel: only rows in sight are made', () => {
	assert.deepEqual(windowOf(2000, 50, 0, 500), { first: 0, end: 16 });
	assert.deepEqual(windowOf(2000, 50, 50_000, 500), { first: 994, end: 1016 });
	assert.deepEqual(windowOf(3, 50, 99_000, 500), { first: 0, end: 3 });
	assert.deepEqual(windowOf(0, 50, 0, 500), { first: 0, end: 0 });
});
