// A lease goes from a program to a person and back; the frame shows its owner.
import assert from 'node:assert/strict';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, open, skip } from './lib/browser.mjs';

const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
const lease = '/api/session/main/lease';

scenario('a lease is taken over, survives a reload and is given back with a note; or the program may finish first', { skip, timeout: 90_000 }, async (server) => {
	const { api } = server;
	await server.session({ id: 'main' });
	const page = await open(await (await launch(server)).newContext({ colorScheme: 'dark' }), server.loginUrl);
	const badge = page.getByTestId('lease-badge'), frame = page.getByTestId('lease-frame');
	assert.equal(await frame.isVisible(), false);
	const theirs = (await api.call('POST', lease, { owner: 'robot', ttlMs: 600_000 })).lease.id;
	await frame.filter({ hasText: /robot\s*\d+:\d\d/ }).waitFor();
	assert.match(await badge.innerText(), /robot has the keyboard/);
	await shot(page, 'lease-theirs-dark');
	const { offset } = await api.get('main');
	await page.getByTestId('terminal').click();
	await page.keyboard.type('nothing of this');
	await page.getByText('input is refused').first().waitFor();
	assert.equal((await api.get('main')).offset, offset);
	await page.setViewportSize({ width: 390, height: 740 });
	await page.getByRole('button', { name: /^Sessions/ }).waitFor();
	await until('the buttons of the lease', async () => (await page.getByTestId('lease-after').boundingBox())?.x > 0);
	await shot(page, 'lease-theirs-phone');
	await page.getByTestId('lease-take').click();
	await frame.filter({ hasText: 'You' }).waitFor();
	await shot(page, 'lease-mine-phone');
	await page.setViewportSize({ width: 1100, height: 700 });
	await api.refused(409, 'LEASED', 'POST', '/api/session/main/exec', { command: 'true', lease: theirs });

	await page.reload();
	await badge.filter({ hasText: 'You have the keyboard' }).waitFor();
	await page.getByTestId('terminal').click();
	await page.keyboard.type('echo by-$((40+2))\n');
	await server.outputMatches('main', /by-42/);
	await page.emulateMedia({ colorScheme: 'light' });
	await page.getByTestId('lease-give-back').click();
	await page.getByTestId('lease-note').fill('the path was wrong');
	await shot(page, 'lease-note-light');
	const waiting = api.call('POST', '/api/session/main/wait', { until: [{ type: 'lease' }], timeoutMs: 30_000 });
	await page.getByTestId('confirm').click();
	assert.equal((await waiting).note.text, 'the path was wrong');
	await frame.waitFor({ state: 'hidden' });
	await badge.waitFor({ state: 'hidden' });
	assert.equal((await api.call('GET', lease)).lease, null);

	const id = (await api.call('POST', lease, { owner: 'robot', ttlMs: 600_000 })).lease.id;
	const { data } = await api.call('POST', '/api/session/main/exec', { command: 'cat', yieldMs: 0, lease: id });
	await until('the command to run', async () => (await api.call('GET', `/api/session/main/exec/${data.id}`)).data.state === 'running');
	await page.getByTestId('lease-after').click();
	await badge.filter({ hasText: /robot has the keyboard; .* is next/ }).waitFor();
	await shot(page, 'lease-after-light');
	await api.call('POST', '/api/session/main/keys', { keys: ['C-d'], lease: id });
	await badge.filter({ hasText: 'You have the keyboard' }).waitFor();
});
