// The wall: all sessions live and small, first those that need a person; its actions, and that it resizes nothing.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import path from 'node:path';
import { scenario, slowness } from '../integration/lib/server.mjs';
import { times } from '../integration/lib/soak.mjs';
import { until } from '../integration/lib/until.mjs';
import { findings } from './lib/axe.mjs';
import { launch, open, skip } from './lib/browser.mjs';

const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: path.join(process.env.SHOTS, `wall-${name}.png`) });
const fragment = (server) => server.loginUrl.slice(server.loginUrl.indexOf('#'));
const tile = (page, id) => page.getByTestId('wall-tile').and(page.locator(`[data-session-id="${id}"]`));

/** Wait until the tiles have this order. */
const ordered = async (page, ids) => {
	let last;
	await until(() => `${ids}, but ${last}`, async () => {
		last = await page.getByTestId('wall-tile').evaluateAll((tiles) => tiles.map((each) => each.dataset.sessionId));
		return String(last) === String(ids);
	}, { timeout: 30_000 });
};

/** Wait until a session's miniature has a fitting number of pixels of a colour. */
async function painted(page, id, color, fits) {
	let last;
	await until(() => `${id}: ${fits} pixels of ${color}, but ${last}`, async () => {
		last = await page.evaluate(([session, [r, g, b]]) => {
			const canvas = document.querySelector('.wall-canvas'), ratio = canvas.width / canvas.clientWidth;
			const at = document.querySelector(`.tile[data-session-id="${session}"]`).getBoundingClientRect();
			const from = canvas.getBoundingClientRect();
			const { data } = canvas.getContext('2d').getImageData((at.x - from.x) * ratio, (at.y - from.y + 30) * ratio, at.width * ratio, (at.height - 30) * ratio);
			let count = 0;
			for (let i = 0; i < data.length; i += 4)
				count += Number(Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 12);
			return count;
		}, [id, color]);
		return fits(last);
	}, { timeout: 30_000 });
}

async function openWall(context, server, query = '') {
	const page = await context.newPage();
	page.setDefaultTimeout(15_000 * slowness);
	await page.goto(`${server.base}/?view=wall${query}${fragment(server)}`);
	await page.locator('.wall[data-state="live"]').waitFor();
	return page;
}

scenario('the wall is live and ordered, has actions and keys, survives a restart and resizes nothing', { skip, timeout: 120_000 }, async (server) => {
	for (const id of ['a-quiet', 'b-works', 'c-fails', 'd-asks', 'e-secret']) await server.api.create({ id });
	await server.api.input('b-works', "clear; printf '\\033[48;2;1;200;3m%200s\\033[m'; sleep 1000\r");
	await server.api.input('c-fails', ": '<img src=x onerror=\"document.title=1\">'; false\r");
	await server.api.input('d-asks', 'read -p "really? " word; echo "so: $word"\r');
	await server.api.input('e-secret', 'read -s word; echo "${#word} characters"\r');
	const { cols, rows } = await server.api.get('a-quiet');
	const browser = await launch(server);
	const context = await browser.newContext({ colorScheme: 'dark', bypassCSP: true, viewport: { width: 1200, height: 700 } });
	await context.grantPermissions(['clipboard-read', 'clipboard-write']);
	const errors = [];
	const page = await openWall(context, server);
	page.on('pageerror', (error) => errors.push(String(error)));
	await ordered(page, ['d-asks', 'e-secret', 'c-fails', 'b-works', 'a-quiet']);
	await painted(page, 'b-works', [1, 200, 3], (count) => count > 100);
	assert.equal(await page.locator('.wall img').count(), 0);
	assert.match(await tile(page, 'c-fails').getByTestId('wall-facts').innerText(), /<img src=x/);
	assert.match(await page.getByTestId('wall-count').innerText(), /^5 sessions, 2 need you$/);
	assert.deepEqual(await findings(page), [], 'dark');
	await shot(page, 'dark');
	await page.emulateMedia({ colorScheme: 'light' });
	await painted(page, 'a-quiet', [0xfd, 0xfb, 0xf6], (count) => count > 1000);
	assert.deepEqual(await findings(page), [], 'light');
	await shot(page, 'light');

	await tile(page, 'd-asks').getByTestId('wall-answer').click();
	await page.getByTestId('wall-answer-text').fill('yes <b>');
	await shot(page, 'answer');
	await page.getByTestId('wall-answer-text').press('Enter');
	await until('the answer', async () => /so: yes <b>/.test(String(await server.api.output('d-asks'))), { timeout: 20_000 });
	await tile(page, 'e-secret').getByTestId('wall-answer').click();
	await page.getByTestId('wall-answer-text').fill('hunter2');
	await page.getByTestId('wall-answer-text').press('Enter');
	await until('the secret', async () => /7 characters/.test(String(await server.api.output('e-secret'))), { timeout: 20_000 });
	assert.doesNotMatch(String(await server.api.output('e-secret')), /hunter2/);
	await tile(page, 'd-asks').hover();
	await tile(page, 'd-asks').getByTestId('wall-copy').click();
	await until('the copy', async () => /so: yes <b>/.test(await page.evaluate(() => navigator.clipboard.readText())));
	await tile(page, 'b-works').hover();
	await tile(page, 'b-works').getByTestId('wall-interrupt').click();
	await tile(page, 'b-works').and(page.locator('[data-kind="idle"]')).waitFor();

	await server.kill();
	await page.locator('.wall[data-state="away"]').waitFor();
	await server.start();
	await page.locator('.wall[data-state="live"]').waitFor();
	await server.api.input('a-quiet', "clear; printf '\\033[48;2;200;1;3m%300s\\033[m'\r");
	await painted(page, 'a-quiet', [200, 1, 3], (count) => count > 100);
	await server.api.call('POST', '/api/session/delete', { sessionId: 'b-works' });
	await server.api.input('e-secret', 'exit 3\r');
	await ordered(page, ['c-fails', 'a-quiet', 'd-asks', 'e-secret']);
	await tile(page, 'e-secret').and(page.locator('[data-kind="ended"]')).waitFor();
	assert.deepEqual(await server.api.get('a-quiet').then((session) => [session.cols, session.rows, session.clients]), [cols, rows, 0], 'the wall attached or resized');

	await tile(page, 'c-fails').getByTestId('wall-open').focus();
	await page.keyboard.press('ArrowRight');
	assert.equal(await page.evaluate(() => document.activeElement.closest('.tile').dataset.sessionId), 'a-quiet');
	await page.keyboard.press('Enter');
	await until('the session', () => page.evaluate(() => window.ringside.connection?.state.kind === 'live'
		&& new URLSearchParams(location.search).get('s') === 'a-quiet'), { timeout: 20_000 });
	assert.equal(await page.getByTestId('wall').count(), 0);
	const size = await server.api.get('a-quiet').then((session) => [session.cols, session.rows]);
	await page.keyboard.press('Control+Shift+L');
	await page.getByTestId('wall').waitFor();
	await until('the session that was in front', () => page.evaluate(() => document.activeElement.closest('.tile')?.dataset.sessionId === 'a-quiet'));
	assert.equal(new URL(page.url()).searchParams.get('view'), 'wall');
	await page.keyboard.press('Escape');
	await page.getByTestId('wall').waitFor({ state: 'detached' });
	await until('the terminal', () => page.evaluate(() => document.activeElement.closest('.xterm') !== null));
	assert.deepEqual(await server.api.get('a-quiet').then((session) => [session.cols, session.rows]), size);
	assert.deepEqual(errors, []);
});

