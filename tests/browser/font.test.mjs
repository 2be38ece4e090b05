// The font that is part of the page: loaded only if it is chosen, in use only when it is loaded, and kept.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, live, open, skip } from './lib/browser.mjs';

const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
const family = 'Ringside JetBrains Mono';
const size = 20;

/** The terminal's cells and font. */
const shown = (page) => page.evaluate(() => {
	const { terminal } = window.ringside, { width, height } = document.querySelector('.xterm-screen').style;
	return {
		cols: terminal.cols, rows: terminal.rows, width: parseFloat(width) / terminal.cols, height: parseFloat(height) / terminal.rows,
		font: terminal.options.fontFamily, loaded: [...document.fonts].map((face) => `${face.family.replaceAll('"', '')} ${face.weight} ${face.status}`),
	};
});

/** The same, when the session has taken the window's size. New sessions have 80 columns, which no window here has. */
const sized = (server, page) => until('the session’s size', async () => {
	const now = await shown(page), session = await server.api.get('main');
	return now.cols !== 80 && session.cols === now.cols && session.rows === now.rows && now;
});

/** Record the sizes of cells from now on, in every frame. */
const record = (page) => page.evaluate(() => {
	window.cells = [];
	const look = () => {
		const { cols, rows } = window.ringside.terminal, { width, height } = document.querySelector('.xterm-screen').style;
		const cell = `${Math.round(parseFloat(width) / cols * 10) / 10}x${Math.round(parseFloat(height) / rows * 10) / 10}`;
		if (window.cells.at(-1) !== cell) window.cells.push(cell);
		requestAnimationFrame(look);
	};
	look();
});

/** Requests for the font. Each waits until hold is released, and then fails if `fails` is set. */
async function fontRequests(context) {
	const all = { urls: [], headers: [], fails: false };
	let free = () => {}, gate = Promise.resolve();
	all.hold = () => { gate = new Promise((resolve) => { free = resolve; }); };
	all.release = () => free();
	context.on('response', (response) => response.url().endsWith('.woff2') && all.headers.push(response.headers()));
	await context.route('**/*.woff2', async (route) => {
		all.urls.push(route.request().url());
		await gate;
		await (all.fails ? route.abort() : route.continue()).catch(() => {}); // the page may have gone
	});
	return all;
}

