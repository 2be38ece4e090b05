// Waiting for a session: one call for several conditions, without polling. unit/ws/api/session/test_api_wait tests limits,
// disconnected clients and the end of the server; `abuse` tests access.
import assert from 'node:assert/strict';
import { times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { pause, slowness, until } from './lib/until.mjs';

const id = 's';

const wait = (server, conditions, fields = {}, options = {}) => server.api.call('POST',
	`/api/session/${id}/wait`, { until: [conditions].flat(), timeoutMs: 60_000 * slowness, ...fields }, { timeout: 60_000, ...options });

const head = async (server) => (await server.api.get(id)).offset;
const type = (server, text) => server.api.input(id, text);

/** Wait for the prompt, without pending output. */
async function atPrompt(server) {
	const got = await wait(server, [{ type: 'prompt' }]);
	assert.equal(got.type, 'prompt', JSON.stringify(got));
	return got;
}

/** End a `sleep`: bash may miss a Ctrl-C between two commands. */
async function interrupt(server) {
	await until('sleep', async () => (await server.api.call('GET', `/api/session/${id}/state`)).state.foreground?.name === 'sleep');
	await type(server, '\x03');
	await atPrompt(server);
}

/** Type a line and wait. */
async function typeAndWait(server, line, conditions, fields = {}) {
	await atPrompt(server);
	const after = await head(server);
	await type(server, line);
	return wait(server, conditions, { from: after, after, ...fields });
}

shared('text in the output', async (server) => {
	await server.session({ id });
	let got = await typeAndWait(server, 'sleep .1; printf "\\033[1;31mcolo\\033[0m"; sleep .1; printf "ured\\n"; sleep 60\r',
		{ type: 'match', pattern: '^col[a-z]+ed$' });
	assert.equal(got.type, 'match');
	assert.equal(got.fired, 0);
	assert.equal(got.text, 'coloured');
	assert.match((await server.api.output(id, got.offset, got.end)).toString(), /^colo\x1b\[0mured$/);
	assert.equal(got.state.status, 'running');
	await interrupt(server);

	// A prompt of a program is an incomplete line; $ matches its end once it is quiet.
	got = await typeAndWait(server, 'read -p "Go on? [y/n] " x\r', { type: 'match', pattern: '\\[y/n\\] $' });
	assert.equal(got.text, '[y/n] ');
	assert.equal(got.state.status, 'waiting_input');
	await type(server, 'y\r');
});

for (const shell of ['bash', 'zsh', 'fish', 'sh'])
	shared(`text in the output, ${shell}: echoed input does not count`, { timeout: 60_000 }, async (server) => {
		await server.session({ id, shell });
		/** The text is found in the output of the line, where it occurs once more. */
		const found = async (word, answer) => {
			const { fired, offset, text } = await answer;
			assert.deepEqual([fired, text], [0, word]);
			/* fish draws a line in pieces. */
			const before = (await server.api.output(id, 0, offset)).toString();
			assert.ok(before.includes(shell === 'fish' ? ']133;C' : word), `${word} was echoed before`);
		};
		await atPrompt(server);
		await type(server, 'sleep 0.3; echo ready one\r');
		await found('ready one', wait(server, { type: 'match', pattern: 'ready one' }, { from: 0 }));
		// Half of the line is echoed when the wait starts.
		await atPrompt(server);
		await type(server, 'sleep 0.3; echo ready t');
		await wait(server, { type: 'idle', ms: 200 });
		const answer = wait(server, { type: 'match', pattern: 'wo' });
		await type(server, 'wo\r');
		await found('wo', answer);
		// Input of a program that prints it again.
		await atPrompt(server);
		await type(server, 'cat\r');
		await wait(server, { type: 'input', kind: 'line' });
		const from = await head(server);
		await type(server, 'ready three\r');
		await found('ready three', wait(server, { type: 'match', pattern: 'r.*three' }, { from }));
		await type(server, '\x03');
		await atPrompt(server);
		if (shell === 'sh') return;
		await server.api.call('POST', `/api/session/${id}/exec`, { command: 'sleep 0.3; echo "ready" four', yieldMs: 0 });
		await found('four', wait(server, { type: 'match', pattern: 'four$' }, { from }));
		// Output of a background job at a prompt counts, also while the same text is typed.
		const before = await head(server);
		await server.api.call('POST', `/api/session/${id}/exec`, { command: 'sh -c \'sleep 0.5; echo fi""ve\' &', queue: true });
		assert.equal((await wait(server, { type: 'match', pattern: 'five' }, { from: before })).text, 'five');
		await atPrompt(server);
		await type(server, 'sh -c \'sleep 0.7; echo six\' &\r');
		await found('six', wait(server, { type: 'match', pattern: 'six$' }, { from: before }));
		// Without a timeout all existing output is still searched.
		await found('six', wait(server, { type: 'match', pattern: 'six$' }, { from: before, timeoutMs: 0 }));
		await type(server, 'no-such-command\r');
		assert.equal((await wait(server, { type: 'match', pattern: 'not found|Unknown command|command not' }, { from: before })).fired, 0);
	});

shared('a prompt', async (server) => {
	await server.session({ id });
	await atPrompt(server);
	let got = await typeAndWait(server, 'sleep .3; false\r', { type: 'prompt' });
	assert.equal(got.state.status, 'prompt');
	assert.ok(got.elapsedMs >= 200, `${got.elapsedMs}`);
	// No input: an earlier prompt does not count.
	const after = await head(server);
	await type(server, 'echo half');
	got = await wait(server, { type: 'prompt' }, { after, timeoutMs: 300 });
	assert.equal(got.type, 'timeout');
	await type(server, '\x03');
	// While a program runs there is no prompt.
	got = await typeAndWait(server, 'sleep 60\r', { type: 'prompt' }, { timeoutMs: 300 });
	assert.equal(got.type, 'timeout');
	assert.equal(got.state.foreground.name, 'sleep');
	await interrupt(server);
	// Lines typed ahead: the prompt after the last one.
	const mark = await head(server);
	await type(server, 'sleep .2; echo a\rsleep .2; echo b\rsleep .2; echo "c"d\r');
	await wait(server, { type: 'match', pattern: '^cd' }, { from: mark });
	await atPrompt(server);
	// A shell without marks: the kernel's state suffices after a while.
	got = await typeAndWait(server, 'exec bash --norc --noprofile -i\r', { type: 'prompt' });
	assert.equal(got.type, 'prompt');
});

shared('input', async (server) => {
	await server.session({ id });
	let got = await typeAndWait(server, 'sleep .2; read x\r', { type: 'input' });
	assert.deepEqual([got.type, got.state.status, got.state.input], ['input', 'waiting_input', 'line']);
	assert.ok(got.elapsedMs >= 150, `${got.elapsedMs}`);
	await type(server, 'x\r');
	got = await typeAndWait(server, 'read x; sleep .3; read -s y; read z\r', { type: 'input', kind: 'password' }, { timeoutMs: 300 });
	assert.equal(got.type, 'timeout', 'another kind does not count');
	await type(server, 'x\r');
	got = await wait(server, { type: 'input', kind: 'password' });
	assert.equal(got.state.input, 'password');
	await type(server, 'x\rx\r');
});

shared('silence', async (server) => {
	await server.session({ id });
	let got = await typeAndWait(server, 'for i in 1 2 3 4 5; do echo $i; sleep .1; done; sleep 60\r', { type: 'idle', ms: 400 });
	assert.equal(got.type, 'idle');
	assert.match(await server.api.text(id), /5\r\n/);
	assert.ok(got.elapsedMs >= 400 && got.state.quietMs >= 400, JSON.stringify(got));
	got = await wait(server, { type: 'idle', ms: 100 }, { timeoutMs: 0 });
	assert.equal(got.type, 'idle', 'earlier silence counts');
	const { offset: after } = got;
	got = await wait(server, [{ type: 'idle', ms: 50 }, { type: 'stable', ms: 50 }, { type: 'prompt' }], { after, timeoutMs: 300 });
	assert.equal(got.type, 'timeout', 'there was no output');
	await type(server, '\x03');
	// A bell is output, but changes no row.
	got = await typeAndWait(server, 'clear; while sleep .05; do printf "\\a"; done\r', [{ type: 'idle', ms: 500 }, { type: 'stable', ms: 500 }]);
	assert.equal(got.type, 'stable');
	await type(server, '\x03');
});

shared('the end of a command', async (server) => {
	await server.session({ id });
	const { data } = await server.api.call('POST', `/api/session/${id}/exec`, { command: 'sleep .3', yieldMs: 0, queue: true });
	let got = await wait(server, [{ type: 'exit' }, { type: 'exec', id: data.id }]);
	assert.deepEqual([got.fired, got.type, got.state.exec], [1, 'exec', null]);
	got = await wait(server, { type: 'exec', id: data.id }, { timeoutMs: 0 });
	assert.equal(got.type, 'exec');
});

shared('an expensive pattern does not delay other requests', { timeout: 100_000 }, async (server) => {
	await server.session({ id });
	await server.session({ id: 't' });
	await atPrompt(server);
	const hostile = { type: 'match', pattern: '([a-y]?){200}Z9' };
	const pending = Array.from({ length: times(2, 4) }, () => wait(server,
		[hostile, { type: 'match', pattern: '^done' }], { timeoutMs: 600_000 }, { timeout: 90_000 }));
	let over = false;
	const all = Promise.all(pending).finally(() => { over = true; });
	all.catch(() => {});
	await type(server, `head -c ${times(25_000, 150_000)} /dev/zero | tr "\\\\0" a; echo; echo do"ne"\r`);
	// Other requests are served all the time.
	let turns = 0;
	let longest = 0;
	const begun = performance.now();
	for (let before = begun; !over; before = performance.now()) {
		const { status } = await server.api.raw('GET', '/api/session/t', undefined, { timeout: 60_000 });
		assert.equal(status, 200);
		if (!over) turns += 1;
		longest = Math.max(longest, performance.now() - before);
		await pause(5);
	}
	const whole = performance.now() - begun;
	console.log(`# ${turns} other requests in ${whole.toFixed(0)} ms, the longest ${longest.toFixed(0)} ms`);
	for (const got of await all) assert.deepEqual([got.type, got.fired], ['match', 1]);
	assert.ok(turns >= 4, `only ${turns} requests were answered meanwhile`);
});
