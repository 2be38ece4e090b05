// Ports in the page: a port that a session listens on is offered to the owner, and opens in an origin of its own.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { scenario, slowness } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, skip } from './lib/browser.mjs';

/** A program with a WebSocket and a page that tries to reach Ringside. */
const program = `
const http = require("http"), crypto = require("crypto");
const page = "<!doctype html><title>mine</title><h1>Hello from a port</h1><script>const s = new WebSocket((location.protocol === 'https:' ? 'wss:' : 'ws:') + '//' + location.host + '/socket'); s.onmessage = (m) => { document.title = m.data; }; s.onopen = () => s.send('x');</script>";
http.createServer((q, a) => { a.setHeader("Content-Type", "text/html"); a.setHeader("Set-Cookie", "seen=" + (q.headers.cookie || "none") + "; Path=/"); a.end(page); })
	.on("upgrade", (q, s) => { s.on("error", () => {});
		s.write("HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: " + crypto.createHash("sha1").update(q.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest("base64") + "\\r\\n\\r\\n");
		const text = "origin " + q.headers.origin; s.write(Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)])); })
	.listen(0, "127.0.0.1", function () { console.log("at " + this.address().port); });
`;

async function open(server, url) {
	const context = await (await launch(server)).newContext({ viewport: { width: 1100, height: 700 } });
	const page = await context.newPage();
	page.setDefaultTimeout(15_000 * slowness);
	const errors = [];
	page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
	page.on('pageerror', (error) => errors.push(String(error)));
	await page.goto(url);
	await page.getByTestId('status').filter({ hasText: 'Connected' }).waitFor();
	return { context, page, errors };
}

async function start(server, id, name = 'web.cjs') {
	writeFileSync(`${server.cwd}/${name}`, program);
	const { offset } = await server.api.get(id);
	await server.api.input(id, `node ${name}\r`);
	return Number((await server.outputMatches(id, /at (\d+)\r\n/, offset))[1]);
}

scenario('a port that begins to listen is offered, opens, and has no access to Ringside', { skip, timeout: 120_000 }, async (server) => {
	await server.session({ id: 'main', cwd: server.cwd });
	const { context, page, errors } = await open(server, server.loginUrl);
	const offers = page.getByTestId('port-offers');
	assert.equal(await offers.locator('.port-offer').count(), 0);
	const port = await start(server, 'main');
	const offer = offers.locator(`[data-port="${port}"]`);
	await offer.waitFor();
	assert.match(await offer.textContent(), new RegExp(`Port ${port} is listening · open`));
	const [opened] = await Promise.all([context.waitForEvent('page'), offer.locator('.port-open').click()]);
	await opened.waitForLoadState();
	assert.match(new URL(opened.url()).hostname, new RegExp(`^${port}-main-[a-z0-9]{16}\\.localhost$`));
	assert.equal(await opened.locator('h1').textContent(), 'Hello from a port');
	// The WebSocket works, and the program accepts its page's origin as its own.
	await until('the WebSocket', async () => await opened.title() === `origin http://localhost:${port}`);
	assert.equal(await opened.evaluate(() => window.opener), null);
	assert.ok(!(await opened.evaluate(() => document.cookie)).includes('ringside'));
	// Ringside's own API is out of reach.
	const reached = await opened.evaluate((base) => fetch(`${base}/api/session/list`, { credentials: 'include' }).then(({ status }) => status, () => 'failed'), server.base);
	assert.equal(reached, 'failed');
	assert.match(await opened.evaluate(() => fetch('/api/session/list').then((answer) => answer.text())), /Hello from a port/);
	await opened.close();
	// A dismissed port stays dismissed; when its program ends it is forgotten.
	await offer.locator('.port-dismiss').click();
	assert.equal(await offers.locator('.port-offer').count(), 0);
	await server.api.input('main', '\x03');
	await server.untilPrompt('main');
	const again = await start(server, 'main', 'again.cjs');
	await offers.locator(`[data-port="${again}"]`).waitFor();
	await server.api.input('main', '\x03');
	await offers.locator('.port-offer').waitFor({ state: 'detached' });
	assert.deepEqual(errors, []);
});

scenario('a page under a path is sandboxed', { skip, timeout: 120_000 }, async (server) => {
	await server.session({ id: 'main', cwd: server.cwd });
	const port = await start(server, 'main');
	const { page, context } = await open(server, server.loginUrl);
	const other = await context.newPage();
	await other.goto(`${server.base}/proxy/${port}/`);
	assert.equal(await other.locator('h1').textContent(), 'Hello from a port');
	assert.equal(await other.evaluate(() => self.origin), 'null');
	assert.equal(await other.evaluate(() => { try { return document.cookie; } catch (error) { return error.name; } }), 'SecurityError');
	assert.equal(await other.evaluate((base) => fetch(`${base}/api/session/list`, { credentials: 'include' }).then(({ status }) => status, () => 'failed'), server.base), 'failed');
	// Ringside's own page cannot embed it.
	const loaded = (what) => page.evaluate(([kind, url]) => new Promise((resolve) => {
		const element = Object.assign(document.createElement(kind), kind === 'img' ? { src: url } : { src: url });
		element.onload = () => resolve('loaded');
		element.onerror = () => resolve('refused');
		document.head.append(element);
	}), [what, `/proxy/${port}/x.js`]).catch(() => 'refused');
	assert.equal(await loaded('img'), 'refused');
	assert.equal((await context.cookies()).some(({ name }) => name === 'seen'), false);
});

scenario('guests get no offers of ports', { skip, timeout: 120_000 }, async (server) => {
	await server.session({ id: 'main', cwd: server.cwd });
	const port = await start(server, 'main');
	const { path } = await server.api.call('POST', '/api/session/main/links', { role: 'driver' });
	const { page, errors } = await open(server, `${server.base}${path}`);
	const owner = await open(server, server.loginUrl);
	await owner.page.getByTestId('port-offers').locator(`[data-port="${port}"]`).waitFor();
	assert.equal(await page.locator('.port-offer').count(), 0);
	assert.deepEqual(errors, []);
});
