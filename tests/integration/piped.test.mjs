// Output through pipes is shown, causes no replies, and leaves the terminal unchanged.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { metric } from './lib/control.mjs';
import { Emulator } from './lib/emulator.mjs';
import { times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const exec = (server, command, more) => server.api.call('POST', '/api/session/s/exec', { command, streams: 'pipes', ...more })
	.then(({ data }) => data);

/** The persistent state of the session's screen, and of a page that shows it. */
async function persistentState(server, emulator) {
	const { modes, title, icon, cwd, alternate } = await server.api.call('GET', '/api/session/s/screen');
	await emulator.parsed();
	return { modes, title, icon, cwd, alternate, page: { ...emulator.terminal.modes, buffer: emulator.terminal.buffer.active.type } };
}

/** The persistent state once the shell reads a line. */
async function atPrompt(server, page) {
	await exec(server, 'true');
	let now;
	await until('the prompt', async () => {
		now = await persistentState(server, page);
		return now.modes.bracketedPaste && now.page.bracketedPasteMode;
	});
	return now;
}

/** At the prompt the state is the same as before. */
async function assertRestored(server, page, before, what) {
	let now;
	await until(`the former state after ${what}`, async () => {
		now = await persistentState(server, page);
		return isDeepStrictEqual(now, before);
	}, { timeout: 5000 }).catch(() => assert.deepEqual(now, before, what));
}

/** A viewer with a real terminal, which types the terminal's replies. */
async function watch(server) {
	const client = server.client({ sessionId: 's', cols: 80, rows: 24 });
	const emulator = new Emulator(client);
	await client.connect();
	return emulator;
}

function untilShown(server, text) {
	let screen;
	return until(() => `${text} on the screen, which is ${JSON.stringify(screen)}`, async () => {
		({ text: screen } = await server.api.raw('GET', '/api/session/s/screen?format=text'));
		return screen.split('\n').includes(text);
	});
}

/** Print these bytes through both pipes. */
async function print(server, bytes) {
	const file = path.join(server.cwd, 'printed');
	writeFileSync(file, bytes, 'latin1');
	return exec(server, `cat ${file}; cat ${file} >&2`, { format: 'base64' });
}

/* Each changes how later output is shown, or input is encoded, or asks for a reply. */
const sequences = [
	...[1, 3, 5, 6, 7, 12, 25, 45, 47, 66, 69, 9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 1047, 1048, 1049, 2004, 2026, 2031]
		.flatMap((mode) => [`\x1b[?${mode}h`, `\x1b[?${mode}l`]),
	'\x1b[4h', '\x1b[20h', '\x1b[2l', '\x1b[3;5r', '\x1b[?69h\x1b[5;9s', '\x1b(0', '\x1b)0', '\x1b*0', '\x1b+0', '\x0e', '\x0f', '\x1bn', '\x1bo', '\x1b|', '\x1b}', '\x1b~',
	'\x1bc', '\x1b[!p', '\x1b7\x1b8', '\x1b[s', '\x1bH', '\x1b[3g', '\x1b=', '\x1b>', '\x1b#8', '\x1b[2 q', '\x1b[1"q', '\x1b%G', '\x1b%@', '\x1b F', '\x1b G',
	'\x1b]0;title\x07', '\x1b]1;icon\x07', '\x1b]2;title\x1b\\', '\x1b[22;0t', '\x1b[23;0t', '\x1b]4;1;#ff0000\x07', '\x1b]10;#ff0000\x07', '\x1b]7;file:///nowhere\x07', '\x1b]8;;http://x/\x07',
	'\x1b]133;A\x07', '\x1b]52;c;eA==\x07', '\x1b[>1u', '\x1b[=5u', '\x1b[>4;2m', '\x1b[1;31;4;7;9m', '\x1b[48;5;3m', '\xc2\x9b?1049h', '\xc2\x9d0;t\x07', '\xc2\x90q\x1b\\',
	'\x1b[c', '\x1b[>c', '\x1b[=c', '\x1bZ', '\x05', '\x1b[5n', '\x1b[6n', '\x1b[?6n', '\x1b[18t', '\x1b[?1$p', '\x1b[>q', '\x1bP$qm\x1b\\', '\x1bP+q544e\x1b\\', '\x1b]11;?\x07', '\x1b[?u',
	// Incomplete sequences.
	'\x1b', '\x1b[', '\x1b[?', '\x1b[1;', '\x1b(', '\x1b]', '\x1b]0;ti', '\x1bP', '\x1bPq', '\x1b_', '\x1b^', '\x1bX', '\xc3', '\xe2\x82', '\xf0\x9f\x98', '\xc2', '\xc2\x9b', '\xc2\x9d', '\x1b]0;x\x1b',
];

shared('sequences that persist, ask for a reply, or are incomplete', { timeout: 120_000 }, async (server) => {
	await server.session({ id: 's', cols: 80, rows: 24 });
	const page = await watch(server);
	const before = await atPrompt(server, page);
	// test_piped.c has all of them.
	for (const sequence of sequences.filter((_, at) => at % times(4, 1) === 0)) {
		const { exitCode, stdout, stderr } = await print(server, `x${sequence}`);
		assert.equal(exitCode, 0);
		for (const output of [stdout, stderr]) assert.equal(Buffer.from(output, 'base64').toString('latin1'), `x${sequence}`, 'the output is exact');
		const mark = `after${sequences.indexOf(sequence)}`;
		await exec(server, `echo ${mark}`);
		await untilShown(server, mark);
		await until(`${mark} on the page after ${JSON.stringify(sequence)}`, async () => {
			await page.parsed();
			return page.text.split('\n').includes(mark);
		});
		await assertRestored(server, page, before, JSON.stringify(sequence));
	}
	assert.equal(page.replies, '');
});

shared('random bytes, without typing', { timeout: 120_000 }, async (server) => {
	await server.session({ id: 's', cols: 80, rows: 24 });
	const page = await watch(server);
	const before = await atPrompt(server, page);
	const typed = () => metric(server, 'queries_answered_total');
	const answered = await typed();
	const bytes = randomBytes(times(2, 8) << 20);
	const file = path.join(server.cwd, 'random');
	writeFileSync(file, bytes);
	const done = await exec(server, `cat ${file}; cat ${file} >&2`, { timeoutMs: 60_000 });
	assert.equal(done.exitCode, 0);
	assert.equal(await typed(), answered, 'no query was answered');
	// The shell may need a while after that much output.
	const next = await exec(server, 'echo still here', { streams: 'terminal', queue: true });
	assert.equal(next.output, 'still here\n');
	assert.equal(next.exitCode, 0);
	await untilShown(server, 'still here');
	await assertRestored(server, page, before, 'random bytes');
	assert.equal(page.replies, '');
	assert.equal(await server.run('s', 'echo typed'), 'typed\n');
});
