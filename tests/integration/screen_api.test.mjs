// Reading a session: its screen, its scrollback, and searching in them.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { assertError } from './lib/api.mjs';
import { metric } from './lib/control.mjs';
import { scenario } from './lib/server.mjs';
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

scenario('the screen as JSON', async (server) => {
	const canvas = await Canvas.open(server, 's');
	const screen = await canvas.show('one\r\n  two \u754ce\u0301\r\n\u001b]1;icon\u0007\u001b]7;file://h/tmp/x%20y\u0007'
		+ '\u001b[?2004h\u001b[?1002h\u001b[?1006h\u001b[5 q\u001b[?1h');
	assert.deepEqual(texts(screen), ['one', '  two \u754ce\u0301', '', '', '']);
	assert.deepEqual(screen.lines.map(({ row }) => row), [0, 1, 2, 3, 4]);
	assert.ok(screen.lines.every(({ wrapped, version }) => wrapped === false && Number.isSafeInteger(version)));
	assert.deepEqual([screen.rows, screen.cols, screen.alternate, screen.icon, screen.cwd, screen.next],
		[5, 20, false, 'icon', '/tmp/x y', null]);
	assert.deepEqual(screen.cursor, {
		row: 2, col: 0, visible: true, style: 'bar', blink: true, pendingWrap: false,
	});
	const { bracketedPaste, mouse, mouseEncoding, applicationCursor, wraparound, origin } = screen.modes;
	assert.deepEqual({ bracketedPaste, mouse, mouseEncoding, applicationCursor, wraparound, origin },
		{ bracketedPaste: true, mouse: 'drag', mouseEncoding: 'sgr', applicationCursor: true, wraparound: true, origin: false });
	assert.equal(screen.scrollback.count, 0);
	assert.deepEqual(screen.lines.map(({ line }) => line), [0, 1, 2, 3, 4].map((row) => row + screen.scrollback.first));
	assert.equal(screen.offset, (await server.api.get('s')).offset);

	const full = await canvas.show('\u001b[?1049h\u001b[H\u001b[?25l01234567890123456789');
	assert.deepEqual([full.alternate, full.cursor.visible, full.cursor.col, full.cursor.row, full.cursor.pendingWrap],
		[true, false, 19, 0, true]);
	assert.deepEqual(texts(full), ['01234567890123456789', '', '', '', '']);
	const back = await canvas.show('\u001b[?1049l');
	assert.equal(back.alternate, false);
	assert.deepEqual(texts(back), texts(screen));
});

scenario('only changes', async (server) => {
	const canvas = await Canvas.open(server, 's');
	const first = await canvas.show('one\r\ntwo\r\nthree');
	assert.deepEqual((await canvas.json('screen', { since: first.version })).lines, []);
	const second = await canvas.show('\u001b[2;1HTWO');
	assert.ok(second.version > first.version);
	const changed = await canvas.json('screen', { since: first.version });
	assert.deepEqual(changed.lines.map(({ row, text }) => [row, text]), [[1, 'TWO']]);
	// A version that this screen never had: everything.
	assert.equal((await canvas.json('screen', { since: second.version + 1000000 })).lines.length, 5);
	assert.equal((await canvas.json('screen', { since: 0 })).lines.length, 5);
	await canvas.show('\r\n\n\n\n\n\n');
	assert.equal((await canvas.json('screen', { since: second.version })).lines.length, 5);

	const before = await canvas.json('screen');
	await server.restart();
	await server.api.get('s');
	const after = await until('the screen of the next server', async () => {
		const answer = await canvas.get('screen', { since: before.version });
		return answer.status === 200 && answer.json;
	});
	assert.equal(after.lines.length, 5, 'a version of the earlier server is not accepted');
	assert.deepEqual(texts(after), texts(before));
});

scenario('soft wraps, and cells', async (server) => {
	const canvas = await Canvas.open(server, 's', { cols: 10, rows: 4 });
	await canvas.show('0123456789abc\r\n\u001b[1;31mred\u001b[m \u001b[4:3;48;2;1;2;3m\u754c\u001b[m\u001b]8;;http://a.b/\u001b\\l\u001b]8;;\u001b\\');
	const kept = await canvas.json('screen');
	assert.deepEqual(kept.lines.map(({ text, wrapped }) => [text, wrapped]),
		[['0123456789', false], ['abc', true], ['red \u754cl', false], ['', false]]);
	const joined = await canvas.json('screen', { wrap: 'join' });
	assert.deepEqual(joined.lines.map(({ row, text, lines }) => [row, text, lines]),
		[[0, '0123456789abc', 2], [2, 'red \u754cl', 1], [3, '', 1]]);
	const { lines } = await canvas.json('screen', { cells: 1 });
	assert.deepEqual(lines[2].cells, [
		{ column: 0, columns: 3, text: 'red', fg: 1, bold: true },
		{ column: 3, columns: 1, text: ' ' },
		{ column: 4, columns: 2, text: '\u754c', bg: '#010203', underline: 'curly' },
		{ column: 6, columns: 1, text: 'l', link: 'http://a.b/' },
	]);
	assert.deepEqual(lines[3].cells, []);
	assert.equal(await canvas.text('screen', { format: 'text' }), '0123456789\nabc\nred \u754cl\n\n');
	assert.equal(await canvas.text('screen', { format: 'text', wrap: 'join' }), '0123456789abc\nred \u754cl\n\n');
});

