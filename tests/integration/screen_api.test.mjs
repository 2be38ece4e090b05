// Reading a session: its screen, its scrollback, and searching in them.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { assertError } from './lib/api.mjs';
import { metric } from './lib/control.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

/** A session whose program prints exact bytes, and its screen when they have been drawn. */
class Canvas {
	constructor(server, id) {
		Object.assign(this, { server, api: server.api, id, shown: 0 });
	}

	static async open(server, id, { cols = 20, rows = 5 } = {}) {
		const canvas = new Canvas(server, id);
		await server.session({ id, cols, rows });
		// Earlier input would go to readline.
		await server.api.input(id, 'stty -echo; printf "\\e]2;reads\\a"; while read -r f; do cat "$f"; done\r');
		await canvas.titled('reads');
		// A blank screen without scrollback.
		await canvas.show('\u001bc');
		return canvas;
	}

	/** Resolves with the screen when it has this title. */
	titled(title) {
		let last;
		return until(() => `${title} on ${JSON.stringify(last)}`, async () => {
			last = await this.json('screen');
			return last.title === title && last;
		});
	}

	get(route, query = {}, api = this.api) {
		return api.raw('GET', `/api/session/${this.id}/${route}?${new URLSearchParams(query)}`);
	}

	async json(route, query) {
		const answer = await this.get(route, query);
		assert.equal(answer.status, 200, `${route}: ${answer.status} ${answer.text}`);
		assert.equal(answer.json.success, true);
		return answer.json;
	}

	async text(route, query) {
		const answer = await this.get(route, query);
		assert.equal(answer.status, 200, `${route}: ${answer.status} ${answer.text}`);
		return answer.text;
	}

	/** Print; resolves with the screen when the output has been drawn. */
	async show(output) {
		const title = `shown ${this.shown += 1}`;
		const file = path.join(this.server.cwd, `${this.id}-${this.shown}`);
		writeFileSync(file, Buffer.concat([Buffer.from(output), Buffer.from(`\u001b]2;${title}\u0007`)]));
		await this.api.input(this.id, `${file}\r`);
		return this.titled(title);
	}

	async refused(status, code, route, query) {
		const answer = await this.get(route, query);
		assertError(answer, status, code, `${route} ${JSON.stringify(query)}`);
		return answer.json;
	}
}

const texts = ({ lines }) => lines.map(({ text }) => text);

shared('a version of an earlier server is not accepted', async (server) => {
	const canvas = await Canvas.open(server, 's');
	await canvas.show('one\r\ntwo\r\nthree');
	const before = await canvas.json('screen');
	await server.restart();
	await server.api.get('s');
	const after = await until('the screen of the next server', async () => {
		const answer = await canvas.get('screen', { since: before.version });
		return answer.status === 200 && answer.json;
	});
	assert.equal(after.lines.length, 5);
	assert.deepEqual(texts(after), texts(before));
});

shared('the scrollback by absolute lines', async (server) => {
	const canvas = await Canvas.open(server, 's');
	const screen = await canvas.show(`${Array.from({ length: 3000 }, (_, i) => `line ${i}`).join('\r\n')}\r\n`);
	const { first, count } = screen.scrollback;
	assert.equal(count, 3001 - 5);
	const base = first + count;
	assert.equal(screen.lines[0].line, base);

	const some = await canvas.json('scrollback', { from: first + 10, to: first + 13 });
	assert.deepEqual(texts(some), ['line 10', 'line 11', 'line 12']);
	const output = await server.api.text('s', some.lines[1].offset);
	assert.ok(output.startsWith('line 11'), output.slice(0, 40));

	// By default the whole scrollback, in pages.
	const all = [];
	for (let from = first; from !== null;) {
		const piece = await canvas.json('scrollback', { from });
		assert.ok(piece.lines.length > 0 && piece.lines.length <= 2000);
		all.push(...texts(piece));
		from = piece.next;
	}
	assert.deepEqual(all, Array.from({ length: count }, (_, i) => `line ${i}`));
	assert.equal((await canvas.json('scrollback')).lines[0].line, first);
	// Cleared lines are gone, and their numbers are not reused.
	await canvas.show('\u001b[3J');
	await canvas.refused(416, 'RANGE_GONE', 'scrollback', { from: first });
});

