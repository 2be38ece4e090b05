// ring/scan speaks the dialect of xterm.js: its cuts between sequences and characters are exactly the offsets where the
// parser of xterm.js is in its ground state, everything that xterm.js answers is a query, and output without queries draws
// the same screen and causes no replies.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import xterm from '@xterm/headless';
import { randomOf } from './lib/commands.mjs';
import { binaries } from './lib/server.mjs';
import { times } from './lib/soak.mjs';

const driver = path.join(binaries, 'tests/scan_driver');
const bytes = (text) => Buffer.from(text, 'latin1');
const escaped = (buffer) => JSON.stringify(buffer.toString('latin1'));

/** xterm.js, fed synchronously; parser state and replies are checked after every byte. */
class Reference {
	constructor() {
		this.terminal = new xterm.Terminal({
			cols: 20, rows: 5, scrollback: 0, allowProposedApi: true, logLevel: 'off',
			windowOptions: { getWinSizePixels: true, getCellSizePixels: true, getWinSizeChars: true },
		});
		const input = this.terminal._core._inputHandler;
		this.parser = input._parser;
		this.decoder = input._utf8Decoder;
		this.codes = new Uint32Array(16);
		this.answered = false;
		const answer = () => { this.answered = true; };
		this.terminal.onData(answer);
		input.onRequestWindowsOptionsReport(answer);
		input.onColor((events) => { if (events.some(({ type }) => type === 0)) answer(); });
	}

	/** Returns a 1 for every prefix that ends in the ground state, and the offsets that caused replies. */
	feed(output) {
		const answers = [];
		let cuts = '1';
		let from = 0;
		for (let to = 1; to <= output.length; to += 1) {
			// Always from the start of a character: the decoder fails if it is cut.
			this.decoder.clear();
			const count = this.decoder.decode(output.subarray(from, to), this.codes);
			const partial = this.decoder.interim[0] !== 0;
			if (!partial) {
				this.answered = false;
				this.parser.parse(this.codes, count);
				if (this.answered) answers.push(to - 1);
				from = to;
			}
			cuts += !partial && this.parser.currentState === 0 ? '1' : '0';
		}
		return { cuts, answers };
	}

	reset() {
		this.parser.reset();
		this.terminal.reset();
	}

	screen() {
		const { active } = this.terminal.buffer;
		const { buffer } = this.terminal._core._bufferService;
		const { decPrivateModes } = this.terminal._core.coreService;
		const pen = this.terminal._core._inputHandler._curAttrData;
		return JSON.stringify([this.terminal.modes, decPrivateModes, pen.fg, pen.bg, active.cursorX, active.cursorY,
			Array.from({ length: buffer.lines.length }, (_, row) => [
				active.getLine(row).translateToString(), [...buffer.lines.get(row)._data]])]);
	}
}

/** The results of scan for each output. */
function scan(outputs) {
	const { status, stdout, stderr, error } = spawnSync(driver, {
		input: outputs.map((output) => `${output.toString('hex')}\n`).join(''),
		maxBuffer: 1 << 30,
	});
	if (error) throw error;
	assert.equal(status, 0, stderr.toString());
	return stdout.toString('latin1').trimEnd().split('\n').map((line) => {
		const [cuts, replay, ...ranges] = line.split(' ');
		return {
			cuts,
			replay: Buffer.from(replay, 'hex'),
			ranges: ranges.map((range) => {
				const [, start, length, muted] = /^(\d+)\+(\d+)(m?)$/.exec(range);
				return { start: Number(start), end: Number(start) + Number(length), muted: muted === 'm' };
			}),
		};
	});
}

/** A sequence that leads to each state of xterm.js, and the number of the state. */
const states = [
	['GROUND', ''], ['ESCAPE', '\x1b'], ['ESCAPE_INTERMEDIATE', '\x1b('], ['CSI_ENTRY', '\x1b['],
	['CSI_PARAM', '\x1b[1'], ['CSI_INTERMEDIATE', '\x1b[1$'], ['CSI_IGNORE', '\x1b[1?'],
	['SOS_PM_STRING', '\x1bX'], ['OSC_STRING', '\x1b]'], ['DCS_ENTRY', '\x1bP'], ['DCS_PARAM', '\x1bP1'],
	['DCS_IGNORE', '\x1bP1?'], ['DCS_INTERMEDIATE', '\x1bP$'], ['DCS_PASSTHROUGH', '\x1bP$q'],
	['APC_ENTRY', '\x1b_'], ['APC_INTERMEDIATE', '\x1b_$'], ['APC_PASSTHROUGH', '\x1b_G'],
].map(([name, way], state) => ({ name, way: bytes(way), state }));

