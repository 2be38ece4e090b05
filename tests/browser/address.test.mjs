// The address that the page is opened by: a forwarded port, and a wrong host name.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import net from 'node:net';
import { scenario, slowness } from '../integration/lib/server.mjs';
import { launch, live, skip } from './lib/browser.mjs';

async function newPage(server) {
	const browser = await launch(server, { more: ['--host-resolver-rules=MAP evil.example 127.0.0.1'] });
	const page = await browser.newPage();
	page.setDefaultTimeout(15_000 * slowness);
	page.errors = [];
	page.on('console', (message) => message.type() === 'error' && page.errors.push(message.text()));
	return page;
}

/** Forward another local port to the server's, like `ssh -L`. */
async function forward(server) {
	const sockets = new Set();
	const forwarder = net.createServer((from) => {
		const to = net.connect(server.port, '127.0.0.1');
		for (const [one, other] of [[from, to], [to, from]]) {
			sockets.add(one);
			one.on('error', () => other.destroy()).on('close', () => other.destroy());
			one.pipe(other);
		}
	});
	await new Promise((resolve) => { forwarder.listen(0, '127.0.0.1', resolve); });
	server.clients.add({ terminate: () => { forwarder.close(); for (const socket of sockets) socket.destroy(); } });
	return forwarder.address().port;
}

scenario('the page works through a forwarded port', { skip, timeout: 60_000 }, async (server) => {
	await server.session({ id: 'main' });
	const port = await forward(server);
	for (const name of ['localhost', '127.0.0.1']) {
		const page = await newPage(server);
		await page.goto(server.loginUrl.replace(/127\.0\.0\.1:\d+/, `${name}:${port}`));
		await live(page);
		await page.getByTestId('terminal').click();
		await page.keyboard.type(`echo by-"${name}"`);
		await page.keyboard.press('Enter');
		await server.outputMatches('main', new RegExp(`by-${name}\\r\\n`));
		assert.deepEqual(page.errors, []);
	}
	// A page of one port still has another origin than a page of another port.
	const page = await newPage(server);
	await page.goto(`http://localhost:${port}/healthz`);
	assert.equal(await page.evaluate((to) => fetch(`http://localhost:${to}/api/session/list`, { credentials: 'include' })
		.then(({ status }) => status, () => 'refused'), server.port), 'refused');
});

scenario('an error is a page for browsers and JSON for programs', { skip, timeout: 60_000 }, async (server) => {
	const page = await newPage(server);
	const answer = await page.goto(`http://evil.example:${server.port}/`);
	assert.equal(answer.status(), 403);
	assert.match(answer.headers()['content-type'], /^text\/html/);
	assert.match(answer.headers()['content-security-policy'], /default-src 'none'/);
	await page.getByRole('heading', { name: 'This host is not allowed' }).waitFor();
	assert.match(await page.locator('main').textContent(), /--allow-host/);
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/error-page.png` });
	const other = await page.goto(`${server.base}/api/nothing`);
	assert.match(other.headers()['content-type'], /^text\/html/);
	await page.goto(server.base);
	const asked = await page.evaluate(() => fetch('/api/nothing').then((response) => response.json()));
	assert.equal(typeof asked.code, 'string');
	// Without TLS, browsers ignore one of our headers and log that.
	assert.deepEqual(page.errors.filter((text) => !/status of 40|Cross-Origin-Opener-Policy/.test(text)), []);
});
