// A snapshot looks the same in terminals other than xterm.js: in tmux and in libvterm, without rules. They get every
// byte; only the features that they lack, listed below, may differ.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadCorpus } from '../corpus/load.mjs';
import { times } from '../integration/lib/soak.mjs';
import { ofDump, Pane, Vterm } from '../lib/painted.mjs';
import { Ours } from '../lib/screen.mjs';

const NARROW = '\u25a1';
const WIDE = '\u4e16';
const CAN = 0x18;
const points = times(2, 40); // in each stream

/**
 * Replaces characters for which the three terminals differ by others of the same width for which they agree: their
 * width tables are from different years, and each has its own limits for marks. Of combining characters it keeps the
 * accents of Latin, two at most.
 */
class Characters {
	#ours;
	#terminals;
	#same = new Map();

	constructor(ours, terminals) {
		this.#terminals = terminals;
		this.#ours = ours;
	}

	async learn(text) {
		this.widths ??= await this.#ours.widths();
		const unknown = [...new Set(text)].map((c) => c.codePointAt(0)).filter((code) => code >= 0xa0 && this.widths[code] > 0 && !this.#same.has(code));
		if (unknown.length === 0) return;
		const all = await Promise.all(this.#terminals.map((terminal) => terminal.widths(unknown)));
		unknown.forEach((code, i) => this.#same.set(code, all.every((widths) => widths[i] === this.widths[code])));
	}

	replace(text) {
		return text.replaceAll(/\0[\u{80}-\u{10ffff}]/gu, NARROW).replaceAll(/[\u{a0}-\u{10ffff}]+/gu, (run) => [...run].map((c) => {
			const code = c.codePointAt(0);
			if (this.widths[code] === 0) return code >= 0x300 && code < 0x370 ? c : '';
			return this.#same.get(code) ? c : this.widths[code] === 2 ? WIDE : NARROW;
		}).join('').replaceAll(/([\u0300-\u036f]{2})[\u0300-\u036f]+/g, '$1'));
	}

	/** The same for a cell. */
	cell({ text, width, style }) {
		const alone = text !== '' && this.widths[text.codePointAt(0)] === 0 && text !== ' ';
		return alone ? { text: NARROW, width: 1, style } : { text: this.replace(text), width, style };
	}
}

const letters = (style, known) => [...style.attrs].filter((letter) => known.attrs.includes(letter)).sort().join('');

/** The look of a cell, as far as the terminal supports it. For a blank cell only the background counts. */
function look({ text, style }, known) {
	const under = style.under > known.under ? 1 : style.under;
	const attrs = letters(style, known);
	if (text === ' ' && !/[rso]/.test(attrs) && under === 0) return style.bg;
	return [style.fg, style.bg, attrs, style.link ? '' : under, known.line && under > 0 ? style.line : ''].join(' ');
}

/** The first difference, or ''. */
function compare(ours, theirs, known) {
	// After the last column the cursor waits in it; for a wide character perhaps in the first of its two.
	const [row, col] = theirs.cursor;
	if (ours.cursor[0] !== row || (ours.cursor[1] !== col && !(ours.beyond && col >= ours.cursor[1] - 1)))
		return `cursor ${ours.cursor} against ${theirs.cursor}`;
	for (const [y, cells] of ours.rows.entries()) {
		const mine = cells.filter(({ width }) => width !== 0);
		const other = theirs.rows[y].filter(({ text }) => text !== '');
		const [a, b] = [mine, other].map((row) => row.map(({ text }) => text).join('').trimEnd());
		if (a !== b) return `row ${y}: ${JSON.stringify(a)} against ${JSON.stringify(b)}`;
		for (const [x, cell] of mine.entries()) {
			// tmux does not capture erased cells at the end of a row.
			if (other[x] === undefined) break;
			const [p, q] = [look(cell, known), look({ ...other[x], style: { ...other[x].style, link: cell.style.link } }, known)];
			if (p !== q) return `row ${y}, ${JSON.stringify(cell.text)} at ${x}: ${p} against ${q}`;
		}
	}
	return '';
}

const KNOWN = {
	tmux: { attrs: 'bdikrcso', under: 5, line: true },
	libvterm: { attrs: 'bikrs', under: 3, line: false }, // no dim, conceal, overline, dots, dashes and colours of lines
};

/** Some positions in a stream, including its end. */
const places = (count) => new Set(Array.from({ length: points }, (_, i) => Math.floor(((i + 1) * count) / points) - 1));

test('snapshots, and output after them, look the same in tmux and in libvterm', async (t) => {
	const ours = new Ours();
	const pane = await new Pane().open();
	const vterm = new Vterm();
	const terminals = [['tmux', pane], ['libvterm', vterm]];
	const characters = new Characters(ours, [pane, vterm]);
	const found = [];
	let painted = 0;
	let ended;

	const paint = async (where) => {
		const dump = await ours.dump();
		const [, rows, cols] = /size (\d+) (\d+)/.exec(dump[0]).map(Number);
		const bytes = (await ours.snapshot(20)).toString();
		await characters.learn(bytes);
		const snapshot = Buffer.from(characters.replace(bytes));
		const mine = ofDump(dump);
		mine.rows = mine.rows.map((row) => row.map((cell) => characters.cell(cell)));
		for (const [name, terminal] of terminals) {
			const difference = compare(mine, await terminal.paint(cols, rows, snapshot), KNOWN[name]);
			if (difference) found.push(`${name}, ${where}: ${difference}`);
		}
		assert.equal(pane.replies ?? '', '', `${where}: the terminal replied`);
		painted++;
	};

	/** A program continues: pen, modes, a pending wrap; then it ends and the shell's screen returns. */
	const continueOutput = async (where) => {
		ours.feed([CAN]); // the stream may end within a sequence
		const dump = await ours.dump();
		const alternate = / alternate 1$/.test(dump[0]);
		// libvterm has one saved cursor for both buffers.
		const both = dump.some((line) => /^A saved (?!0 0 0 0 0 B)/.test(line));
		for (const more of alternate ? ['Z', '\x1b[?1049l\r\nY'] : ['Z\r\nY']) {
			ours.feed(Buffer.from(more));
			const mine = ofDump(await ours.dump());
			mine.rows = mine.rows.map((row) => row.map((cell) => characters.cell(cell)));
			await pane.feed(more);
			const shown = { tmux: await pane.look(), libvterm: await vterm.more(more) };
			for (const [name] of terminals) {
				if (name === 'libvterm' && alternate && both) continue;
				const difference = compare(mine, shown[name], KNOWN[name]);
				if (difference) found.push(`${name}, ${where}, after ${JSON.stringify(more)}: ${difference}`);
			}
		}
	};

	try {
		for (const { name, cols, rows, steps } of loadCorpus()) {
			ours.start(cols, rows, 100);
			const those = places(steps.length);
			for (const [i, { bytes, resize }] of steps.entries()) {
				if (resize) ours.resize(...resize);
				else ours.feed(bytes);
				if (those.has(i)) await paint(`${name}, step ${i}`);
			}
			await continueOutput(name);
		}
	} finally {
		ours.end();
		await pane.close();
		ended = await vterm.end();
	}
	assert.deepEqual(ended, { code: 0, signal: null });
	t.diagnostic(`${painted} snapshots`);
	assert.ok(painted > 250, 'too few snapshots');
	assert.deepEqual(found, []);
});
