// Accessibility of the page: axe's findings, zoom, the text for screen readers, and the way to the end.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import { typeLine } from '../integration/lib/blocks.mjs';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { COLOUR_RULES, findings } from './lib/axe.mjs';
import { launch, open as openPage, skip } from './lib/browser.mjs';

async function open(server, options = {}) {
	// The page's own policy would block axe.
	const context = await (await launch(server)).newContext({ viewport: { width: 1000, height: 600 }, bypassCSP: true, ...options });
	return openPage(context, server.loginUrl);
}

const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });

async function expectNoFindings(page, what, rules) {
	const found = await findings(page, rules);
	await shot(page, `accessible-${what.replaceAll(' ', '-')}`);
	assert.deepEqual(found, [], `${what}:\n${found.join('\n')}`);
}

scenario('commands are reachable by keys, the text of the terminal is on the page, and one key goes to the end', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main' });
	for (const line of [': first', '(exit 3)', ': third']) await typeLine(server, 'main', line);
	const page = await open(server);
	const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent);
	const at = (pattern) => until(() => `focus at ${pattern}`, async () => pattern.test(await focused()));
	await page.getByTestId('block').nth(2).waitFor();
	await page.getByTestId('terminal').click();
	await page.keyboard.press('Control+Shift+G');
	await at(/^: third: succeeded/);
	await page.keyboard.press('ArrowUp');
	await at(/^\(exit 3\): failed with 3/);
	assert.equal(await page.locator('[data-testid=block][tabindex="0"]').count(), 1, 'Tab reaches one block');
	await page.keyboard.press('Enter');
	await at(/^Copy command$/);
	assert.match(await page.getByTestId('block-card').innerText(), /Failed with 3/);
	await expectNoFindings(page, 'card by keys');
	await page.keyboard.press('Escape');
	await page.getByTestId('block-card').waitFor({ state: 'hidden' });
	await at(/^\(exit 3\): failed with 3/);
	await page.keyboard.press('Escape');
	await at(/Terminal input/);
	await page.emulateMedia({ forcedColors: 'active' });
	const colours = await page.getByTestId('block').evaluateAll((all) => all.map((each) => getComputedStyle(each, '::before').backgroundColor));
	const canvas = await page.evaluate(() => {
		const probe = document.body.appendChild(document.createElement('i'));
		probe.style.color = 'Canvas';
		const { color } = getComputedStyle(probe);
		probe.remove();
		return color;
	});
	assert.ok(colours.length > 0 && colours.every((colour) => colour !== canvas), `${colours} on ${canvas}`);
	await page.emulateMedia({ forcedColors: 'none' });

	await page.getByTestId('terminal').click();
	await server.run('main', `printf '%s-' {1..60}; echo; seq 300`);
	await until('the output', () => page.evaluate(() => window.ringside.terminal.buffer.active.baseY > 250));
	await page.getByRole('button', { name: 'Read and select the text' }).click();
	const text = page.getByTestId('read-text');
	const read = await text.textContent();
	assert.match(read, /\n1\n2\n3\n[^]*\n300\n/);
	assert.ok(read.includes('\n1-2-3-4-5-6-7-8-9-10-11-12-13-14-15-16-17-18-19-20-21-22-23-24-25-26-27-28-29-30-31-32-33-34-35-36-37-38-39-40-41-42'
		+ '-43-44-45-46-47-48-49-50-51-52-53-54-55-56-57-58-59-60-\n'), 'a wrapped line is one line');
	assert.ok(await text.evaluate((element) => element.scrollTop > 0 && element.scrollTop + element.clientHeight >= element.scrollHeight - 2), 'the text is scrolled to its end');
	await text.click();
	await page.keyboard.press('Control+a');
	assert.equal((await page.evaluate(() => String(getSelection()))).trim(), read.trim(), 'the whole text is selected, and nothing else');
	await shot(page, 'read-mode');
	await page.keyboard.press('Escape');
	await page.getByTestId('read').waitFor({ state: 'detached' });

	const button = page.getByTestId('new-output');
	assert.ok(await button.isHidden());
	await page.evaluate(() => window.ringside.terminal.scrollToLine(50));
	assert.ok(await button.isHidden(), 'no new output, no button');
	await server.run('main', 'echo more');
	await button.waitFor();
	await shot(page, 'new-output');
	assert.equal(await page.evaluate(() => window.ringside.terminal.buffer.active.viewportY), 50);
	await button.click();
	await button.waitFor({ state: 'hidden' });
	assert.ok(await page.evaluate(() => {
		const { viewportY, baseY } = window.ringside.terminal.buffer.active;
		return viewportY === baseY;
	}));
	await page.evaluate(() => window.ringside.terminal.scrollToLine(50));
	await server.run('main', 'echo again');
	await button.waitFor();
	await page.evaluate(() => window.ringside.terminal.scrollToBottom());
	await button.waitFor({ state: 'hidden' });
});

