// vttest's menus in real sessions: at each pause the server's screen equals that of xterm.js, and so do the replies to
// vttest. Clients do not get queries, so script(1) logs both directions beside vttest.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { difference, Ours, Reference } from '../lib/screen.mjs';
import { TerminalClient } from './lib/client.mjs';
import { scenario } from './lib/server.mjs';
import { Patience, until } from './lib/until.mjs';

const [COLS, ROWS, SCROLLBACK] = [80, 24, 100];
const QUIET = 30; // ms of silence after which vttest has finished drawing
/* ms of silence without a query after which vttest waits for a reply that no terminal like ours sends; longer on a busy machine */
const STALL = 700;
const STALLS_MAX = 8; // per item
const STEPS_MAX = 60; // per item, and per menu of it
const CHOICE = /(?:Enter choice number \(0 - \d+\)|Bad choice, try again): *$/;
const CHOICES = /Enter choice number \(0 - (\d+)\)/;
const PAUSE = /<RETURN>/;
/* Items that need a person, a printer or another terminal, or that other menus have too. */
const SKIPPED = /keyboard|send.receive|user-defined|locator|mouse|printer|VT\d+ features|Tek ?tronix|macro|terminal test|self-test|title|font|reporting/i;
/* Choices in nested menus, and the number of screens. */
const ITEMS = {
	1: 7, 2: 16, 3: 2, 4: 7, 6: 19, 7: 4, 8: 15, 9: 41, 10: 3, '11 1': 20, '11 1 1': 8, '11 2': 56, '11 3': 86, '11 5': 20, '11 6': 81, '11 7': 17, '11 8': 32,
};

/* Queries with different replies: [query, ours, theirs, reason]. Each must occur. */
const OTHERWISE = [
	['\x1b[0c', '\x1b[?1;2;4c', '\x1b[?1;2c', 'DA1: with the sixel graphics that the page draws'],
	['\x1bZ', '\x1b[?1;2;4c', '', 'DECID: as DA1'],
	['\x1b[=c', '\x1bP!|00000000\x1b\\', '', 'DA3: a terminal without a number'],
	['\x1b[0x', '\x1b[2;1;1;128;128;1;0x', '', 'DECREQTPARM: a line as fast as any'],
	['\x1b[1x', '\x1b[3;1;1;128;128;1;0x', '', 'the same'],
	['\x1b[?25n', '\x1b[?20n', '', 'no user-defined keys to be locked'],
	['\x1b[11t', '\x1b[1t', '', 'xterm.js reports its window only if windowOptions permits it, which is not so here'],
	['\x1b[13t', '\x1b[3;0;0t', '', 'and in the corner'],
	['\x1b[14t', '\x1b[4;384;640t', '', 'in cells of 8 by 16'],
	['\x1b[18t', '\x1b[8;24;80t', '', 'the same in cells'],
	['\x1b[20t', '\x1b]L\x1b\\', '', 'titles are private'],
	['\x1b[21t', '\x1b]l\x1b\\', '', 'the same'],
];
const ALIKE = 14; // replies, of 16
const SEQUENCE = /\x1b\[[0-?]*[ -/]*[@-~]|\x1bP[^\x1b]*\x1b\\|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-Z^-~\\]|\x05/g;

