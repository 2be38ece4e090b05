// File names in the terminal are links: which names, in which directory, the download, and when the server is not asked.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, open, skip } from './lib/browser.mjs';

const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });

/** The middle of the last place of a text in the terminal, in pixels of the window; at: a character of the text. */
const placeOf = (page, text, at = 0) => until(`“${text}” on the screen`, () => page.evaluate(([wanted, offset]) => {
	const { terminal } = window.ringside;
	const { active } = terminal.buffer;
	let all = '';
	for (let row = 0; row < active.length; row++) all += (active.getLine(row)?.translateToString(false) ?? '').padEnd(terminal.cols);
	const index = all.lastIndexOf(wanted) + offset;
	const row = Math.floor(index / terminal.cols) - active.viewportY;
	if (index < offset || row < 0 || row >= terminal.rows) return null;
	const { left, top, width, height } = document.querySelector('.xterm-screen').getBoundingClientRect();
	return { x: left + (index % terminal.cols + 0.5) * width / terminal.cols, y: top + (row + 0.5) * height / terminal.rows };
}, [text, at]));

const isLink = (page) => page.evaluate(() => document.querySelector('.xterm-screen').classList.contains('xterm-cursor-pointer'));

/** Move the pointer to the text. */
async function hover(page, text, at) {
	const { x, y } = await placeOf(page, text, at);
	await page.mouse.move(x, y);
	return { x, y };
}

/** Click the text when it is a link; returns the path in the menu. */
async function openMenu(page, text, at) {
	const place = await hover(page, text, at);
	await until(`a link at “${text}”`, () => isLink(page));
	await page.mouse.click(place.x, place.y);
	return page.locator('.file-path').textContent();
}

/** Download by the open menu; returns the name and the content. */
async function download(page) {
	const [file] = await Promise.all([page.waitForEvent('download'), page.getByTestId('file-download').click()]);
	return [file.suggestedFilename(), readFileSync(await file.path(), 'utf8')];
}

/** The paths of each request that asks about files, from now on. */
function questions(page) {
	const asked = [];
	page.on('request', (request) => new URL(request.url()).pathname.endsWith('/api/stat') && asked.push(request.postDataJSON().paths));
	return asked;
}

/** Run a command, until the page shows its output. */
async function run(server, page, command) {
	await server.run('main', command);
	const { data: { offset } } = await server.api.call('GET', '/api/session/main');
	await until('the output', () => page.evaluate((end) => window.ringside.connection.offset >= end, offset));
	await page.evaluate(() => new Promise((resolve) => { window.ringside.whenParsed(resolve); }));
}

const toast = (page, text) => page.locator('.toast').filter({ hasText: text }).first().waitFor();

async function begin(server, options) {
	await server.session({ id: 'main', cwd: server.cwd, env: { HOME: server.cwd } });
	const browser = await launch(server);
	const context = await browser.newContext({ viewport: { width: 900, height: 560 }, reducedMotion: 'reduce', ...options });
	await context.grantPermissions(['clipboard-read', 'clipboard-write']);
	const page = await open(context, server.loginUrl);
	await page.locator('.file-menu').waitFor({ state: 'attached' });
	return { browser, page, asked: questions(page) };
}

