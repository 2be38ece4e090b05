// Grapheme clusters in a real browser: with the session's own setting, one that a program sets, and after a reset, the
// page has the same columns as the server's screen, live and after a reload.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, open, skip } from './lib/browser.mjs';

const [CLUSTERS, COLUMNS, RIS] = ['\x1b[?2027h', '\x1b[?2027l', '\x1bc'];
/* A flag, a family, decomposed Hangul, Devanagari, an emoji heart, and letters with marks, each followed by a red bar. */
const TEXT = ['🇩🇪', '👨‍👩‍👧', '한', 'क्षि', '❤️', 'e\u0301', '你'].map((cluster) => `${cluster}\x1b[31m|\x1b[m`).join('');
const WHOLE = [2, 5, 8, 11, 14, 16, 19]; // columns of the bars, with clusters

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
