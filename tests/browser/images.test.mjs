// Images in the output: sixel graphics and files of iTerm2 take the same cells in every window and on the server, and are there again
// after a reload. Their pixels are those that the program has sent.
//
// SHOTS: a directory for screenshots.
import assert from 'node:assert/strict';
import path from 'node:path';
import { writeFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';
import { launch, open, skip } from './lib/browser.mjs';

const RED = [255, 0, 0, 255];
const BLUE = [0, 0, 255, 255];
const NOTHING = [0, 0, 0, 0];
const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: path.join(process.env.SHOTS, `images-${name}.png`) });

function crc32(bytes) {
	let sum = ~0;
	for (const byte of bytes) {
		sum ^= byte;
		for (let bit = 0; bit < 8; bit++) sum = sum >>> 1 ^ (sum & 1 ? 0xedb88320 : 0);
	}
	return ~sum >>> 0;
}

/** A PNG file in one colour. */
function png(width, height, color) {
	const chunk = (type, data) => {
		const body = Buffer.concat([Buffer.from(type), data]);
		const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
		length.writeUInt32BE(data.length);
		sum.writeUInt32BE(crc32(body));
		return Buffer.concat([length, body, sum]);
	};
	const head = Buffer.alloc(13);
	head.writeUInt32BE(width, 0);
	head.writeUInt32BE(height, 4);
	head.set([8, 6], 8);
	const row = Buffer.concat([Buffer.from([0]), ...Array(width).fill(Buffer.from(color))]);
	return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', head),
		chunk('IDAT', deflateSync(Buffer.concat(Array(height).fill(row)))), chunk('IEND', Buffer.alloc(0))]);
}

/** What is drawn in the middle of a cell. */
const pixelAt = (page, x, y) => page.evaluate(([col, row]) => {
	const canvas = document.querySelector('canvas.images');
	if (canvas === null) return [0, 0, 0, 0];
	const { cols, rows } = window.ringside.terminal;
	const [left, top] = [(col + 0.5) * canvas.width / cols, (row + 0.5) * canvas.height / rows].map(Math.floor);
	return [...canvas.getContext('2d').getImageData(left, top, 1, 1).data];
}, [x, y]);

const shows = (page, x, y, color) => until(`${color} in column ${x} of row ${y}`, async () =>
	JSON.stringify(await pixelAt(page, x, y)) === JSON.stringify(color));
const cursor = (page) => page.evaluate(() => {
	const { baseY, cursorX, cursorY } = window.ringside.terminal.buffer.active;
	return [baseY, cursorX, cursorY];
});

/** Run a command, until the pages show its output. */
async function run(server, pages, command) {
	await server.run('main', command);
	const { data: { offset } } = await server.api.call('GET', '/api/session/main');
	for (const page of pages) await until('the output', () => page.evaluate((end) => window.ringside.connection.offset >= end
		&& new Promise((resolve) => { window.ringside.whenParsed(() => resolve(true)); }), offset));
}

scenario('images take the same cells everywhere, scroll, are overwritten, and come back', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main', sizePolicy: 'manual', cols: 60, rows: 20 });
	writeFileSync(path.join(server.cwd, 'red.six'), `\x1bP0;1q"1;1;40;48#1;2;100;0;0${'#1!40~-'.repeat(8)}\x1b\\`);
	writeFileSync(path.join(server.cwd, 'blue.iip'), `\x1b]1337;File=inline=1;width=6;height=2;preserveAspectRatio=0:${png(10, 10, BLUE).toString('base64')}\x07`);
	const browser = await launch(server);
	const problems = [];
	const windows = [];
	for (const options of [{}, { deviceScaleFactor: 2, viewport: { width: 1500, height: 1000 } }]) {
		const page = await open(await browser.newContext(options), server.loginUrl);
		page.on('pageerror', (error) => problems.push(String(error)));
		page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
		windows.push(page);
	}
	const [page, other] = windows;
	await other.evaluate(() => { window.ringside.terminal.options.fontSize = 19; });
	await run(server, windows, "clear; PS1='$ '; cat red.six; echo; echo below; cat blue.iip; echo beside");
	// 40 x 48 pixels are 5 x 3 cells.
	for (const each of windows) {
		await shows(each, 4, 2, RED);
		await shows(each, 5, 1, NOTHING);
		await shows(each, 0, 4, BLUE);
		await shows(each, 5, 5, BLUE);
		await shows(each, 6, 4, NOTHING);
	}
	await shot(page, 'live');
	await shot(other, 'large');
	const { json } = await server.api.raw('GET', '/api/session/main/screen');
	assert.deepEqual(await cursor(page), await cursor(other));
	assert.deepEqual((await cursor(page)).slice(1), [json.cursor.column ?? json.cursor.col, json.cursor.row]);
	assert.equal(await page.evaluate(() => window.ringside.terminal.buffer.active.getLine(5).translateToString(true)), '      beside');

	// A new window gets a snapshot and the bytes of the images.
	await page.reload();
	await until('the page', () => page.evaluate(() => window.ringside?.connection?.state.kind === 'live'));
	await shows(page, 4, 2, RED);
	await shows(page, 5, 5, BLUE);
	assert.deepEqual(await cursor(page), await cursor(other));

	// Text replaces it, and it scrolls.
	await run(server, windows, "printf '\\e[1;2Hxy\\e[999H'; seq 60");
	for (const each of windows) {
		await until('the scrolled image', async () => JSON.stringify(await pixelAt(each, 4, 0)) === JSON.stringify(NOTHING));
		await each.evaluate(() => window.ringside.terminal.scrollToTop());
		const top = await each.evaluate(() => window.ringside.terminal.buffer.active.viewportY);
		assert.equal(top, 0);
		await shows(each, 0, 0, RED);
		await shows(each, 1, 0, NOTHING);
		await shows(each, 3, 0, RED);
		await each.evaluate(() => window.ringside.terminal.scrollToBottom());
	}
	await run(server, windows, 'clear; printf "\\e[3J"');
	for (const each of windows) await until('no image', () => each.evaluate(() => {
		const { width, height } = document.querySelector('canvas.images');
		return document.querySelector('canvas.images').getContext('2d').getImageData(0, 0, width, height).data.every((value) => value === 0);
	}));
	// Broken ones are passed over.
	await run(server, windows, String.raw`clear; printf '\ePq"1;1;8;16#\e\\\e]1337;File=inline=1:iVBORw0KGgoAAAANSUhEUgAAAAgAAAAQ\aend\n'`);
	await until('the text behind it', () => page.evaluate(() => window.ringside.terminal.buffer.active.getLine(0).translateToString(true).trim() === 'end'));
	assert.deepEqual(problems, []);
});