scenario('names of files that ls and a compiler print are links, which download the file', { skip, timeout: 90_000 }, async (server) => {
	const { page, asked } = await begin(server);
	const at = (...names) => path.join(server.cwd, ...names);
	mkdirSync(at('sub'));
	writeFileSync(at('a page.html'), '<script>document.title = "ran"</script>');
	writeFileSync(at('same.txt'), 'above');
	writeFileSync(at('sub/same.txt'), 'below');
	writeFileSync(at('sub/only ü.txt'), 'only');
	await run(server, page, 'ls');
	await run(server, page, 'cd sub');
	await run(server, page, 'clear; cd ..; ls; cd sub; true');
	await run(server, page, 'cd ..');
	await run(server, page, 'ls -1 | sed "s/^/above /"');
	await run(server, page, 'cd sub');

	// Names are in the directory of the command that has printed them, which the shell has left.
	assert.equal(await openMenu(page, 'above same.txt', 8), at('same.txt'));
	await shot(page, 'file-menu');
	assert.deepEqual(await download(page), ['same.txt', 'above']);
	await run(server, page, 'clear; printf "%s\\n" same.txt:1:2: none.txt ../sub "\'../a page.html\'" "~/same.txt:3"');
	assert.equal(await openMenu(page, 'same.txt:1:2'), at('sub/same.txt'));
	await page.keyboard.press('Escape');
	await page.getByTestId('file-menu').waitFor({ state: 'hidden' });

	// Names that do not exist and directories are no links, though the server was asked about them.
	for (const [text, asks] of [['none.txt', at('sub/none.txt')], ['../sub', at('sub')]]) {
		await hover(page, text);
		await until('the question', () => asked.flat().includes(asks));
		// The page sends one request at a time: an answer about another line comes later.
		await hover(page, 'same.txt:1:2');
		await until('the answer', () => isLink(page));
		await hover(page, text);
		assert.equal(await isLink(page), false, text);
	}
	assert.equal(await openMenu(page, '~/same.txt', 3), at('same.txt'));
	await page.getByTestId('file-copy').click();
	assert.equal(await page.evaluate(() => navigator.clipboard.readText()), at('same.txt'));

	// A page is downloaded too, not opened.
	await openMenu(page, 'a page.html');
	assert.deepEqual(await download(page), ['a page.html', '<script>document.title = "ran"</script>']);
	assert.notEqual(await page.title(), 'ran');

	// A path that is wrapped over rows is one link, from any of its rows.
	const deep = at(...Array.from({ length: 5 }, (_, n) => `${n}`.repeat(50)));
	mkdirSync(deep, { recursive: true });
	writeFileSync(path.join(deep, 'wrapped'), 'w');
	await run(server, page, `clear; echo; echo 'see ${deep}/wrapped now'`);
	for (const offset of [5, 150, `${deep}/wrapped`.length + 2]) {
		await page.mouse.move(5, 300);
		assert.equal(await openMenu(page, `see ${deep}/wrapped`, offset), `${deep}/wrapped`);
		await page.keyboard.press('Escape');
	}
	// A double click selects a word and leaves no menu.
	const { x, y } = await hover(page, '/wrapped now', 2);
	await until('a link', () => isLink(page));
	await page.mouse.dblclick(x, y);
	assert.match(await page.evaluate(() => window.ringside.terminal.getSelection()), /wrapped/);
	assert.equal(await page.getByTestId('file-menu').isVisible(), false);
	// The file is gone when it is wanted.
	await openMenu(page, '/wrapped now', 2);
	rmSync(path.join(deep, 'wrapped'));
	await page.getByTestId('file-download').click();
	await toast(page, 'The file does not exist any more');

	// Keys close the menu and go to the shell. A program that tracks the mouse gets the clicks.
	await server.api.input('main', 'clear; ls -Q; printf "\\e[?1000h"; cat\r');
	await until('the mode', () => page.evaluate(() => window.ringside.terminal.modes.mouseTrackingMode !== 'none'));
	await hover(page, '"same.txt"', 2);
	assert.equal(await isLink(page), false);
	await server.api.input('main', '\x03');
	await until('the end of the mode', () => page.evaluate(() => window.ringside.terminal.modes.mouseTrackingMode === 'none'));
	await page.mouse.move(5, 300);
	await openMenu(page, '"same.txt"', 2);
	await page.keyboard.type('#typed');
	await page.getByTestId('file-menu').waitFor({ state: 'hidden' });
	await placeOf(page, '#typed');
});

/** A tap opens the keyboard of a phone: until the server has answered, its row moves, and later the window gets smaller. */
async function tapAndResize(server, page) {
	writeFileSync(path.join(server.cwd, 'low.txt'), '');
	await run(server, page, 'clear; seq 60; echo low.txt; seq 5');
	const { x, y } = await placeOf(page, 'low.txt', 3);
	let answer;
	await page.route('**/api/stat', async (route) => {
		await new Promise((resolve) => { answer = resolve; });
		await route.continue();
	}, { times: 1 });
	await page.touchscreen.tap(x, y);
	await until('the question', () => answer);
	await page.evaluate(() => window.ringside.terminal.scrollLines(-3));
	assert.notEqual((await placeOf(page, 'low.txt', 3)).y, y);
	answer();
	await page.getByTestId('file-menu').and(page.locator(':visible')).filter({ hasText: path.join(server.cwd, 'low.txt') }).waitFor();

	const rows = () => page.evaluate(() => window.ringside.terminal.rows);
	const before = await rows();
	await page.setViewportSize({ width: 900, height: 300 });
	await until('fewer rows', async () => await rows() < before);
	await until('the menu in the window', () => page.evaluate(() => {
		const inner = document.querySelector('.file-menu').getBoundingClientRect();
		const outer = document.querySelector('.stage').getBoundingClientRect();
		return inner.height > 0 && inner.top >= outer.top && inner.bottom <= outer.bottom;
	}));
	await page.keyboard.press('Escape');
	await page.getByTestId('file-menu').waitFor({ state: 'hidden' });
	await page.setViewportSize({ width: 900, height: 560 });
	await until('the rows', async () => await rows() === before);
}

