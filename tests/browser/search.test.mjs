// Search in the terminal: the match that is counted is the one that is selected and visible.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { findings } from './lib/axe.mjs';
import { launch, live, open, skip } from './lib/browser.mjs';

const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
const lines = 3000;
const args = ['--scrollback', String(lines + 1000)];

const count = (page) => page.getByTestId('search-count').textContent();
async function counts(page, text) {
	let found;
	await until(() => `the count ${text}; it is ${found}`, async () => {
		found = await count(page);
		return found === text;
	});
}

/** What is selected: its text and its line; visible: it is not outside of the terminal or below the box. */
const selected = (page) => page.evaluate(() => {
	const { terminal } = window.ringside;
	const { start } = terminal.getSelectionPosition();
	const { active } = terminal.buffer, { viewportY } = active;
	const screen = document.querySelector('.xterm-screen').getBoundingClientRect();
	const mount = document.querySelector('.mount').getBoundingClientRect();
	const box = document.querySelector('.search-box').getBoundingClientRect();
	const height = screen.height / terminal.rows, width = screen.width / terminal.cols;
	const top = screen.top + (start.y - viewportY) * height, left = screen.left + start.x * width;
	const inside = start.y >= viewportY && start.y < viewportY + terminal.rows && top >= mount.top - 1 && top + height <= mount.bottom + 1;
	const covered = top < box.bottom && top + height > box.top && left + width > box.left && left < box.right;
	return { text: terminal.getSelection(), line: active.getLine(start.y).translateToString(true), visible: inside && !covered };
});

/** The n-th of all matches is counted, selected and visible. */
async function isAt(page, n, all, text, line) {
	await counts(page, `${n.toLocaleString('en')} of ${all.toLocaleString('en')}`);
	assert.deepEqual(await selected(page), { text, line, visible: true });
}

const button = (page, name) => page.getByTestId('search').getByRole('button', { name });
const terminalHas = (page, length) => until('the history', () => page.evaluate(
	(want) => window.ringside.terminal.buffer.active.length > want, length), { timeout: 60_000 });

