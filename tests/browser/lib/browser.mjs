// A browser, and pages of a server in it. CHROMIUM: its executable, /usr/bin/chromium if it is not set.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { slowness } from '../../integration/lib/server.mjs';
import { until } from '../../integration/lib/until.mjs';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const args = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
	'--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** Why there is nothing to run, or false. */
export const skip = existsSync(executablePath) ? false : `there is no browser at ${executablePath} (set CHROMIUM)`;

/** It ends with the server. */
export async function launch(server) {
	const browser = await chromium.launch({ executablePath, args });
	server.clients.add({ terminate: () => browser.close().catch(() => {}) });
	return browser;
}

/** A page whose terminal is live. */
export async function open(context, url) {
	const page = await context.newPage();
	page.setDefaultTimeout(15_000 * slowness);
	await page.goto(url);
	await until('connection', () => page.evaluate(() => window.ringside?.connection?.state.kind === 'live'), { timeout: 20_000 });
	return page;
}
