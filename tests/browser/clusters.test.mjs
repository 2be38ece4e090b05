// Columns of characters in a real browser: the page has the same as the server's screen, live and after a reload, with
// grapheme clusters by the session's own setting, by a program, and after a reset; and as bash at its prompt.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, open, skip } from './lib/browser.mjs';

const [CLUSTERS, COLUMNS, RIS] = ['\x1b[?2027h', '\x1b[?2027l', '\x1bc'];
/* A flag, a family, decomposed Hangul, a conjunct of Devanagari, an emoji heart, and letters with marks, each followed by a red bar. */
const TEXT = ['🇩🇪', '👨‍👩‍👧', '한', 'क्षि', '❤️', 'e\u0301', '你'].map((cluster) => `${cluster}\x1b[31m|\x1b[m`).join('');
const WHOLE = [2, 5, 8, 10, 13, 15, 18]; // columns of the bars, with clusters

/** The columns of the bars, for each row that has bars. */
const shown = (page) => page.evaluate(() => {
	if (window.ringside?.connection?.state.kind !== 'live') return null;
	const { buffer, cols, rows } = window.ringside.terminal;
	const all = Array.from({ length: rows }, (_, y) => {
		const line = buffer.active.getLine(buffer.active.baseY + y);
		return Array.from({ length: cols }, (_, x) => x).filter((x) => line.getCell(x).getChars() === '|');
	});
	return all.filter((bars) => bars.length > 0);
});

/** The same in the server's screen. */
async function drawn(server, id) {
	const { json } = await server.api.raw('GET', `/api/session/${id}/screen?cells=1`);
	return json.lines.map(({ cells }) => cells.filter(({ text }) => text === '|').map(({ column }) => column))
		.filter((bars) => bars.length > 0);
}

/** Wait until the page shows what the server's screen has in so many rows, which differ from before. Returns the columns. */
async function sameColumns(server, page, id, rows) {
	let mine;
	let theirs;
	await until(() => `${id}: the columns ${JSON.stringify(mine)} in the page, which shows ${JSON.stringify(theirs)}`, async () => {
		mine = await drawn(server, id);
		theirs = await shown(page);
		return mine.length === rows && JSON.stringify(mine) === JSON.stringify(theirs);
	});
	return mine;
}

/** Let a program print lines after a reset. Returns the columns, which are the same in the page. */
async function print(server, page, id, lines) {
	writeFileSync(path.join(server.cwd, id), `${RIS}${lines.join('\r\n')}\r\n`);
	await server.api.input(id, `\rcat ${id}; read -r\r`);
	return sameColumns(server, page, id, lines.length);
}

for (const [id, unicode, begins] of [['whole', 'graphemes', true], ['plain', 'wcwidth', false]]) {
	scenario(`clusters in the page of a session that begins ${begins ? 'with' : 'without'} them`, { skip, timeout: 80_000 }, async (server) => {
		await server.session({ id, unicode });
		const browser = await launch(server);
		const page = await open(await browser.newContext(), server.loginUrl.replace('#', `?s=${id}#`));
		const bars = await print(server, page, id, [TEXT, `${begins ? COLUMNS : CLUSTERS}${TEXT}`]);
		assert.notDeepEqual(bars[0], bars[1]);
		assert.deepEqual(bars[begins ? 0 : 1], WHOLE);
		await page.reload();
		assert.deepEqual(await sameColumns(server, page, id, 2), bars);
		// Reset while the program has changed the setting: a snapshot must restore that too.
		assert.deepEqual(await print(server, page, id, [TEXT]), [bars[0]]);
		assert.deepEqual(await print(server, page, id, [`${begins ? COLUMNS : CLUSTERS}${TEXT}`, TEXT, TEXT]), Array(3).fill(bars[1]));
		await page.reload();
		assert.deepEqual(await sameColumns(server, page, id, 3), Array(3).fill(bars[1]));
		assert.deepEqual(await print(server, page, id, Array(4).fill(TEXT)), Array(4).fill(bars[0]));
	});
}

/** The cells of the row that begins with a text, as [column, text], and the cursor's column; null if no row does. */
const edited = (page, text) => page.evaluate((start) => {
	if (window.ringside?.connection?.state.kind !== 'live') return null;
	const { cols, rows, buffer: { active } } = window.ringside.terminal;
	for (let y = 0; y < rows; y++) {
		const line = active.getLine(active.baseY + y);
		if (line.translateToString(true).startsWith(start))
			return { cells: Array.from({ length: cols }, (_, x) => [x, line.getCell(x).getChars()]).filter(([, chars]) => chars !== ''),
				cursor: active.cursorX };
	}
	return null;
}, text);

scenario('bash edits a line of wide characters where the page and the server have them', { skip, timeout: 80_000 }, async (server) => {
	const id = 'edited';
	await server.session({ id, env: { LC_ALL: 'C.UTF-8' } });
	const browser = await launch(server);
	const page = await open(await browser.newContext(), server.loginUrl.replace('#', `?s=${id}#`));
	await server.api.input(id, "PS1='> '\r");
	await until('the prompt', async () => (await edited(page, '> '))?.cursor === 2);
	await server.api.input(id, 'echo 🫠🫠🫠abc\x1b[D\x1b[D\x1b[DX');
	const cells = [...[...'> echo '].map((text, x) => [x, text]), [7, '🫠'], [9, '🫠'], [11, '🫠'], [13, 'X'], [14, 'a'], [15, 'b'], [16, 'c']];
	const wanted = JSON.stringify({ cells, cursor: 14 });
	let seen;
	await until(() => `the line on the page: ${wanted}, not ${seen}`, async () => {
		seen = JSON.stringify(await edited(page, '> echo'));
		return seen === wanted;
	});
	const { json } = await server.api.raw('GET', `/api/session/${id}/screen?cells=1`);
	const line = json.lines.find(({ text }) => text.startsWith('> echo'));
	assert.deepEqual([line.text, json.cursor.col], ['> echo 🫠🫠🫠Xabc', 14]);
	await server.api.input(id, '\r');
	await until('its output', async () => (await edited(page, '🫠🫠🫠Xabc')) !== null);
});
