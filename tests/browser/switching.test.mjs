// Switching sessions many times frees the GPU context and the elements of the former session.
import assert from 'node:assert/strict';
import { scenario, slowness } from '../integration/lib/server.mjs';
import { times } from '../integration/lib/soak.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, skip } from './lib/browser.mjs';

// WebGL rendered by the CPU.
const flags = ['--headless', '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', '--disable-quic', '--no-first-run',
	'--disable-background-networking', '--disable-component-update', '--disable-sync'];
const SWITCHES = times(10, 120);

scenario('switching sessions leaks no GPU contexts and no elements', { skip, timeout: 180_000 }, async (server) => {
	await server.session({ id: 'one' });
	await server.session({ id: 'two' });
	const page = await (await launch(server, { flags })).newPage();
	page.setDefaultTimeout(15_000 * slowness);
	const logged = [];
	page.on('console', (message) => logged.push(`${message.type()}: ${message.text()}`));
	page.on('pageerror', (error) => logged.push(String(error)));
	await page.addInitScript(() => {
		// Contexts that are neither lost nor collected count towards the browser's limit of sixteen.
		window.contexts = [];
		const { getContext } = HTMLCanvasElement.prototype;
		HTMLCanvasElement.prototype.getContext = function made(kind, ...rest) {
			const context = getContext.call(this, kind, ...rest);
			if (kind === 'webgl2' && context && !window.contexts.some((known) => known.deref() === context))
				window.contexts.push(new WeakRef(context));
			return context;
		};
	});
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
		const contexts = await page.evaluate(() => window.contexts.filter((context) => context.deref()?.isContextLost() === false).length);
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
	assert.deepEqual(logged.filter((text) => /WebGL|^error|exception/i.test(text)), []);
});
