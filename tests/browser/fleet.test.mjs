// The page of a fleet, behind a balancer that sends each of its connections to another node.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import path from 'node:path';
import { fleetTest } from '../integration/lib/fleet.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, live, skip } from './lib/browser.mjs';

const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: path.join(process.env.SHOTS, `fleet-${name}.png`) });
const shows = (page, text) => until(() => `${text} on the screen`, () => page.evaluate((wanted) => {
	const { buffer } = window.ringside.terminal;
	return Array.from({ length: buffer.active.length }, (_, i) => buffer.active.getLine(i).translateToString(true)).some((line) => line.includes(wanted));
}, text), { timeout: 20_000 });
const rows = (page) => page.getByTestId('session-item').evaluateAll((all) => all.map(({ dataset }) => `${dataset.sessionId} ${dataset.kind}`).sort().join(', '));

fleetTest('sessions of all nodes in one page; a node that is killed, and comes back', { skip, timeout: 120_000 }, async (fleet) => {
	const { a, b, c } = fleet;
	await Promise.all(['a', 'b', 'c'].map((node) => a.api.create({ id: `s-${node}`, node })));
	await Promise.all([a, b, c].map((node) => node.shellReady(`s-${node.name}`)));
	const balancer = await fleet.balance();
	const { newPage } = await launch(balancer);
	const page = await newPage();
	await page.goto(`${balancer.base}/?s=s-b#token=${a.token}`);
	await live(page);
	await page.keyboard.type('echo on the no""de\n');
	await shows(page, 'on the node');
	await until('all rows', async () => (await rows(page)).split(', ').length === 3);
	await shot(page, 'all');
	for (const id of ['s-a', 's-c']) {
		await page.getByTestId('session-item').and(page.locator(`[data-session-id="${id}"]`)).click();
		await page.locator(`[data-session-id="${id}"] [aria-current]`).waitFor();
		await live(page);
		await page.keyboard.type(`echo he""re ${id}\n`);
		await shows(page, `here ${id}`);
	}
	await c.kill('SIGKILL');
	const lost = page.getByTestId('session-item').and(page.locator('[data-session-id="s-c"]'));
	await until('the state of the lost session', async () => /unreachable: c is away/.test(await lost.innerText()), { timeout: 20_000 });
	await shot(page, 'lost');
	await c.start();
	await live(page, 30_000);
	await page.keyboard.type('echo ba""ck\n');
	await shows(page, 'back');
	await shot(page, 'back');
	assert.match(await rows(page), /s-c /);
});
