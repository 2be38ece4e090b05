// Typing in a real browser: before the connection is there, and while it is lost.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, live, open as openPage, skip } from './lib/browser.mjs';

const open = async (server) => openPage(await (await launch(server)).newContext({ viewport: { width: 1000, height: 600 } }), server.loginUrl);

const text = (page) => page.evaluate(() => {
	const { terminal } = window.ringside;
	const { active } = terminal.buffer;
	return Array.from({ length: active.length }, (_, row) => active.getLine(row).translateToString(true)).join('\n');
});

const shows = (page, pattern) => until(() => `${pattern}`, async () => pattern.test(await text(page)), { timeout: 30_000 });

const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });

scenario('undelivered keys are kept, shown, and sent once or dropped', { skip, timeout: 120_000 }, async (server) => {
	await server.session({ id: 'main' });
	const page = await open(server);
	const note = page.getByTestId('undelivered');
	await page.getByTestId('terminal').click();
	await page.keyboard.type('echo se');
	await shows(page, /echo se$/m);
	// A stopped server has not received the keys; it does not come back.
	await server.kill('SIGSTOP');
	await page.keyboard.type('cret');
	await page.getByTestId('status').filter({ hasText: /^No answer for \d+ s$/ }).waitFor();
	await note.filter({ hasText: '4 keys not delivered' }).waitFor();
	assert.equal(await page.getByTestId('undelivered-send').count(), 0, 'keys cannot be sent while disconnected');
	await shot(page, 'typing-silent');
	await server.kill('SIGKILL');
	await page.getByTestId('banner').filter({ hasText: 'connection was lost' }).waitFor();
	await page.keyboard.type('-');
	await note.filter({ hasText: '5 keys not delivered' }).waitFor();
	await shot(page, 'typing-lost');
	await server.start();
	await live(page);
	await note.filter({ hasText: '5 keys not delivered:' }).waitFor();
	assert.ok(!(await text(page)).includes('secret'));
	assert.ok(!(await note.locator('code').isVisible()), 'the keys are visible, but may be a password');
	// New keys do not overtake them.
	await page.keyboard.type('$((40+2))');
	await note.filter({ hasText: '14 keys not delivered:' }).waitFor();
	await shot(page, 'typing-asks');
	await page.getByTestId('undelivered-send').click();
	await note.waitFor({ state: 'hidden' });
	await page.keyboard.press('Enter');
	await shows(page, /^secret-42$/m);

	await server.untilPrompt('main');
	await server.kill('SIGSTOP');
	await page.keyboard.type('dropped');
	await page.getByTestId('status').filter({ hasText: 'No answer' }).waitFor();
	await server.kill('SIGKILL');
	await server.start();
	await live(page);
	await note.filter({ hasText: '7 keys not delivered:' }).waitFor();
	await page.getByTestId('undelivered-drop').click();
	await note.waitFor({ state: 'hidden' });
	await page.keyboard.type('echo af""ter');
	await page.keyboard.press('Enter');
	await shows(page, /^after$/m);
	assert.ok(!(await text(page)).includes('dropped'));
});

scenario('the terminal has the focus, and no key is lost when a session opens', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main' });
	await server.session({ id: 'other' });
	const page = await open(server);
	await page.keyboard.type('echo fir""st');
	await page.keyboard.press('Enter');
	await shows(page, /^first$/m);
	for (const id of ['other', 'main', 'other']) {
		await page.locator(`[data-testid=session-item][data-session-id=${id}] a`).click();
		await page.keyboard.type(`echo key""s-$((40+2))`);
		await page.keyboard.press('Enter');
		await shows(page, /^keys-42$/m);
		await page.keyboard.type('clear');
		await page.keyboard.press('Enter');
		await until('an empty screen', async () => !/keys-42/.test(await text(page)));
	}
});

