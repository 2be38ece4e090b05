// The page on a phone: swipes, selection, the on-screen keyboard, targets of fingers, and the session's size.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, open as openPage, skip } from './lib/browser.mjs';

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 3, reducedMotion: 'reduce' };
const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/phone-${name}.png` });

/** A page on a phone, after a script in it, with its fingers: down(), move(), up() take points [x, y] of the window. */
async function phone(server, { url = server.loginUrl, init = () => {}, ...options } = {}) {
	const context = await (await launch(server)).newContext({ ...PHONE, permissions: ['clipboard-read', 'clipboard-write'], ...options });
	await context.addInitScript(init);
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
	// It pans to the cursor when the user types, and not on output after the page has panned, as a search does, nor when
	// the keyboard closes.
	const panned = async () => (await view(page)).panned;
	const panUp = async () => {
		await page.keyboard.press('Backspace');
		await until('the cursor', async () => await panned() > 0);
		await page.evaluate(() => { document.querySelector('.mount').scrollTop = 0; });
	};
	await page.evaluate(() => window.ringside.terminal.focus());
	await panUp();
	await server.api.input('main', 'echo out""put\r');
	await shows(page, /^output$/m);
	assert.equal(await panned(), 0, 'output pans to the cursor');
	await page.setViewportSize({ width: 390, height: 500 });
	await until('the cursor', async () => await panned() > 0);
	await panUp();
	const { height: tight } = await page.getByTestId('terminal').boundingBox();
	await page.setViewportSize(PHONE.viewport);
	await until('the height', async () => (await page.getByTestId('terminal').boundingBox()).height > tight + 200);
	await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
	assert.equal(await panned(), 0, 'closing the keyboard pans to the cursor');
	await page.evaluate(() => document.activeElement.blur());

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

/** A soft keyboard, by what it does to the text area: it composes, commits, replaces and deletes. */
function keyboard({ page, cdp }) {
	const key = (type) => cdp.send('Input.dispatchKeyEvent', { type, windowsVirtualKeyCode: 229, key: 'Unidentified', code: '' });
	const typed = async (change) => {
		await key('rawKeyDown');
		await change();
		await key('keyUp');
	};
	const compose = (composed, range = {}) => typed(() => cdp.send('Input.imeSetComposition',
		{ text: composed, selectionStart: composed.length, selectionEnd: composed.length, ...range }));
	const value = () => page.locator('.xterm-helper-textarea').evaluate((element) => element.value);
	return {
		value, compose,
		/** The keyboard begins anew. */
		padded: () => until('an empty text area', async () => /^ {20,}$/.test(await value())),
		commit: (committed) => typed(() => cdp.send('Input.insertText', { text: committed })),
		/** Compose the last so many characters again. */
		recompose: async (length, composed) => {
			const end = await page.evaluate(() => document.querySelector('.xterm-helper-textarea').selectionEnd);
			await compose(composed, { replacementStart: end - length, replacementEnd: end });
		},
		/** Delete backwards, as a keyboard does with committed text. */
		erase: (count = 1) => typed(() => page.evaluate((times) => {
			for (let each = 0; each < times; each++) document.execCommand('delete');
		}, count)),
		/** An input without a command for it. value: of the text area afterwards; without it, the default of `beforeinput` is prevented. */
		event: (inputType, data, value = null) => page.evaluate(([type, inserted, after]) => {
			const area = document.querySelector('.xterm-helper-textarea');
			const options = { inputType: type, data: inserted, bubbles: true, composed: true };
			if (area.dispatchEvent(new InputEvent('beforeinput', { ...options, cancelable: true })) !== (after !== null)) throw new Error(type);
			if (after === null) return;
			area.value = after;
			area.dispatchEvent(new InputEvent('input', options));
		}, [inputType, data, value]),
	};
}

scenario('what a soft keyboard composes, corrects and deletes arrives exactly once', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main', cols: 80, rows: 24 });
	const opened = await phone(server);
	const { page } = opened;
	const { padded, compose, commit, recompose, erase } = keyboard(opened);
	await page.getByTestId('terminal').tap();
	assert.deepEqual(await page.locator('.xterm-helper-textarea').evaluate((element) => ['autocapitalize', 'autocorrect', 'autocomplete', 'spellcheck', 'enterkeyhint', 'inputmode']
		.map((name) => element.getAttribute(name))), ['off', 'off', 'off', 'false', 'enter', 'text']);
	const line = async (type, wanted) => {
		await type();
		await page.keyboard.press('Enter');
		await shows(page, new RegExp(`^<${wanted}>$`, 'm'));
		await padded();
	};
	const spell = async (word) => {
		for (let length = 1; length <= word.length; length += 1) await compose(word.slice(0, length));
	};
	const cases = [
		['hello', async () => { await spell('hello'); await commit('hello'); }],
		['ab cd', async () => { await spell('ab'); await commit('ab '); await spell('cd'); await commit('cd'); }],
		['swiped words', async () => { await compose('swiped'); await commit('swiped'); await commit(' '); await compose('words'); await commit('words'); }],
		['the cat', async () => { await spell('te' + 'h'); await commit('the '); await spell('cat'); await commit('cat'); }],
		['the dog', async () => { await spell('te' + 'h'); await commit('te' + 'h '); await recompose(4, 'the '); await commit('the '); await commit('dog'); }],
		['done. Next', async () => { await spell('done'); await commit('done '); await recompose(1, '. '); await commit('. '); await commit('Next'); }],
		['tx', async () => { await spell('te' + 'h'); await commit('the '); await erase(3); await commit('x'); }],
		['👍🏽é', async () => { await commit('👍🏽'); await commit('😀'); await erase(1); await spell('e'); await commit('é'); }],
		['漢字', async () => { await spell('かんじ'); await compose('漢字'); await commit('漢字'); }],
		['한글', async () => { for (const part of ['ㅎ', '하', '한', '한ㄱ', '한그', '한글']) await compose(part); await commit('한글'); }],
	];
	// The kernel's line editing, then readline's.
	for (const [read, some] of [['read -r', cases.filter((each, index) => index % 3 === 1)], ['read -er', cases]]) {
		await server.api.input('main', `clear; while ${read} line && [ "$line" != end ]; do echo "<$line>"; done\r`);
		await until(read, async () => (await page.evaluate(() => window.ringside.terminal.modes.bracketedPasteMode)) === (read === 'read -er'));
		for (const [wanted, type] of some) await line(type, wanted);
		await page.keyboard.type('end');
		await page.keyboard.press('Enter');
		await server.untilPrompt('main');
	}
});

scenario('a soft keyboard beside other keys, and input methods of other keyboards', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main', cols: 80, rows: 24 });
	const opened = await phone(server);
	const { page, cdp } = opened;
	const { padded, value, compose, commit, recompose, erase, event } = keyboard(opened);
	const area = page.locator('.xterm-helper-textarea');
	const key = (name) => page.getByTestId('key-bar').getByRole('button', { name, exact: true }).tap();
	/** The prompt has this text; then it is emptied. */
	const prompt = async (wanted) => {
		await shows(page, new RegExp(`^[#$] ${wanted}$\\n*$`, 'm'));
		await empty();
	};
	const empty = async () => {
		for (const each of ['Control+e', 'Control+u']) await page.keyboard.press(each);
		await shows(page, /^[#$] ?$\n*$/m);
	};
	await page.getByTestId('terminal').tap();
	await padded();

	// Backspace and words beyond what the keyboard has typed.
	await page.keyboard.type('one two');
	await padded();
	await erase(2);
	await commit('X');
	await prompt('one tX');
	await padded();
	await page.keyboard.type('one two');
	await padded();
	await event('deleteWordBackward', null, ' '.repeat(25));
	await commit('X');
	await prompt('one X');
	await padded();
	// What was typed before another key is not erased.
	await compose('hel');
	await key('Left');
	assert.match(await value(), /^ +$/, 'the keyboard does not begin anew');
	await compose('p');
	await commit('p');
	await prompt('hepl');
	await padded();
	// A character of the key bar is part of what the keyboard sees.
	await compose('foo');
	await key('Slash');
	await compose('bar');
	await commit('bar');
	await recompose(7, 'foo/baz');
	await commit('foo/baz ');
	assert.match(await value(), /^ +foo\/baz $/);
	await prompt('foo/baz ');
	await padded();
	// A paste in a composition, and control characters in a keyboard's clipboard.
	await page.evaluate(() => navigator.clipboard.writeText('PASTED'));
	await compose('te' + 'h');
	await key('Paste');
	await shows(page, /tehPASTED$/m);
	assert.match(await value(), /^ +$/, 'the keyboard does not begin anew');
	await commit('the ');
	await prompt('tehPASTEDthe ');
	await padded();
	await commit('a\x02b');
	await prompt('ab');
	await padded();
	// A word that is selected by a double tap, which xterm.js puts into the text area.
	await page.keyboard.type('one two');
	const word = await placeOf(page, 'one two');
	for (let tap = 0; tap < 2; tap += 1) await page.touchscreen.tap(...word);
	await until('the selected word', () => page.evaluate(() => window.ringside.terminal.getSelection() === 'one'));
	await padded();
	await erase();
	await commit('X');
	await prompt('one twX');
	await padded();
	// An input method's Enter chooses a candidate. A keyboard's Enter may have no code.
	const enter = async (windowsVirtualKeyCode) => {
		for (const type of ['keyDown', 'keyUp'])
			await cdp.send('Input.dispatchKeyEvent', { type, windowsVirtualKeyCode, key: 'Enter', code: '', ...(windowsVirtualKeyCode === 13 && type === 'keyDown' ? { text: '\r' } : {}) });
	};
	await compose('echo kan');
	await enter(229);
	await commit('echo 漢');
	await enter(229);
	await shows(page, /^[#$] echo 漢$\n*$/m);
	await enter(13);
	await shows(page, /^漢$/m);
	await padded();
	// A program that fills the screen gets no key for a word.
	await server.api.input('main', `stty -icanon -echo; printf '\\e[?1049h'; keys=$(dd bs=1 count=2 2>&- | od -An -tx1); printf '\\e[?1049l'; stty sane; echo "keys$keys"\r`);
	await until('the program', () => page.evaluate(() => window.ringside.terminal.buffer.active.type === 'alternate'));
	await event('deleteWordBackward', null, ' '.repeat(25));
	await commit('X');
	await shows(page, /^keys 7f 58$/m);
	await server.untilPrompt('main');
	await page.keyboard.press('Control+l');
	await empty();
	await padded();
	// A modifier of the key bar, Enter within a composition, and losing the focus in one.
	await page.keyboard.type('x');
	await key('Ctrl');
	await compose('c');
	await shows(page, /x\^C\n[#$] ?\n*$/);
	await commit('c');
	await compose('echo com');
	await compose('echo comp""osed');
	await page.keyboard.press('Enter');
	await shows(page, /^composed$/m);
	await commit('echo comp""osed');
	await commit('y');
	await prompt('y');
	await padded();
	await compose('kept');
	await area.evaluate((element) => element.blur());
	await page.getByTestId('terminal').tap();
	await padded();
	await commit('!');
	await prompt('kept!');
	await padded();
	// Replacements without a composition, new lines, and several lines, which are a paste.
	await commit('a te' + 'h');
	await event('insertReplacementText', null, `${await value()}`.replace(/.{3}$/, 'the'));
	await prompt('a the');
	await commit('echo li""ne');
	await event('insertLineBreak', null);
	await shows(page, /^line$/m);
	await commit('echo ent""er\n');
	await shows(page, /^enter$/m);
	await commit('echo pas""ted\necho no""thing\n');
	await server.outputMatches('main', /echo no""thing/);
	assert.doesNotMatch(await text(page), /^nothing$/m);
	await empty();

	// A soft key that has a keyCode, but no code, as digits of some keyboards.
	await padded();
	await commit('a');
	for (const type of ['keyDown', 'keyUp'])
		await cdp.send('Input.dispatchKeyEvent', { type, windowsVirtualKeyCode: 49, key: '1', code: '', ...(type === 'keyDown' ? { text: '1' } : {}) });
	await until('the text area', async () => /^ +a1$/.test(await value()));
	await prompt('a1');
	await padded();

	// A physical keyboard on the phone, with an input method: xterm.js shows the text until it is committed.
	const physical = (type) => cdp.send('Input.dispatchKeyEvent', { type, windowsVirtualKeyCode: 229, key: 'Process', code: 'KeyK' });
	const preedit = page.locator('.composition-view.active');
	await physical('rawKeyDown');
	await cdp.send('Input.imeSetComposition', { text: 'か', selectionStart: 1, selectionEnd: 1 });
	await preedit.filter({ hasText: 'か' }).waitFor();
	await physical('keyUp');
	await physical('rawKeyDown');
	await cdp.send('Input.insertText', { text: '蚊' });
	await physical('keyUp');
	await prompt('蚊');
	await commit('soft');
	await prompt('soft');

	// On an iPhone soft keys look like others, but the keyboard corrects only what is in the text area.
	const apple = await phone(server, { init: () => Object.defineProperty(navigator, 'platform', { get: () => 'iPhone' }) });
	await apple.page.getByTestId('terminal').tap();
	await keyboard(apple).padded();
	await apple.page.keyboard.type('abc');
	await apple.page.keyboard.press('Backspace');
	await keyboard(apple).commit('d ');
	assert.match(await keyboard(apple).value(), /^ +abd $/);
	await prompt('abd ');

	// A desktop.
	const desk = await openPage(await (await launch(server)).newContext({ viewport: { width: 900, height: 500 } }), server.loginUrl);
	const ime = await desk.context().newCDPSession(desk);
	await desk.getByTestId('terminal').click();
	const { offset } = await server.api.get('main');
	for (const part of ['ㅎ', '하', '한']) await ime.send('Input.imeSetComposition', { text: part, selectionStart: 1, selectionEnd: 1 });
	await desk.locator('.composition-view.active').filter({ hasText: '한' }).waitFor();
	assert.equal((await server.api.get('main')).offset, offset, 'the text was sent before it was committed');
	await ime.send('Input.insertText', { text: '한' });
	await shows(page, /^[#$] 한$/m);
	for (const part of ['g', 'ge', 'げ', '言語']) await ime.send('Input.imeSetComposition', { text: part, selectionStart: part.length, selectionEnd: part.length });
	await ime.send('Input.insertText', { text: '言語' });
	await shows(page, /^[#$] 한言語$/m);
	await desk.keyboard.type('é!');
	await prompt('한言語é!');
});

/** What of the terminal is visible: rows, the row of the cursor among them, and the bars around it. */
const visible = (page) => page.evaluate(() => {
	const { buffer: { active }, dimensions: { css: { cell } } } = window.ringside.terminal;
	const mount = document.querySelector('.mount').getBoundingClientRect();
	const screen = document.querySelector('.xterm-screen').getBoundingClientRect();
	const shown = (name) => document.querySelector(name)?.checkVisibility() ?? false;
	const top = Math.max(mount.top, document.querySelector('.block-header').getBoundingClientRect().bottom);
	return {
		rows: Math.min(mount.bottom - top, screen.bottom - top) / cell.height,
		cursor: (screen.top - top + (active.cursorY + 1) * cell.height) / cell.height,
		bars: ['.top-bar', '.status-bar', '.sidebar-open'].filter(shown),
		keys: document.querySelector('.key-bar').getBoundingClientRect().height,
		inside: document.querySelector('.key-bar').getBoundingClientRect().bottom <= window.innerHeight + 0.5,
	};
});

scenario('the on-screen keyboard leaves eight rows of the terminal, with the cursor', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main', cols: 80, rows: 24 });
	await server.client({ sessionId: 'main', cols: 80, rows: 24 }).connect();
	const { page, down, up } = await phone(server);
	const size = async (width, height) => {
		await page.setViewportSize({ width, height });
		await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
	};
	await shot(page, 'portrait');
	await page.getByTestId('terminal').tap();
	await size(390, 500);
	let now = await visible(page);
	assert.ok(now.rows >= 20 && now.inside, JSON.stringify(now));
	assert.deepEqual(now.bars, ['.top-bar']);
	await shot(page, 'portrait-keyboard');
	// It is turned with its keyboard.
	await size(844, 150);
	await until(() => JSON.stringify(now), async () => {
		now = await visible(page);
		return now.rows >= 8 && now.bars.length === 0 && now.inside;
	});
	await page.evaluate(() => document.activeElement.blur());
	await size(844, 390);
	await shot(page, 'landscape');
	assert.deepEqual((await visible(page)).bars, ['.top-bar', '.status-bar']);
	await page.getByTestId('terminal').tap();
	// The prompt is at the top of the screen, at its end, and in a program where the program puts it.
	for (const [what, before] of [['top', 'clear'], ['end', 'seq 100'], ['in the middle', "clear; printf '\\e[12;70H'"]]) {
		await size(844, 390);
		await server.api.input('main', `${before}\r`);
		await server.untilPrompt('main');
		for (const height of [190, 135]) {
			await size(844, height);
			await page.keyboard.type('x');
			await until(() => `${what}, ${height}: ${JSON.stringify(now)}`, async () => {
				now = await visible(page);
				return now.rows >= 8 && now.bars.length === 0 && now.inside && now.keys <= 48 && now.cursor > 0.9 && now.cursor <= now.rows + 0.05;
			});
			await page.keyboard.press('Backspace');
			await shot(page, `landscape-keyboard-${what.replaceAll(' ', '-')}-${height}`);
		}
	}
	// The name of a running command covers no row.
	await size(844, 390);
	await server.api.input('main', 'seq 100; sleep 1000\r');
	await page.getByTestId('block-header').waitFor();
	await size(844, 135);
	await page.keyboard.type('x');
	await until(() => JSON.stringify(now), async () => {
		now = await visible(page);
		return now.rows >= 8 && now.cursor > 0.9 && now.cursor <= now.rows + 0.05;
	});
	// Its buttons work at the first tap, also while text is selected.
	await size(844, 390);
	await down(await placeOf(page, '100'));
	await until('the selection', () => page.evaluate(() => window.ringside.terminal.getSelection() !== ''));
	await up();
	await page.getByTestId('block-stop').tap();
	await server.untilPrompt('main');
	assert.equal(await page.evaluate(() => window.ringside.terminal.getSelection()), '');
});

/** Visible targets of fingers that are smaller than 44 by 44 pixels. */
const tooSmall = (page) => page.evaluate(() => {
	const modal = document.querySelector('dialog[open]') ?? document;
	return [...modal.querySelectorAll('button, select, input, textarea, summary, [role=option], [data-testid=session-item] a, [data-testid=wall-open]')].filter((element) => {
		if (!element.checkVisibility({ checkVisibilityCSS: true }) || element.closest('[inert]')) return false;
		if (element.matches('.xterm-helper-textarea') || getComputedStyle(element).pointerEvents === 'none') return false;
		const { width, height } = (element.closest('label:has([type=radio], [type=checkbox])') ?? element).getBoundingClientRect();
		return width < 43.9 || height < 43.9;
	}).map((element) => element.outerHTML.slice(0, 200));
});

scenario('targets of fingers are large enough', { skip, timeout: 90_000 }, async (server) => {
	for (const id of ['main', 'other', 'gone']) await server.session({ id, cols: 80, rows: 24 });
	await server.api.input('other', 'read -sp "Password: " x\r');
	await server.api.input('gone', 'exit 3\r');
	await server.api.input('main', 'false; seq 200; ls /nonexistent\r');
	await server.client({ sessionId: 'main', cols: 80, rows: 24 }).connect();
	const { page } = await phone(server, { url: server.loginUrl.replace('#', '?s=main#'), deviceScaleFactor: 1 });
	const large = async (what) => {
		assert.deepEqual(await tooSmall(page), [], what);
		assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${what} is wider than the phone`);
		await shot(page, `targets-${what.replaceAll(' ', '-')}`);
	};
	const at = (testId) => page.getByTestId(testId).first();
	const close = async (testId) => {
		await page.keyboard.press('Escape');
		await at(testId).waitFor({ state: 'hidden' });
	};
	const fromPalette = async (name, testId) => {
		await page.getByRole('button', { name: /^Command palette/ }).tap();
		await at('palette-item').waitFor();
		await at('palette-input').fill(name);
		await page.keyboard.press('Enter');
		await at(testId).waitFor();
	};
	await at('size-badge').waitFor();
	await large('the page');
	await page.getByRole('button', { name: /^Sessions/ }).tap();
	await at('inbox-secret').waitFor();
	await large('sessions');
	await at('new-session-as').tap();
	await at('session-name').waitFor();
	await large('new session');
	await close('session-name');
	await at('wall-button').tap();
	await at('wall-answer').tap();
	await at('wall-answer-form').waitFor();
	await large('wall');
	await at('wall-close').tap();
	await at('share').tap();
	await at('share-create').tap();
	await at('share-revoke').waitFor();
	await large('share');
	await close('share-dialog');
	await fromPalette('settings', 'settings');
	await large('settings');
	await close('settings');
	await page.getByRole('button', { name: /^Search/ }).tap();
	await at('search-input').fill('[');
	await large('search');
	await close('search');
	await page.evaluate(() => window.ringside.terminal.scrollLines(-30));
	await at('block-header').waitFor();
	await page.getByTestId('block').first().dispatchEvent('click');
	await at('block-card').waitFor();
	await large('command');
	await fromPalette('commands of all', 'panel-row');
	await large('commands');
	await server.api.call('POST', '/api/session/main/lease', { owner: 'agent', ttlMs: 60_000 });
	await page.getByTestId('blocks-panel').getByRole('button', { name: 'Close' }).tap();
	await at('lease-take').waitFor();
	for (const [width, height] of [[844, 390], [768, 1024], [320, 568]]) {
		await page.setViewportSize({ width, height });
		await large(`${width} by ${height}`);
	}
	await page.getByRole('button', { name: /^Sessions/ }).tap();
	await at('wall-button').waitFor();
	await large('sessions on a narrow phone');
	assert.deepEqual(await page.evaluate(() => {
		const drawer = document.querySelector('.sidebar').getBoundingClientRect();
		return [...document.querySelectorAll('.sidebar > *')].filter((each) => each.getBoundingClientRect().right > drawer.right).map((each) => each.className);
	}), [], 'wider than the drawer');
	await page.goto('about:blank');
	await page.context().clearCookies();
	await page.goto(server.base);
	await at('sign-in').waitFor();
	await large('sign in');
});

scenario('a phone shrinks no session for others, and begins new ones in its own size', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main', cols: 132, rows: 40 });
	const size = async (id) => {
		const { cols, rows } = await server.api.get(id);
		return `${cols}x${rows}`;
	};
	const desk = await server.client({ sessionId: 'main', cols: 132, rows: 40 }).connect();
	const { page } = await phone(server);
	await page.getByTestId('terminal').tap();
	await page.setViewportSize({ width: 390, height: 500 });
	await page.keyboard.type('stty size');
	await page.keyboard.press('Enter');
	await shows(page, /^40 132$/m);
	await page.setViewportSize({ width: 390, height: 844 });
	await page.getByTestId('size-badge').filter({ hasText: '132×40' }).waitFor();
	await desk.close();
	await page.getByTestId('size-badge').filter({ hasText: 'Session size' }).waitFor();
	await page.keyboard.type('stty size; echo al""one');
	await page.keyboard.press('Enter');
	await shows(page, /^40 132\nalone$/m);
	assert.equal(await size('main'), '132x40');
	// The user may ask for it.
	await page.getByTestId('size-badge').getByRole('button').tap();
	await until('the size of the phone', async () => Number.parseInt(await size('main'), 10) < 60);
	// A new session has no other client.
	await page.setViewportSize({ width: 390, height: 844 });
	await page.reload();
	await until('the page', () => page.evaluate(() => window.ringside?.connection?.state.kind === 'live'));
	await page.getByRole('button', { name: /^Sessions/ }).tap();
	await page.getByTestId('new-session').tap();
	const made = await until('the new session', async () => (await server.api.list()).sessions.find(({ id }) => id !== 'main'));
	const [cols, rows] = (await size(made.id)).split('x').map(Number);
	assert.ok(cols > 30 && cols < 60 && rows > 25, `${cols}x${rows}`);
	await until('the font', () => page.evaluate((width) => window.ringside.terminal?.cols === width && window.ringside.terminal.options.fontSize >= 12, cols));
	await page.getByTestId('size-badge').waitFor({ state: 'hidden' });
	await shot(page, 'new');
	// The keyboard is open for the palette, and does not make the session smaller.
	await page.getByTestId('terminal').tap();
	await page.setViewportSize({ width: 390, height: 450 });
	await until('the keyboard', () => page.evaluate(() => document.documentElement.matches('.keyboard-open')));
	await page.getByRole('button', { name: /^Command palette/ }).tap();
	await page.getByTestId('palette-input').fill('New session here');
	await page.getByTestId('palette-item').first().tap();
	const next = await until('the next session', async () => (await server.api.list()).sessions.find(({ id }) => id !== 'main' && id !== made.id));
	assert.equal(await size(next.id), `${cols}x${rows}`);
	// The phone is turned with its keyboard, so the height is unknown: eight rows in the normal font.
	await until('the terminal', () => page.evaluate((id) => window.ringside.connection?.state.kind === 'live' && location.search.includes(id), next.id));
	await page.evaluate(() => window.ringside.terminal.focus());
	await page.setViewportSize({ width: 844, height: 150 });
	await until('the small font', () => page.evaluate(() => window.ringside.terminal.options.fontSize < 12));
	await page.keyboard.press('Control+Shift+Enter');
	const turned = await until('the last session', async () => (await server.api.list()).sessions.find(({ id }) => !['main', made.id, next.id].includes(id)));
	const [wide, low] = (await size(turned.id)).split('x').map(Number);
	assert.ok(low === 8 && wide < 115, `${wide}x${low}`);
	await server.client({ sessionId: made.id, cols: 100, rows: 30 }).connect();
	await until('the size of the other', async () => await size(made.id) === '100x30');
	// A guest that may only watch has no keys and nothing to paste into.
	const { path: fragment } = await server.api.link('main', 'viewer');
	const guest = await phone(server, { url: `${server.base}${fragment}` });
	await guest.down(await placeOf(guest.page, 'alone'));
	await until('the word', () => guest.page.evaluate(() => window.ringside.terminal.getSelection() !== ''));
	await guest.up();
	await guest.page.getByTestId('touch-menu').waitFor();
	assert.deepEqual(await guest.page.getByTestId('touch-menu').getByRole('button').allInnerTexts(), ['Copy', 'Select all', 'Command']);
	assert.equal(await guest.page.getByTestId('key-bar').count(), 0);
});
