// The table of ring/screen/README.md, compared with the server's screen and the page's terminal, row by row.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';
import { difference, Ours, Reference, restorable } from '../lib/screen.mjs';
import { scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const README = new URL('../../ring/screen/README.md', import.meta.url);
const SIZE = [20, 6, 10];
const TEXT = 'abc\r'; // text on the screen before
const NOTHING = '–';
const ROWS_MIN = 30;

globalThis.self ??= globalThis; // the addon expects a window
const { ClipboardAddon } = createRequire(new URL('../../web/package.json', import.meta.url))('@xterm/addon-clipboard');

/** The bytes of a cell such as `\e[?2026h`. */
function sequence(cell) {
	const known = { e: '\x1b', r: '\r', a: '\x07', '\\': '\\' };
	return Buffer.from(cell.replaceAll('`', '').replace(/\\(.)/g, (all, c) => known[c] ?? assert.fail(`${all} in ${cell}`)));
}

function table() {
	const lines = readFileSync(README, 'utf8').split('\n');
	const first = lines.findIndex((line) => line.startsWith('| what | played |'));
	assert.notEqual(first, -1, 'there is a table');
	const rows = lines.slice(first + 2, lines.findIndex((line, i) => i > first && !line.startsWith('|')));
	return rows.map((row) => {
		const [what, played, asked, server, snapshot, page] = row.split('|').slice(1, -1).map((cell) => cell.trim());
		return { what, played, asked, server, snapshot, page };
	});
}

/** The server's screen, with the interface of the other one. */
class Server {
	#screen = new Ours();

	constructor() { after(() => this.#screen.end()); }
	start() {
		this.#screen.start(...SIZE);
		this.#screen.feed(TEXT);
	}

	feed(bytes) { this.#screen.feed(bytes); }
	dump() { return this.#screen.dump(); }
	replies() { return this.#screen.replies(); }
	events() { return this.#screen.events(); }
	snapshot() { return this.#screen.snapshot(SIZE[2]); }
}

/** xterm.js as in the page: its clipboard is written and never read. */
class Page {
	#terminal;
	#events = 0;

	start() {
		this.#terminal = new Reference(...SIZE);
		const { terminal } = this.#terminal;
		terminal.loadAddon(new ClipboardAddon(undefined, { readText: () => '', writeText: () => { this.#events += 1; } }));
		terminal.parser.registerOscHandler(52, (data) => data.endsWith(';?'));
		this.#terminal.feed(Buffer.from(TEXT));
	}

	feed(bytes) { assert.ok(this.#terminal.feed(bytes)); }
	dump() { return this.#terminal.dump(); }
	events() { return [this.#events, this.#events = 0][0]; }
	replies() { return [this.#terminal.replies, this.#terminal.replies = ''][0]; }
	end() { this.#terminal.end(); }
}

async function ask(screen, question) {
	screen.feed(question);
	return screen.replies();
}

/** The effects of a sequence. */
async function observe(screen, played, asked) {
	screen.start();
	const question = asked === NOTHING ? Buffer.alloc(0) : sequence(asked);
	const before = [await screen.dump(), await ask(screen, question)];
	await screen.events();
	screen.feed(sequence(played));
	const answer = await screen.replies();
	const event = await screen.events();
	const after = [await screen.dump(), await ask(screen, question)];
	const words = [
		difference(before[0], after[0]) && 'state',
		before[1] !== after[1] && 'mode',
		answer !== '' && 'answer',
		event > 0 && 'event',
	].filter(Boolean);
	return { words: words.join(', ') || NOTHING, dump: after[0], reply: after[1] };
}

/** Whether another screen has the same state after a snapshot. */
async function kept(server, copy, observed, asked) {
	if (!/state|mode/.test(observed.words))
		return NOTHING;
	const snapshot = await server.snapshot();
	copy.start();
	copy.feed(snapshot);
	const same = !difference(restorable(await copy.dump()), restorable(observed.dump))
		&& (asked === NOTHING || await ask(copy, sequence(asked)) === observed.reply);
	return same ? 'yes' : 'no';
}

test('the table is right about modern sequences, on the server and on the page', async () => {
	const server = new Server();
	const copy = new Server();
	const page = new Page();
	const rows = table();
	const real = [];
	assert.ok(rows.length >= ROWS_MIN, `${rows.length} rows`);
	for (const { what, played, asked } of rows) {
		const ours = await observe(server, played, asked);
		const snapshot = await kept(server, copy, ours, asked);
		const theirs = await observe(page, played, asked);
		page.end();
		assert.equal(difference(ours.dump, theirs.dump), null, `${what}: server and page draw different screens`);
		real.push({ what, played, asked, server: ours.words, snapshot, page: theirs.words });
	}
	if (process.env.SCREEN_VERBOSE)
		console.log(real.map((row) => `| ${Object.values(row).join(' | ')} |`).join('\n'));
	assert.deepEqual(rows, real);
});

scenario('a frame that is held back delays no bytes', async (server) => {
	await server.session({ id: 's' });
	// The typed command does not contain the printed word.
	await server.api.input('s', `printf '\\033[2J\\033[H\\033[?2026hhe''ld'; read -r x\r`);
	await server.outputMatches('s', /\x1b\[\?2026hheld/);
	await until('the frame on the screen', async () => {
		const { json } = await server.api.raw('GET', '/api/session/s/screen');
		return json.lines?.[0].text === 'held';
	});
});
