// The page comes back: snapshots in a real browser, the reader's place, and whose size it is.
import assert from 'node:assert/strict';
import { scenario } from '../integration/lib/server.mjs';
import { stays, until } from '../integration/lib/until.mjs';
import { launch, live, open as openPage, skip } from './lib/browser.mjs';

const id = 'main';

/** A page of somebody's own. */
const open = async (server, viewport = { width: 1100, height: 700 }) =>
	openPage(await (await launch(server)).newContext({ viewport }), server.loginUrl);

/** What there is to see, and how much there is to scroll; after scrolling, if a line is given. */
const view = (page, scrollTo) => page.evaluate((to) => {
	const { terminal } = window.ringside;
	if (to !== undefined) terminal.scrollToLine(to);
	const { viewportY, baseY, length, cursorX, cursorY, type } = terminal.buffer.active;
	const rows = Array.from({ length: terminal.rows }, (_, row) =>
		terminal.buffer.active.getLine(viewportY + row).translateToString(true).trimEnd());
	return { rows, viewportY, baseY, length, cursorX, cursorY, type, cols: terminal.cols };
}, scrollTo);

const shows = (page, line) => until(`“${line}”`, async () => (await view(page)).rows.includes(line));

async function caughtUp(server, page) {
	await until('end of the output', async () =>
		await page.evaluate(() => window.ringside.connection.offset) === (await server.api.get(id)).offset);
	await page.evaluate(() => new Promise((resolve) => { window.ringside.terminal.write('', resolve); }));
}

const scrollTo = (page, line) => page.evaluate((to) => window.ringside.terminal.scrollToLine(to), line);

/** Notes in every frame how long the history is; returns how to read the notes. */
async function watchFrames(page) {
	await page.evaluate(() => {
		window.lengths = new Set();
		const look = () => {
			window.lengths.add(window.ringside.terminal.buffer.active.length);
			requestAnimationFrame(look);
		};
		look();
	});
	return () => page.evaluate(() => [...window.lengths]);
}

scenario('a long history: the end is there at once, the rest when it is looked for', { skip, timeout: 80_000 }, async (server) => {
	await server.session({ id });
	await server.run(id, 'seq -f "line %g of many" 6000 | tail -n 6000; echo pri""nted');
	const page = await open(server);
	await caughtUp(server, page);
	assert.ok((await view(page)).rows.includes('line 6000 of many'));
	// What is above the screen follows by itself.
	await until('lines above', async () => (await view(page)).baseY > 0);
	const first = await view(page);
	// A thousand; but those that the window has room for, if it got its size later, are on the screen.
	assert.ok(first.baseY >= 900 && first.baseY < 1100, `${first.baseY} lines to begin with`);

	const lengths = await watchFrames(page);
	const before = await view(page, 20); // at once: the rest may be there a moment later
	await until('the whole history', async () => (await view(page)).baseY > 5000);
	const after = await view(page);
	assert.deepEqual(after.rows, before.rows, 'the text has moved');
	assert.deepEqual((await lengths()).sort((a, b) => a - b), [before.length, after.length], 'it was seen half drawn');
	assert.ok(await page.getByTestId('new-output').isHidden(), 'what was there before is not new');
	await scrollTo(page, 0);
	await shows(page, 'line 1 of many');
	await server.run(id, 'echo more');
	await page.getByTestId('new-output').waitFor();
});

scenario('who has scrolled up stays at the text through a crash and a flood', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id });
	await server.run(id, 'seq -f "line %g of many" 500');
	const reader = await open(server);
	const watcher = await open(server);
	await caughtUp(server, reader);
	await until('line 200 in sight', async () => {
		const { rows, viewportY } = await view(reader);
		const at = rows.indexOf('line 200 of many');
		if (at >= 0) await scrollTo(reader, viewportY + at);
		else await scrollTo(reader, viewportY - 20);
		return at === 0;
	});
	// More bytes than anybody is sent one by one, in few lines.
	const { offset } = await server.api.get(id);
	await server.api.input(id, 'sleep 1; filler=$(printf "\\e[m%.0s" {1..400}); for i in {1..2500}; do echo "$filler more $i"; done; echo o""ver\r');
	await server.kill('SIGKILL');
	await server.start();
	await server.outputMatches(id, /over/, offset, { timeout: 30_000 });
	for (const page of [reader, watcher]) await live(page);
	for (const page of [reader, watcher]) await caughtUp(server, page);
	// The screen alone may have come first, and all lines when it was calm.
	await until('the text that was read', async () => (await view(reader)).rows[0] === 'line 200 of many');
	const { rows, viewportY, baseY } = await view(watcher);
	assert.equal(viewportY, baseY, 'the one at the end is not there any more');
	assert.ok(rows.includes('over'));
	assert.equal(await reader.locator('.toast').count(), 0, 'the page nags');

	await reader.reload();
	await live(reader);
	await caughtUp(server, reader);
	const again = await view(reader);
	assert.deepEqual(again.rows, rows);
});