/** Controls of the page that are cut off or overlap another. */
const squeezed = (page) => page.evaluate(() => {
	// An overlay is checked alone.
	const drawer = document.querySelector('.backdrop')?.checkVisibility() ? document.querySelector('.sidebar') : null;
	const scope = document.querySelector('dialog[open]') ?? document.querySelector('.blocks-panel') ?? drawer ?? document;
	const all = [...scope.querySelectorAll('button, a[href], input, select')].filter((each) => {
		const { width, height } = each.getBoundingClientRect();
		return width > 1 && height > 1 && each.checkVisibility({ opacityProperty: true, visibilityProperty: true })
			&& each.closest('[inert], .xterm, .gutter') === null;
	});
	/** Whether the user can scroll to it. */
	const scrolls = (each) => {
		for (let up = each.parentElement; up !== null; up = up.parentElement)
			if (/auto|scroll/.test(getComputedStyle(up).overflowY) && up.scrollHeight > up.clientHeight) return true;
		return false;
	};
	const name = (each) => each.getAttribute('aria-label') || each.dataset.testid || each.textContent.trim().slice(0, 30);
	const problems = [];
	if (document.documentElement.scrollWidth > innerWidth) problems.push(`the page is ${document.documentElement.scrollWidth} wide`);
	for (const each of scope.querySelectorAll('*')) {
		if (each.scrollWidth > each.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(each).overflowX) && each.closest('.xterm') === null)
			problems.push(`${each.className || each.localName} scrolls sideways`);
	}
	for (const [index, one] of all.entries()) {
		const a = one.getBoundingClientRect();
		if (!scrolls(one) && (a.left < -1 || a.top < -1 || a.right > innerWidth + 1 || a.bottom > innerHeight + 1))
			problems.push(`${name(one)} is outside: ${[a.left, a.top, a.right, a.bottom].map(Math.round)}`);
		if (one.matches('button') && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).textOverflow !== 'ellipsis')
			problems.push(`${name(one)} is cut`);
		for (const other of all.slice(index + 1)) {
			const b = other.getBoundingClientRect();
			const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
			if (wide > 2 && high > 2 && !one.contains(other) && !other.contains(one) && one.closest('li') === null && !scrolls(one) && !scrolls(other))
				problems.push(`${name(one)} and ${name(other)} overlap`);
		}
	}
	return problems;
});

/** Expect that all controls fit, as soon as the layout follows the size of the window. */
async function expectFit(page, what) {
	let found = [];
	await until(() => `${what}:\n${found.join('\n')}`, async () => (found = await squeezed(page)).length === 0, { timeout: 5000 });
	await shot(page, `accessible-${what.replaceAll(' ', '-')}`);
}

/** The sidebar of a narrow window. */
async function toggleDrawer(page, open) {
	await page.locator(open ? '#sidebar[inert]' : '#sidebar:not([inert])').waitFor({ state: 'attached' });
	await page.keyboard.press('Control+Shift+B');
	await page.locator(open ? '#sidebar:not([inert])' : '#sidebar[inert]').waitFor({ state: 'attached' });
}

// Zoom makes a window of fewer CSS pixels: 1280x720 at 200 %, and 1280x1024 at 400 % (WCAG 1.4.10).
const zooms = { '200 %': { width: 640, height: 360 }, '400 %': { width: 320, height: 256 } };

