// Dropped and pasted files: their directory, the paths that are typed, and what is refused.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, open, skip } from './lib/browser.mjs';

const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
const toast = (page, text) => page.locator('.toast').filter({ hasText: text }).first().waitFor();
const typed = (page, text) => until(`“${text}” on the screen`, () => page.evaluate((wanted) => {
	const { active } = window.ringside.terminal.buffer;
	let all = '';
	for (let row = 0; row < active.length; row++) all += active.getLine(row).translateToString(true);
	return all.includes(wanted);
}, text));

/** Files that the page makes itself: {name, text or size, type}. */
const bring = (page, kind, files) => page.evaluate(([type, list]) => {
	const data = new DataTransfer();
	for (const { name, text, size, mime } of list) data.items.add(new File([text ?? new Uint8Array(size)], name, { type: mime ?? 'text/plain' }));
	const target = document.querySelector('.xterm-helper-textarea');
	return !target.dispatchEvent(type === 'paste' ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
		: new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
}, [kind, files]);

/** Drop files as from the desktop. */
async function drop(page, files) {
	const { x, y, width, height } = await page.getByTestId('terminal').boundingBox();
	const cdp = await page.context().newCDPSession(page);
	const data = { items: [], files, dragOperationsMask: 1 };
	for (const type of ['dragEnter', 'dragOver', 'drop'])
		await cdp.send('Input.dispatchDragEvent', { type, x: x + width / 2, y: y + height / 2, data });
	await cdp.detach();
}

async function begin(server) {
	const dir = path.join(server.root, 'it\'s here');
	mkdirSync(dir);
	await server.session({ id: 'main', cwd: dir });
	const browser = await launch(server);
	const context = await browser.newContext({ viewport: { width: 1000, height: 560 } });
	return { dir, browser, context, page: await open(context, server.loginUrl) };
}

scenario('files go to the directory of the shell under unused names, and their paths are typed without Enter', { skip, timeout: 90_000 }, async (server) => {
	const { dir, page } = await begin(server);
	await until('a prompt with bracketed paste', () => page.evaluate(() => window.ringside.terminal.modes.bracketedPasteMode));
	const desk = path.join(server.root, 'desk');
	mkdirSync(path.join(desk, 'folder'), { recursive: true });
	writeFileSync(path.join(desk, 'note.txt'), 'from the desk');
	writeFileSync(path.join(dir, 'note.txt'), 'was there before');
	writeFileSync(path.join(desk, 'empty'), '');
	await drop(page, [path.join(desk, 'note.txt'), path.join(desk, 'folder'), path.join(desk, 'empty')]);
	await toast(page, 'Directories cannot be uploaded');
	await typed(page, 'note-1.txt');
	await shot(page, 'files-arrived');
	assert.equal(readFileSync(path.join(dir, 'note-1.txt'), 'utf8'), 'from the desk');
	assert.equal(readFileSync(path.join(dir, 'note.txt'), 'utf8'), 'was there before');
	assert.equal(statSync(path.join(dir, 'empty')).size, 0);
	assert.ok(!existsSync(path.join(dir, 'folder')));

	// The shell parses what was typed as the paths; nothing was sent before Enter.
	await page.getByTestId('terminal').click();
	await page.keyboard.press('Home');
	await page.keyboard.type('printf "[%s]\\n" ');
	await page.keyboard.press('Enter');
	await server.outputMatches('main', /\[[^\n]*it's here\/note-1\.txt\]\r\n\[[^\n]*it's here\/empty\]/);
	await server.untilPrompt('main');

	const hostile = ['a\n\x1b[201~\rtouch ran\r', '-rf', '../../up', '日本 $(touch ran)', `${'x'.repeat(300)}.png`];
	await bring(page, 'drop', hostile.map((name) => ({ name, text: name, mime: 'image/png' })));
	await until('all of them', () => readdirSync(dir).length >= 3 + hostile.length);
	await typed(page, '.png\' ');
	await page.keyboard.press('Control+e');
	await page.keyboard.press('Enter');
	await server.untilPrompt('main');
	const names = readdirSync(dir);
	assert.deepEqual(names.filter((name) => name === 'ran'), [], 'a name was run');
	assert.deepEqual([...names].sort(), ['-rf', '.._.._up', 'a__[201~_touch ran_', 'empty', 'note-1.txt', 'note.txt', '日本 $(touch ran)',
		`${'x'.repeat(248)}.png`].sort());

	// A directory name that contains keys is not typed.
	await server.run('main', 'mkdir $\'k\\ey\\e[201~\\r\' && cd k*');
	await bring(page, 'drop', [{ name: '-r.txt', text: 'x' }]);
	await typed(page, './-r.txt ');
	await page.keyboard.press('Control+u');
	await server.run('main', 'cat ./-r.txt; rm ./-r.txt; cd ..; rmdir k*');

	await bring(page, 'paste', [{ name: 'image.png', text: 'a picture', mime: 'image/png' }]);
	await typed(page, '/image.png');
	const [, place] = await server.outputMatches('main', /(\/tmp\/ringside-[0-9a-f]{24})\/image\.png/);
	try {
		assert.equal(readFileSync(`${place}/image.png`, 'utf8'), 'a picture');
		assert.equal(statSync(place).mode & 0o777, 0o700, 'other users can read the pasted files');
	} finally {
		rmSync(place, { recursive: true });
	}
});

scenario('the page reports an upload that is cancelled, interrupted or too large, and paths that cannot be typed', { skip, timeout: 90_000 }, async (server) => {
	const { dir, browser, page, context } = await begin(server);
	const row = page.getByTestId('upload');
	const cdp = await context.newCDPSession(page);
	const speed = (bytes) => cdp.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: bytes });
	await speed(200_000);
	const under = () => until('some of it is sent', () => page.locator('[data-testid=upload][data-state=sending] progress').evaluate((bar) => bar.value > 0 && bar.value < bar.max));
	await bring(page, 'drop', [{ name: 'big', size: 3_000_000 }, { name: 'next', text: 'next' }]);
	await under();
	await shot(page, 'files-sending');
	await row.first().getByRole('button', { name: 'Cancel' }).click();
	await typed(page, '/next\' ');
	assert.deepEqual(readdirSync(dir), ['next'], 'a cancelled upload left a file');

	await bring(page, 'drop', [{ name: 'big', size: 3_000_000 }]);
	await under();
	await server.kill();
	await speed(-1); // a throttled connection also reports its end late
	await row.filter({ hasText: 'The connection was lost' }).waitFor();
	await shot(page, 'files-lost');
	await server.start();
	await until('connection', () => page.evaluate(() => window.ringside.connection.state.kind === 'live'), { timeout: 20_000 });
	assert.deepEqual(readdirSync(dir), ['next'], 'an interrupted upload left a file');
	await row.getByRole('button', { name: 'Try again' }).click();
	await typed(page, '/big\' ');
	assert.equal(statSync(path.join(dir, 'big')).size, 3_000_000);

	// As from a proxy with a limit of its own.
	await page.route('**/api/file/**', (route) => route.fulfill({ status: 413, contentType: 'text/html', body: '<h1>413</h1>' }));
	await bring(page, 'drop', [{ name: 'large', text: 'large' }]);
	await row.filter({ hasText: 'larger than the server' }).getByRole('button', { name: 'Dismiss' }).click();
	await page.unroute('**/api/file/**');
	await bring(page, 'drop', Array.from({ length: 101 }, (_, n) => ({ name: `many ${n}`, text: '' })));
	await toast(page, 'too many at once');

	// cat does not distinguish a paste from keys.
	await server.api.input('main', '\x15cat\r');
	await until('cat', () => page.evaluate(() => !window.ringside.terminal.modes.bracketedPasteMode));
	await bring(page, 'drop', [{ name: 'offered', text: 'x' }]);
	const offer = page.getByTestId('upload-path');
	await offer.waitFor();
	await offer.getByRole('button', { name: 'Type' }).click();
	await toast(page, 'still cannot be typed');
	await shot(page, 'files-offered');
	await server.api.input('main', '\x03');
	await until('a prompt', () => page.evaluate(() => window.ringside.terminal.modes.bracketedPasteMode));
	await offer.getByRole('button', { name: 'Type' }).click();
	await typed(page, '/offered\' ');
	assert.equal(await offer.count(), 0);

	await server.api.call('POST', '/api/session/main/lease', { owner: 'agent', ttlMs: 60_000 });
	await page.getByTestId('lease-badge').filter({ hasText: 'agent' }).waitFor();
	await bring(page, 'drop', [{ name: 'leased', text: 'x' }]);
	await toast(page, 'agent has the keyboard: you cannot upload files');
	const { path: link } = await server.api.call('POST', '/api/session/main/links', { role: 'viewer', expiresInMs: 60_000 });
	const watcher = await open(await browser.newContext(), `${server.base}${link}`);
	await bring(watcher, 'paste', [{ name: 'watched.png', text: 'x', mime: 'image/png' }]);
	await toast(watcher, 'This link only allows watching');
	await bring(watcher, 'drop', [{ name: 'watched', text: 'x' }]);
	const { path: driving } = await server.api.call('POST', '/api/session/main/links', { role: 'driver', expiresInMs: 60_000 });
	await server.api.call('DELETE', '/api/session/main/lease');
	const driver = await open(await browser.newContext(), `${server.base}${driving}`);
	await bring(driver, 'drop', [{ name: 'driven', text: 'x' }]);
	await driver.getByTestId('upload').filter({ hasText: 'Only the owner may do that' }).waitFor();
	assert.deepEqual(readdirSync(dir).sort(), ['big', 'next', 'offered']);
});