scenario('a full screen program is there again, and what is below it', { skip, timeout: 60_000 }, async (server) => {
	await server.session({ id });
	const page = await open(server);
	await page.getByTestId('terminal').click();
	await server.api.input(id, 'echo be""low; printf "\\e[?1049h\\e[2J\\e[5;10H\\e[1;31min the middle\\e[m\\e[9;3H"; read; printf "\\e[?1049l"\r');
	await until('alternate screen', async () => (await view(page)).type === 'alternate');
	await caughtUp(server, page);
	const before = await view(page);
	await page.reload();
	await live(page);
	await caughtUp(server, page);
	assert.deepEqual(await view(page), before);
	assert.equal(before.rows[4], '         in the middle');
	await server.api.input(id, '\r');
	await until('normal screen', async () => (await view(page)).type === 'normal');
	await shows(page, 'below');
});

scenario('coming back types nothing; the focus is told to who asked for it', { skip, timeout: 60_000 }, async (server) => {
	await server.session({ id });
	await server.api.input(id, 'printf "\\e[c\\e[6n\\e]11;?\\a"; read -t 1 -s -d ""; printf "\\e[?1004h"; stty raw -echo; echo rea""dy; od -An -tx1 -w3 -v\r');
	await server.outputMatches(id, /ready/);
	const page = await open(server);
	const reports = async () => (await server.api.text(id, 0)).match(/1b 5b 4[9f]/g) ?? [];
	await until('word of the focus', async () => (await reports()).at(-1) === '1b 5b 49');
	await page.evaluate(() => document.activeElement.blur());
	await until('word of its end', async () => (await reports()).at(-1) === '1b 5b 4f');
	const { offset } = await server.api.get(id);
	await page.reload({ waitUntil: 'commit' });
	await live(page);
	await caughtUp(server, page);
	await until('word of the focus', async () => (await reports()).at(-1) === '1b 5b 49');
	await stays('only that', async () => (await server.api.text(id, offset)).replaceAll(/[\r\n ]/g, '') === '1b5b49', 500);
});

scenario('whose size it is can be chosen', { skip, timeout: 60_000 }, async (server) => {
	await server.session({ id });
	const large = await open(server);
	const small = await open(server, { width: 800, height: 500 });
	const size = async () => {
		const { cols, rows, sizePolicy } = await server.api.get(id);
		return { cols, rows, sizePolicy };
	};
	const wanted = (page) => page.evaluate(() => {
		const { terminal } = window.ringside;
		return { cols: terminal.cols, rows: terminal.rows };
	});
	const menu = large.getByTestId('size-policy');

	await menu.selectOption('smallest');
	await until('smallest window', async () => (await size()).sizePolicy === 'smallest');
	await until('a badge in the large window', async () =>
		/^Smallest window|’s size/.test(await large.getByTestId('size-badge').innerText()));
	assert.ok(await small.getByTestId('size-badge').isHidden(), 'a badge in the window that has its size');
	assert.equal(await large.getByTestId('size-badge').getByRole('button').count(), 0, 'it cannot be taken, but is offered');

	await menu.selectOption('fixed');
	await large.getByTestId('size-cols').fill('60');
	await large.getByTestId('size-rows').fill('20');
	await large.getByTestId('confirm').click();
	await until('fixed size', async () => (await size()).cols === 60);
	assert.deepEqual(await size(), { cols: 60, rows: 20, sizePolicy: 'fixed' });
	for (const page of [large, small]) {
		await until('fixed size in the page', async () => (await wanted(page)).cols === 60);
		await page.getByTestId('size-badge').filter({ hasText: 'Fixed size' }).waitFor();
	}
	await small.getByTestId('terminal').click();
	await small.keyboard.type('x');
	await stays('fixed size', async () => (await size()).cols === 60);

	await menu.selectOption('latest');
	await until('latest', async () => (await size()).sizePolicy === 'latest');
	await small.keyboard.type('y');
	await until('no badge where somebody types', () => small.getByTestId('size-badge').isHidden());
	assert.notEqual((await size()).cols, 60);
});
