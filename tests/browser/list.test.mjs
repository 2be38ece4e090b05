// The list shows the state of each session, and the tab's title the number of sessions that wait for a person, and what happened in
// sessions that were not visible. Its filter and keys.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import path from 'node:path';
import { scenario } from '../integration/lib/server.mjs';
import { times } from '../integration/lib/soak.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, open, skip } from './lib/browser.mjs';

const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: path.join(process.env.SHOTS, `list-${name}.png`) });

/** Wait until the row has this kind and a text that fits. */
async function rowShows(page, id, kind, fits) {
	const row = rowOf(page, id);
	let last;
	await until(() => `${id}: ${kind} ${fits}, but ${JSON.stringify(last)}`, async () => {
		last = [await row.getAttribute('data-kind'), await row.getByTestId('session-facts').innerText()];
		return last[0] === kind && fits.test(last[1].replace(/\s+/g, ' '));
	}, { timeout: 30_000 });
}

const rowOf = (page, id) => page.getByTestId('session-item').and(page.locator(`[data-session-id="${id}"]`));
const chosen = (page, id) => rowOf(page, id).locator('[aria-current]').waitFor();
/** Ids of the rows that the filter leaves. */
const rows = (page) => page.getByTestId('session-item').evaluateAll((all) => all.filter((each) => !each.hidden).map((each) => each.dataset.sessionId));
const focusedRow = (page) => page.evaluate(() => document.activeElement?.closest('[data-session-id]')?.dataset.sessionId ?? document.activeElement?.dataset.testid);
const focusAt = (page, id) => until(() => `the focus at ${id}`, async () => await focusedRow(page) === id);
/** Whether the whole row is visible in the list. */
const inView = (page, id) => until(() => `row ${id} in view`, () => page.evaluate((wanted) => {
	const list = document.querySelector('[data-testid="session-list"]').getBoundingClientRect();
	const row = document.querySelector(`[data-testid="session-item"][data-session-id="${wanted}"]`).getBoundingClientRect();
	return row.height > 0 && row.top >= list.top - 1 && row.bottom <= list.bottom + 1;
}, id));

const titled = (page, pattern) => until(() => `a title like ${pattern}`, async () => pattern.test(await page.title()), { timeout: 30_000 });
const picture = (page) => page.locator('link[rel=icon]').getAttribute('href');

