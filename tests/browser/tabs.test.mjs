// Many tabs of one browser. It opens at most six HTTP/1.1 connections to a server, so each tab has one WebSocket and no streams.
import assert from 'node:assert/strict';
import { untilMetric } from '../integration/lib/control.mjs';
import { scenario } from '../integration/lib/server.mjs';
import { times } from '../integration/lib/soak.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, open, skip } from './lib/browser.mjs';

const TABS = times(8, 20);

scenario('more tabs than a browser has connections to a server', { skip, timeout: 180_000 }, async (server) => {
	await server.session({ id: 'main' });
	const context = await (await launch(server)).newContext({ viewport: { width: 1000, height: 400 } });
	const pages = [await open(context, server.loginUrl)];
	while (pages.length < TABS) pages.push(await open(context, server.base));
	await untilMetric(server, 'mux_sockets', TABS);
	await untilMetric(server, 'clients', TABS);
	const last = pages.at(-1);
	await last.keyboard.type('echo in-every-$((40+2))-tab');
	await last.keyboard.press('Enter');
	for (const page of pages) {
		await until('the output', () => page.evaluate(() => {
			const { active } = window.ringside.terminal.buffer;
			return Array.from({ length: active.length }, (_, row) => active.getLine(row).translateToString(true)).some((line) => line === 'in-every-42-tab');
		}));
	}
	// Requests, and events of the list.
	await last.getByTestId('new-session').click();
	for (const page of pages) await page.getByTestId('session-item').nth(1).waitFor();
	assert.equal(await last.evaluate(() => performance.getEntriesByType('resource').some(({ name }) => name.includes('/events'))), false);
	// All tabs lose their sockets, and connect again.
	await server.kill('SIGKILL');
	await server.start();
	await untilMetric(server, 'clients', TABS);
	await untilMetric(server, 'mux_sockets', TABS);
});