scenario('with many sessions only visible ones are fetched, a phone has one column, and a guest one session', { skip, timeout: 120_000 }, async (server) => {
	const ids = Array.from({ length: times(20, 100) }, (_, i) => `s${String(i).padStart(2, '0')}`);
	const last = ids.at(-1);
	await Promise.all(ids.map((id) => server.api.create({ id, shell: '/bin/sh' })));
	const browser = await launch(server);
	const context = await browser.newContext({ viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
	await context.addInitScript(() => {
		window.asked = new Set();
		const { send } = WebSocket.prototype;
		WebSocket.prototype.send = function sent(data) {
			const found = /"path":"\/api\/session\/([^/]*)\/screen/.exec(typeof data === 'string' ? data : new TextDecoder().decode(data));
			if (found) window.asked.add(found[1]);
			return send.call(this, data);
		};
	});
	const page = await openWall(context, server);
	await until('a tile for each', async () => await page.getByTestId('wall-tile').count() === ids.length, { timeout: 30_000 });
	await until('requests for the first tiles', () => page.evaluate(() => window.asked.size > 2));
	const boxes = await page.getByTestId('wall-tile').evaluateAll((tiles) => tiles.slice(0, 3).map((each) => each.getBoundingClientRect().x));
	assert.equal(new Set(boxes).size, 1, 'one column');
	assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
	assert.ok(await page.evaluate(() => window.asked.size < 12), 'tiles out of sight were requested');
	await shot(page, 'phone');
	// A mouse is attached: the heads of tiles are lower.
	const heights = () => page.getByTestId('wall-tile').first().evaluate((tile) => [tile, tile.querySelector('.tile-head')].map((each) => each.getBoundingClientRect().height));
	const [tall, head] = await heights();
	const cdp = await context.newCDPSession(page);
	await cdp.send('Emulation.setTouchEmulationEnabled', { enabled: false });
	await until('the tiles for a mouse', async () => {
		const now = await heights();
		return now[1] < head && tall - now[0] === head - now[1];
	});
	await page.locator('.wall-scroller').evaluate((element) => { element.scrollTop = element.scrollHeight; });
	await until('a request for the last tile', () => page.evaluate((id) => window.asked.has(id), last));
	await server.api.input(last, "printf '\\033[48;2;1;2;200m%400s\\033[m'\r");
	await painted(page, last, [1, 2, 200], (count) => count > 100);

	const { path: link, link: { id } } = await server.api.call('POST', '/api/session/s07/links', { role: 'viewer', expiresInMs: 600_000 });
	const guest = await browser.newContext();
	const seen = await open(guest, `${server.base}${link}`);
	await seen.goto(`${seen.url()}&view=wall`);
	await seen.locator('.wall[data-state="live"]').waitFor();
	await tile(seen, 's07').waitFor();
	assert.equal(await seen.getByTestId('wall-tile').count(), 1);
	assert.equal(await seen.getByTestId('wall-interrupt').count(), 0, 'a viewer has a button to interrupt');
	await tile(seen, 's07').getByTestId('wall-open').click();
	await until('the session', () => seen.evaluate(() => window.ringside.connection?.state.kind === 'live'), { timeout: 20_000 });
	assert.equal(new URL(seen.url()).searchParams.has('link'), true);
	await seen.goto(`${seen.url()}&view=wall`);
	await tile(seen, 's07').waitFor();
	await server.api.call('DELETE', `/api/session/s07/links/${id}`);
	await seen.getByTestId('sign-in').waitFor();
});
