// Pasting and dropping: nothing runs, and the page does not navigate, without a question. A paste arrives whole.
//
// SHOTS: a folder for pictures.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, open, skip } from './lib/browser.mjs';

const paste = (page, text) => page.evaluate((pasted) => {
	const data = new DataTransfer();
	data.setData('text/plain', pasted);
	document.querySelector('.xterm-helper-textarea').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
}, text);

/** Reads slowly until the file `go` exists, and then to a Q. It uses bracketed paste. */
const reader = `import os, sys, time, tty
tty.setraw(0)
os.write(1, b'\\x1b[?2004hrea' + b'dy')
out = open('got', 'wb', 0)
piece = b''
while not piece.endswith(b'Q'):
    if not os.path.exists('go'): time.sleep(0.02)
    out.write(piece := os.read(0, 4096))
os.write(1, b'\\x1b[?2004lov' + b'er')
`;

scenario('a pasted text cannot run itself, and a large one arrives whole, or is cancelled', { skip, timeout: 120_000 }, async (server) => {
	await server.session({ id: 'main', cwd: server.cwd });
	const browser = await launch(server);
	const context = await browser.newContext({ viewport: { width: 900, height: 500 }, permissions: ['clipboard-read', 'clipboard-write'] });
	const page = await open(context, server.loginUrl);
	await page.evaluate(() => navigator.clipboard.writeText('echo li""ne\x1b[201~\necho ALL ""MINE\n'));
	await page.keyboard.press('Control+Shift+V');
	await server.outputMatches('main', /echo ALL ""MINE/);
	await page.keyboard.type('echo af""ter');
	await server.outputMatches('main', /echo af""ter/);
	assert.doesNotMatch(await server.api.text('main'), /ALL MINE/);
	await page.keyboard.press('Enter');
	await server.outputMatches('main', /ALL MINE[^]*after/);
	await server.untilPrompt('main');

	const text = Array.from({ length: 300_000 }, (_, index) => `${index}`).join('\n'); // 2 MB
	writeFileSync(path.join(server.cwd, 'reader.py'), reader);
	const begin = async (name) => {
		await server.api.input('main', `rm -f go; python3 reader.py; mv got ${name}\r`);
		await server.outputMatches('main', /ready(?![^]*over)/);
		await paste(page, text);
		await page.getByTestId('pasting').waitFor();
	};
	const got = async (name) => {
		await until(name, () => existsSync(path.join(server.cwd, name)));
		await server.untilPrompt('main');
		return readFileSync(path.join(server.cwd, name), 'utf8');
	};
	const bracketed = (pasted) => `\x1b[200~${pasted.replaceAll('\n', '\r')}\x1b[201~Q`;
	await begin('whole');
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/pasting.png` });
	await page.keyboard.type('Q');
	writeFileSync(path.join(server.cwd, 'go'), '');
	assert.equal(await got('whole'), bracketed(text));
	assert.equal(await page.getByTestId('pasting').isVisible(), false);
	await begin('part');
	await page.getByTestId('paste-cancel').click();
	await page.keyboard.type('Q');
	writeFileSync(path.join(server.cwd, 'go'), '');
	const part = await got('part');
	assert.ok(part.length > 10_000 && part.length < text.length, `${part.length} bytes of a cancelled paste`);
	assert.equal(part, bracketed(text.slice(0, part.length - bracketed('').length)));
	assert.equal(await page.locator('.toast').count(), 1, 'the only message says that the rest was not sent');
});

scenario('several lines need a confirmation, Ctrl-C copies a selection, and a lease is one toast', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main' });
	const browser = await launch(server);
	const context = await browser.newContext({ viewport: { width: 900, height: 500 }, permissions: ['clipboard-read', 'clipboard-write'] });
	const page = await open(context, server.loginUrl);
	await page.getByTestId('terminal').click();
	const dispatch = (type, items) => page.evaluate(([kind, list]) => {
		const data = new DataTransfer();
		for (const { text } of list) data.setData('text/plain', text);
		const target = document.querySelector('.xterm-helper-textarea');
		const event = kind === 'paste' ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
			: new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true });
		return !target.dispatchEvent(event);
	}, [type, items]);

	// bash supports bracketed paste; cat does not.
	await server.api.input('main', 'cat -v\r');
	await until('cat', () => page.evaluate(() => !window.ringside.terminal.modes.bracketedPasteMode));
	await dispatch('paste', [{ text: 'one\ntwo\nthree' }]);
	await page.getByRole('dialog').filter({ hasText: 'Paste 3 lines?' }).waitFor();
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/paste-asks.png` });
	await page.keyboard.press('Escape');
	await dispatch('paste', [{ text: 'a line\n' }]);
	await server.outputMatches('main', /a line\r\na line\r\n/);
	assert.ok(!(await server.api.text('main')).includes('two'), 'the lines were pasted without a question');
	await dispatch('paste', [{ text: 'four\nfive\n' }]);
	await page.getByTestId('confirm').click();
	await server.outputMatches('main', /four\r\n[^]*five\r\n/);

	assert.equal(await dispatch('dragover', []), true, 'the browser would open the dropped file');
	await page.evaluate(() => window.ringside.terminal.selectAll());
	await page.keyboard.press('Control+c');
	await until('the copy', async () => (await page.evaluate(() => navigator.clipboard.readText())).includes('a line'));
	assert.ok(!(await server.api.text('main')).includes('^C'), 'Ctrl-C interrupted the program');
	await page.keyboard.press('Control+c');
	await server.outputMatches('main', /\^C/);
	await server.untilPrompt('main');

	await server.api.call('POST', '/api/session/main/lease', { owner: 'agent', ttlMs: 60_000 });
	await page.getByTestId('lease-badge').filter({ hasText: 'agent' }).waitFor();
	await page.keyboard.type('many keys');
	const refused = page.locator('.toast').filter({ hasText: 'leased' });
	await refused.first().waitFor();
	await page.keyboard.type('more');
	assert.equal(await refused.count(), 1);
});