scenario('keys typed during a short interruption, or into a session that is being created, are sent without a question', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main' });
	const context = await (await launch(server)).newContext({ viewport: { width: 1000, height: 600 } });
	// As on a slow line: while `held` is an array, what the server sends waits in it.
	await context.addInitScript(() => {
		window.WebSocket = class extends WebSocket {
			set onmessage(listener) {
				const take = (event) => (window.held ? window.held.push(() => listener(event)) : listener(event));
				super.onmessage = listener && take;
			}
		};
	});
	const page = await openPage(context, server.loginUrl);
	await page.getByTestId('terminal').click();
	await page.keyboard.type('echo on');
	await shows(page, /echo on$/m);
	await page.evaluate(() => {
		const { connection } = window.ringside;
		connection.resync(connection.offset);
	});
	await page.keyboard.type('ce-$((1+1))');
	await page.keyboard.press('Enter');
	await shows(page, /^once-2$/m);
	assert.ok(await page.getByTestId('undelivered').isHidden());

	// The terminal exists, its connection does not yet.
	await page.evaluate(() => { window.held = []; });
	await page.getByTestId('new-session').click();
	await until('the new session', () => page.evaluate(() => window.ringside.connection?.state.kind === 'connecting'));
	await page.keyboard.type('echo ear""ly-$((40+2))');
	await page.keyboard.press('Enter');
	assert.ok(!(await text(page)).includes('early'));
	await page.evaluate(() => {
		const { held } = window;
		window.held = null;
		for (const take of held) take();
	});
	await shows(page, /^early-42$/m);
});

scenario('keys are encoded as the program requests, and the page keeps its other modes', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main' });
	const page = await open(server);
	await server.untilPrompt('main');
	await page.getByTestId('terminal').click();
	/* Runs a command that waits for so many bytes in raw mode, presses keys, and returns the bytes as od prints them. */
	let asked = 0;
	const read = async (setUp, count, ...keys) => {
		asked++;
		await page.keyboard.type(`(stty raw -echo; printf '${setUp}go${asked}\\r\\n'; head -c ${count} | od -An -c -w99 | tr -d ' '; stty sane; printf '\\e[<9u\\n'; echo o"k${asked}")`);
		await page.keyboard.press('Enter');
		await shows(page, new RegExp(`^go${asked}$`, 'm'));
		for (const key of keys)
			await page.keyboard.press(key);
		await shows(page, new RegExp(`^ok${asked}$`, 'm'));
		return (await text(page)).split(`\ngo${asked}\n`)[1].split('\n')[0];
	};
	assert.equal(await read('', 1, 'Shift+Enter'), '\\r');
	assert.equal(await read('\\e[>1u', 7, 'Shift+Enter'), '033[13;2u');
	assert.equal(await read('\\e[>3u', 11, 'x'), 'x033[120;1:3u', 'with the release of the key');
	assert.equal(await read('', 1, 'Shift+Enter'), '\\r', 'the command before has ended the mode');
	await page.keyboard.type(String.raw`printf '\e]2;first\a\e[22;2t\e]2;second\a\e[23;2t\e[?2026h'; read -rsn1; printf '\e[?2026l'`);
	await page.keyboard.press('Enter');
	const modes = () => page.evaluate(() => {
		const { terminal } = window.ringside;
		return `${terminal._core._inputHandler._windowTitle} ${terminal.modes.synchronizedOutputMode}`;
	});
	await until('the frame is held back', async () => await modes() === 'first true');
	await page.keyboard.press('q');
	await until('it is shown', async () => (await modes()).endsWith('false'));

	const background = async (colorScheme) => {
		await page.emulateMedia({ colorScheme });
		return read('\\e]11;?\\e\\\\', 25);
	};
	assert.equal(await background('dark'), '033]11;rgb:1010/1313/1717033\\');
	assert.equal(await background('light'), '033]11;rgb:fdfd/fbfb/f6f6033\\');
	assert.notEqual(await page.evaluate(() => getComputedStyle(document.querySelector('.xterm-viewport')).backgroundColor), 'rgb(0, 0, 0)',
		'the space below the last row has the colour of the stage');
});
