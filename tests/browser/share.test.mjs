// The page in a real browser: two people share a shell through a crash of the server.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { scenario, slowness } from '../integration/lib/server.mjs';
import { pause, stays, until } from '../integration/lib/until.mjs';
import { launch, live, skip } from './lib/browser.mjs';

/** Errors that a browser logs while the server is down; ignored only then. */
const awayErrors = /ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE|ERR_SOCKET|ERR_NETWORK|WebSocket connection to/;

/** One person: a browser context with a page that records all errors. */
class Person {
	constructor(server, name) {
		this.server = server;
		this.name = name;
		this.errors = [];
		this.away = false;
	}

	/** enter: makes the page live. */
	static async open(server, name, { url = server.loginUrl, enter, ...options } = {}) {
		const person = new Person(server, name);
		const browser = await launch(server);
		const context = await browser.newContext({ viewport: { width: 1100, height: 700 }, ...options });
		await context.addInitScript(() => {
			window.addEventListener('securitypolicyviolation', (event) => {
				console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
			});
		});
		const page = await context.newPage();
		page.setDefaultTimeout(15_000 * slowness);
		page.on('console', (message) => {
			if (message.type() !== 'error') return;
			if (person.away && awayErrors.test(message.text())) return;
			person.errors.push(`console: ${message.text()} (${message.location().url})`);
		});
		page.on('pageerror', (error) => person.errors.push(`exception: ${error.stack ?? error}`));
		page.on('dialog', (dialog) => {
			person.errors.push(`dialog: ${dialog.message()}`);
			dialog.dismiss();
		});
		person.page = page;
		person.answer = await page.goto(url);
		await enter?.(person);
		await person.live();
		return person;
	}

	at(testId) {
		return this.page.getByTestId(testId);
	}

	/** The text of the whole buffer, with wrapped rows joined. */
	text() {
		return this.page.evaluate(() => {
			const buffer = window.ringside.terminal.buffer.active;
			let text = '';
			for (let row = 0; row < buffer.length; row += 1) {
				const line = buffer.getLine(row);
				const next = buffer.getLine(row + 1);
				text += line.translateToString(!next?.isWrapped) + (next?.isWrapped ? '' : '\n');
			}
			return text;
		});
	}

	async shows(pattern, options) {
		let text = '';
		return until(() => `${pattern} at ${this.name}, where there is:\n${text.trimEnd().slice(-3000)}\nerrors: ${this.errors}`, async () => {
			text = await this.text();
			return pattern.exec(text);
		}, { interval: 50, ...options });
	}

	live() {
		return live(this.page).catch((error) => { throw new Error(`${this.name}; errors: ${this.errors}`, { cause: error }); });
	}

	offset() {
		return this.page.evaluate(() => window.ringside.connection.offset);
	}

	/** Wait until the screen shows everything up to the session's head. */
	async caughtUp(id) {
		await until(`end of the output at ${this.name}`, async () => {
			const { offset } = await this.server.api.get(id);
			return await this.offset() === offset;
		});
		await this.page.evaluate(() => new Promise((resolve) => { window.ringside.whenParsed(resolve); }));
	}

	async types(text) {
		await this.at('terminal').click();
		await this.page.keyboard.type(text);
	}

	async runs(command) {
		await this.types(command);
		await this.page.keyboard.press('Enter');
	}

	well() {
		assert.deepEqual(this.errors, [], `${this.name}: ${this.errors.join('\n')}`);
	}
}

const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });

async function onlySession(server) {
	const { sessions } = await server.api.list();
	assert.equal(sessions.length, 1, 'more or less than one session');
	return sessions[0];
}