/** Every ASCII byte, every C1 control, and characters of all lengths: complete, cut and invalid. */
const characters = [
	...Array.from({ length: 0x80 }, (_, c) => Buffer.of(c)),
	...Array.from({ length: 0x20 }, (_, c) => Buffer.of(0xc2, 0x80 + c)),
	...['\xc2\xa0', '\xc3\xa9', '\xe2\x80\x99', '\xe2\x82\xac', '\xf0\x9f\x98\x80', '\xef\xbb\xbf', '\xef\xbf\xbf',
		'\xed\xa0\x80', '\xf4\x90\x80\x80', '\xf7\xbf\xbf\xbf', '\xc0\x9b', '\xc1\xbf', '\xe0\x82\x9b',
		'\xf0\x80\x82\x9b', '\x80', '\x9b', '\xbf', '\xc0', '\xc1', '\xc2', '\xdf', '\xe0', '\xe2\x80', '\xed',
		'\xf0\x9f', '\xf0\x9f\x98', '\xf4', '\xf7', '\xf8', '\xfe', '\xff'].map(bytes),
];

/** One of each class that the table distinguishes. */
const kinds = ['a', 'm', '\\', '[', ']', 'P', 'X', '^', '0', ';', ':', '?', '$', ' ', '\x7f', '\0', '\x07', '\x18',
	'\x1a', '\x1b', '\xc2\x84', '\xc2\x90', '\xc2\x98', '\xc2\x9b', '\xc2\x9c', '\xc2\x9d', '\xc3\xa9', '\xef\xbb\xbf',
	'\xe2\x80', '\xff'].map(bytes);

function compare(outputs) {
	const reference = new Reference();
	const results = scan(outputs);
	outputs.forEach((output, at) => {
		reference.parser.reset();
		const { cuts } = reference.feed(output);
		if (cuts !== results[at].cuts) {
			assert.equal(results[at].cuts, cuts, `scan and xterm.js differ in ${escaped(output)}`);
		}
	});
}

test('the sequences lead to their states', () => {
	const reference = new Reference();
	for (const { name, way, state } of states) {
		reference.parser.reset();
		reference.feed(way);
		assert.equal(reference.parser.currentState, state, name);
	}
});

const every = times(5, 1); // short runs try one in five of the last ones, and others after each of the first two

test('every character in every state, with any successor', () => {
	compare(states.flatMap(({ way }, i) => characters.flatMap((character, k) => kinds
		.filter((_, n) => (i + k + n) % every === 0).map((kind) => Buffer.concat([way, character, kind, bytes('m')])))));
});

test('any three classes of characters in every state', () => {
	compare(states.flatMap(({ way }) => kinds.flatMap((first, i) => kinds.flatMap((second, k) => kinds
		.filter((_, n) => (i + k + n) % every === 0).map((third) => Buffer.concat([way, first, second, third]))))));
});

/** Integers that are the same in every run. */
function random(seed) {
	const next = randomOf(seed);
	return (below) => Math.floor(next() * below);
}

