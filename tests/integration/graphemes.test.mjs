// Grapheme clusters: the server's screen equals that of xterm.js with the page's rules, however the output is split.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { all } from '../lib/rounds.mjs';
import { Ours } from '../lib/screen.mjs';
import { scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { until } from './lib/until.mjs';

const ROUNDS = times(50, 20000, 'GRAPHEMES_ROUNDS'); // random ones of each kind
const MOSTLY = 0.98; // see the end of ring/screen/README.md
const ours = new Ours();
after(() => ours.end());

const CHARACTERS = ['👨‍👩‍👧‍👦', '❤️', '🇩🇪', '🇩', '🇩🇪🇫', '👍🏽', '1️⃣', 'é', '\u0301', '각', '한국', '\u1100', '\u1161', '\u11a8', 'क्षि', 'क्',
	'क्\u200d', 'क्\u200c', '\u094d', 'ष', 'स्त्र', 'நி', 'নমস্তে', 'नमस्ते', 'ก็', '\u0600', '\u0600a', '\u0600世', '\u200d', '👩', '\ufe0f', '\ufe0e', 'a\ufe0f', '世\u0301', '🏴‍☠️', '\u0e33', '\u0903',
	'\u{1f3fd}', '\u{e0020}', '世', 'x', 'ab', '─', '©', '🫠', '\u{20000}', 'a'.repeat(9), '\u0301'.repeat(40), '🇩'.repeat(5)];
const MARKS = ['\x1b[?2027h', '\x1b[?2027l', '\x1b[?2027;25h'];
const OTHERS = ['\r', '\r\n', '\b', '\n', '\x1b[K', '\x1b[99C', '\x1b[?7l', '\x1b[?7h', '\x1b[4h', '\x1b[4l', '\x1b[b', '\x1b[3b', '\x1b[40b', '\x1b[7m',
	'\x1b[m', '\x1b[2C', '\x1b[2D', '\x1b[A', '\x1b[2P', '\x1b[@', '\x1b[2X', '\x1b[?1049h', '\x1b[?1049l', '\x1b7', '\x1b8', '\x1b[2;3r',
	'\x1b(0', '\x1b(B', '\x1b[44m', '\x1b[!p', '\x1bc'];

/** modes: whether mode 2027 changes meanwhile. */
function piece(random, modes) {
	const kind = random.below(10);
	if (kind < 7)
		return Array.from({ length: 1 + random.below(4) }, () => random.pick(CHARACTERS)).join('');
	return kind === 7 && modes ? random.pick(MARKS) : random.pick(OTHERS);
}

/** Output that the server sometimes gets byte by byte: in xterm.js the split makes a difference. */
function step(random, modes) {
	if (random.below(12) === 0)
		return { resize: [2 + random.below(14), 1 + random.below(6)] };
	return { bytes: Buffer.from(`\0${piece(random, modes)}\0`), apart: random.below(3) === 0 };
}

const beginning = (random, unicode) => ({ unicode, cols: 2 + random.below(12), rows: 1 + random.below(5), scrollback: random.pick([50, 1000]) });
const steps = (random, modes, count) => Array.from({ length: count }, () => step(random, modes));

test('random clusters and resizes', (t) => all(t, ours, ROUNDS, (i, random) => ({
	...beginning(random, 'graphemes'), steps: steps(random, false, 30) }), 1));

test('the same while mode 2027 changes', (t) => all(t, ours, ROUNDS, (i, random) => ({
	...beginning(random, random.pick(['wcwidth', 'graphemes'])), steps: steps(random, true, 30) }), 1));

test('a snapshot between them', (t) => all(t, ours, ROUNDS, (i, random) => ({ ...beginning(random, 'graphemes'),
	steps: [...steps(random, false, 1 + random.below(20)), { cut: true }, ...steps(random, false, 6)] }), MOSTLY));

test('a snapshot while mode 2027 changes', (t) => all(t, ours, ROUNDS, (i, random) => ({ ...beginning(random, random.pick(['wcwidth', 'graphemes'])),
	steps: [...steps(random, true, 1 + random.below(20)), { cut: true }, ...steps(random, true, 6)] }), MOSTLY));

scenario('a session has clusters from its start, by a mode, and after a restart', async (server) => {
	const flag = '\\360\\237\\207\\251\\360\\237\\207\\252'; // 🇩🇪, for printf
	const shown = async (id) => (await server.api.raw('GET', `/api/session/${id}/screen`)).json;
	const at = (id, text, column) => until(`${text} in ${id}, and the cursor in column ${column}`, async () => {
		const { lines, cursor } = await shown(id);
		return lines?.some((line) => line.text === text) && cursor.col === column;
	});
	const put = (id, what) => server.api.input(id, `printf '\\033[2J\\033[H${what}'; read -r x\r`);
	assert.equal((await server.session({ id: 'plain' })).unicode, 'wcwidth');
	assert.equal((await server.session({ id: 'whole', unicode: 'graphemes' })).unicode, 'graphemes');
	for (const wrong of ['', '11', 'WCWIDTH', '15-graphemes', 'graphemes ']) {
		const { status, json } = await server.api.raw('POST', '/api/session/create', { id: 'x', unicode: wrong });
		assert.deepEqual([status, json.code], [400, 'VALIDATION_FAILED'], wrong);
	}
	await put('whole', `${flag}\\342\\235\\244\\357\\270\\217|`);
	await at('whole', '🇩🇪❤️|', 5);
	await put('plain', `\\342\\235\\244\\357\\270\\217|\\033[?2027h\\342\\235\\244\\357\\270\\217|`);
	await at('plain', '❤️|❤️|', 5);
	await server.restart();
	await at('whole', '🇩🇪❤️|', 5);
	await at('plain', '❤️|❤️|', 5);
	const client = await server.client({ sessionId: 'whole' }).connect();
	assert.equal(client.log[0].unicode, 'graphemes');
	assert.match(client.snapshots[0].data.toString(), /^\x18\x1bc[^]*\x1b\[\?2027h[^]*🇩🇪❤️\|/);
});