scenario('the view moves to the match that is counted, in any number of matches', { skip, args, timeout: 120_000 }, async (server) => {
	await server.session({ id: 'main', cols: 100, rows: 30 });
	await server.run('main', `for ((i = 1; i <= ${lines}; i++)); do echo "row $i with a need""le"; done`);
	const browser = await launch(server);
	const context = await browser.newContext({ viewport: { width: 1000, height: 600 }, colorScheme: 'light' });
	const page = await open(context, server.loginUrl);
	const problems = [];
	page.on('pageerror', (error) => problems.push(error.message));
	page.on('console', (message) => /Content Security Policy|Trusted/.test(message.text()) && problems.push(message.text()));
	const row = (n) => `row ${n} with a needle`;
	const press = (key) => page.keyboard.press(key);
	await until('the size', async () => (await server.api.get('main')).cols !== 100);

	// The page has only a part of the history. Opening the search fetches the rest.
	await press('Control+Shift+F');
	await page.getByTestId('search-input').fill('A Needle');
	await terminalHas(page, lines);
	await isAt(page, lines, lines, 'a needle', row(lines));
	await shot(page, 'search-light');
	for (let n = lines - 1; n > lines - 60; n--) {
		await press('Enter');
		await isAt(page, n, lines, 'a needle', row(n));
	}
	await press('Shift+Enter');
	await isAt(page, lines - 58, lines, 'a needle', row(lines - 58));
	await press('Home');
	for (let n = 0; n < 58; n++)
		await press('Shift+Enter');
	await isAt(page, lines, lines, 'a needle', row(lines));
	await button(page, 'Next match').click();
	await isAt(page, 1, lines, 'a needle', row(1));
	await button(page, 'Previous match').click();
	await isAt(page, lines, lines, 'a needle', row(lines));

	// Each letter narrows the search; the nearest match above is selected.
	await page.getByTestId('search-input').fill('row 12');
	await isAt(page, 111, 111, 'row 12', row(1299));
	await page.getByTestId('search-input').fill('row 12 ');
	await isAt(page, 1, 1, 'row 12 ', row(12));

	// The case.
	await page.getByTestId('search-input').fill('ROW 7');
	await until('matches', async () => / of /.test(await count(page)));
	await press('Alt+c');
	await counts(page, 'none');
	await button(page, 'Match case').click();
	await until('matches', async () => / of /.test(await count(page)));

	// Regular expressions.
	await page.getByTestId('search-regex').click();
	await page.getByTestId('search-input').fill('^row (1|2)\\d{3} ');
	await until('2,000 matches', async () => / of 2,000$/.test(await count(page)));
	await page.getByTestId('search-input').fill('^row (1|2');
	await page.getByTestId('search-problem').filter({ hasText: /^Invalid expression: \w/ }).waitFor();
	assert.equal(await count(page), '');
	assert.equal(await page.getByTestId('search-input').getAttribute('aria-invalid'), 'true');
	await shot(page, 'search-invalid');
	// The next expression is valid, and has no matches.
	await page.getByTestId('search-input').fill('^needle|^$^');
	await counts(page, 'none');
	assert.equal(await page.getByTestId('search-problem').textContent(), '');
	assert.equal(await page.getByTestId('search-regex').getAttribute('aria-pressed'), 'true');

	// An expression that would take for ever is refused.
	await page.getByTestId('search-input').fill('^(a+)+$');
	await page.getByTestId('search-problem').filter({ hasText: 'can take for ever' }).waitFor();
	await page.getByTestId('search-regex').click();

	// New output: the count grows, and what is selected stays.
	await page.getByTestId('search-input').fill('row 2');
	await until('matches', async () => / of /.test(await count(page)));
	await press('Enter');
	const before = await selected(page), [, index, all] = /^([\d,]+) of ([\d,]+)$/.exec(await count(page));
	await server.run('main', 'for i in {1..150}; do echo "row ""2 again"; done');
	await counts(page, `${index} of ${(Number(all.replace(',', '')) + 150).toLocaleString('en')}`);
	// The view was at the end and follows it.
	assert.deepEqual(await selected(page), { ...before, visible: false });
	// So it does when the connection is lost.
	await server.kill('SIGKILL');
	await server.start();
	await live(page);
	await until('matches', async () => / of /.test(await count(page)));
	assert.equal((await selected(page)).line, before.line);

	// The alternate screen is searched alone. A match that the box would cover moves the box.
	await server.api.input('main', "printf '\\e[?1049h\\e[H\\e[60Cone top needle\\e[5;1H'; read -r; printf '\\e[?1049l'\r");
	await until('the alternate screen', () => page.evaluate(() => window.ringside.terminal.buffer.active.type === 'alternate'));
	await page.getByTestId('search-input').fill('top needle');
	await isAt(page, 1, 1, 'top needle', `${' '.repeat(60)}one top needle`);
	await shot(page, 'search-low');
	await press('Escape');
	await page.getByTestId('search').waitFor({ state: 'hidden' });
	await press('Enter');
	await server.untilPrompt('main');

	// Hostile text, and a line over thousands of rows.
	await server.run('main', `printf '<img src=x onerror=alert(1)>\\n'; head -c 200000 /dev/zero | tr '\\0' z; echo`);
	await press('Control+Shift+F');
	await page.getByTestId('search-input').fill('zz');
	await until('many matches', async () => Number(/of ([\d,]+)$/.exec(await count(page))?.[1].replaceAll(',', '') ?? 0) > 90_000);
	for (let n = 0; n < 3; n++)
		await press('Enter');
	await until('a match', async () => (await selected(page)).visible);
	await page.getByTestId('search-input').fill('<img src=x');
	await until('it', async () => (await selected(page)).text === '<img src=x');
	assert.deepEqual(problems, []);
});

scenario('on a phone the match is visible too', { skip, args, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main', cols: 150, rows: 60 });
	await server.run('main', 'for i in {1..300}; do printf "%130s need%s %d\\n" "" le $i; done');
	const browser = await launch(server);
	const context = await browser.newContext({
		viewport: { width: 390, height: 700 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2, colorScheme: 'dark', bypassCSP: true,
	});
	const page = await open(context, server.loginUrl);
	await page.getByRole('button', { name: 'Search' }).click();
	await page.getByTestId('search-input').fill('needle');
	for (let n = 300; n > 230; n--) {
		await isAt(page, n, 300, 'needle', `${' '.repeat(130)} needle ${n}`);
		await button(page, 'Previous match').click();
	}
	await shot(page, 'search-phone');
	for (const each of await page.getByTestId('search').getByRole('button').all()) {
		const { width, height } = await each.boundingBox();
		assert.ok(width >= 44 && height >= 44, `${await each.getAttribute('aria-label')}: ${width}×${height}`);
	}
	assert.deepEqual(await findings(page), []);
	await page.getByTestId('search-regex').click();
	await page.getByTestId('search-input').fill('(');
	await page.getByTestId('search-problem').filter({ hasText: 'Invalid' }).waitFor();
	for (const colorScheme of ['light', 'dark']) {
		await page.emulateMedia({ colorScheme });
		assert.deepEqual(await findings(page), [], colorScheme);
	}
	await shot(page, 'search-phone-invalid');
});