/* Text, and sequences that no terminal replies to: most of the output. */
const NO_QUERY = /^[^\x1b\x05]|^\x1b\[[\d;?]*[@-HJKLMPdfhlmr]$|^\x1b[ -/]+[0-~]$/;

/** The log of script(1), without its first and last lines. */
function readLog(file) {
	const text = readFileSync(file, 'latin1');
	return text.slice(text.indexOf('\n') + 1, text.lastIndexOf('\nScript done'));
}

/** Text split into sequences and the text between them. */
function pieces(text) {
	const all = [];
	let from = 0;
	for (const { 0: sequence, index } of text.matchAll(SEQUENCE)) {
		all.push(text.slice(from, index), sequence);
		from = index + sequence.length;
	}
	return [...all, text.slice(from)].filter((piece) => piece !== '');
}

/** [query, ours, theirs] for each query in this output that either answers. */
async function answersTo(output) {
	const ours = new Ours();
	const theirs = new Reference(COLS, ROWS, SCROLLBACK);
	try {
		ours.start(COLS, ROWS, SCROLLBACK);
		const asked = [];
		const ask = async (piece) => {
			const { replies } = theirs;
			theirs.replies = '';
			return [piece, await ours.replies(), replies];
		};
		for (const piece of pieces(output)) {
			const bytes = Buffer.from(piece, 'latin1');
			ours.feed(bytes);
			theirs.feed(bytes);
			if (!NO_QUERY.test(piece)) asked.push(ask(piece)); // a reply to another would count for the next query
		}
		const answers = await Promise.all([...asked, ask('')]);
		return answers.filter(([, our, their]) => our !== '' || their !== '');
	} finally {
		ours.end();
		theirs.end();
	}
}

/** vttest in a session, and both screens of its output. */
class Walk {
	looks = 0;
	#keys = ''; // input of vttest
	#ours = new Ours();
	#theirs = new Reference(COLS, ROWS, SCROLLBACK);
	#printed = 0; // bytes
	#last = 0; // time of the last output
	#silence; // time since the last output or input

	async begin(server, item) {
		const id = `vt-${item.replaceAll(' ', '-')}`;
		this.item = item;
		this.#ours.start(COLS, ROWS, SCROLLBACK);
		await server.session({ id, cols: COLS, rows: ROWS });
		this.client = new TerminalClient({ server, sessionId: id, sink: (bytes) => this.#take(bytes) });
		await this.client.connect({ history: true });
		this.files = ['in', 'out'].map((name) => path.join(server.cwd, `${id}.${name}`));
		await this.#type(`script -q -f -I ${this.files[0]} -O ${this.files[1]} -c vttest\r`, CHOICE);
		this.#keys = '';
	}

	async end() {
		await this.client?.close();
		this.#ours.end();
		this.#theirs.end();
	}

	#take(bytes) {
		this.#ours.feed(bytes);
		this.#theirs.feed(bytes);
		this.#printed += bytes.length;
		this.#last = Date.now();
		this.#silence = new Patience(STALL);
	}

	#rows() {
		const { active } = this.#theirs.terminal.buffer;
		return Array.from({ length: ROWS }, (_, y) => active.getLine(active.baseY + y).translateToString(true));
	}

	/** The text left of the cursor. */
	#leftOfCursor() {
		const { cursorX, cursorY } = this.#theirs.terminal.buffer.active;
		return this.#rows()[cursorY].slice(0, cursorX);
	}

	/** Type keys, and wait until vttest has read them and asks for more, or is silent. */
	async #type(keys, wanted = undefined) {
		const before = this.#printed;
		this.#silence = new Patience(STALL);
		this.client.type(keys);
		this.#keys += keys;
		await until(() => `vttest ${this.item} at ${keys}, which shows\n${this.#rows().join('\n')}`, () => {
			const asksForMore = this.#printed > before && (wanted?.test(this.#leftOfCursor()) ?? (CHOICE.test(this.#leftOfCursor()) || PAUSE.test(this.#leftOfCursor())));
			return (asksForMore && Date.now() - this.#last > QUIET) || (this.#silence.over && !wanted);
		});
	}

	async #look() {
		this.looks += 1;
		const ours = this.#ours.dump(); // of the same bytes: more may come until it is there
		const found = difference(...await Promise.all([ours, this.#theirs.dump()]));
		if (found)
			assert.fail(`vttest ${this.item}\n${this.#rows().join('\n')}\n  ${JSON.stringify(found.ours)}\n  ${JSON.stringify(found.theirs)}`);
	}

	/** Continue from page to page, to the menu with `title`; in a menu on the way, choose each item. */
	async #through(title) {
		for (let step = 0, stalls = 0; step < STEPS_MAX; step++) {
			await this.#look();
			const items = this.#items();
			if (items && this.#title() === title)
				return;
			if (items)
				await this.#menu(items);
			else if (!PAUSE.test(this.#leftOfCursor()))
				assert.ok((stalls += 1) <= STALLS_MAX, `vttest ${this.item} goes on behind ${this.#leftOfCursor()}\n${this.#rows().join('\n')}`);
			await this.#type(items ? '0\r' : '\r');
		}
		assert.fail(`vttest ${this.item} does not end`);
	}

	/** Number of items of the menu; 0: there is no menu. */
	#items() {
		const [, items] = CHOICE.test(this.#leftOfCursor()) ? CHOICES.exec(this.#rows().join('\n')) : [];
		return Number(items ?? 0);
	}

	#title() { return this.#rows().find((row) => row.trim() !== ''); }

	async #menu(items) {
		const title = this.#title();
		const names = this.#rows();
		for (let i = 1; i <= items; i++)
			if (!SKIPPED.test(names.find((name) => name.trim().startsWith(`${i}.`)) ?? ''))
				await this.choose(i, title);
	}

	/** Choose an item of the current menu, which has that title. */
	async choose(item, title = this.#title()) {
		await this.#type(`${item}\r`);
		await this.#through(title);
	}

	/** Enter a menu within the current menu. */
	async enter(item) { await this.#type(`${item}\r`, CHOICE); }

	/** Leave all menus. Returns the replies as answersTo() does, which are also what the server has typed. */
	async leave(depth) {
		for (let i = 0; i < depth; i++)
			await this.#type('0\r', CHOICE);
		this.client.type('0\r');
		this.#keys += '0\r';
		await until('the end of script', () => readFileSync(this.files[1], 'latin1').includes('\nScript done'));
		const answers = await answersTo(readLog(this.files[1]));
		const typed = pieces(readLog(this.files[0]));
		assert.equal(typed.filter((piece) => !piece.startsWith('\x1b')).join(''), this.#keys);
		assert.deepEqual(typed.filter((piece) => piece.startsWith('\x1b')), answers.flatMap(([, ours]) => pieces(ours)),
			`what vttest ${this.item} has been answered`);
		return answers;
	}
}

async function walk(server, item, screens) {
	const through = new Walk();
	let answers;
	try {
		await through.begin(server, item);
		const way = item.split(' ');
		for (const menu of way.slice(0, -1))
			await through.enter(menu);
		await through.choose(way.at(-1));
		answers = await through.leave(way.length - 1);
	} finally {
		await through.end();
	}
	assert.ok(through.looks >= screens, `vttest ${item} showed ${through.looks} screens`);
	return answers;
}

scenario('vttest: all items that draw or report', { timeout: 120_000 }, async (server) => {
	const answers = (await Promise.all(Object.entries(ITEMS).map(([item, screens]) => walk(server, item, screens)))).flat();
	const alike = answers.filter(([, ours, theirs]) => ours === theirs);
	const otherwise = new Set(answers.filter(([, ours, theirs]) => ours !== theirs).map((row) => JSON.stringify(row)));
	assert.deepEqual([...otherwise].sort(), OTHERWISE.map((row) => JSON.stringify(row.slice(0, 3))).sort());
	assert.ok(alike.length >= ALIKE, `only ${alike.length} equal replies`);
});
