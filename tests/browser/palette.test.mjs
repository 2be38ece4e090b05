// The palette finds sessions, actions and commands by keys alone; defaults of a new session; keys that belong to the
// shell.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { findings } from './lib/axe.mjs';
import { launch, open, skip } from './lib/browser.mjs';

const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
const inFront = (page, id) => until(`${id} in front`, () => page.evaluate((wanted) => new URLSearchParams(window.location.search).get('s') === wanted
	&& window.ringside.connection?.state.kind === 'live', id), { timeout: 20_000 });

scenario('sessions, actions and commands are found by a few letters', { skip, timeout: 90_000 }, async (server) => {
	const here = path.join(server.root, 'here');
	mkdirSync(here);
	await server.session({ id: 'main', cwd: here });
	for (const n of [6, 7, 8]) await server.api.create({ id: `s${n}`, name: `work <b>${n}</b>`, argv: ['sleep', '1000'] });
	await server.run('main', 'echo a-long-command');
	const browser = await launch(server);
	const context = await browser.newContext({ viewport: { width: 1000, height: 600 }, bypassCSP: true });
	const page = await open(context, server.loginUrl);
	await page.evaluate(() => window.ringside.terminal.focus());
	await inFront(page, 'main').catch(async () => {
		await page.goto(`${server.base}/?s=main`);
		await inFront(page, 'main');
	});
	const input = page.getByTestId('palette-input');
	const chosen = () => page.evaluate(() => document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.textContent ?? null);
	const closed = () => page.getByTestId('palette').waitFor({ state: 'detached' });

	await page.keyboard.press('Control+Shift+P');
	await input.waitFor();
	await page.locator('[data-testid=palette-item][data-kind=again]').first().waitFor();
	assert.deepEqual(await findings(page), [], 'palette');
	await shot(page, 'palette-light');
	await page.emulateMedia({ colorScheme: 'dark' });
	assert.deepEqual(await findings(page), [], 'palette, dark');
	await shot(page, 'palette-dark');
	await page.emulateMedia({ forcedColors: 'active' });
	assert.deepEqual(await findings(page), [], 'palette, forced colours');
	await shot(page, 'palette-forced');
	await page.emulateMedia({ forcedColors: 'none', colorScheme: 'light' });
	assert.ok(await input.evaluate((element) => element === document.activeElement && element.getAttribute('role') === 'combobox'));
	const first = await chosen();
	await page.keyboard.press('ArrowDown');
	assert.notEqual(await chosen(), first);
	await page.keyboard.press('ArrowUp');
	await page.keyboard.press('ArrowUp');
	await page.keyboard.press('ArrowDown');
	assert.equal(await chosen(), first, 'the selection wraps around');
	assert.equal(await page.locator('[role=option][aria-selected=true]').count(), 1);
	await page.keyboard.press('Control+Shift+P');
	await closed();

	await page.keyboard.press('Control+Shift+P');
	await page.keyboard.type('no such thing anywhere');
	await page.getByTestId('palette-count').filter({ hasText: 'No results' }).waitFor();
	assert.equal(await chosen(), null);
	await page.keyboard.press('Enter');
	await input.fill('work 7');
	await page.locator('[role=option][aria-selected=true]').filter({ hasText: '<b>7</b>' }).waitFor();
	await page.keyboard.press('Enter');
	await closed();
	await inFront(page, 's7');
	await page.keyboard.press('Alt+1');
	await inFront(page, 'main');

	// The command is typed, but not sent.
	await until('a prompt', () => page.evaluate(() => window.ringside.terminal.modes.bracketedPasteMode));
	const { offset } = await server.api.get('main');
	await page.keyboard.press('Control+Shift+P');
	await input.fill('echo alongcommand');
	await page.locator('[data-testid=palette-item][data-kind=again]').first().click();
	await closed();
	await server.outputMatches('main', /echo a-long-command/, offset);
	await page.keyboard.press('Control+u');

	// Keys that readline uses go to the shell.
	await server.run('main', 'stty -ixon; echo one-two');
	const before = (await server.api.get('main')).offset;
	await page.keyboard.press('Control+p');
	await server.outputMatches('main', /echo one-two/, before);
	assert.equal(await page.getByTestId('palette').count(), 0);
	await page.keyboard.press('Control+u');

	await page.keyboard.press('Control+Shift+P');
	await input.fill('rename');
	await page.keyboard.press('Enter');
	await page.getByTestId('session-name').fill('renamed here');
	await page.keyboard.press('Enter');
	await page.getByRole('heading', { name: 'renamed here' }).waitFor();
});

scenario('a new session begins in the directory of the current one', { skip, timeout: 90_000 }, async (server) => {
	const here = path.join(server.root, 'here');
	mkdirSync(here);
	await server.session({ id: 'main' });
	await server.run('main', `cd ${here}`);
	const browser = await launch(server);
	const page = await open(await browser.newContext({ viewport: { width: 1000, height: 600 } }), server.loginUrl);
	await page.getByTestId('new-session').click();
	const others = async () => (await server.api.call('GET', '/api/session/list')).sessions.filter(({ id }) => id !== 'main');
	await until('another session', async () => (await others()).length === 1);
	const [{ id, cwd }] = await others();
	assert.equal(cwd, here);
	await inFront(page, id);
	await shot(page, 'new-session');
	await page.getByTestId('new-session-as').click();
	await page.getByTestId('session-cwd').fill('/tmp');
	await page.keyboard.press('Enter');
	const third = await until('a third', async () => (await others()).find((session) => session.cwd === '/tmp'));
	await inFront(page, third.id);
	// A directory that no longer exists.
	await page.keyboard.press('Alt+2');
	await inFront(page, id);
	rmSync(here, { recursive: true });
	await page.getByTestId('new-session').click();
	await page.locator('.toast').filter({ hasText: 'cannot be entered' }).waitFor();
	assert.equal((await others()).length, 3);
});
