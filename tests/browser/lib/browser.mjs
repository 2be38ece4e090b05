// A browser, and pages of a server in it. CHROMIUM: its executable. The default is Chromium's headless shell, if it is
// installed: it takes half as long as a Chromium with windows.
import { existsSync } from 'node:fs';
import { after } from 'node:test';
import { chromium } from 'playwright-core';
import { slowness } from '../../integration/lib/server.mjs';
import { until } from '../../integration/lib/until.mjs';

const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync) ?? '';
const args = ['--headless', '--no-sandbox', '--disable-gpu', '--in-process-gpu', '--disable-quic', '--no-first-run',
	'--disable-background-networking', '--disable-component-update', '--disable-sync'];
// The processor renders WebGL, which takes a quarter of a test's time. Without it terminals draw with DOM elements.
const renderer = { true: ['--use-angle=swiftshader', '--enable-unsafe-swiftshader'], false: ['--disable-3d-apis'] };

/** The reason to skip, or false. */
export const skip = existsSync(executablePath) ? false : `no Chromium ${executablePath} (set CHROMIUM)`;

let running; // shared by a file's scenarios: starting a browser takes as long as a scenario
after(() => running?.then((browser) => browser.close(), () => {}));

/**
 * Returns functions that open contexts and pages for a server, which close with it. Only the browser is shared, so the options
 * must be the same in a whole file. webgl: it has WebGL. more: more flags. Contexts are those of users who want reduced motion,
 * unless their options say otherwise: each frame of an animation takes time.
 */
export async function launch(server, { webgl = false, more = [] } = {}) {
	if (!(await running?.catch(() => undefined))?.isConnected()) running = chromium.launch({ executablePath, args: [...args, ...renderer[webgl], ...more] });
	const browser = await running;
	const newContext = async (options) => {
		const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
		server.clients.add({ terminate: () => context.close().catch(() => {}) });
		return context;
	};
	return { newContext, newPage: async (options) => (await newContext(options)).newPage() };
}

/** Wait until the page's terminal is connected. */
export const live = (page, timeout = 20_000) => until('connection', () => page.evaluate(
	() => window.ringside?.connection?.state.kind === 'live'), { timeout, interval: 40 });

/** Open a page and wait until its terminal is connected. */
export async function open(context, url) {
	const page = await context.newPage();
	page.setDefaultTimeout(15_000 * slowness);
	await page.goto(url);
	await live(page, 30_000);
	return page;
}

/**
 * An init script: window.liveContexts() returns the WebGL contexts that are neither lost nor collected. They count towards the
 * browser's limit of sixteen.
 */
export function countContexts() {
	window.contexts = [];
	const { getContext } = HTMLCanvasElement.prototype;
	HTMLCanvasElement.prototype.getContext = function made(kind, ...rest) {
		const context = getContext.call(this, kind, ...rest);
		if (kind === 'webgl2' && context && !window.contexts.some((known) => known.deref() === context))
			window.contexts.push(new WeakRef(context));
		return context;
	};
	window.liveContexts = () => window.contexts.map((context) => context.deref()).filter((context) => context?.isContextLost() === false);
}
