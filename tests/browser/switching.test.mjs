// Switching sessions many times frees all of the former session: memory, elements, listeners, WebGL contexts and sockets.
import assert from 'node:assert/strict';
import { metric } from '../integration/lib/control.mjs';
import { scenario } from '../integration/lib/server.mjs';
import { times } from '../integration/lib/soak.mjs';
import { until, within } from '../integration/lib/until.mjs';
import { countContexts, launch, open, skip } from './lib/browser.mjs';

const SWITCHES = times(60, 240);
// The browser itself keeps up to 10 KB for a switch: compiled code, measurements of performance. A terminal takes 100 KB.
const KEPT_MAX = 20_000;

/** Switch to sessions, one after the other. */
const choose = (page, ids) => within('the sessions', page.evaluate(async (all) => {
	for (const id of all) {
		document.querySelector(`[data-testid=session-item][data-session-id=${id}] a`).click();
		while (window.ringside.connection?.state.kind !== 'live' || new URLSearchParams(location.search).get('s') !== id)
			await new Promise((resolve) => { setTimeout(resolve, 5); });
	}
}, ids), 10_000 + 500 * ids.length);

scenario('switching sessions leaks nothing', { skip, timeout: 180_000 }, async (server) => {
	const ids = ['one', 'two'];
	for (const id of ids) await server.session({ id });
	// A blinking cursor has timers.
	const context = await (await launch(server, { webgl: true })).newContext({ viewport: { width: 500, height: 300 }, reducedMotion: 'no-preference' });
	await context.addInitScript(countContexts);
	const logged = [];
	const sockets = new Set();
	context.on('console', (message) => logged.push(`${message.type()}: ${message.text()}`));
	context.on('weberror', (error) => logged.push(`exception: ${error.error()}`));
	context.on('page', (page) => page.on('websocket', (socket) => sockets.add(socket) && socket.on('close', () => sockets.delete(socket))));
	const page = await open(context, server.loginUrl);
	const session = await context.newCDPSession(page);
	const count = async () => {
		await session.send('HeapProfiler.collectGarbage');
		const { nodes, jsEventListeners: listeners } = await session.send('Memory.getDOMCounters');
		const { usedSize: heap } = await session.send('Runtime.getHeapUsage');
		const contexts = await page.evaluate(() => window.liveContexts().length);
		return { contexts, sockets: sockets.size, clients: await metric(server, 'clients'), nodes, listeners, heap };
	};
	await page.getByTestId('session-item').nth(1).waitFor({ state: 'attached' });
	await choose(page, Array(5).fill(ids).flat());
	const before = await count();
	assert.deepEqual([before.contexts, before.sockets, before.clients], [1, 1, 1]);
	await choose(page, Array(SWITCHES / 2).fill(ids).flat());
	// The browser keeps some things for a moment (an animation, a pending message).
	let after;
	await until(() => `no more than before: ${JSON.stringify({ before, after })}`, async () => {
		after = await count();
		return after.contexts === 1 && after.sockets === 1 && after.clients === 1 && after.nodes < before.nodes + SWITCHES / 2
			&& after.listeners < before.listeners + SWITCHES / 2 && after.heap < before.heap + SWITCHES * KEPT_MAX;
	}, { interval: 200 });
	console.log(`# ${JSON.stringify({ before, after })}`);
	assert.deepEqual(logged.filter((text) => /WebGL|^error|exception/i.test(text) && !text.includes('GPU stall due to ReadPixels')), []);
});

scenario('a lost GPU context is replaced before the next frame', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'one' });
	const page = await (await launch(server, { webgl: true })).newPage();
	await page.addInitScript(countContexts);
	await page.setViewportSize({ width: 900, height: 420 });
	await page.goto(server.loginUrl);
	await until('a live session', () => page.evaluate(() => window.ringside?.connection?.state.kind === 'live'));
	// A session has 80 columns, until the page has claimed its size.
	const cols = await until('its own size', () => page.evaluate(() => window.ringside.terminal.cols !== 80 && window.ringside.terminal.cols));
	/* What there is in the first frame after the loss. */
	const lose = () => page.evaluate(() => new Promise((resolve) => {
		const [context] = window.liveContexts();
		context.canvas.addEventListener('webglcontextlost', () => requestAnimationFrame(() => resolve({
			live: window.liveContexts().filter(({ canvas }) => canvas.isConnected).length,
			dom: document.querySelectorAll('.xterm-rows').length,
			cols: window.ringside.terminal.cols,
		})));
		context.getExtension('WEBGL_lose_context').loseContext();
	}));
	for (let i = 0; i < 3; i++)
		assert.deepEqual(await lose(), { live: 1, dom: 0, cols });
	// A context that is lost again and again is not replaced for ever.
	const { live, dom } = await lose();
	assert.deepEqual({ live, dom }, { live: 0, dom: 1 });
	await page.getByTestId('terminal').click();
	await page.keyboard.type('echo dr""awn');
	await page.keyboard.press('Enter');
	await page.locator('.xterm-rows').getByText('drawn', { exact: true }).waitFor();
});
