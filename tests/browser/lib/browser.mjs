// A browser, and pages of a server in it. CHROMIUM: its executable, /usr/bin/chromium if it is not set.
import { existsSync } from 'node:fs';
import { after } from 'node:test';
import { chromium } from 'playwright-core';
import { slowness } from '../../integration/lib/server.mjs';
import { until } from '../../integration/lib/until.mjs';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const args = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
	'--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** Why there is nothing to run, or false. */
export const skip = existsSync(executablePath) ? false : `there is no browser at ${executablePath} (set CHROMIUM)`;

let running; // to begin one takes as long as a scenario does, so those of a file share it
after(() => running?.then((browser) => browser.close(), () => {}));

/**
 * What opens contexts and pages for a server, which end with it. They share nothing but the browser. flags: those it is begun
 * with; the same each time in a file.
 */
export async function launch(server, { flags = args, more = [] } = {}) {
	if (!(await running?.catch(() => undefined))?.isConnected()) running = chromium.launch({ executablePath, args: [...flags, ...more] });
	const browser = await running;
	const newContext = async (options) => {
		const context = await browser.newContext(options);
		server.clients.add({ terminate: () => context.close().catch(() => {}) });
		return context;
	};
	return { newContext, newPage: async (options) => (await newContext(options)).newPage() };
}

/** Until its terminal is. */
export const live = (page, timeout = 20_000) => until('connection', () => page.evaluate(
	() => window.ringside?.connection?.state.kind === 'live'), { timeout, interval: 40 });

/** A page whose terminal is live. */
export async function open(context, url) {
	const page = await context.newPage();
	page.setDefaultTimeout(15_000 * slowness);
	await page.goto(url);
	await live(page, 30_000);
	return page;
}