scenario('the included font is loaded when it is chosen, then used, and kept', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main' });
	const context = await (await launch(server)).newContext({ viewport: { width: 1000, height: 600 }, colorScheme: 'light' });
	const requests = await fontRequests(context);
	await context.addInitScript((text) => localStorage.getItem('ringside.settings') ?? localStorage.setItem('ringside.settings', text), JSON.stringify({ fontSize: String(size), fontFamily: 'DejaVu Sans' }));
	const page = await open(context, server.loginUrl);
	const problems = [];
	page.on('pageerror', (error) => problems.push(error.message));
	page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
	const before = await sized(server, page);
	assert.deepEqual([before.loaded, requests.urls], [[], []], 'no font is loaded unless it is chosen');
	assert.ok(before.width > 0.7 * size, `the font before has other cells: ${before.width}`);

	// While it is loaded, the font before stays in use.
	requests.hold();
	await page.getByTestId('open-settings').click();
	await record(page);
	await page.getByTestId('setting-fontFamily').selectOption('bundled');
	await until('the requests', () => requests.urls.length === 2);
	const meanwhile = await shown(page);
	assert.deepEqual([meanwhile.font, meanwhile.width, meanwhile.cols], [before.font, before.width, before.cols]);
	requests.release();
	await until('the font', async () => (await shown(page)).font.startsWith(`"${family}"`));
	const after = await shown(page);
	assert.deepEqual(after.loaded, [`${family} 400 loaded`, `${family} 700 loaded`]);
	// The glyphs have 0.6 em, 1.32 em high; a renderer may use whole pixels.
	assert.ok(Math.abs(after.width - 0.6 * size) < 1, `cells are ${after.width} wide`);
	assert.ok(Math.abs(after.height - 1.32 * 1.15 * size) < 2, `cells are ${after.height} high`);
	const { cols } = await until('more columns', async () => (await sized(server, page)).cols > before.cols && shown(page));
	const seen = await page.evaluate(() => window.cells);
	assert.equal(seen.length, 2, `cells change once: ${seen}`);
	for (const headers of requests.headers) {
		assert.equal(headers['content-type'], 'font/woff2');
		assert.match(headers['cache-control'], /^public, max-age=31536000, immutable$/);
	}
	const bytes = await Promise.all(requests.urls.map(async (url) => (await (await fetch(url)).arrayBuffer()).byteLength));
	assert.ok(bytes[0] + bytes[1] < 102_400, `${bytes}`);
	assert.equal(await page.getByTestId('setting-font-hint').textContent(), '');
	await page.keyboard.press('Escape');
	await server.run('main', `clear; printf '\\e[1mbold 0123 Il1|\\e[0m 0123 Il1| äöüß łőžđ Ελληνικά Русский\\n┌──┬──┐ ╔══╦══╗ ▁▂▃▄▅▆▇█ ░▒▓ ←↑→↓↔⇒ \\ue0a0 \\ue0b0\\ue0b1\\ue0b2\\ue0b3 √∞≈≠≤≥ ●○■□▲▼\\n│  │  │ ║  ║  ║\\n├──┼──┤ ╠══╬══╣\\n└──┴──┘ ╚══╩══╝\\n'`);
	await shot(page, 'font');

	// After a reload the terminal waits for the font, so the session keeps its size.
	requests.hold();
	const viewer = await server.client({ sessionId: 'main', token: (await server.api.link('main', 'viewer')).token }).connect();
	await page.reload();
	await until('the requests', () => requests.urls.length === 4);
	assert.notEqual(await page.evaluate(() => window.ringside.connection?.state.kind), 'live');
	requests.release();
	await live(page);
	const reloaded = await shown(page);
	assert.deepEqual([reloaded.width, reloaded.height, reloaded.cols, reloaded.loaded.length], [after.width, after.height, cols, 2]);
	await server.api.input('main', 'echo se""en\r');
	await viewer.untilText('seen\r\n');
	assert.deepEqual(viewer.messages.filter(({ type }) => type === 'resize'), []);
	assert.deepEqual(problems, []);
});

scenario('a font that cannot be loaded is replaced', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main' });
	const context = await (await launch(server)).newContext({ viewport: { width: 1000, height: 600 }, colorScheme: 'dark' });
	const requests = await fontRequests(context);
	requests.fails = true;
	const page = await open(context, server.loginUrl);
	const before = await sized(server, page);
	const choose = (value) => page.getByTestId('setting-fontFamily').selectOption(value);
	await page.getByTestId('open-settings').click();
	await choose('bundled');
	await page.getByTestId('setting-font-hint').filter({ hasText: 'could not be loaded' }).waitFor();
	assert.deepEqual(await shown(page), before);
	// Choosing it again tries again. Another choice while it is loaded wins.
	requests.fails = false;
	requests.hold();
	await choose('');
	await choose('bundled');
	await until('the requests', () => requests.urls.length === 4);
	await choose('monospace');
	requests.release();
	await until('the loaded font', async () => (await shown(page)).loaded.length === 2);
	assert.equal((await shown(page)).font, 'ui-monospace, monospace');
	await choose('bundled');
	assert.ok((await shown(page)).font.startsWith(`"${family}"`), 'at once');
	assert.equal(requests.urls.length, 4);

	requests.fails = true;
	await page.reload();
	await live(page);
	assert.deepEqual(await sized(server, page), before);
	assert.equal(await page.evaluate(() => JSON.parse(localStorage.getItem('ringside.settings')).fontFamily), 'bundled', 'the setting is kept');
	// One that never comes delays the terminal for a short time only, and is used when it comes.
	requests.fails = false;
	requests.hold();
	await page.reload();
	await live(page);
	assert.deepEqual(await sized(server, page), before);
	requests.release();
	await until('the font', async () => (await shown(page)).font.startsWith(`"${family}"`));
	await sized(server, page);
});
