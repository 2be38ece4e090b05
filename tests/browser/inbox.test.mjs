// The inbox above the list of sessions: cards of sessions that need a person, a password typed into a card, and unseen
// notifications.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import path from 'node:path';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { findings } from './lib/axe.mjs';
import { launch, open, skip } from './lib/browser.mjs';

scenario('a password is typed into its card, and unseen notifications are shown', { skip, timeout: 120_000 }, async (server) => {
	for (const id of ['front', 'asks', 'robots']) await server.session({ id });
	const browser = await launch(server);
	const context = await browser.newContext({ colorScheme: 'light' });
	await context.addInitScript(() => {
		window.asked = 0;
		Notification.requestPermission = async () => { window.asked += 1; return 'denied'; };
	});
	const page = await open(context, `${server.base}/?s=front${server.loginUrl.slice(server.loginUrl.indexOf('#'))}`);
	const item = (id, kind) => page.getByTestId('inbox-item').and(page.locator(`[data-session-id="${id}"][data-kind="${kind}"]`));
	await page.locator('[data-session-id="robots"][data-kind="idle"]').waitFor();
	assert.equal(await page.getByTestId('inbox').isVisible(), false);

	await server.api.call('POST', '/api/session/robots/exec', { command: "printf '\\033]9;<b>built</b>\\007'; false" });
	await item('robots', 'failed').waitFor();
	await until('the notification', async () => await item('robots', 'notification').locator('bdi').textContent() === '<b>built</b>');

	await server.api.input('asks', 'read -s word; echo "${#word} characters"\r');
	const card = item('asks', 'password');
	await card.waitFor();
	assert.match(await card.innerText(), /read -s word/);
	const { cols } = await server.api.get('asks');
	await card.getByTestId('inbox-secret').fill('hunter2 ä');
	for (const scheme of process.env.SHOTS ? ['light', 'dark'] : []) {
		await page.emulateMedia({ colorScheme: scheme });
		await page.screenshot({ path: path.join(process.env.SHOTS, `inbox-${scheme}.png`) });
	}
	await card.getByTestId('inbox-secret').press('Enter');
	await card.waitFor({ state: 'detached' });
	const output = () => server.api.output('asks').then(String);
	await until('the answer', async () => /9 characters|10 characters/.test(await output()), { timeout: 20_000 });
	assert.doesNotMatch(await output(), /hunter2/);
	assert.doesNotMatch(JSON.stringify(await server.api.call('GET', '/api/session/asks/typed')), /hunter2/);
	assert.equal((await server.api.get('asks')).cols, cols, 'the session was not resized');

	await item('robots', 'notification').getByTestId('inbox-drop').click();
	await item('robots', 'notification').waitFor({ state: 'detached' });
	assert.equal(await page.evaluate(() => window.asked), 0, 'permission is never requested unasked');
	await page.getByTestId('notify').click();
	assert.equal(await page.evaluate(() => window.asked), 1);
	await item('robots', 'failed').locator('.inbox-open').click();
	await page.getByTestId('inbox').waitFor({ state: 'hidden' });
	assert.equal(new URL(page.url()).searchParams.get('s'), 'robots');
});

scenario('a link for a secret shows its card and no terminal', { skip, timeout: 120_000 }, async (server) => {
	await server.session({ id: 'asks', name: 'Web server' });
	const ran = [];
	const ask = async (command) => {
		ran.push(server.api.call('POST', '/api/session/asks/exec', { command, label: 'Deploy bot' })); // responds when the command ends
		const { state } = await server.api.call('POST', '/api/session/asks/wait', { until: [{ type: 'input', kind: 'password' }], timeoutMs: 15_000 });
		return state.humanUrl;
	};
	const browser = await launch(server);
	const visit = async (url, options = {}) => {
		const context = await browser.newContext({ colorScheme: 'light', bypassCSP: true, ...options });
		const page = await context.newPage();
		page.setDefaultTimeout(60_000);
		await page.goto(url);
		await page.getByTestId('answer').waitFor();
		return page;
	};
	const page = await visit(await ask('read -s -p "<b>word</b>: " word; echo "${#word} characters"'));
	assert.match(await page.getByTestId('answer').innerText(), /In\s*Web server, by Deploy bot/);
	assert.match(await page.getByTestId('answer-command').innerText(), /read -s -p "<b>word/);
	assert.equal(await page.locator('.xterm').count(), 0);
	for (const [name, options] of [['light', {}], ['dark', { colorScheme: 'dark' }], ['forced', { forcedColors: 'active' }]]) {
		await page.emulateMedia(options);
		assert.deepEqual(await findings(page), [], name);
		if (process.env.SHOTS)
			await page.screenshot({ path: path.join(process.env.SHOTS, `answer-${name}.png`) });
	}
	await page.reload();
	await page.getByTestId('answer-secret').fill('hunter2');
	await page.keyboard.press('Enter');
	await page.getByTestId('answer-over').filter({ hasText: 'has been sent' }).waitFor();
	await server.outputMatches('asks', /7 characters/);

	const late = await visit(await ask('read -s other; echo "got ${#other}"'), { viewport: { width: 390, height: 800 } });
	await server.api.input('asks', 'xyz\r');
	await server.outputMatches('asks', /got 3/);
	await late.getByTestId('answer-over').filter({ hasText: 'The prompt has ended' }).waitFor();
	await Promise.all(ran);
});