shared('old lines are compressed when the session is idle, and can be read as before', { timeout: 100_000 }, async (server) => {
	const canvas = await Canvas.open(server, 'frozen', { cols: 80, rows: 24 });
	const count = 4000;
	const line = (n) => `[${n}/${count}] compiling the object ${(n * 7919) % 1000} of a library that has many of them`;
	const bytes = () => metric(server, 'screen_bytes');
	await canvas.show(Array.from({ length: count }, (_, n) => `\u001b[3${n % 8}m${line(n)}\u001b[m\r\n`).join(''));
	// Uncompressed they need 110 bytes each.
	await until('compressed lines', async () => await bytes() < count * 60);
	const whole = async () => (await canvas.text('scrollback', { format: 'text' })).split('\n').slice(0, count - 23);
	assert.deepEqual(await whole(), Array.from({ length: count - 23 }, (_, n) => line(n)));
	const { matches } = await canvas.json('search', { q: `[1321/${count}]` });
	assert.deepEqual(matches.map(({ text }) => text), [line(1321)]);
	// A new width rewraps all lines, and they are compressed again.
	await canvas.api.call('POST', '/api/session/frozen/resize', { cols: 40, rows: 24 });
	await until('all lines in two rows', async () => (await canvas.json('screen')).scrollback.count > count * 1.5);
	await canvas.show('more\r\n');
	await until('compressed lines', async () => await bytes() < count * 80);
	const found = (await canvas.json('search', { q: `[321/${count}]` })).matches;
	assert.deepEqual(found.map(({ text }) => text), [line(321)]);
});

shared('a screen in a flood: as of the request, also if the session is deleted', { timeout: 100_000 }, async (server) => {
	const styles = 'while :; do printf "\\e[38;2;%d;%d;%dmab%.0s" {1..3000}; done';
	await server.session({ id: 'f', cols: 200, rows: 50 });
	await server.api.input('f', `${styles}\r`);
	const head = async () => (await server.api.get('f')).offset;
	const start = await head();
	await until('a flood', async () => (await head()) > start + (4 << 20));
	for (let i = 0; i < 5; i += 1) {
		const before = await head();
		const { json } = await server.api.raw('GET', '/api/session/f/screen');
		assert.ok(json.offset >= before, `${json.offset} is before ${before}`);
	}
	const paths = ['screen', 'scrollback?format=html', 'search?q=b', 'screen?format=text'];
	const answers = Array.from({ length: 20 }, (_, i) => server.api.raw('GET', `/api/session/f/${paths[i % 4]}`));
	const keys = server.api.raw('POST', '/api/session/f/keys', { keys: ['Up'] });
	const deleted = server.api.delete('f');
	const statuses = (await Promise.all([...answers, keys])).map(({ status }) => status);
	assert.ok(statuses.every((status) => [200, 404, 409, 410].includes(status)), statuses.join());
	await deleted;
});

shared('invalid searches are refused at once', { timeout: 100_000 }, async (server) => {
	await server.session({ id: 's' });
	const order = [];
	const ask = async (path) => order.push((await server.api.raw('GET', `/api/session/s/${path}`)).status);
	await server.api.call('POST', '/api/session/s/exec', { command: "yes 'a screen that lags far behind' | head -c 3000000", waitMs: 60_000 });
	// The next server has parsed nothing of it.
	await server.restart();
	const good = ask('screen');
	await Promise.all(['search?q=(&regex=1', 'search', 'screen?format=none', 'scrollback?cells=1&format=text'].map(ask));
	assert.deepEqual(order, [400, 400, 400, 400]);
	await good;
	assert.equal(order[4], 200);
});