scenario('the key bar interrupts, and pastes, from a field if the clipboard is unavailable', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main' });
	const browser = await launch(server);
	const phone = { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true };
	const context = await browser.newContext({ ...phone, permissions: ['clipboard-read', 'clipboard-write'] });
	const page = await open(context, server.loginUrl);
	const bar = page.getByTestId('key-bar');
	const key = (name) => bar.getByRole('button', { name, exact: true });
	for (const button of await bar.getByRole('button').all()) {
		assert.ok(await button.evaluate((element) => element.scrollWidth <= element.clientWidth), `no space for ${await button.getAttribute('aria-label')}`);
	}

	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/key-bar-first.png` });
	await page.evaluate(() => navigator.clipboard.writeText('echo pa""sted'));
	await key('Paste').tap();
	await server.outputMatches('main', /echo pa""sted/);
	await key('Interrupt').tap();
	await server.outputMatches('main', /\^C/);
	assert.ok(!(await server.api.text('main')).includes('pasted'));

	await page.evaluate(() => navigator.clipboard.writeText(''));
	await key('Paste').tap();
	await page.locator('.toast').filter({ hasText: 'no text on the clipboard' }).waitFor();

	// As without TLS, or if permission was denied.
	await context.clearPermissions();
	await page.evaluate(() => { navigator.clipboard.readText = () => Promise.reject(new Error('denied')); });
	await key('Paste').tap();
	const field = page.getByTestId('text');
	await field.waitFor();
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/paste-field.png` });
	await page.getByRole('button', { name: 'Cancel' }).tap();
	await field.waitFor({ state: 'detached' });
	await key('Paste').tap();
	await field.fill('echo by-$((40+2))-hand');
	await page.getByTestId('confirm').tap();
	await server.outputMatches('main', /echo by-\$/);
	await page.keyboard.press('Enter');
	await server.outputMatches('main', /by-42-hand/);
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/key-bar.png` });
});