scenario('two people open the address, share a shell, and live through a crash of the server', { skip, timeout: 100_000 }, async (server) => {
	const ada = await Person.open(server, 'Ada');
	const bob = await Person.open(server, 'Bob', { viewport: { width: 900, height: 600 } });
	const { id } = await onlySession(server);
	const everyone = [ada, bob];

	assert.match(ada.answer.headers()['content-security-policy'] ?? '', /default-src/);
	for (const { page } of everyone) {
		assert.ok(!page.url().includes(server.token), 'the token is still in the address');
		assert.ok(!(await page.content()).includes(server.token), 'the token is in the page');
		assert.ok(!(await page.evaluate(() => JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }) + document.cookie)).includes(server.token),
			'scripts can read the token');
	}

	await ada.runs('echo hello-$((40+2))');
	for (const person of everyone) await person.shows(/^hello-42$/m);
	await bob.runs('echo to-you-$((1+2))');
	for (const person of everyone) await person.shows(/^to-you-3$/m);
	for (const person of everyone) await person.caughtUp(id);
	assert.equal(await ada.text(), await bob.text());
	await until('two in the presence', async () => /2|ada|bob/i.test(await ada.at('presence').innerText()) || (await ada.at('presence').locator('*').count()) >= 2);
	assert.equal(await ada.at('session-item').count(), 1);
	await ada.at('latency').filter({ hasText: 'ms' }).waitFor();

	for (const { page } of everyone) await page.evaluate(() => { window.notReloaded = true; });
	writeFileSync(path.join(server.cwd, 'count'), '$| = 1; for (1 .. 400) { print "line-$_-of-the-counter\\n"; select undef, undef, undef, 0.01 }');
	await ada.runs("perl count; echo ov''er");
	for (const lines of [40, 200]) {
		for (const person of everyone) await person.shows(new RegExp(`^line-${lines}-of`, 'm'));
		everyone.forEach((person) => { person.away = true; });
		await server.kill('SIGKILL');
		await pause(lines === 200 ? 1500 : 150); // long enough for a banner, or too short for it
		if (lines === 200) {
			await until('a banner', async () => /reconnect|lost/i.test(await ada.at('banner').innerText()));
		}
		await server.start();
		for (const person of everyone) await person.live();
		everyone.forEach((person) => { person.away = false; });
	}
	for (const person of everyone) await person.shows(/^over$/m, { timeout: 30_000 });
	for (const person of everyone) {
		await person.caughtUp(id);
		assert.equal(await person.page.evaluate(() => window.notReloaded), true, 'the page was reloaded');
		const numbers = [...(await person.text()).matchAll(/^line-(\d+)-of-the-counter$/gm)].map(([, number]) => Number(number));
		assert.deepEqual(numbers, Array.from({ length: 400 }, (_, at) => at + 1), `${person.name}: lines are lost or repeated`);
		await until('no banner', () => person.at('banner').isHidden());
	}
	assert.equal(await ada.text(), await bob.text());
	await bob.runs('echo go-on-$((3*3))');
	for (const person of everyone) await person.shows(/^go-on-9$/m);

	await ada.page.reload();
	await ada.live();
	await ada.shows(/^go-on-9$/m);
	await ada.caughtUp(id);
	assert.equal(await ada.text(), await bob.text(), 'a new page shows another text');
	everyone.forEach((person) => person.well());
});

