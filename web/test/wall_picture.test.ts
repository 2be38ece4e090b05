import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Colors, readableOver } from '../src/wall/colors';
import { frameOf, paintPicture } from '../src/wall/paint';
import { applyScreen, type Picture } from '../src/wall/picture';
import { TERMINAL_THEMES } from '../src/ui/terminal_themes';

const run = (column: number, text: string, more: object = {}) => ({ column, columns: text.length, text, ...more });
const answer = (lines: object[], more: object = {}) => ({
	rows: 3, cols: 10, version: 7, offset: 99, next: null, cursor: { row: 1, col: 2, visible: true }, lines, ...more,
});
const colors = new Colors(TERMINAL_THEMES.dark, 1);

function picture(lines: object[], more: object = {}): Picture {
	const applied = applyScreen(null, answer(lines, more), false);
	assert.ok(applied !== null && typeof applied === 'object');
	return applied;
}

function painted(cells: object[], isMonospaced: (character: string) => boolean = () => true, more: object = {}) {
	const it = picture([{ row: 0, cells }], { cursor: { visible: false }, ...more });
	const { rects, texts } = paintPicture(it, frameOf(it, 100, 60, 1), colors, isMonospaced);
	return {
		rects: rects.map(({ column, columns, color }) => [column, columns, color]),
		texts: texts.map(({ column, columns, text }) => [column, columns, text]),
	};
}

test('a reply makes a picture, and the next one changes its rows', () => {
	const first = picture([{ row: 0, cells: [run(0, 'abc', { fg: 1, bold: true })] }, { row: 2, cells: [run(1, 'z')] }]);
	assert.deepEqual([first.cols, first.rows.length, first.version, first.offset, first.cursor], [10, 3, 7, 99, { row: 1, column: 2 }]);
	const then = applyScreen(first, answer([{ row: 2, cells: [run(0, 'new')] }], { version: 8 }), false) as Picture;
	assert.equal(then.rows[0], first.rows[0]);
	assert.deepEqual([then.rows[2]?.[0]?.text, then.version], ['new', 8]);
	assert.equal(applyScreen(first, answer([], { cols: 11 }), false), 'whole');
	assert.equal(applyScreen(first, answer([], { rows: 4 }), false), 'whole');
	assert.equal(applyScreen(null, answer([], { next: 2 }), false), 'plain');
	const plain = applyScreen(null, answer([{ row: 0, text: 'abc' }], { next: 2 }), true) as Picture;
	assert.deepEqual(plain.rows[0]?.map(({ column, columns, text }) => [column, columns, text]), [[0, 10, 'abc']]);
});

test('an invalid reply never puts cells outside of the picture', () => {
	for (const nonsense of [null, 3, 'x', {}, { rows: 0, cols: 1, lines: [] }, { rows: 2, cols: -1, lines: [] }, answer(null as never)])
		assert.equal(applyScreen(null, nonsense, false), null);
	const it = picture([
		null as never, { row: -1, cells: [run(0, 'x')] }, { row: 3, cells: [run(0, 'x')] }, { row: 0.5, cells: [run(0, 'x')] }, { row: '0' },
		{ row: 1, cells: [7, null, run(-5, 'a'), run(1e9, 'b'), { column: 8, columns: 1e9, text: {} }, { column: 'x', columns: Number.NaN }] },
	], { cursor: { row: 1e9, col: -4, visible: true } });
	assert.deepEqual(it.rows.map((runs) => runs.map(({ column, columns, text }) => [column, columns, text])), [[], [[0, 1, 'a'], [8, 2, '']], []]);
	assert.deepEqual(it.cursor, { row: 2, column: 0 });
	assert.ok(picture([], { rows: 1e9, cols: 1e9 }).rows.length <= 1000);
});

test('concealed text is omitted, and inverse cells have swapped colours', () => {
	const cells = picture([{ row: 0, cells: [
		run(0, 'secret', { conceal: true }), run(6, 'a', { inverse: true }), run(7, 'b', { inverse: true, fg: 1, bg: '#010203' }),
		run(8, 'c', { fg: 'url(x)', bg: 300 }),
	] }]).rows[0]!;
	assert.equal(cells[0]?.text, '');
	const { background, foreground } = TERMINAL_THEMES.dark;
	assert.deepEqual([colors.text(cells[1]!.fg, cells[1]!.bg), colors.backgroundOf(cells[1]!.bg)], [background, foreground]);
	assert.deepEqual([colors.text(cells[2]!.fg, cells[2]!.bg), colors.backgroundOf(cells[2]!.bg)], ['#010203', TERMINAL_THEMES.dark.red]);
	assert.deepEqual([colors.text(cells[3]!.fg, null), colors.backgroundOf(cells[3]!.bg)], [foreground, '#eeeeee']);
});

