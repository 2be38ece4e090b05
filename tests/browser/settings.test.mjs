// Settings of the page: they apply at once, are kept and can be reset; a corrupt storage is ignored.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { findings } from './lib/axe.mjs';
import { launch, live, open, skip } from './lib/browser.mjs';

const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
const option = (page, name) => page.evaluate((key) => window.ringside.terminal.options[key], name);

scenario('settings apply at once, are kept, and can be reset', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main' });
	const browser = await launch(server);
	const context = await browser.newContext({
		viewport: { width: 1000, height: 600 }, colorScheme: 'light', reducedMotion: 'no-preference', bypassCSP: true, permissions: ['clipboard-read', 'clipboard-write'],
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
	await set('scrollback', '1000');
	await set('selection', 'copy');
	assert.equal(await option(page, 'scrollback'), 1000);
	assert.equal(await page.getByTestId('setting-option').count(), 0, 'other keyboards have no Option key');

	// Fonts: the system's, those that are installed, and any other by its name, which is never CSS.
	const fonts = await page.getByTestId('setting-fontFamily').locator('option').allTextContents();
	assert.deepEqual([fonts.at(0), fonts.at(1), fonts.at(-1)], ['Automatic', 'The system’s', 'Other …']);
	assert.ok(!fonts.includes('Iosevka') && !fonts.includes('Menlo'), 'fonts that are not installed');
	await set('fontFamily', 'monospace');
	assert.equal(await option(page, 'fontFamily'), 'ui-monospace, monospace');
	await page.getByTestId('setting-fontFamily').selectOption({ label: 'Other …' });
	const name = page.getByTestId('setting-font-name'), hint = page.getByTestId('setting-font-hint');
	await name.fill('x"; } * { display: none');
	await name.press('Enter');
	await hint.filter({ hasText: 'only letters' }).waitFor();
	assert.equal(await option(page, 'fontFamily'), 'ui-monospace, monospace');
	await name.fill('DejaVu Sans');
	await name.press('Enter');
	await hint.filter({ hasText: 'differ in width' }).waitFor();
	await name.fill('Nowhere Mono');
	await name.press('Enter');
	await hint.filter({ hasText: 'not installed' }).waitFor();
	assert.match(await option(page, 'fontFamily'), /^"Nowhere Mono", "JetBrains Mono", /);
	assert.deepEqual(await findings(page), [], 'a font of any name');
	await shot(page, 'settings-font');

	await page.reload();
	await live(page);
	assert.deepEqual([await option(page, 'fontSize'), await option(page, 'lineHeight'), await option(page, 'cursorStyle'), await option(page, 'cursorBlink'), await background()],
		[22, 1.6, 'underline', false, 'rgb(0, 43, 54)']);
	assert.equal(await option(page, 'scrollback'), 1000);
	assert.match(await option(page, 'fontFamily'), /^"Nowhere Mono", /);
	await shot(page, 'settings-kept');

	// Ctrl and plus, minus or 0 change the font, not the zoom of the page. Ctrl-_ goes to the shell.
	await page.getByTestId('terminal').click();
	const zoom = await page.evaluate(() => window.devicePixelRatio);
	const sizeIs = (size) => until(`size ${size}`, async () => await option(page, 'fontSize') === size);
	await page.keyboard.press('Control+=');
	await sizeIs(24);
	await page.keyboard.press('Control+Shift+Equal');
	await sizeIs(28);
	await page.keyboard.press('Control+-');
	await page.keyboard.press('Control+-');
	await sizeIs(22);
	await page.keyboard.press('Control+0');
	await sizeIs(14);
	assert.equal(await page.evaluate(() => window.devicePixelRatio), zoom);
	await page.getByTestId('open-settings').focus();
	const prevented = await page.evaluate(() => !document.activeElement.dispatchEvent(
		new KeyboardEvent('keydown', { key: '=', code: 'Equal', ctrlKey: true, bubbles: true, cancelable: true })));
	assert.ok(!prevented && await option(page, 'fontSize') === 14, 'outside of the terminal the keys belong to the browser');

	// What the mouse selects is copied; what the page selects is not.
	const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
	await server.run('main', 'clear; echo copied-by-mouse');
	await page.evaluate(() => navigator.clipboard.writeText('before'));
	await page.evaluate(() => window.ringside.terminal.selectAll());
	await page.getByTestId('status').click();
	assert.equal(await clipboard(), 'before');
	const word = await page.evaluate(() => {
		const { terminal } = window.ringside, { active } = terminal.buffer;
		const screen = document.querySelector('.xterm-screen').getBoundingClientRect();
		const row = Array.from({ length: terminal.rows }, (_, at) => at).find((at) => active.getLine(active.viewportY + at).translateToString(true) === 'copied-by-mouse');
		return { x: screen.left + 30, y: screen.top + (row + 0.5) * screen.height / terminal.rows };
	});
	await page.mouse.dblclick(word.x, word.y);
	await until('the copy', async () => await clipboard() === 'copied-by-mouse');
	await page.mouse.click(word.x, word.y);
	assert.equal(await clipboard(), 'copied-by-mouse', 'a click selects nothing');

	// Ctrl-C interrupts even if text is selected; Alt and a digit go to the shell.
	await server.api.input('main', 'cat -v\r');
	await until('cat', () => page.evaluate(() => !window.ringside.terminal.modes.bracketedPasteMode));
	await page.getByTestId('terminal').click();
	await page.keyboard.press('Alt+1');
	await server.outputMatches('main', /\^\[1/);
	await page.keyboard.press('Control+Shift+Minus');
	await server.outputMatches('main', /\^_/);
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
	for (const value of ['{"fontFamily":"x\\"; } * { display: none","scrollback":"-1","option":true}', '{"fontSize":"1e9","lineHeight":0,"cursor":{"a":1},"blink":"on"}', '"<img src=x onerror=alert(1)>'.repeat(1000)]) {
		await page.evaluate((text) => {
			localStorage.setItem('ringside.settings', text);
			localStorage.setItem('ringside.theme', text);
		}, value);
		await page.reload();
		await live(page);
		assert.deepEqual([await option(page, 'fontSize'), await option(page, 'lineHeight'), await option(page, 'cursorStyle')], [14, 1.15, 'block']);
	}
	assert.deepEqual(problems, []);
});

scenario('on a Mac the Option key can be Meta, and Cmd changes the font', { skip, timeout: 60_000 }, async (server) => {
	await server.session({ id: 'main' });
	const context = await (await launch(server)).newContext({ viewport: { width: 390, height: 700 }, colorScheme: 'dark', bypassCSP: true });
	await context.addInitScript(() => {
		Object.defineProperty(Navigator.prototype, 'platform', { get: () => 'MacIntel' });
	});
	const page = await open(context, server.loginUrl);
	await page.getByTestId('terminal').click();
	await page.keyboard.press('Meta+=');
	await until('a larger font', async () => await option(page, 'fontSize') === 14);
	await page.keyboard.press('Meta+0');
	await until('the default size', async () => await option(page, 'fontSize') === 13);
	await page.keyboard.press('Control+Shift+P');
	await page.getByTestId('palette-input').fill('settings');
	await page.keyboard.press('Enter');
	await page.getByTestId('setting-option').selectOption('meta');
	assert.equal(await option(page, 'macOptionIsMeta'), true);
	assert.deepEqual(await findings(page), []);
	await shot(page, 'settings-mac-phone');
	await page.keyboard.press('Escape');
	await page.getByTestId('settings').waitFor({ state: 'detached' });
	await server.api.input('main', 'cat -v\r');
	await until('cat', () => page.evaluate(() => !window.ringside.terminal.modes.bracketedPasteMode));
	await page.getByTestId('terminal').click();
	await page.keyboard.press('Alt+b');
	await server.outputMatches('main', /\^\[b/);
});

scenario('sessions by keys, and the list of all shortcuts', { skip, timeout: 90_000 }, async (server) => {
	for (const id of ['one', 'two', 'three'])
		await server.session({ id });
	const context = await (await launch(server)).newContext({ viewport: { width: 1000, height: 700 }, colorScheme: 'light', bypassCSP: true });
	const page = await open(context, server.loginUrl.replace('#', '?s=one#'));
	const current = (id) => until(`session ${id}`, () => page.evaluate(
		(want) => new URL(location.href).searchParams.get('s') === want && document.activeElement?.className === 'xterm-helper-textarea', id));
	await page.getByTestId('session-item').nth(2).waitFor();
	await current('one');
	for (const [key, id] of [[']', 'two'], [']', 'three'], [']', 'one'], ['[', 'three'], ['[', 'two']]) {
		await page.keyboard.press(`Control+Shift+${key === ']' ? 'BracketRight' : 'BracketLeft'}`);
		await current(id);
	}
	await page.keyboard.press('Control+Shift+Enter');
	await page.getByTestId('session-item').nth(3).waitFor();
	await until('the new session', () => page.evaluate(() => !['one', 'two', 'three'].includes(new URL(location.href).searchParams.get('s'))));
	// A key that is held opens one session, not many.
	await page.evaluate(() => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {
		key: 'Enter', code: 'Enter', ctrlKey: true, shiftKey: true, repeat: true, bubbles: true, cancelable: true,
	})));
	await page.keyboard.press('Control+Shift+BracketRight');
	await current('one');
	assert.equal(await page.getByTestId('session-item').count(), 4);

	await page.keyboard.press('Control+Shift+P');
	await page.getByTestId('palette-input').fill('?');
	await page.getByTestId('palette-item').first().filter({ hasText: 'Keyboard shortcuts' }).waitFor();
	await page.keyboard.press('Enter');
	const dialog = page.getByTestId('shortcuts');
	await dialog.waitFor();
	const keys = await dialog.locator('dt').evaluateAll((all) => all.map((each) => [...each.children].map(({ textContent }) => textContent).join(' ')));
	for (const each of ['B', 'C', 'E', 'F', 'G', 'L', 'O', 'P', 'V', 'Enter', ']', '['])
		assert.ok(keys.includes(`Ctrl Shift ${each}`), each);
	for (const each of ['Ctrl C', 'Ctrl +', 'Alt 1…9', 'Alt Up', 'Shift drag'])
		assert.ok(keys.includes(each), each);
	assert.deepEqual(await findings(page), []);
	await shot(page, 'shortcuts');
});
