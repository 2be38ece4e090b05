// Commands beside the terminal: their position, live and after a reload, and their actions.
import assert from 'node:assert/strict';
import { blocksOf, typeLine } from '../integration/lib/blocks.mjs';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, live, open as openPage, skip } from './lib/browser.mjs';

const id = 'main';

async function open(server, viewport = { width: 1100, height: 700 }, url = server.loginUrl) {
	const context = await (await launch(server)).newContext({ viewport, permissions: ['clipboard-read', 'clipboard-write'] });
	return openPage(context, url);
}

const list = (server) => blocksOf(server, id);

const type = (server, line) => typeLine(server, id, line);

/** The gutter: the block, state and rows of each stretch, and the exit codes. */
const gutter = (page) => page.evaluate(() => ({
	stretches: [...document.querySelectorAll('[data-testid=block]')].map(({ dataset, style }) =>
		[dataset.blockId, dataset.state, dataset.rows, style.top, style.height]).sort(),
	codes: [...document.querySelectorAll('[data-testid=block-code]')].map(({ textContent, style }) => [textContent, style.top]),
}));

/** Wait until the gutter shows the block, at the end of the output. */
async function shows(page, block) {
	await until(`block ${block.id} in the gutter`, async () =>
		(await gutter(page)).stretches.some(([shown, state]) => shown === block.id && state !== 'running')
		&& await page.evaluate(() => window.ringside.connection.offset) >= block.endMark);
	await page.evaluate(() => new Promise((resolve) => {
		window.ringside.whenParsed(() => requestAnimationFrame(() => requestAnimationFrame(resolve)));
	}));
}

const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());
const hover = async (page, block) => {
	await page.locator(`[data-testid=block][data-block-id=${block.id}]`).hover();
	await page.getByTestId('block-card').waitFor();
};
const topLine = (page) => page.evaluate(() => {
	const { active } = window.ringside.terminal.buffer;
	return active.getLine(active.viewportY).translateToString(true);
});

scenario('the card copies output that has left the scrollback, and types a command again without sending it', { skip, args: ['--scrollback', '200'], timeout: 90_000 }, async (server) => {
	await server.session({ id });
	const page = await open(server);
	const hostile = await type(server, ': "<img src=x onerror=alert(1)>"');
	await shows(page, hostile);
	await hover(page, hostile);
	assert.equal(await page.getByTestId('block-card').locator('img').count(), 0);
	await page.getByTestId('block-copy-command').click();
	await until('the command', async () => await clipboard(page) === hostile.command);
	const many = await type(server, 'seq -f "%099g" 10486');
	await shows(page, many);
	await hover(page, many);
	await page.getByTestId('block-copy-output').click();
	await until('the output', async () => (await clipboard(page)).length > 1_000_000);
	const lines = (await clipboard(page)).trimEnd().split('\n');
	assert.deepEqual([lines.length, Number(lines[0]), Number(lines.at(-1))], [10486, 1, 10486]);

	const count = (await list(server)).length;
	const { offset } = await server.api.get(id);
	await hover(page, many);
	await page.getByTestId('block-rerun').click();
	await server.outputMatches(id, /seq -f "%099g" 10486/, offset);
	assert.equal((await list(server)).length, count, 'the command was sent');
	await page.keyboard.press('Control+c');

	// A viewer may copy, but not type.
	const { path } = await server.api.call('POST', `/api/session/${id}/links`, { role: 'viewer', expiresInMs: 600_000 });
	const viewer = await open(server, undefined, server.url.replace(/\/$/, '') + path);
	const last = await type(server, 'echo last; (exit 4)');
	await shows(viewer, last);
	await hover(viewer, last);
	assert.equal(await viewer.getByTestId('block-copy-output').count(), 1);
	assert.equal(await viewer.getByTestId('block-rerun').count(), 0);
	await viewer.getByTestId('block-copy-output').click();
	await until('the output', async () => (await clipboard(viewer)).trim() === 'last');
});

