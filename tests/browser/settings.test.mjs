// Settings of the page: they apply at once, are kept and can be reset; a corrupt storage is ignored.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { findings } from './lib/axe.mjs';
import { launch, open, skip } from './lib/browser.mjs';

const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
const option = (page, name) => page.evaluate((key) => window.ringside.terminal.options[key], name);

scenario('settings apply at once, are kept, and can be reset', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main' });
	const browser = await launch(server);
	const context = await browser.newContext({
		viewport: { width: 1000, height: 600 }, colorScheme: 'light', bypassCSP: true, permissions: ['clipboard-read', 'clipboard-write'],
	});
	const page = await open(context, server.loginUrl);
	const problems = [];
	page.on('pageerror', (error) => problems.push(error.message));
	const set = (name, value) => page.getByTestId(`setting-${name}`).selectOption(value);
	await server.run('main', `for i in {30..37} {90..97}; do printf '\\e[%dm%s\\e[0m ' $i colour$i; done; echo; ls --color=always -l /`);
	const before = await page.evaluate(() => ({ cols: window.ringside.terminal.cols, rows: window.ringside.terminal.rows }));

	await page.getByTestId('open-settings').click();
	await page.getByTestId('settings').waitFor();
	assert.deepEqual(await findings(page), [], 'settings');
	await shot(page, 'settings-light');
	await set('fontSize', '22');
	await until('fewer columns', () => page.evaluate((cols) => window.ringside.terminal.cols < cols * 0.75, before.cols));
	await until('the session’s size', async () => (await server.api.get('main')).cols < before.cols * 0.75);
	await set('lineHeight', '1.6');
	await until('fewer rows', async () => (await server.api.get('main')).rows < before.rows * 0.6);
	await set('cursor', 'underline');
	await set('blink', 'off');
	assert.deepEqual([await option(page, 'cursorStyle'), await option(page, 'cursorBlink')], ['underline', false]);
	const background = () => page.evaluate(() => getComputedStyle(document.querySelector('.stage')).backgroundColor);
	for (const [name, colour] of [['solarized-light', 'rgb(253, 246, 227)'], ['gruvbox-dark', 'rgb(40, 40, 40)'], ['solarized-dark', 'rgb(0, 43, 54)']]) {
		await set('theme', name);
		assert.equal(await background(), colour);
		await shot(page, `settings-${name}`);
	}
	assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
	assert.deepEqual(await findings(page), [], 'settings, solarized dark');
	await set('interrupt', 'interrupt');
	await set('digits', 'shell');

	await page.reload();
	await until('connection', () => page.evaluate(() => window.ringside?.connection?.state.kind === 'live'), { timeout: 20_000 });
	assert.deepEqual([await option(page, 'fontSize'), await option(page, 'lineHeight'), await option(page, 'cursorStyle'), await option(page, 'cursorBlink'), await background()],
		[22, 1.6, 'underline', false, 'rgb(0, 43, 54)']);
	await shot(page, 'settings-kept');

	// Ctrl-C interrupts even if text is selected; Alt and a digit go to the shell.
	await server.api.input('main', 'cat -v\r');
	await until('cat', () => page.evaluate(() => !window.ringside.terminal.modes.bracketedPasteMode));
	await page.getByTestId('terminal').click();
	await page.keyboard.press('Alt+1');
	await server.outputMatches('main', /\^\[1/);
	await page.evaluate(() => window.ringside.terminal.selectAll());
	await page.keyboard.press('Control+c');
	await server.outputMatches('main', /\^C/);
	await server.untilPrompt('main');

	// Another tab of the same browser applies them too.
	const other = await open(context, `${server.base}/?s=main`);
	await page.getByTestId('open-settings').click();
	await page.getByTestId('settings-reset').click();
	await until('the other tab', async () => await option(other, 'lineHeight') === 1.15 && await option(other, 'fontSize') === 14);
	await until('its size', async () => (await server.api.get('main')).cols === before.cols);
	assert.deepEqual([await option(page, 'fontSize'), await option(page, 'cursorStyle'), await background()], [14, 'block', 'rgb(253, 251, 246)']);
	assert.equal(await page.evaluate(() => localStorage.getItem('ringside.settings')), null);
	assert.equal(await page.getByTestId('setting-interrupt').inputValue(), 'copy');
	await page.keyboard.press('Escape');
	await page.getByTestId('settings').waitFor({ state: 'detached' });
	await other.close();

	// The page loads whatever the storage contains.
	for (const value of ['{"fontSize":"1e9","lineHeight":0,"cursor":{"a":1},"blink":"on"}', '"<img src=x onerror=alert(1)>'.repeat(1000)]) {
		await page.evaluate((text) => {
			localStorage.setItem('ringside.settings', text);
			localStorage.setItem('ringside.theme', text);
		}, value);
		await page.reload();
		await until('connection', () => page.evaluate(() => window.ringside?.connection?.state.kind === 'live'), { timeout: 20_000 });
		assert.deepEqual([await option(page, 'fontSize'), await option(page, 'lineHeight'), await option(page, 'cursorStyle')], [14, 1.15, 'block']);
	}
	assert.deepEqual(problems, []);
});
