// The page on a phone: swipes, selection, the on-screen keyboard, targets of fingers, and the session's size.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, open as openPage, skip } from './lib/browser.mjs';

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 3, reducedMotion: 'reduce' };
const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/phone-${name}.png` });

/** A page on a phone, with its fingers: down(), move(), up() take points [x, y] of the window. */
async function phone(server, url = server.loginUrl, options = {}) {
	const context = await (await launch(server)).newContext({ ...PHONE, permissions: ['clipboard-read', 'clipboard-write'], ...options });
	const page = await openPage(context, url);
	const cdp = await context.newCDPSession(page);
	const touch = (type, points, more) => cdp.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })), ...more });
	await until('the code for touch screens', () => page.evaluate(() => document.querySelector('[data-testid=touch-menu]') !== null));
	return {
		page, cdp,
		down: (...points) => touch('touchStart', points), move: (...points) => touch('touchMove', points), up: () => touch('touchEnd', []),
		/** Move one finger along points. */
		async swipe(...points) {
			await touch('touchStart', [points[0]]);
			for (const point of points.slice(1)) await touch('touchMove', [point]);
			await touch('touchEnd', []);
		},
		/** Move one finger 20 pixels in 20 milliseconds, to a point, and let go. */
		async flick([x, y]) {
			const now = Date.now() / 1000;
			await touch('touchStart', [[x, y - 60]], { timestamp: now });
			for (const step of [1, 2, 3]) await touch('touchMove', [[x, y - 60 + 20 * step]], { timestamp: now + 0.02 * step });
			await touch('touchEnd', [], { timestamp: now + 0.07 });
		},
	};
}

/** The text of the active buffer. */
const text = (page) => page.evaluate(() => {
	const { active } = window.ringside.terminal.buffer;
	return Array.from({ length: active.length }, (_, row) => active.getLine(row).translateToString(true)).join('\n');
});
const shows = (page, pattern) => {
	let last;
	return until(() => `${pattern} in:\n${last?.slice(-2000)}`, async () => {
		last = await text(page);
		return pattern.exec(last);
	});
};

/** Where the view is: its first row, the pixels by which it is panned, and the height of a row. */
const view = (page) => page.evaluate(() => {
	const { buffer, dimensions } = window.ringside.terminal;
	return { row: buffer.active.viewportY, panned: document.querySelector('.mount').scrollTop, height: dimensions.css.cell.height };
});

/** A program that sets modes, shows what it reads, and ends at a Q. */
const SHOW = '$| = 1; print "\\e[$ARGV[0]h"; while (sysread STDIN, $b, 4096) { last if $b =~ /Q/; $b =~ s/\\e/^[/g; print $b } print "\\e[$ARGV[0]l"';

scenario('a swipe moves the text as far as the finger, and programs get it in the same proportion', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main', cols: 80, rows: 24 });
	const { page, swipe, flick, down, move, up } = await phone(server);
	await server.api.input('main', 'seq -f line-%g 1 600\r');
	await shows(page, /line-600\n[#$]/);
	/* Swipes in odd steps, and compares the distances. The finger rests before it leaves: no momentum. */
	const follows = async (what, from, to) => {
		const before = await view(page);
		const steps = [0.07, 0.075, 0.3, 0.31, 0.62, 0.9, 0.997].map((share) => [190, from + (to - from) * share]);
		await swipe([190, from], ...steps, [190, to]);
		const after = await view(page);
		const moved = (after.row - before.row) * after.height + after.panned - before.panned;
		assert.ok(Math.abs(moved - (from - to)) < after.height + 0.5, `${what}: ${from - to} px of the finger, ${moved} px of the text`);
	};
	await follows('down', 200, 517);
	await follows('up', 500, 401);
	// Swipes that are shorter than a row add up.
	const before = await view(page);
	for (let each = 0; each < 8; each += 1) await swipe([190, 300], [190, 340], [190, 300 + before.height * 0.75]);
	assert.ok(Math.abs(before.row - (await view(page)).row - 6) <= 1, 'short swipes are lost');
	// A thrown text goes on; a tap stops it, and does nothing else.
	await page.emulateMedia({ reducedMotion: 'no-preference' });
	const thrown = await view(page);
	await flick([190, 300]);
	await until('momentum', async () => (thrown.row - (await view(page)).row) * thrown.height > 60 + 3 * thrown.height);
	await page.touchscreen.tap(190, 300);
	const stopped = await view(page);
	await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
	assert.deepEqual(await view(page), stopped);
	assert.equal(await page.evaluate(() => document.activeElement.matches('textarea')), false, 'the tap has opened the keyboard');
	await page.emulateMedia({ reducedMotion: 'reduce' });
	// A large session in a small font, and zoomed, when the window pans before the history scrolls.
	await server.api.call('POST', '/api/session/main/resize', { cols: 132, rows: 43 });
	await until('the size', () => page.evaluate(() => window.ringside.terminal.rows === 43));
	await follows('a large session', 200, 511);
	await down([180, 300], [210, 300]);
	await move([150, 300], [240, 300]);
	await move([120, 300], [300, 300]);
	await up();
	await until('the zoom', () => page.evaluate(() => document.querySelector('.mount').matches('.pan')));
	await follows('zoomed', 150, 590);
	await follows('zoomed', 600, 155);
	await follows('zoomed', 150, 611);
	await shot(page, 'zoomed');

	// A key or a report of the mouse for each row. The program shows them.
	const { height } = await view(page);
	for (const [modes, away, back] of [['?1049', 'A', 'B'], ['?1049;1', 'A', 'B'], ['?1000;1006', '<64;', '<65;'], ['?1049;1002;1006', '<64;', '<65;']]) {
		await server.api.input('main', `clear; stty raw -echo; perl -e '${SHOW}' '${modes}'; stty sane\r`);
		await until(modes, () => page.evaluate((mouse) => {
			const { modes: { mouseTrackingMode }, buffer } = window.ringside.terminal;
			return mouse ? mouseTrackingMode !== 'none' : buffer.active.type === 'alternate';
		}, modes.includes('100')));
		await page.evaluate(() => { document.querySelector('.mount').scrollTop = 0; });
		await swipe([190, 200], [190, 260], [190, 350], [190, 200 + 20.3 * height]);
		const count = async (key) => (await text(page)).replaceAll('\n', '').split(key).length - 1;
		await until(() => `${modes}: 20 rows`, async () => await count(away) >= 20);
		await page.evaluate(() => { document.querySelector('.mount').scrollTop = 1e6; });
		await swipe([190, 200 + 10.3 * height], [190, 300], [190, 200]);
		await until(() => `${modes}: 10 rows`, async () => await count(back) >= 10);
		assert.deepEqual([await count(away), await count(back)], [20, 10], modes);
		await server.api.input('main', 'Q');
		await server.untilPrompt('main');
	}
});

/** The point in the middle of a cell of the visible screen. */
const cellAt = (page, row, column) => page.evaluate(([y, x]) => {
	const { width, height } = window.ringside.terminal.dimensions.css.cell;
	const { left, top } = document.querySelector('.xterm-screen').getBoundingClientRect();
	return [left + (x + 0.5) * width, top + (y + 0.5) * height];
}, [row, column]);

/** The point in the middle of the first cell of a text on the visible screen. */
async function placeOf(page, wanted) {
	const [row, column] = await until(`${wanted} on the screen`, () => page.evaluate((part) => {
		const { buffer: { active }, rows } = window.ringside.terminal;
		for (let y = 0; y < rows; y++) {
			const x = active.getLine(active.viewportY + y)?.translateToString(true).indexOf(part) ?? -1;
			if (x >= 0) return [y, x];
		}
		return null;
	}, wanted));
	return cellAt(page, row, column);
}

scenario('a long press selects a word, dragging and handles extend it, and a menu copies, pastes and leads to the command', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main', cols: 80, rows: 24 });
	const { page, down, move, up, swipe } = await phone(server);
	await server.api.input('main', 'clear; echo one two/three.txt; seq -f line-%g 1 60; echo "four (fi""ve) six seven"\r');
	await shows(page, /four \(five\) six seven\n[#$]/);
	const menu = page.getByTestId('touch-menu');
	const item = (name) => menu.getByRole('button', { name });
	const selected = () => page.evaluate(() => window.ringside.terminal.getSelection());
	const isSelected = (wanted) => until(async () => `${wanted} selected, not ${await selected()}`, async () => await selected() === wanted);
	const press = async (point) => {
		await down(point);
		await until('the long press', async () => await selected() !== '');
	};
	await press(await placeOf(page, 'ive)'));
	await up();
	await isSelected('five');
	await menu.waitFor();
	await shot(page, 'selected');
	assert.equal(await page.evaluate(() => document.activeElement.matches('textarea')), false, 'the long press has opened the keyboard');
	await item('Copy').tap();
	await until('the copy', async () => await page.evaluate(() => navigator.clipboard.readText()) === 'five');
	await menu.waitFor({ state: 'hidden' });
	assert.equal(await selected(), '');

	// Dragging after the long press, in both directions; the word stays selected.
	await press(await placeOf(page, 'ix seven'));
	await move(await placeOf(page, 'en'));
	await isSelected('six seve');
	await move(await placeOf(page, 'ive)'));
	await isSelected('ive) six');
	await up();
	const drag = async (end, to) => {
		const { x, y, width, height } = await page.getByTestId(`touch-handle-${end}`).boundingBox();
		const [at, [toX, toY]] = [[x + width / 2, y + height / 2], to];
		const [fromX, fromY] = await placeOf(page, end === 'start' ? (await selected()).slice(0, 8) : (await selected()).slice(-1) + ' seven');
		await swipe(at, [at[0] + 20, at[1]], [at[0] + toX - fromX, at[1] + toY - fromY]);
	};
	await drag('start', await placeOf(page, 'our ('));
	await isSelected('our (five) six');
	// At the upper edge it scrolls.
	const handle = await page.getByTestId('touch-handle-start').boundingBox();
	const { y: top } = await page.getByTestId('terminal').boundingBox();
	await down([handle.x + 22, handle.y + 22]);
	await move([handle.x + 22, handle.y - 100]);
	await move([1, top + 5]);
	await until('the first line', async () => /^one two\/three\.txt\nline-1\n[^]*our \(five\) six$/.test(await selected()));
	await up();
	await page.touchscreen.tap(...await cellAt(page, 12, 60));
	await until('no selection', async () => await selected() === '' && await menu.isHidden());
	assert.equal(await page.evaluate(() => document.activeElement.matches('textarea')), false, 'the tap has opened the keyboard');

	// Where there is no text, the menu can only paste and select all.
	await page.evaluate(() => window.ringside.terminal.scrollToBottom());
	await page.evaluate(() => navigator.clipboard.writeText('echo pa""sted'));
	await down(await cellAt(page, 20, 70));
	await menu.waitFor();
	await up();
	assert.deepEqual([await item('Copy').isVisible(), await item('Paste').isVisible()], [false, true]);
	await shot(page, 'place');
	await item('Select all').tap();
	await until('all', async () => /line-30\nline-31\n[^]*six seven/.test(await selected()));
	await item('Paste').tap();
	await server.outputMatches('main', /echo pa""sted/);
	assert.equal(await selected(), '');
	await press(await placeOf(page, 'four (five) six'));
	await up();
	await item('Command').tap();
	await page.getByTestId('block-card').filter({ hasText: 'seq -f' }).waitFor();
	await shot(page, 'command');
	await page.touchscreen.tap(...await cellAt(page, 22, 60));
	await page.getByTestId('block-card').waitFor({ state: 'hidden' });
});