scenario('moving between commands, the header and its Stop, ticks and links work; the gutter is the same after a reload and at another width', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id });
	const page = await open(server);
	for (const name of ['one', 'two', 'three']) await type(server, `: ${name}; seq 60; (exit 5)`);
	const [, second] = (await list(server)).slice(-3);
	await shows(page, (await list(server)).at(-1));
	await page.getByTestId('terminal').click();
	for (const name of ['three', 'two', 'one']) {
		await page.keyboard.press('Alt+ArrowUp');
		await until(name, async () => (await topLine(page)).includes(`: ${name};`));
	}
	await page.keyboard.press('Alt+ArrowDown');
	await until('two', async () => (await topLine(page)).includes(': two;'));
	await page.evaluate(() => window.ringside.terminal.scrollLines(5));
	const header = page.getByTestId('block-header');
	await header.filter({ hasText: ': two; seq 60' }).waitFor();
	assert.match(await header.innerText(), /failed with 5/);
	assert.ok(await page.getByTestId('block-stop').isHidden());
	await until('three ticks', () => page.evaluate(() =>
		[...window.ringside.terminal._core._decorationService.decorations].length === 3));

	await page.evaluate(() => window.ringside.terminal.scrollToBottom());
	await server.api.input(id, 'seq 100; sleep 60\r');
	await header.filter({ hasText: 'seq 100; sleep 60' }).waitFor();
	await page.getByTestId('block-stop').click();
	await until('its end', async () => (await list(server)).at(-1).exitCode === 130);
	await header.waitFor({ state: 'hidden' });

	await page.goto(`${server.url.replace(/\/$/, '')}/?s=${id}&block=${second.id}`);
	await live(page);
	await until('the command of the link', async () => (await topLine(page)).includes(': two;'));
	await page.close();

	// The gutter: failures with their codes, the same after a reload and at another width.
	{
		const page = await open(server);
		await type(server, 'clear');
		await type(server, 'echo fine');
		await type(server, "printf '%0300d\\n' 7; (exit 3)");
		const { data } = await server.api.call('POST', `/api/session/${id}/exec`, { command: 'echo program', queue: true });
		const last = await until('its block', async () => (await list(server)).find(({ execId, state }) => execId === data.id && state === 'done'));
		await shows(page, last);
		const before = await gutter(page);
		assert.ok(before.stretches.length >= 3, JSON.stringify(before));
		assert.deepEqual(before.codes.map(([code]) => code), ['3']);
		// A stretch begins in the row of its command.
		const rows = await page.evaluate(() => {
			const { terminal } = window.ringside;
			const { viewportY } = terminal.buffer.active;
			return Object.fromEntries([...document.querySelectorAll('[data-testid=block]')].map(({ dataset }) => {
				const [top, height] = dataset.rows.split('+').map(Number);
				const text = (row) => terminal.buffer.active.getLine(viewportY + row).translateToString(true);
				return [dataset.blockId, [text(top), text(top + height - 1)]];
			}));
		});
		assert.match(rows[last.id][0], /echo program$/);
		assert.match(rows[last.id][1], /^program/);
		await page.reload();
		await live(page);
		await shows(page, last);
		await until('the same gutter', async () => JSON.stringify(await gutter(page)) === JSON.stringify(before)).catch(async () =>
			assert.deepEqual(await gutter(page), before));

		const size = () => page.evaluate(() => [window.ringside.terminal.cols, window.ringside.terminal.rows]);
		const [wide] = await size();
		await page.setViewportSize({ width: 800, height: 600 });
		await until('another size in the page and the session', async () => {
			const { cols, rows: high } = await server.api.get(id);
			return cols < wide && JSON.stringify(await size()) === JSON.stringify([cols, high]);
		});
		const running = 'sleep 0.2; seq 60; (exit 7)';
		const long = await type(server, running);
		await shows(page, long);
		const narrow = async () => (await gutter(page)).stretches;
		const resized = await narrow();
		await page.reload();
		await live(page);
		await shows(page, long);
		await until('the same gutter', async () => JSON.stringify(await narrow()) === JSON.stringify(resized)).catch(async () =>
			assert.deepEqual(await narrow(), resized));

		// Full-screen programs hide the gutter.
		await server.api.input(id, 'printf "\\e[?1049h"; read; printf "\\e[?1049l"\r');
		await page.getByTestId('gutter').waitFor({ state: 'hidden' });
		await server.api.input(id, '\r');
		await page.getByTestId('gutter').waitFor({ state: 'visible' });
	}
});

