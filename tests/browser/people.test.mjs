// Presence: a link has a name, several tabs of one browser are one person, a lost connection leaves no entry, and nothing is claimed
// when access has ended.
import assert from 'node:assert/strict';
import path from 'node:path';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, open, skip } from './lib/browser.mjs';

const here = (page) => page.getByTestId('presence').getAttribute('title');
const people = (page, count, pattern) => until(() => `${count} people, ${pattern}`, async () => {
	const lines = (await here(page) ?? '').split('\n').filter(Boolean);
	return lines.length === count && pattern.test(lines.join('\n'));
}, { timeout: 20_000 });

const claimsNothing = async (page) => {
	await until('no people', async () => await here(page) === '');
	assert.equal(await page.locator('.presence .chip').count(), 0);
};

scenario('a link shows its name, two tabs are one person, and a lost connection leaves no entry', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main' });
	const { path: link } = await server.api.call('POST', '/api/session/main/links', { role: 'driver', name: 'Grace' });
	const browser = await launch(server);
	const owner = await browser.newContext();
	const ada = await open(owner, server.loginUrl);
	const context = await browser.newContext();
	const grace = await open(context, `${server.base}${link}`);
	await people(ada, 2, /^Grace, can type$/m);
	await people(grace, 2, /^Grace \(you\), can type$/m);

	const second = await open(owner, server.base);
	await until('both tabs', async () => (await server.api.get('main')).clients === 3);
	await people(grace, 2, /^Grace \(you\)/m);
	await people(second, 2, /\(you\), owner/);
	await second.getByTestId('session-item').hover();
	await second.getByTestId('session-end').click();
	assert.match(await second.getByRole('dialog').textContent(), /3 clients are attached/, 'the dialog counts tabs, not people');
	assert.equal(await second.evaluate(() => document.activeElement.textContent), 'Cancel');
	await second.keyboard.press('Enter');
	await second.getByRole('dialog').waitFor({ state: 'detached' });
	assert.equal((await server.api.get('main')).state, 'running');
	await second.getByTestId('terminal').click();
	await second.keyboard.type('x');
	await people(grace, 2, /, owner, typ/);
	await second.close();

	// The guest changes the name, which is kept when the guest returns.
	await grace.getByTestId('presence').click();
	await grace.getByTestId('my-name').fill('Grace H.');
	await grace.getByTestId('confirm').click();
	await people(ada, 2, /^Grace H\., can type$/m);
	await grace.reload();
	await people(ada, 2, /^Grace H\., can type$/m);

	// As when a laptop changes networks: the page reconnects before the server notices.
	await ada.evaluate(() => {
		const { close } = WebSocket.prototype;
		WebSocket.prototype.close = () => {};
		const { connection } = window.ringside;
		connection.resync(connection.offset);
		WebSocket.prototype.close = close;
	});
	await until('connection', () => ada.evaluate(() => window.ringside.connection.state.kind === 'live'));
	await until('only the new connection', async () => (await server.api.get('main')).clients === 2);
	assert.match(await here(ada), /\(you\), owner/);

	// Revoked access.
	const role = grace.getByTestId('role-badge'), keys = grace.getByTestId('key-bar');
	await grace.setViewportSize({ width: 600, height: 600 });
	await keys.waitFor();
	assert.equal(await role.innerText(), 'can type');
	await grace.getByTestId('presence').click();
	assert.match(await grace.getByTestId('people').innerText(), /Grace H\. \(you\)[^]*can type/);
	const { links } = await server.api.call('GET', '/api/session/main/links');
	await server.api.call('DELETE', `/api/session/main/links/${links[0].id}`);
	await grace.getByTestId('banner').filter({ hasText: 'Access ended' }).waitFor();
	await claimsNothing(grace);
	assert.equal(await grace.getByTestId('people').innerText(), 'Not connected.', 'the open dialog');
	await grace.keyboard.press('Escape');
	for (const gone of [role, keys, grace.getByTestId('size-badge'), grace.getByTestId('lease-badge')]) assert.ok(await gone.isHidden());
	assert.doesNotMatch(await grace.locator('body').innerText(), /can type/);
	await grace.getByTestId('terminal').click();
	await grace.keyboard.type('x');
	assert.equal(await grace.locator('.toast').count(), 0, 'no message about input that waits');
	if (process.env.SHOTS) await grace.screenshot({ path: path.join(process.env.SHOTS, 'people-revoked.png') });
	await people(ada, 1, /\(you\), owner/);

	// A deleted session; then another with its id.
	await server.api.call('POST', '/api/session/delete', { sessionId: 'main' });
	const again = ada.getByTestId('banner').getByRole('button', { name: 'Start again' });
	await again.waitFor();
	await claimsNothing(ada);
	await again.click();
	await people(ada, 1, /\(you\), owner/);
});