scenario('a viewer can only watch; a driver can only type', { skip, timeout: 80_000 }, async (server) => {
	const { api } = server;
	const ada = await Person.open(server, 'Ada');
	const { id } = await onlySession(server);
	await ada.at('share').click();
	await ada.at('share-role-viewer').check();
	await ada.at('share-create').click();
	const url = await ada.at('share-link').inputValue();
	assert.match(url, /\/#link=eyJ/);
	await ada.page.keyboard.press('Escape');

	const vi = await Person.open(server, 'Vi', { url });
	assert.ok(!vi.page.url().includes('eyJ'), 'the link\'s token is still in the address');
	assert.match(await vi.at('role-badge').innerText(), /watch|view|read/i);
	assert.equal(await vi.at('session-list').count(), 0, 'a guest sees the list of sessions');
	assert.equal(await vi.at('share').count(), 0);
	await ada.runs('echo for-the-$((1+1))-of-us');
	await vi.shows(/^for-the-2-of-us$/m);
	await vi.caughtUp(id);

	const { offset } = await api.get(id);
	await vi.runs('touch viewer-was-here');
	await vi.page.locator('.toast').filter({ hasText: 'only allows watching' }).waitFor();
	await vi.page.keyboard.press('Control+c');
	await vi.page.evaluate(() => {
		const area = document.querySelector('[data-testid=terminal] textarea');
		const data = new DataTransfer();
		data.setData('text/plain', 'touch pasted\n');
		area?.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
		window.ringside.terminal.input('touch by-script\n');
	});
	await stays('no output', async () => (await api.get(id)).offset === offset, 600);
	assert.equal(await server.run(id, 'ls'), '');
	await vi.shows(/m\d+>$/m);

	const { path: fragment } = await api.link(id, 'driver', 600_000);
	const dora = await Person.open(server, 'Dora', { url: `${server.base}${fragment}` });
	await dora.runs('echo dri-$((5+5))-ven');
	for (const person of [dora, vi]) await person.shows(/^dri-10-ven$/m);
	assert.equal(await dora.at('new-session').count(), 0);
	assert.equal(await dora.at('share').count(), 0);
	dora.well();

	// A revoked viewer is told so, and cannot come back.
	const { links } = await api.call('GET', `/api/session/${id}/links`);
	await api.call('DELETE', `/api/session/${id}/links/${links.find(({ role }) => role === 'viewer').id}`);
	await vi.at('banner').filter({ hasText: /ended|revoked|taken back|expired/i }).waitFor();
	vi.well();
	await vi.page.reload();
	await vi.at('sign-in').waitFor();
	vi.errors = vi.errors.filter((each) => !/401/.test(each));
	vi.well();
	ada.well();
});

scenario('the page works on a phone', { skip, timeout: 60_000 }, async (server) => {
	const phone = await Person.open(server, 'the phone', {
		viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 3,
	});
	const { id } = await onlySession(server);
	const bar = phone.at('key-bar');
	await bar.waitFor({ state: 'visible' });
	const box = await bar.boundingBox();
	assert.ok(box.x >= 0 && box.x + box.width <= 390.5 && box.y + box.height <= 844.5, `the key bar is at ${JSON.stringify(box)}`);
	assert.equal(await phone.page.evaluate(() => document.documentElement.scrollWidth), 390, 'the page is wider than the phone');
	// The page shows the terminal in its own width and does not resize it.
	const size = () => phone.page.evaluate(() => {
		const { cols, element } = window.ringside.terminal;
		return { cols, width: element.querySelector('.xterm-screen').getBoundingClientRect().width };
	});
	assert.equal((await server.api.get(id)).cols, 80);
	await until('all columns', async () => {
		const { cols, width } = await size();
		return cols === 80 && width > 250 && width <= 390;
	});
	const tap = (label) => bar.getByRole('button', { name: label, exact: true }).tap();

	await phone.at('terminal').tap();
	await phone.page.keyboard.type('echo pho$((1))ne');
	await phone.page.keyboard.press('Enter');
	await phone.shows(/^pho1ne$/m);
	await tap('Up');
	await phone.page.keyboard.press('Enter');
	await phone.shows(/^pho1ne$[^]*^pho1ne$/m);
	await phone.page.keyboard.type('echo x');
	for (const label of ['Minus', 'Slash', 'Tilde', 'Pipe']) await tap(label);
	await phone.shows(/echo x-\/~\|/);
	await tap('Left');
	await phone.page.keyboard.type('7');
	await phone.shows(/echo x-\/~7\|/);
	await tap('Ctrl');
	await phone.page.keyboard.type('c');
	await phone.shows(/\^C/); // the terminal discards keys right after ^C
	await phone.page.keyboard.type('sleep 1000');
	await phone.page.keyboard.press('Enter');
	await phone.shows(/sleep 1000/);
	await tap('Ctrl');
	await phone.page.keyboard.type('c');
	await phone.shows(/\^C[^]*\^C/);
	await phone.page.keyboard.type('echo ba""ck');
	await phone.page.keyboard.press('Enter');
	await phone.shows(/^back$/m);
	assert.equal((await server.api.get(id)).cols, 80, 'typing resized the session');

	// Pinching zooms.
	const { width } = await size();
	const session = await phone.page.context().newCDPSession(phone.page);
	const fingers = (type, ...xs) => session.send('Input.dispatchTouchEvent', { type, touchPoints: xs.map((x, i) => ({ x, y: 200, id: i })) });
	await fingers('touchStart', 150, 200);
	await fingers('touchMove', 100, 250);
	await fingers('touchMove', 50, 300);
	await fingers('touchEnd');
	await until('a larger terminal', async () => (await size()).width > width * 1.5);
	await shot(phone.page, 'phone-pinch');
	await fingers('touchStart', 50, 300);
	await fingers('touchMove', 150, 200);
	await fingers('touchMove', 180, 185);
	await fingers('touchEnd');
	await until('the width of before', async () => Math.abs((await size()).width - width) < 3);
	await shot(phone.page, 'phone-fit');

	// The session gets the phone's size only on request.
	await phone.at('size-badge').getByRole('button').tap();
	await until('the size of the phone', async () => {
		const { cols } = await server.api.get(id);
		return cols >= 30 && cols < 80 && (await size()).cols === cols;
	});
	phone.well();
});

scenario('`ringside notify` and `open` show text to all clients of a session', { skip, timeout: 60_000 }, async (server) => {
	const ada = await Person.open(server, 'Ada');
	const { id } = await onlySession(server);
	const { path: fragment } = await server.api.link(id, 'viewer');
	const guest = await Person.open(server, 'Guest', { url: `${server.base}${fragment}` });
	await ada.shows(/[$#] $/m);
	const notify = (text, title) => server.api.call('POST', `/api/session/${id}/notify`, { text, title });
	await notify('are <b>green</b>', 'Tests');
	for (const person of [ada, guest]) {
		const notice = person.page.locator('.toast.notice').filter({ hasText: 'are <b>green</b>' });
		await notice.waitFor();
		assert.equal((await notice.innerText()).replace(/\s+/g, ' '), 'Tests are <b>green</b>');
		assert.deepEqual([await notice.locator('strong').innerText(), await notice.locator('b, a').count()], ['Tests', 0]);
	}
	await notify('https://example.com/report?a=1&b=2');
	const address = guest.page.locator('.toast.notice a');
	await address.waitFor();
	assert.deepEqual([await address.getAttribute('href'), await address.getAttribute('rel'), await address.getAttribute('target')],
		['https://example.com/report?a=1&b=2', 'noopener noreferrer', '_blank']);
	await notify('javascript:alert(1)');
	await ada.page.locator('.toast.notice').filter({ hasText: 'alert(1)' }).waitFor();
	assert.equal(await ada.page.locator('.toast.notice a[href^="javascript"]').count(), 0);
	// Many notices do not fill the page, and all go away.
	for (let n = 1; n <= 7; n += 1) await notify(`number ${n}`);
	await ada.page.locator('.toast.notice').filter({ hasText: 'number 7' }).waitFor();
	assert.ok(await ada.page.locator('.toast.notice').count() <= 5);
	// Draining the server shows a notice too, also in pages that open later.
	const sees = (person, text) => person.page.locator('.toast').filter({ hasText: text }).waitFor();
	await server.api.call('POST', '/api/drain');
	await Promise.all([ada, guest].map((person) => sees(person, 'no new ones start')));
	await guest.page.reload();
	await sees(guest, 'no new ones start');
	await server.api.call('DELETE', '/api/drain');
	await Promise.all([ada, guest].map((person) => sees(person, 'accepts new sessions again')));
	await until('the notices to go', async () => await ada.page.locator('.toast.notice').count() === 0, { timeout: 25_000, interval: 250 });
	ada.well();
	guest.well();
});

scenario('access needs a token; the page connects only to its server, and needs nothing else', { skip, timeout: 60_000 }, async (server) => {
	const ada = await Person.open(server, 'Ada', { url: `${server.base}/`, enter: async (person) => {
		const token = person.at('sign-in-token');
		await token.fill('wrong-token');
		await person.page.keyboard.press('Enter');
		await person.page.getByRole('alert').filter({ hasText: 'This token is not valid' }).waitFor();
		assert.equal(await person.at('terminal').count(), 0);
		assert.deepEqual((await server.api.list()).data, []);
		person.errors = person.errors.filter((each) => !/401/.test(each));
		person.well();
		await token.fill(server.token);
		await person.page.keyboard.press('Enter');
	} });
	await ada.runs('printf "\\033]8;;http://x.example/\\033\\\\link\\033]8;;\\033\\\\ \\033[1;3;4;31m\\xe7\\x95\\x8c\\xf0\\x9f\\x8e\\xaa\\033[m drawn\\n"');
	await ada.shows(/drawn/);
	ada.well();
	assert.equal(await ada.page.evaluate(() => document.fonts.size), 0, 'the page loads no fonts');
	// Not even an injected script.
	const tried = await ada.page.evaluate(async ({ port }) => {
		const blocked = [];
		window.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => blocked.push(effectiveDirective));
		const failed = (promise) => promise.then(() => 'done', () => 'refused');
		const other = `127.0.0.1:${port === 65535 ? port - 1 : port + 1}`;
		const answers = [await failed(fetch(`http://${other}/`, { mode: 'no-cors' })), await failed(fetch('https://elsewhere.example/'))];
		for (const url of [`ws://${other}/`, 'wss://elsewhere.example/']) {
			answers.push(await failed(new Promise((resolve, reject) => {
				try {
					Object.assign(new WebSocket(url), { onopen: resolve, onerror: reject, onclose: reject });
				} catch (error) {
					reject(error);
				}
			})));
		}
		try {
			document.createElement('div').innerHTML = '<b>x</b>';
			answers.push('done');
		} catch {
			answers.push('refused');
		}
		await new Promise((resolve) => { setTimeout(resolve, 0); });
		return { answers, blocked, opener: window.opener, isolated: window.originAgentCluster };
	}, { port: server.port });
	assert.deepEqual(tried.answers, Array(5).fill('refused'));
	assert.deepEqual(tried.blocked, [...Array(4).fill('connect-src'), 'require-trusted-types-for']);
	assert.ok(ada.errors.length >= 5 && ada.errors.every((error) => /CSP|Content Security Policy|TrustedHTML/.test(error)), ada.errors.join('\n'));
});