scenario('axe finds nothing and all controls fit, in any colour scheme and zoom, in any view, dialog or notice', { skip, timeout: 240_000 }, async (server) => {
	for (const id of ['main', 'ended', 'asks', 'robot']) await server.session({ id, name: id === 'asks' ? 'A session with a rather long name' : undefined });
	await server.api.input('ended', 'exit 3\r');
	const page = await open(server, { colorScheme: 'light' });
	const escape = async (what) => {
		await page.keyboard.press('Escape');
		await what.waitFor({ state: 'detached' });
	};
	const dialog = page.locator('dialog[open]');
	const wide = page.viewportSize();
	const each = async (what, { inSidebar } = {}) => {
		for (const [name, media, rules] of [['dark', { colorScheme: 'dark', forcedColors: 'none' }, COLOUR_RULES],
			['forced colours', { colorScheme: 'dark', forcedColors: 'active' }, COLOUR_RULES], ['light', { colorScheme: 'light', forcedColors: 'none' }]]) {
			await page.emulateMedia(media);
			await expectNoFindings(page, `${name} ${what}`, rules);
		}
		for (const [zoom, size] of Object.entries(zooms)) {
			await page.setViewportSize(size);
			if (inSidebar) await toggleDrawer(page, true);
			await expectFit(page, `${zoom} ${what}`);
			await expectNoFindings(page, `${zoom} ${what}`);
			if (inSidebar) await toggleDrawer(page, false);
		}
		await page.setViewportSize(wide);
	};
	await page.locator('[data-testid=session-item][data-session-id=main] a').click();
	await until('only session main', () => new URL(page.url()).searchParams.get('s') === 'main');
	await page.locator('[data-session-id=robot][data-kind=idle]').waitFor();
	await page.locator('[data-session-id=ended][data-kind=ended]').waitFor();
	await each('main');
	await page.getByTestId('share').click();
	await dialog.waitFor();
	await each('share');
	await escape(dialog);
	await page.getByTestId('new-session-as').click();
	await dialog.waitFor();
	await each('new session');
	await escape(dialog);
	await page.getByTestId('session-item').first().hover();
	await page.getByTestId('session-end').or(page.getByTestId('session-delete')).first().click();
	await dialog.waitFor();
	await each('end');
	await escape(dialog);
	await page.getByRole('button', { name: 'Read and select the text' }).click();
	await each('read');
	await escape(page.getByTestId('read'));

	await server.api.call('POST', '/api/session/robot/exec', { command: 'false', label: 'Robot' });
	await server.api.input('asks', 'read -s word\r');
	await page.locator('[data-testid=inbox-item][data-kind=password]').waitFor();
	await page.locator('[data-testid=inbox-item][data-kind=failed]').waitFor();
	await each('inbox', { inSidebar: true });
	await server.api.input('robot', 'printf "\\a"\r');
	await page.getByTestId('session-bell').and(page.locator(':visible')).waitFor();
	await page.getByTestId('session-failed').and(page.locator(':visible')).waitFor();
	await page.keyboard.press('Control+Shift+B');
	await page.keyboard.press('/');
	await page.keyboard.type('o');
	await until('the filter', async () => /^\d of 4$/.test(await page.getByTestId('session-count').innerText()));
	await each('list', { inSidebar: true });
	await page.keyboard.press('Control+Shift+E');
	await page.getByTestId('panel-row').first().waitFor();
	await each('panel');
	await page.keyboard.press('Control+Shift+E');
	await page.getByTestId('blocks-panel').waitFor({ state: 'detached' });
	await page.getByTestId('open-settings').click();
	await page.getByTestId('settings').waitFor();
	await each('settings');
	await escape(page.getByTestId('settings'));
	await page.evaluate(() => {
		const data = new DataTransfer();
		data.items.add(new File(['text'], 'note.txt', { type: 'text/plain' }));
		document.querySelector('.xterm-helper-textarea').dispatchEvent(
			new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
	});
	await page.getByTestId('upload').waitFor();
	await expectNoFindings(page, 'uploads');
	await page.keyboard.press('Control+Shift+L');
	await page.locator('.wall[data-state="live"]').waitFor();
	await page.getByTestId('wall-tile').first().waitFor();
	await each('wall');
	await escape(page.getByTestId('wall'));
	await page.getByRole('button', { name: 'Sign out' }).click();
	await page.getByTestId('sign-in').waitFor();
	await each('sign in');
});