/** Mostly well-formed sequences, with occasional errors. */
function compose(below) {
	const pick = (...choices) => choices[below(choices.length)];
	const several = (most, make) => Array.from({ length: below(most + 1) }, make).join('');
	const number = () => pick('', '0', '1', '2', '4', '5', '6', '11', '14', '18', '21', '25', '31', '1004', '1049',
		'2004', '2026', '9999');
	const params = () => pick('', '', '?', '>', '=', '<') + number() + several(2, () => pick(';', ';', ':') + number());
	const intermediates = () => pick('', '', '', '', '$', '+', ' ', '!', '"', '*', '$ ', '!$');
	const csi = () => pick('\x1b[', '\x1b[', '\xc2\x9b') + params() + intermediates()
		+ pick(...'mmmHJKABCDcccnnnnpppqutthlxyrg@`|S');
	const text = () => pick('text', 'more text ', '\xc3\xa9', '\xe2\x80\x99', '\xe7\x95\x8c', '\xf0\x9f\x98\x80',
		'\r\n', '\t', 'q', '?');
	const terminator = () => pick('\x07', '\x1b\\', '\x1b\\', '\xc2\x9c', '\x18', '\x1a', '\x1b', '');
	const osc = () => pick('\x1b]', '\x1b]', '\xc2\x9d') + pick('0', '2', '4;1', '8;', '10', '11', '12', '010', '21', '52;c',
		'104', '133;A', '', 'x') + pick(';?', ';?', ';', ';red', ';red;?', '?') + several(2, text) + terminator();
	const dcs = () => pick('\x1bP', '\x1bP', '\xc2\x90') + params() + intermediates() + pick('q', 'q', 'p', '|', '')
		+ pick('m', '"q', 'r', '544e', '#0?') + several(2, text) + terminator();
	const other = () => pick('\x1b_', '\x1bX', '\x1b^', '\xc2\x98', '\xc2\x9e', '\xc2\x9f') + several(3, text) + terminator();
	const escape = () => `\x1b${pick('7', '8', '(0', '(B', 'M', 'D', 'Z', '=', '#8', ' F', '%G', 'c', 'H')}`;
	const query = () => pick('\x1b[c', '\x1b[>c', '\x1b[5n', '\x1b[6n', '\x1b[?6n', '\x1b[18t', '\x1b[14t', '\x1b[4$p',
		'\x1b[?2004$p', '\x1b]10;?\x07', '\x1b]11;?\x1b\\', '\x1b]4;1;?;2;?\x07', '\x1bP$qm\x1b\\', '\x1bP$q q\x1b\\');
	const wrong = () => pick('\x05', '\0', '\x7f', '\x18', '\x1b', '\x08', '\xff', '\x80', '\xc2', '\xe2\x80',
		'\xef\xbb\xbf', '\xc2\x9a', '\xc2\x84', '\xc2\xa0', '?', '$', String.fromCharCode(below(256)));
	let output = '';
	for (let n = 1 + below(8); n > 0; n -= 1) {
		let part = pick(text, text, csi, csi, query, osc, dcs, other, escape)();
		for (let mistakes = below(4) === 0 ? 1 + below(2) : 0; mistakes > 0; mistakes -= 1) {
			const at = below(part.length + 1);
			part = part.slice(0, at) + wrong() + part.slice(at + below(2));
		}
		output += part;
	}
	// So that nothing is incomplete: that would not be drawn yet.
	return bytes(`${output}\x18`);
}

function assertSameEffect(live, replayed, output, { cuts, replay, ranges }) {
	const got = live.feed(output);
	assert.equal(cuts, got.cuts, `scan and xterm.js differ in ${escaped(output)}`);
	for (const at of got.answers) {
		assert.ok(ranges.some(({ start, end }) => start <= at && at <= end),
			`xterm.js answers byte ${at} of ${escaped(output)}`);
	}
	assert.deepEqual(replayed.feed(replay).answers, [], `xterm.js answers ${escaped(replay)} in place of ${escaped(output)}`);
	// A sequence that is too long to be classified is hidden, whatever it draws; so are controls between ESC and ] or P.
	if (!ranges.some(({ muted }) => muted) && !/\x1b[^ -~]+[\]P]/.test(output.toString('latin1'))) {
		assert.ok(replayed.screen() === live.screen(), `${escaped(replay)} draws another screen than ${escaped(output)}`);
	}
	return got.answers.length;
}

test('random output', () => {
	const below = random(20240611);
	const outputs = Array.from({ length: times(4000, 10_000) }, () => compose(below));
	const live = new Reference();
	const replayed = new Reference();
	let answers = 0;
	scan(outputs).forEach((result, at) => {
		answers += assertSameEffect(live, replayed, outputs[at], result);
		live.reset();
		replayed.reset();
	});
	assert.ok(answers > outputs.length / 4, `only ${answers} queries occurred`);
});

test('random bytes', () => {
	const below = random(7);
	const outputs = Array.from({ length: times(5000, 20_000) }, () => Buffer.concat(
		Array.from({ length: 1 + below(20) }, () => (below(4) ? kinds[below(kinds.length)] : Buffer.of(below(256))))));
	compare(outputs);
});

test('sequences of thousands of bytes', () => {
	const below = random(11);
	const outputs = Array.from({ length: 60 }, () => {
		const one = compose(below);
		const at = below(one.length);
		const long = Buffer.alloc(below(12_000), kinds[below(kinds.length)]);
		return Buffer.concat([one.subarray(0, at), long, one.subarray(at)]);
	});
	const live = new Reference();
	const replayed = new Reference();
	scan(outputs).forEach((result, at) => {
		assertSameEffect(live, replayed, outputs[at], result);
		live.reset();
		replayed.reset();
	});
});