scenario('rows, title and icon show the states of sessions, in all pages and after a restart', { skip, timeout: 120_000 }, async (server) => {
	for (const id of ['front', 'works', 'fails', 'asks', 'hostile']) await server.session({ id });
	const browser = await launch(server);
	const context = await browser.newContext({ colorScheme: 'light' });
	const one = await open(context, `${server.base}/?s=front${server.loginUrl.slice(server.loginUrl.indexOf('#'))}`);
	const other = await open(context, `${server.base}/?s=front`);
	for (const id of ['front', 'works', 'fails', 'asks', 'hostile']) await rowShows(one, id, 'idle', /idle$/);
	assert.match(await picture(one), /\.svg$/);
	await server.api.input('works', 'mkdir -p some/deep/directory && cd some/deep/directory\r');
	await rowShows(one, 'works', 'idle', /deep\/directory.*idle$/);
	assert.equal(await rowOf(one, 'works').getByTestId('session-where').innerText(), '', 'the directory is shown once');
	await server.api.input('works', String.raw`printf '\e]9;4;1;42\a'` + '; sleep 1000\r');
	await server.api.input('fails', 'false\r');
	await server.api.input('asks', 'read -s word\r');
	await server.api.input('hostile', ": '<img src=x onerror=\"document.title=1\">'; false\r");
	for (const page of [one, other]) {
		await rowShows(page, 'works', 'works', /^▶ ?printf .*; sleep 1000 ?0:\d\d$/);
		await until('the progress', async () => await rowOf(page, 'works').getByTestId('session-progress').getAttribute('aria-valuenow') === '42');
		assert.ok(await rowOf(page, 'fails').getByTestId('session-progress').isHidden());
		await rowShows(page, 'fails', 'failed', /^✗ ?1 false$/);
		await rowShows(page, 'asks', 'waits', /^password · read -s word$/);
		await rowShows(page, 'hostile', 'failed', /^✗ ?1 : '<img src=x/);
		await titled(page, /^\(1\) /);
		assert.match(await picture(page), /^data:image\/svg\+xml,/);
		assert.equal(await page.locator('img').count(), 0);
		assert.match(await rowOf(page, 'works').getByTestId('session-where').innerText(), /^….*deep\/directory$/);
	}
	const time = rowOf(one, 'works').getByTestId('session-time');
	const before = await time.textContent();
	await until('a new time', async () => await time.textContent() !== before, { timeout: 20_000 });
	await shot(one, 'light');
	await one.emulateMedia({ colorScheme: 'dark' });
	await shot(one, 'dark');
	await server.api.input('asks', 'secret\r');
	await rowShows(one, 'asks', 'idle', /idle$/);
	await titled(other, /^✗ front/);

	// Failures and bells are marked until the user looks at the session, in each page.
	assert.match(decodeURIComponent(await picture(other)), />!</);
	await rowOf(one, 'fails').click();
	await chosen(one, 'fails');
	await titled(one, /^✗ /);
	await server.api.input('hostile', 'true\r');
	await rowOf(one, 'hostile').getByTestId('session-failed').waitFor();
	await rowOf(one, 'hostile').click();
	await titled(one, /^(?!.*✗)/);
	assert.equal(await rowOf(one, 'hostile').getAttribute('data-news'), 'false');
	assert.match(await picture(one), /\.svg$/);
	await server.api.input('front', 'printf "\\a"\r');
	await rowOf(one, 'front').getByTestId('session-bell').waitFor();
	await titled(one, /^🔔 /);
	await shot(one, 'bell');
	assert.ok(await rowOf(other, 'front').getByTestId('session-bell').isHidden(), 'it is visible there');
	await rowOf(one, 'front').click();
	await rowOf(one, 'front').getByTestId('session-bell').waitFor({ state: 'hidden' });
	await titled(one, /^(?!🔔)/);
	await titled(other, /^✗ /);

	await server.kill();
	await server.start();
	await rowShows(one, 'works', 'works', /^▶ ?printf .*; sleep 1000 ?\d+:\d\d$/);
	await server.api.input('works', '\x03');
	await rowShows(one, 'works', 'idle', /idle$/);
	await other.getByRole('button', { name: 'Sign out' }).click();
	await other.getByTestId('sign-in').waitFor();
	assert.equal(await other.title(), 'Ringside');
	assert.match(await picture(other), /\.svg$/);
});

scenario('many sessions: only changed rows are redrawn, the list follows the current session, and has keys and a filter', { skip, timeout: 120_000 }, async (server) => {
	const ids = Array.from({ length: times(10, 50) }, (_, i) => `s${i}`);
	const last = ids.at(-1);
	for (const id of ids) await server.api.call('POST', '/api/session/create', { id, shell: '/bin/sh' });
	const context = await (await launch(server)).newContext();
	const page = await open(context, `${server.base}/?s=s0${server.loginUrl.slice(server.loginUrl.indexOf('#'))}`);
	await until('all idle rows', async () => await page.locator('[data-testid="session-item"][data-kind="idle"]').count() === ids.length, { timeout: 60_000 });
	await page.evaluate(() => {
		window.changed = new Set();
		new MutationObserver((records) => {
			for (const { target } of records) {
				const row = (target.nodeType === 1 ? target : target.parentElement)?.closest('[data-session-id]');
				if (row) window.changed.add(row.dataset.sessionId);
			}
		}).observe(document.querySelector('[data-testid="session-list"]'), { childList: true, characterData: true, subtree: true });
	});
	await server.api.input(last, 'cat\r');
	await rowShows(page, last, 'waits', /^a line · cat$/);
	await titled(page, /^\(1\) /);
	assert.ok(await page.evaluate((id) => window.changed.has(id) && !window.changed.has('s7'), last));

	// The list scrolls to the current session, and keys move in it.
	await page.setViewportSize({ width: 1000, height: 420 });
	await page.reload();
	await inView(page, 's0');
	await page.goto(`${server.base}/?s=${last}`);
	await inView(page, last);
	const list = page.getByTestId('session-list');
	await list.evaluate(({ style }) => { style.overflowAnchor = 'none'; }); // only some browsers have it
	await server.api.input('s0', 'printf "\\a"\r');
	await page.locator('[data-testid=inbox-item][data-kind=bell]').waitFor();
	await inView(page, last); // the inbox has made the list smaller
	await list.evaluate((element) => new Promise((resolve) => {
		element.addEventListener('scroll', resolve, { once: true });
		element.scrollTop = 0;
	}));
	await page.setViewportSize({ width: 1000, height: 400 });
	assert.equal(await list.evaluate((element) => new Promise((resolve) => {
		requestAnimationFrame(() => requestAnimationFrame(() => resolve(element.scrollTop)));
	})), 0, 'the user has scrolled away');
	await page.keyboard.press('Alt+1');
	await chosen(page, 's0');
	await inView(page, 's0');
	await page.keyboard.press('Control+Shift+B');
	await focusAt(page, 's0');
	for (const [key, id] of [['ArrowUp', 's0'], ['ArrowDown', 's1'], ['End', last], ['ArrowDown', last], ['Home', 's0'], ['PageDown', 's8'], ['ArrowUp', 's7']]) {
		await page.keyboard.press(key);
		assert.equal(await focusedRow(page), id, key);
		await inView(page, id);
	}
	assert.equal(await page.locator('[data-testid="session-list"] a[tabindex="0"]').count(), 1, 'Tab reaches one row');
	await page.keyboard.press('Enter');
	await chosen(page, 's7');
	await until('the focus in the terminal', () => page.evaluate(() => document.activeElement?.closest('.xterm') !== null));

	// The filter, which many sessions show.
	const filter = page.getByTestId('session-filter');
	await page.keyboard.press('Control+Shift+B');
	await page.keyboard.press('/');
	await focusAt(page, 'session-filter');
	await page.keyboard.type('CAT line');
	await until('only the session that reads a line', async () => String(await rows(page)) === last);
	assert.equal(await page.getByTestId('session-count').innerText(), `1 of ${ids.length}`);
	await shot(page, 'filter');
	await page.keyboard.press('ArrowDown');
	await focusAt(page, last);
	await server.api.input(last, '\x04');
	await until('no row', async () => (await rows(page)).length === 0);
	await focusAt(page, 'session-filter'); // the row that had the focus is gone
	await filter.fill('s7');
	await page.keyboard.press('Escape');
	assert.deepEqual([await filter.inputValue(), (await rows(page)).length], ['', ids.length]);
	await inView(page, 's7');
	await filter.fill('s3');
	await page.keyboard.press('Enter');
	await chosen(page, 's3');
	assert.ok((await rows(page)).every((id) => id.startsWith('s3')));
	await page.keyboard.press('Alt+1');
	await chosen(page, 's0');
	assert.deepEqual([await filter.inputValue(), (await rows(page)).length], ['', ids.length], 'the filter would hide the chosen session');

	// The focus stays in the list if the session ends.
	await page.keyboard.press('Control+Shift+B');
	await page.keyboard.press('ArrowDown');
	await focusAt(page, 's1');
	await server.api.call('POST', '/api/session/delete', { sessionId: 's1' });
	await focusAt(page, 's2');
	for (const id of ids.slice(8)) await server.api.call('POST', '/api/session/delete', { sessionId: id });
	await filter.waitFor({ state: 'hidden' });
	await page.keyboard.press('/');
	await focusAt(page, 'session-filter');
	await page.keyboard.press('Escape');
	await focusAt(page, 's2');
	assert.ok(await filter.isHidden());
});
