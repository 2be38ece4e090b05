// A page behind a slow line: keys are echoed soon, whatever is printed.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import { Road } from '../integration/lib/road.mjs';
import { scenario, slowness } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, live, skip } from './lib/browser.mjs';

const PACE = 20_000; // bytes a second

const text = (page) => page.evaluate(() => {
	const { active } = window.ringside.terminal.buffer;
	return Array.from({ length: active.length }, (_, row) => active.getLine(row).translateToString(true)).join('\n').trimEnd();
});

/** A page behind such a line. came(): bytes of its terminal so far; before(): those that came before the awaited text. */
async function openSlowly(server, awaited = undefined) {
	const road = await Road.buildWide(server, PACE);
	const page = await (await launch(server)).newPage({ viewport: { width: 900, height: 500 } });
	page.setDefaultTimeout(15_000 * slowness);
	let [came, before, seen] = [0, undefined, ''];
	page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => {
		came += payload.length;
		if (before !== undefined || typeof payload === 'string')
			return;
		seen += payload.toString('latin1');
		before = seen.includes(awaited) ? came : undefined;
	}));
	await page.goto(server.loginUrl.replace(server.base, road.base));
	return { page, came: () => came, before: () => before };
}

scenario('on a slow line the screen comes before the scrollback', { skip, timeout: 120_000 }, async (server) => {
	const lines = 3000;
	await server.session({ id: 'main' });
	await server.api.input('main', `seq -f 'line %.0f of what is above the screen, of some length' ${lines}; echo la""st\r`);
	await server.outputMatches('main', /\nlast\r/);
	const { page, came, before } = await openSlowly(server, 'last');
	let shown = '';
	await until(() => `the prompt, but after ${came()} bytes ${shown.slice(-200)}`, async () => {
		shown = await page.evaluate(() => window.ringside?.terminal !== undefined) ? await text(page) : '';
		return /\nlast\n.*[$#]$/.test(shown);
	}, { timeout: 30_000, progress: came });
	console.log(`# the prompt after ${before()} bytes`);
	// 1000 lines would be five times as many.
	assert.ok(before() < PACE / 2, `${before()} bytes came first`);

	// The scrollback follows without scrolling, as much as the page requests first; the rest after scrolling there.
	await until('the lines above', async () => (await text(page)).includes(`line ${lines - 900} of`), { timeout: 60_000, progress: came });
	assert.ok(!(await text(page)).includes('line 1 of'));
	await page.getByTestId('status').filter({ hasText: 'Connected' }).waitFor();
	await page.evaluate(() => window.ringside.terminal.scrollToTop());
	await until('all lines', async () => (await text(page)).includes('line 1 of'), { timeout: 60_000, progress: came });
});

scenario('on a slow line an interrupt overtakes a flood', { skip, timeout: 120_000 }, async (server) => {
	await server.session({ id: 'main' });
	const { page, came } = await openSlowly(server);
	await live(page, 30_000);
	await page.getByTestId('terminal').click();
	await page.keyboard.type('yes "a line of a flood"');
	await page.keyboard.press('Enter');
	await page.getByTestId('status').filter({ hasText: 'Catching up' }).waitFor();
	// Bytes that were sent before the pace was known have passed.
	const flooded = came();
	await until('some seconds of the flood', () => came() > flooded + PACE / 2, { timeout: 60_000, progress: came });
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/slow-line-flood.png` });

	const [before, began] = [came(), Date.now()];
	await page.keyboard.press('Control+c');
	let shown;
	await until(() => `the interrupt and a prompt, but after ${came() - before} bytes ${shown.slice(-200)}`, async () => {
		shown = await text(page);
		return /\^C[^]*\n[$#]$/.test(shown);
	}, { timeout: 30_000 });
	console.log(`# ${came() - before} bytes and ${Date.now() - began} ms later`);
	// Bytes, not time: the machine may be busy. Without pacing it is 14 seconds of bytes and more.
	assert.ok(came() - before < 10 * PACE, `${came() - before} bytes came first`);

	// The page follows the stream again, and echoes at the speed of the line.
	await page.getByTestId('status').filter({ hasText: 'Connected' }).waitFor();
	await page.keyboard.type('echo ba""ck');
	await page.keyboard.press('Enter');
	await until('the answer', async () => /^back$/m.test(await text(page)), { timeout: 30_000 });
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/slow-line-back.png` });
});
