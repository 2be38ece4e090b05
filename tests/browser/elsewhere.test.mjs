// Events in sessions that are not in front, or are in several panes: each is reported once, and actions apply to the
// visible session.
import assert from 'node:assert/strict';
import { typeLine } from '../integration/lib/blocks.mjs';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, open, skip } from './lib/browser.mjs';

const fragment = (server) => server.loginUrl.slice(server.loginUrl.indexOf('#'));
const at = (server, query) => `${server.base}/?${query}${fragment(server)}`;
const row = (page, id) => page.getByTestId('session-item').and(page.locator(`[data-session-id="${id}"]`));
const query = (page) => new URL(page.url()).searchParams;
const newContext = async (server, options = {}) =>
	(await launch(server)).newContext({ viewport: { width: 1200, height: 700 }, ...options });
const live = (page) => until('connection', () => page.evaluate(() => window.ringside?.connection?.state.kind === 'live'), { timeout: 20_000 });

scenario('the end of a command is reported in whichever session is in front', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'works', name: 'The works' });
	await server.session({ id: 'other' });
	const page = await open(await newContext(server), at(server, 's=works'));
	await server.api.input('works', 'read -p "go? "; (exit 6)\r');
	const stretch = page.locator('[data-testid=block][data-state=running]');
	await stretch.waitFor();
	await stretch.click();
	await page.getByTestId('block-tell').click();
	await row(page, 'other').locator('a').click();
	await until('the other session', () => query(page).get('s') === 'other');
	await live(page);
	await server.api.input('works', 'x\r');
	const notice = page.locator('.notice');
	await notice.waitFor();
	assert.match(await notice.innerText(), /^Failed with 6 in The works\s+read -p/);
	await server.run('works', 'true');
	assert.equal(await notice.count(), 1);
});

scenario('the wall closes before an action on what it covers; a signed-out page does nothing more', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main' });
	await typeLine(server, 'main', ': wanted; seq 100');
	const page = await open(await newContext(server), at(server, 's=main'));
	const wall = page.locator('.wall[data-state="live"]');
	const gone = () => wall.waitFor({ state: 'detached' });
	const toWall = async () => {
		await page.keyboard.press('Control+Shift+L');
		await wall.waitFor();
	};
	const palette = async (kind, text) => {
		await page.keyboard.press('Control+Shift+P');
		await page.getByTestId('palette-input').fill(text);
		await page.locator(`[data-testid=palette-item][data-kind=${kind}]`).first().click();
	};
	await toWall();
	await palette('command', ': wanted');
	await gone();
	await until('the command', () => page.evaluate(() => {
		const { active } = window.ringside.terminal.buffer;
		return active.getLine(active.viewportY).translateToString(true).includes(': wanted;');
	}));
	assert.equal(query(page).get('view'), null);
	await toWall();
	await page.keyboard.press('Control+Shift+F');
	await gone();
	await page.getByTestId('search-input').waitFor();
	await page.keyboard.press('Escape');
	await toWall();
	const { offset } = await server.api.get('main');
	await palette('again', ': wanted');
	await gone();
	await server.outputMatches('main', /: wanted; seq 100/, offset);

	// The signed-out page does nothing more.
	await page.getByRole('button', { name: 'Sign out' }).click();
	await page.getByTestId('sign-in').waitFor();
	const asked = [];
	page.on('websocket', (socket) => asked.push(socket.url()));
	page.on('request', (request) => asked.push(request.url()));
	const errors = [];
	page.on('pageerror', (error) => errors.push(String(error)));
	await page.evaluate(() => {
		history.pushState(null, '', '?s=another');
		window.dispatchEvent(new PopStateEvent('popstate'));
		document.dispatchEvent(new Event('visibilitychange'));
	});
	await page.keyboard.press('Control+Shift+E');
	await page.evaluate(() => fetch('healthz').then((answer) => answer.text()));
	assert.deepEqual(asked.filter((url) => !/favicon|\/healthz$/.test(url)), []);
	assert.equal(await page.getByTestId('blocks-panel').count(), 0);
	assert.deepEqual(errors, []);
});

scenario('a link to a command applies to its own session, not to the tile beside it; what a tile shows is not reported', { skip, timeout: 90_000 }, async (server) => {
	// The same commands in both sessions, so that their blocks have the same ids.
	for (const id of ['one', 'two']) {
		await server.api.create({ id });
		await until('its prompt', async () => (await server.api.call('GET', `/api/session/${id}/state`)).state.status === 'prompt');
		await typeLine(server, id, ': wanted; seq 200');
		await typeLine(server, id, ': last');
	}
	const { blocks } = await server.api.call('GET', '/api/session/one/blocks');
	const other = await server.api.call('GET', '/api/session/two/blocks');
	assert.deepEqual(blocks.map(({ id }) => id), other.blocks.map(({ id }) => id));
	const [{ id: wanted }] = blocks;
	const page = await open(await newContext(server), at(server, `s=one&tile=one&tile=two&block=${wanted}`));
	await until('the command', () => page.evaluate(() => {
		const { active } = window.ringside.terminal.buffer;
		return active.getLine(active.viewportY).translateToString(true).includes(': wanted;');
	}));
	await page.getByTestId('pane').nth(1).getByTestId('terminal').click();
	await until('session two in front', () => query(page).get('s') === 'two');
	await page.getByTestId('pane').nth(1).locator('[data-testid=block]').first().waitFor();
	const { viewportY, baseY } = await page.evaluate(() => {
		const { active } = window.ringside.terminal.buffer;
		return { viewportY: active.viewportY, baseY: active.baseY };
	});
	assert.ok(baseY > 100);
	assert.equal(viewportY, baseY, 'the other session was scrolled');

	// What a tile shows is not reported.
	{
		for (const id of ['front', 'beside', 'hidden']) await server.session({ id });
		const page = await open(await newContext(server), at(server, 's=front&tile=front&tile=beside'));
		const items = () => page.getByTestId('inbox-item').evaluateAll((all) => all.map((each) => each.dataset.sessionId));
		await page.locator('[data-session-id="beside"][data-kind="idle"]').first().waitFor();
		for (const id of ['beside', 'hidden'])
			await server.api.call('POST', `/api/session/${id}/exec`, { command: 'false' });
		await page.locator('[data-session-id="hidden"][data-testid="inbox-item"]').waitFor();
		await row(page, 'beside').and(page.locator('[data-kind="failed"]')).waitFor();
		assert.deepEqual(await items(), ['hidden']);
	}
});
