// The page after a reload or reconnect: snapshots in a real browser, the scroll position, and the size of the session.
import assert from 'node:assert/strict';
import { scenario } from '../integration/lib/server.mjs';
import { stays, until } from '../integration/lib/until.mjs';
import { launch, live, open as openPage, skip } from './lib/browser.mjs';

const id = 'main';

/** A page in a browser context of its own. */
const open = async (server, viewport = { width: 1100, height: 700 }) =>
	openPage(await (await launch(server)).newContext({ viewport }), server.loginUrl);

/** The visible rows and the length of the scrollback, after scrolling to a line if one is given. */
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
	await page.evaluate(() => new Promise((resolve) => { window.ringside.whenParsed(resolve); }));
}

const scrollTo = (page, line) => page.evaluate((to) => window.ringside.terminal.scrollToLine(to), line);

/** Record the length of the history in every frame. Returns a function that reads the record. */
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

scenario('a long history: its end is there at once, the rest after scrolling up', { skip, timeout: 80_000 }, async (server) => {
	await server.session({ id });
	await server.run(id, 'seq -f "line %g of many" 6000 | tail -n 6000; echo pri""nted');
	const page = await open(server);
	await caughtUp(server, page);
	assert.ok((await view(page)).rows.includes('line 6000 of many'));
	// Lines above the screen follow without scrolling.
	await until('lines above', async () => (await view(page)).baseY > 0);
	const first = await view(page);
	// A thousand lines, less those that are on the screen if the window got its size later.
	assert.ok(first.baseY >= 900 && first.baseY < 1100, `${first.baseY} lines to begin with`);

	const lengths = await watchFrames(page);
	const before = await view(page, 20); // immediately: the rest may arrive soon
	await until('the whole history', async () => (await view(page)).baseY > 5000);
	const after = await view(page);
	assert.deepEqual(after.rows, before.rows, 'the text moved');
	assert.deepEqual((await lengths()).sort((a, b) => a - b), [before.length, after.length], 'a half drawn history was visible');
	assert.ok(await page.getByTestId('new-output').isHidden(), 'old output counts as new');
	await scrollTo(page, 0);
	await shows(page, 'line 1 of many');
	await server.run(id, 'echo more');
	await page.getByTestId('new-output').waitFor();
});

scenario('a scrolled-up page stays at its text through a crash and a flood', { skip, timeout: 90_000 }, async (server) => {
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
	// More bytes than a page is sent as a stream, in few lines.
	const { offset } = await server.api.get(id);
	await server.api.input(id, 'sleep 1; filler=$(printf "\\e[m%.0s" {1..400}); for i in {1..2500}; do echo "$filler more $i"; done; echo o""ver\r');
	await server.kill('SIGKILL');
	await server.start();
	await server.outputMatches(id, /over/, offset, { timeout: 30_000 });
	for (const page of [reader, watcher]) await live(page);
	for (const page of [reader, watcher]) await caughtUp(server, page);
	// The screen may have come first, and all lines once the output stopped.
	await until('the text that was read', async () => (await view(reader)).rows[0] === 'line 200 of many');
	const { rows, viewportY, baseY } = await view(watcher);
	assert.equal(viewportY, baseY, 'the page that was at the end is not');
	assert.ok(rows.includes('over'));
	assert.equal(await reader.locator('.toast').count(), 0, 'the page shows toasts');

	await reader.reload();
	await live(reader);
	await caughtUp(server, reader);
	const again = await view(reader);
	assert.deepEqual(again.rows, rows);
});

scenario('a full-screen program and the screen below it are restored', { skip, timeout: 60_000 }, async (server) => {
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

scenario('a reload types nothing; focus reports go to the program that requested them', { skip, timeout: 60_000 }, async (server) => {
	await server.session({ id });
	await server.api.input(id, 'printf "\\e[c\\e[6n\\e]11;?\\a"; read -t 1 -s -d ""; printf "\\e[?1004h"; stty raw -echo; echo rea""dy; od -An -tx1 -w3 -v\r');
	await server.outputMatches(id, /ready/);
	const page = await open(server);
	const reports = async () => (await server.api.text(id, 0)).match(/1b 5b 4[9f]/g) ?? [];
	await until('a report of the focus', async () => (await reports()).at(-1) === '1b 5b 49');
	await page.evaluate(() => document.activeElement.blur());
	await until('a report of the lost focus', async () => (await reports()).at(-1) === '1b 5b 4f');
	const { offset } = await server.api.get(id);
	await page.reload({ waitUntil: 'commit' });
	await live(page);
	await caughtUp(server, page);
	await until('a report of the focus', async () => (await reports()).at(-1) === '1b 5b 49');
	await stays('one report only', async () => (await server.api.text(id, offset)).replaceAll(/[\r\n ]/g, '') === '1b5b49', 500);
});

scenario('the window that determines the size can be chosen', { skip, timeout: 60_000 }, async (server) => {
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
	assert.ok(await small.getByTestId('size-badge').isHidden(), 'a badge in the window that determines the size');
	assert.equal(await large.getByTestId('size-badge').getByRole('button').count(), 0, 'the size is offered but cannot be changed');

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
	await until('no badge in the window that types', () => small.getByTestId('size-badge').isHidden());
	assert.notEqual((await size()).cols, 60);
});
