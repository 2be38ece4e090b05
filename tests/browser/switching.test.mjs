// Switching sessions many times frees the GPU context and the elements of the former session.
import assert from 'node:assert/strict';
import { scenario, slowness } from '../integration/lib/server.mjs';
import { times } from '../integration/lib/soak.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, skip } from './lib/browser.mjs';

const SWITCHES = times(10, 120);

/* Contexts that are neither lost nor collected count towards the browser's limit of sixteen. */
const countContexts = (page) => page.addInitScript(() => {
	window.contexts = [];
	const { getContext } = HTMLCanvasElement.prototype;
	HTMLCanvasElement.prototype.getContext = function made(kind, ...rest) {
		const context = getContext.call(this, kind, ...rest);
		if (kind === 'webgl2' && context && !window.contexts.some((known) => known.deref() === context))
			window.contexts.push(new WeakRef(context));
		return context;
	};
	window.liveContexts = () => window.contexts.map((context) => context.deref()).filter((context) => context?.isContextLost() === false);
});

scenario('switching sessions leaks no GPU contexts and no elements', { skip, timeout: 180_000 }, async (server) => {
	await server.session({ id: 'one' });
	await server.session({ id: 'two' });
	const page = await (await launch(server, { webgl: true })).newPage({ reducedMotion: 'no-preference' });
	page.setDefaultTimeout(15_000 * slowness);
	const logged = [];
	page.on('console', (message) => logged.push(`${message.type()}: ${message.text()}`));
	page.on('pageerror', (error) => logged.push(String(error)));
	await countContexts(page);
	await page.setViewportSize({ width: 900, height: 420 });
	await page.goto(server.loginUrl);
	const items = page.getByTestId('session-item');
	const showing = (id) => until(`session ${id}`, () => page.evaluate((wanted) => window.ringside.connection?.state.kind === 'live'
		&& new URLSearchParams(location.search).get('s') === wanted, id), { timeout: 20_000 });
	const choose = async (id) => {
		await items.and(page.locator(`[data-session-id="${id}"]`)).click();
		await showing(id);
	};
	const session = await page.context().newCDPSession(page);
	const count = async () => {
		await session.send('HeapProfiler.collectGarbage');
		const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters');
		const contexts = await page.evaluate(() => window.liveContexts().length);
		return { nodes, jsEventListeners, contexts };
	};
	for (const id of ['one', 'two', 'one', 'two']) await choose(id);
	const before = await count();
	assert.equal(before.contexts, 1);
	for (let i = 0; i < SWITCHES; i += 1) await choose(i % 2 === 0 ? 'one' : 'two');
	// The browser keeps some things for a moment (an animation, a pending message).
	let after;
	await until(() => `no more than before: ${JSON.stringify({ before, after })}`, async () => {
		after = await count();
		return after.contexts === 1 && after.nodes <= before.nodes * 1.2 && after.jsEventListeners <= before.jsEventListeners * 1.2;
	}, { timeout: 20_000 });
	if (process.env.SHOTS) console.log(JSON.stringify({ before, after }));
	assert.deepEqual(logged.filter((text) => /WebGL|^error|exception/i.test(text) && !text.includes('GPU stall due to ReadPixels')), []);
});

scenario('a lost GPU context is replaced before the next frame', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'one' });
	const page = await (await launch(server, { flags })).newPage();
	await countContexts(page);
	await page.setViewportSize({ width: 900, height: 420 });
	await page.goto(server.loginUrl);
	await until('a live session', () => page.evaluate(() => window.ringside?.connection?.state.kind === 'live'));
	const cols = await page.evaluate(() => window.ringside.terminal.cols);
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