scenario('text, ANSI and HTML', async (server) => {
	const canvas = await Canvas.open(server, 's', { cols: 60, rows: 3 });
	const { version } = await canvas.show('<script>alert("1")</script> & \u001b[1;31mx\u001b[m\r\n'
		+ '\u001b]8;;javascript:alert(1)\u001b\\bad\u001b]8;;\u001b\\ \u001b]8;;https://a.b/"><img>\u001b\\good\u001b]8;;\u001b\\');
	const text = await canvas.get('screen', { format: 'text' });
	assert.equal(text.headers['content-type'], 'text/plain; charset=utf-8');
	assert.equal(text.text, '<script>alert("1")</script> & x\nbad good\n\n');
	assert.equal(Number(text.headers['ringside-version']), version);
	assert.equal(Number(text.headers['ringside-to']) - Number(text.headers['ringside-from']), 3);
	assert.equal(text.headers['ringside-from'], text.headers['ringside-screen']);

	const ansi = await canvas.get('screen', { format: 'ansi' });
	assert.equal(ansi.headers['content-type'], 'text/plain; charset=utf-8');
	assert.match(ansi.text, /& \u001b\[;1;31mx\u001b\[m\n/);
	assert.ok(ansi.text.endsWith('\n\u001b[0m'));

	const html = await canvas.get('screen', { format: 'html' });
	assert.equal(html.headers['content-type'], 'text/html; charset=utf-8');
	assert.match(html.headers['content-security-policy'], /default-src 'none'.*sandbox/);
	assert.equal(html.headers['x-content-type-options'], 'nosniff');
	assert.match(html.text, /^<pre style="color:#[0-9a-f]{6};background:#[0-9a-f]{6}">\n&lt;script&gt;alert\(&quot;1&quot;\)&lt;\/script&gt; &amp; <span /);
	assert.match(html.text, /\nbad <a rel="noopener noreferrer" href="https:\/\/a.b\/&quot;&gt;&lt;img&gt;">good<\/a>\n\n<\/pre>\n$/);
	assert.doesNotMatch(html.text, /javascript/);
});

scenario('the scrollback by absolute lines', async (server) => {
	const canvas = await Canvas.open(server, 's');
	const screen = await canvas.show(`${Array.from({ length: 3000 }, (_, i) => `line ${i}`).join('\r\n')}\r\n`);
	const { first, count } = screen.scrollback;
	assert.equal(count, 3001 - 5);
	const base = first + count;
	assert.equal(screen.lines[0].line, base);

	const some = await canvas.json('scrollback', { from: first + 10, to: first + 13 });
	assert.deepEqual(texts(some), ['line 10', 'line 11', 'line 12']);
	assert.deepEqual(some.lines.map(({ line, row }) => [line, row]), [10, 11, 12].map((i) => [first + i, undefined]));
	assert.deepEqual([some.from, some.next], [first + 10, null]);
	assert.ok(some.lines[0].offset < some.lines[1].offset);
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

	// Rows of the screen are lines too.
	const last = await canvas.json('scrollback', { from: base - 1, to: base + 2 });
	assert.deepEqual(last.lines.map(({ row, text }) => [row, text]),
		[[undefined, 'line 2995'], [0, 'line 2996'], [1, 'line 2997']]);
	assert.deepEqual((await canvas.json('scrollback', { from: base + 5 })).lines, []);
	const text = await canvas.get('scrollback', { format: 'text', from: first + 1, to: first + 3 });
	assert.equal(text.text, 'line 1\nline 2\n');
	assert.deepEqual(['from', 'to', 'first', 'screen', 'end'].map((name) => Number(text.headers[`ringside-${name}`])),
		[first + 1, first + 3, first, base, base + 5]);
	assert.match(await canvas.text('scrollback', { format: 'html', from: first, to: first + 1 }), /^<pre [^>]*>\nline 0\n<\/pre>\n$/);

	const gone = await canvas.refused(416, 'RANGE_GONE', 'scrollback', { from: base + 6 });
	assert.deepEqual([gone.context.first, gone.context.screen, gone.context.end], [first, base, base + 5]);
	if (first > 0) await canvas.refused(416, 'RANGE_GONE', 'scrollback', { from: first - 1 });
	// Cleared lines are gone, and their numbers are not reused.
	await canvas.show('\u001b[3J');
	await canvas.refused(416, 'RANGE_GONE', 'scrollback', { from: first });
});

scenario('old lines are compressed when the session is idle, and can be read as before', { timeout: 100_000 }, async (server) => {
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

scenario('searching in lines', async (server) => {
	const canvas = await Canvas.open(server, 's');
	const screen = await canvas.show('Needle one\r\nhay\r\na soft wrap and a needle in it\r\n\u754c needle needle\r\n1234');
	const find = async (q, query = {}) => (await canvas.json('search', { q, beforeLine: 1e15, ...query }));
	const base = screen.lines[0].line - screen.scrollback.count;
	const found = await find('needle', { case: 1 });
	assert.deepEqual(found.matches.map(({ line, column, length, match }) => [line - base, column, length, match]), [
		[4, 3, 6, 'needle'], [4, 10, 6, 'needle'], [2, 18, 6, 'needle']]);
	assert.equal(found.matches[2].text, 'a soft wrap and a needle in it');
	assert.ok(found.matches[2].offset < found.matches[0].offset);
	assert.equal((await find('NEEDLE')).matches.filter(({ line }) => line !== null).length, 4);
	assert.deepEqual((await find('^[0-9]+$', { regex: 1 })).matches.map(({ match }) => match), ['1234']);
	assert.deepEqual((await find('[0-9]+$', { regex: 0 })).matches, []);
	assert.deepEqual((await find('\u754c')).matches.map(({ column, length }) => [column, length]), [[0, 2]]);

	const one = await find('needle', { limit: 1 });
	assert.equal(one.matches.length, 1);
	assert.deepEqual(one.next, { beforeLine: one.matches[0].line });
	const next = await canvas.json('search', { q: 'needle', ...one.next });
	assert.deepEqual(next.matches.slice(0, 2).map(({ line }) => line - base), [2, 0]);
});

scenario('searching in output that has left the scrollback', async (server) => {
	const canvas = await Canvas.open(server, 's');
	await canvas.show('\u001b[31mold \u001b[1mneedle\u001b[m\r\n');
	await canvas.show(`${'hay\r\n'.repeat(50)}new needle\r\n`);
	await canvas.show('\u001bc');
	const { matches, next } = await canvas.json('search', { q: 'NEEDLE' });
	assert.equal(next, null);
	assert.deepEqual(matches.map(({ line, text }) => [line, text]), [[null, 'new needle'], [null, 'old needle']]);
	const output = await server.api.text('s', matches[0].offset);
	assert.ok(output.startsWith('new needle'), output.slice(0, 40));
	const older = await canvas.json('search', { q: 'needle', beforeOffset: matches[0].offset });
	assert.deepEqual(older.matches.map(({ text }) => text), ['old needle']);
});

scenario('patterns with exponential backtracking in other engines', { timeout: 100_000 }, async (server) => {
	const canvas = await Canvas.open(server, 's', { cols: 1000, rows: 50 });
	await canvas.show('a'.repeat(500_000));
	for (const q of ['(a*)*b', '(a+)+$b', '(a|aa)+b', '(a?){100}a{100}b', '(.*)(.*)(.*)(.*)(.*)x', 'a{0,255}b']) {
		let next = {}; // a result at all is the point: other engines need years
		for (let requests = 0; next && requests < 3; requests += 1) {
			({ next } = await canvas.json('search', { q, regex: 1, ...next }));
		}
	}
	for (const q of ['(', '[', 'a**'.repeat(200), '((((a{255}){255}){255}){255})', '(a)\\1', 'a{2,1}', '*', '\\', 'x'.repeat(513)]) {
		const { context } = await canvas.refused(400, 'VALIDATION_FAILED', 'search', { q, regex: 1 });
		assert.equal(context.validationErrors[0].field, 'q');
	}
});

scenario('an ended session keeps its screen', async (server) => {
	await server.session({ id: 's' });
	await server.api.input('s', 'clear; echo the-$((40+2))-end; exit\r');
	await until('the end of the session', async () => (await server.api.get('s')).state === 'exited');
	const text = await server.api.raw('GET', '/api/session/s/screen?format=text');
	assert.match(text.text, /^the-42-end$/m);
	const { json } = await server.api.raw('GET', '/api/session/s/search?q=the-42');
	assert.equal(json.matches[0].match, 'the-42');
});

scenario('a screen in a flood: as of the request, also if the session is deleted', { timeout: 100_000 }, async (server) => {
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

scenario('invalid searches are refused at once', { timeout: 100_000 }, async (server) => {
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