/** The pointer moves over an address, in a row in which a refused name was. */
async function addressStays(server, guest) {
	const { x, y } = await placeOf(guest, 'tapped.txt', 4);
	await run(server, guest, 'clear; yes https://example.com/of/some/length | head -n 15');
	await until('a link', async () => {
		await guest.mouse.move(x, y + 200);
		await guest.mouse.move(x, y);
		return isLink(guest);
	});
	await guest.evaluate(() => {
		window.changes = 0;
		new MutationObserver((all) => { window.changes += all.length; })
			.observe(document.querySelector('.xterm-screen'), { attributes: true, attributeFilter: ['class'] });
	});
	for (let n = 1; n < 4; n++) await guest.mouse.move(x + 8 * n, y);
	assert.equal(await isLink(guest), true);
	assert.equal(await guest.evaluate(() => window.changes), 0, 'the link was left and entered again');
	await run(server, guest, 'clear; ls');
}

scenario('the server is asked rarely, once for a line, and not by links that may not read files', { skip, timeout: 90_000 }, async (server) => {
	const { browser, page, asked } = await begin(server, { hasTouch: true });
	writeFileSync(path.join(server.cwd, 'tapped.txt'), 'tapped');
	await run(server, page, 'clear; printf "%s\\n" "-- 12 %%" https://example.com/x.c; ls; seq -f "line %g of many" 9');
	// A tap, before the pointer has been there: as for addresses, one is enough.
	const { x, y } = await placeOf(page, 'tapped.txt', 4);
	await page.touchscreen.tap(x, y);
	assert.equal(await page.locator('.file-path').textContent(), path.join(server.cwd, 'tapped.txt'));
	assert.deepEqual(asked, [[path.join(server.cwd, 'tapped.txt')]]);
	await page.getByTestId('file-copy').tap();
	await page.touchscreen.tap(x, y);
	await page.getByTestId('file-menu').waitFor();
	await page.keyboard.press('Escape');
	await tapAndResize(server, page);

	await run(server, page, 'clear; printf "%s\\n" "-- 12 %%" https://example.com/x.c; seq -f "line %g of many" 9');
	for (const text of ['-- 12 %', 'https://example']) await hover(page, text);
	assert.equal(await isLink(page), true, 'an address is a link at once');
	for (let n = 1; n <= 9; n++) await hover(page, `line ${n} of`);
	await until('the question about the last line', () => asked.at(-1)?.some((each) => each.endsWith('line 9 of many')));
	assert.ok(!asked.flat().some((each) => /example|12|--/.test(each)), 'asked about no names');

	// A line full of words leads to one request, of limited length.
	const before = asked.length;
	await run(server, page, 'clear; for i in {1..60}; do printf "a%s.b:1 " {1..60}; done; echo; echo last');
	await page.mouse.move(x, 300);
	await until('a question', () => asked.length > before);
	assert.ok(Math.max(...asked.map(({ length }) => length)) <= 200);
	// A line that changes under the pointer is not asked about again.
	await server.api.input('main', 'clear; while :; do printf "\\e[H%s.txt tapped.txt \\e[K" $RANDOM; done\r');
	await hover(page, 'tapped.txt', 4);
	const flood = asked.length;
	const offset = () => page.evaluate(() => window.ringside.connection.offset);
	const since = await offset();
	await until('more output', async () => await offset() > since + 200_000);
	assert.ok(asked.length < flood + 8, `${asked.length - flood} requests while the line changed`);
	await server.api.input('main', '\x03');

	await server.untilPrompt('main');
	await run(server, page, 'clear; ls');
	for (const role of ['viewer', 'driver']) {
		const { path: link } = await server.api.call('POST', '/api/session/main/links', { role, expiresInMs: 60_000 });
		const guest = await open(await browser.newContext({ viewport: { width: 900, height: 560 } }), `${server.base}${link}`);
		const theirs = questions(guest);
		if (role === 'driver') {
			await guest.locator('.file-menu').waitFor({ state: 'attached' });
			const refused = guest.waitForResponse((response) => response.url().includes('/api/stat'));
			await hover(guest, 'tapped.txt');
			assert.equal((await refused).status(), 403);
		}
		for (let n = 0; n < 3; n++) await hover(guest, 'tapped.txt', n);
		assert.equal(await isLink(guest), false, role);
		assert.equal(theirs.length, role === 'driver' ? 1 : 0);
		if (role === 'viewer') continue;
		await addressStays(server, guest);
		// Another server lets them.
		await server.kill();
		await server.start({ args: ['--drivers-may-all'] });
		await guest.reload();
		await guest.locator('.file-menu').waitFor({ state: 'attached' });
		assert.equal(await openMenu(guest, 'tapped.txt', 4), path.join(server.cwd, 'tapped.txt'));
		assert.deepEqual(await download(guest), ['tapped.txt', 'tapped']);
	}
});