test('characters are in their columns: wide ones, their neighbours, and combining ones', () => {
	assert.deepEqual(painted([run(0, 'ab cd  ')]).texts, [[0, 7, 'ab cd']]);
	assert.deepEqual(painted([{ column: 0, columns: 6, text: 'a漢b字' }]).texts, [[0, 1, 'a'], [1, 2, '漢'], [3, 1, 'b'], [4, 2, '字']]);
	assert.deepEqual(painted([{ column: 1, columns: 4, text: '─é│x' }]).texts, [[1, 4, '─é│x']]);
	assert.deepEqual(painted([{ column: 1, columns: 4, text: 'aשbx' }], (character) => character !== 'ש').texts,
		[[1, 1, 'a'], [2, 1, 'ש'], [3, 2, 'bx']]);
	assert.deepEqual(painted([{ column: 0, columns: 3, text: 'e\u0301a\u202eb\u0007\u200d' }]).texts, [[0, 3, 'eab']]);
	assert.deepEqual(painted([{ column: 0, columns: 5, text: '🫠a\ue0b0b' }]).texts, [[0, 2, '🫠'], [2, 1, 'a'], [4, 1, 'b']],
		'a character that is not drawn has its column');
	assert.deepEqual(painted([{ column: 8, columns: 2, text: 'x漢y' }]).texts, [[8, 1, 'x']], 'a character that does not fit is omitted');
	assert.deepEqual(painted([{ column: 0, columns: 2, text: 'abcdef' }]).texts, [[0, 2, 'ab']], 'a run is cut at its last column');
	assert.deepEqual(painted([run(0, '<b>&amp;', { bg: 4 })]), { rects: [[0, 8, TERMINAL_THEMES.dark.blue]], texts: [[0, 8, '<b>&amp;']] });
	assert.deepEqual(painted([run(3, '     ', { bg: '#112233' })]), { rects: [[3, 5, '#112233']], texts: [] });
});

test('a tile shows all readable columns, and the rows down to the cursor', () => {
	const tall = picture([], { rows: 100, cols: 80, cursor: { row: 90, col: 0, visible: true } });
	const frame = frameOf(tall, 240, 144, 1);
	assert.deepEqual(frame, { cellWidth: 3, cellHeight: 6, columns: 80, rows: 24, top: 67 });
	assert.equal(frameOf(tall, 480, 288, 2).cellWidth, 6);
	assert.equal(frameOf(picture([], { rows: 100, cols: 80 }), 240, 144, 1).top, 0);
	assert.equal(frameOf(picture([], { rows: 5, cols: 80 }), 240, 144, 1).rows, 5);
	assert.deepEqual([frameOf(picture([], { cols: 1000 }), 240, 144, 1).columns, frameOf(picture([], { cols: 2 }), 240, 144, 1).cellWidth], [110, 8]);
	const hidden = picture([{ row: 60, cells: [run(0, 'last')] }, { row: 70, cells: [run(0, '   ')] }], { rows: 100, cols: 80, cursor: { visible: false } });
	assert.equal(frameOf(hidden, 240, 144, 1).top, 37);
	const { rects } = paintPicture(tall, frame, colors, () => true);
	assert.deepEqual(rects, [{ column: 0, row: 23, columns: 1, color: colors.cursor }]);
});

test('text has the minimum contrast that the page requires', () => {
	const light = new Colors(TERMINAL_THEMES.light, 4.5);
	assert.notEqual(light.text('#ffff00', null), '#ffff00');
	assert.equal(light.text('#000000', null), '#000000');
	assert.equal(colors.text('#ffff00', null), '#ffff00');
	assert.equal(readableOver('#777777', '#808080', 21), '#000000');
	assert.equal(readableOver('#101010', '#000000', 21), '#ffffff');
	for (let i = 0; i < 20_000; i++) // the cache of colours is limited
		light.text(`#${i.toString(16).padStart(6, '0')}`, null);
});
