// Terminals side by side: selected on the wall, in the address, each with its own input.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import path from 'node:path';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { findings } from './lib/axe.mjs';
import { countContexts, launch, open, skip } from './lib/browser.mjs';

const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: path.join(process.env.SHOTS, `tiles-${name}.png`) });
const query = (page) => new URL(page.url()).searchParams;
const pane = (page, id) => page.getByTestId('pane').and(page.locator(`[data-session-id="${id}"]`));
const front = (page, id) => until(`${id} in front`, async () => await pane(page, id).getAttribute('data-front') === 'true'
	&& query(page).get('s') === id && await page.getByTestId('status').getAttribute('data-state') === 'live', { timeout: 30_000 });
const printed = (server, id, text) => until(`${text} in ${id}`, async () => String(await server.api.output(id)).includes(text), { timeout: 30_000 });
/** Each terminal has one WebGL context, and a closed one has none. */
const contexts = (page, count) => until('a WebGL context for each terminal', async () => await page.evaluate(() => window.liveContexts().length) === count);

scenario('terminals side by side are selected on the wall, in the address, and can be typed into and closed', { skip, timeout: 120_000 }, async (server) => {
	for (const id of ['one', 'two', 'three', 'four']) await server.api.create({ id });
	const context = await (await launch(server, { webgl: true })).newContext({ colorScheme: 'dark', bypassCSP: true, viewport: { width: 1400, height: 800 } });
	await context.addInitScript(countContexts);
	const page = await open(context, `${server.base}/?s=one${server.loginUrl.slice(server.loginUrl.indexOf('#'))}`);
	const errors = [];
	page.on('pageerror', (error) => errors.push(String(error)));
	await page.getByTestId('wall-button').click();
	for (const id of ['one', 'two', 'three']) {
		const tile = page.getByTestId('wall-tile').and(page.locator(`[data-session-id="${id}"]`));
		await tile.hover();
		await tile.getByTestId('wall-pick').click();
	}
	await shot(page, 'picked');
	await page.getByTestId('wall-together').click();
	await front(page, 'one');
	assert.deepEqual([await page.getByTestId('pane').count(), query(page).getAll('tile')], [3, ['one', 'two', 'three']]);
	await contexts(page, 3);
	await page.keyboard.type('echo typed-$((1+1))\r');
	await printed(server, 'one', 'typed-2');
	await pane(page, 'two').getByTestId('terminal').click();
	await front(page, 'two');
	await page.keyboard.type('echo typed-$((1+2)); stty size\r');
	await printed(server, 'two', 'typed-3');
	await page.keyboard.press('Control+Shift+O');
	await front(page, 'three');
	await page.keyboard.press('Control+Shift+O');
	await page.keyboard.press('Control+Shift+O');
	await front(page, 'two');
	assert.ok(!String(await server.api.output('one')).includes('typed-3'));
	await until('sizes of their tiles', async () => {
		const [one, two] = [await server.api.get('one'), await server.api.get('two')];
		return one.cols < 80 && two.cols < 80 && one.rows > two.rows;
	}, { timeout: 30_000 });
	await shot(page, 'dark');
	await page.emulateMedia({ colorScheme: 'light' });
	await shot(page, 'light');
	assert.deepEqual(await findings(page), []);

	await page.reload();
	await front(page, 'two');
	assert.deepEqual(await page.getByTestId('pane').evaluateAll((panes) => panes.map((each) => each.dataset.sessionId)), ['one', 'two', 'three']);
	await until('the keyboard', () => page.evaluate(() => document.activeElement.closest('.pane')?.dataset.sessionId === 'two'));
	await page.getByTestId('session-item').and(page.locator('[data-session-id="four"]')).click();
	await front(page, 'four');
	assert.deepEqual(query(page).getAll('tile'), ['one', 'four', 'three'], 'session four replaces the one in front');
	await page.getByTestId('session-item').and(page.locator('[data-session-id="three"]')).click();
	await front(page, 'three');
	assert.equal(await page.getByTestId('pane').count(), 3);
	await page.setViewportSize({ width: 500, height: 800 });
	assert.deepEqual(await page.getByTestId('pane').evaluateAll((panes) => panes.map((each) => each.offsetWidth > 0)), [false, false, true]);
	await page.setViewportSize({ width: 1400, height: 800 });
	await pane(page, 'three').getByTestId('pane-close').click();
	await front(page, 'four');
	const row = page.getByTestId('session-item').and(page.locator('[data-session-id="one"]'));
	await row.hover();
	await row.getByTestId('session-end').click();
	await page.getByTestId('confirm').click();
	await pane(page, 'one').waitFor({ state: 'detached' });
	await front(page, 'four');
	assert.deepEqual([await page.getByTestId('pane').count(), query(page).getAll('tile')], [1, []]);
	await contexts(page, 1);
	assert.equal((await server.api.get('three')).state, 'running');
	await page.goBack();
	await front(page, 'four');
	assert.deepEqual(errors, []);
});