scenario('the panel lists and filters commands of all sessions, a click goes to a command, and a row that is in use stays in place', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'other' });
	await server.api.input('other', ': elsewhere; (exit 9)\r');
	await server.session({ id });
	const page = await open(server, undefined, server.loginUrl.replace('#', '?s=main#'));
	for (let at = 0; at < 12; at += 1) await server.api.input(id, `: number ${at}; (exit ${at % 2})\r`);
	const last = await until('the last', async () => (await list(server)).find(({ command, cwdAfter }) => command?.startsWith(': number 11') && cwdAfter));
	await type(server, 'seq 200');
	await page.keyboard.press('Control+Shift+E');
	const rows = page.getByTestId('panel-row');
	await rows.filter({ hasText: 'seq 200' }).waitFor();
	await page.getByTestId('panel-text').fill('number 1');
	await until('three', async () => /^3 of/.test(await page.getByTestId('panel-count').innerText()));
	await page.getByTestId('panel-kind').selectOption('failed');
	await until('two', async () => /^2 of/.test(await page.getByTestId('panel-count').innerText()));
	await page.getByTestId('panel-text').fill('number 11');
	await rows.first().click();
	await until('the command', async () => (await topLine(page)).includes(': number 11;'));
	assert.equal(await rows.first().getAttribute('data-block-id'), last.id);
	await page.getByTestId('panel-session').selectOption('other');
	await page.getByTestId('panel-text').fill('');
	await rows.filter({ hasText: ': elsewhere' }).click();
	await until('the other session', async () => new URL(page.url()).searchParams.get('s') === 'other');
	await page.keyboard.press('Control+Shift+E');
	await page.getByTestId('blocks-panel').waitFor({ state: 'detached' });
	await page.close();

	// A row that is in use stays in place, and only new commands are fetched.
	{
		for (let at = 0; at < 30; at += 1) await server.api.input(id, `: number ${at}\r`);
		await type(server, ': the last');
		const page = await open(server, undefined, server.loginUrl.replace('#', '?s=main#'));
		await page.keyboard.press('Control+Shift+E');
		const rows = page.getByTestId('panel-row');
		const found = rows.filter({ hasText: ': the last' });
		await found.waitFor();
		await found.focus();
		await found.evaluate((row) => {
			window.row = row;
			row.addEventListener('click', () => row.dataset.clicked = 'true');
		});
		const same = () => page.evaluate(() => window.row.isConnected && document.activeElement === window.row);
		const asked = [];
		page.on('request', (request) => asked.push(new URL(request.url())));
		// Commands arrive while the mouse button is pressed.
		await found.hover();
		await page.mouse.down();
		await type(server, ': news');
		await rows.filter({ hasText: ': news' }).waitFor();
		assert.ok(await same(), 'the row was replaced');
		const [box, moved] = [await found.boundingBox(), asked.filter(({ pathname }) => pathname.endsWith('/blocks'))];
		assert.ok(moved.length > 0);
		for (const { pathname, searchParams } of moved) {
			assert.equal(pathname, `/api/session/${id}/blocks`);
			assert.ok(Number(searchParams.get('after')) > 0);
		}
		await page.mouse.move(box.x + 20, box.y + box.height / 2);
		await page.mouse.up();
		await until('the click', () => page.evaluate(() => window.row.dataset.clicked === 'true'));
		await page.locator('.panel-list').evaluate((element) => {
			element.scrollTop = element.scrollHeight;
		});
		await rows.filter({ hasText: /^: number 0(?!;)/ }).waitFor();
		assert.ok(await page.evaluate(() => window.row.isConnected), 'the row was removed while out of sight');
		await page.getByTestId('panel-text').fill('number');
		await until('the filter to remove the row', () => page.evaluate(() => !window.row.isConnected));
	}
});
