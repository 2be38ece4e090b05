// Input of programs: named keys, pastes, a queue that loses nothing, authors of input, and leases.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const keys = (server, id, body) => server.api.call('POST', `/api/session/${id}/keys`, body);
const typed = async (server, id, from = 0) => (await server.api.call('GET', `/api/session/${id}/typed?from=${from}`)).typed;
const lease = async (server, id, body) => (await server.api.call('POST', `/api/session/${id}/lease`, body)).lease;
const refusedKeys = (server, id, status, code, body) => server.api.refused(status, code, 'POST', `/api/session/${id}/keys`, body);
const python = (body) => `python3 -c '${body}'`;

/** Start a program and wait for its first output. */
async function start(server, id, command, says) {
	const { offset } = await server.api.get(id);
	await server.api.input(id, `${command}\r`);
	await server.outputMatches(id, says, offset);
}

/** A program in s that logs its input to `got` until a `q`. */
async function reader(server) {
	writeFileSync(path.join(server.cwd, 'reader.py'), `import os, sys, termios, tty
old = termios.tcgetattr(0)
tty.setraw(0)
out = open("got", "wb", 0)
os.write(1, b"\\x1b[2J" + b"list" + b"ening")
while True:
    data = os.read(0, 4096)
    out.write(data)
    if data.endswith(b"q"): break
termios.tcsetattr(0, termios.TCSANOW, old)
`);
	await start(server, 's', 'python3 reader.py', /listening/);
	return {
		/** The logged input, after the q. */
		async end() {
			await keys(server, 's', { text: 'q' });
			const file = path.join(server.cwd, 'got');
			await until('q', () => readFileSync(file, 'latin1').endsWith('q'));
			return readFileSync(file, 'latin1').slice(0, -1);
		},
	};
}

shared('text, keys and bytes are typed in order, and the response is accurate', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	const { offset } = await server.api.get('s');
	const answer = await keys(server, 's', { text: 'echo on', keys: ['e', 'x', 'Left', 'DC'], base64: Buffer.from('e-\r').toString('base64') });
	assert.deepEqual([answer.written, answer.queued, answer.offset], [7 + 2 + 3 + 4 + 3, 0, offset]);
	assert.equal(typeof answer.state.status, 'string');
	await server.outputMatches('s', /\x07onee-\r\n/, offset);
	await keys(server, 's', { keys: 'e c h o Space o k Enter' });
	await server.outputMatches('s', /\x07ok\r\n/, offset);
	await keys(server, 's', { text: 'sleep 100', submit: true });
	await until('sleep', async () => (await keys(server, 's', { text: '' })).state.foreground?.name === 'sleep');
	await keys(server, 's', { keys: 'C-c' });
	await server.outputMatches('s', /\^C/, offset);
	assert.equal((await keys(server, 's', { submit: true })).written, 1);
});

shared('a pager and an editor are driven by named keys', async (server) => {
	await server.session({ id: 's', cwd: server.cwd, cols: 80, rows: 10 });
	writeFileSync(path.join(server.cwd, 'lines'), Array.from({ length: 200 }, (_, i) => `line ${i + 1} of it\n`).join(''));
	const screen = async () => (await server.api.raw('GET', '/api/session/s/screen?format=text')).text;
	const shows = (pattern) => until(() => `${pattern} on the screen`, async () => pattern.test(await screen()));
	await server.api.input('s', 'less lines\r');
	await shows(/^line 1 of/);
	await keys(server, 's', { keys: ['Down', 'Down'] });
	await shows(/^line 3 of/);
	await keys(server, 's', { keys: 'PageDown' });
	await shows(/^line 12 of/);
	await keys(server, 's', { keys: 'End' });
	await shows(/line 200 of/);
	await keys(server, 's', { keys: 'Home Up' });
	await shows(/^line 1 of/);
	await keys(server, 's', { keys: 'q' });
	await server.shellReady('s');
	await keys(server, 's', { text: 'vi -u NONE -N new', submit: true });
	await shows(/^~/m);
	await keys(server, 's', { keys: ['i'], });
	await keys(server, 's', { text: 'second', keys: ['Escape'] });
	await keys(server, 's', { keys: ['O'] });
	await keys(server, 's', { text: 'first', keys: ['Escape', 'Down', 'End', 'a'] });
	await keys(server, 's', { text: ' line', keys: ['Left', 'Left', 'Left', 'Left', 'C-v', 'u', '2', '1', '9', '2', 'Escape'] });
	await keys(server, 's', { text: ':wq', submit: true });
	const file = path.join(server.cwd, 'new');
	assert.equal(await until('file', () => { try { return readFileSync(file, 'utf8'); } catch { return false; } }), 'first\nsecond →line\n');
});

shared('a large paste into a slow reader is complete', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	writeFileSync(path.join(server.cwd, 'slow.py'), `import os, time, tty
tty.setraw(0)
os.write(1, b"re" + b"ady")
while not os.path.exists("go"): time.sleep(0.01)
data = b""
while not data.endswith(b"!"):
    data += os.read(0, 1500)
    time.sleep(0.001)
open("got.new", "wb").write(data)
os.rename("got.new", "got")
os.system("stty sane")
`);
	await start(server, 's', 'python3 slow.py', /ready/);
	const text = Array.from({ length: 30_000 }, (_, i) => `${String(i).padStart(9, '0')}\r`).join('');
	const answer = await keys(server, 's', { paste: text });
	assert.ok(answer.written > 0 && answer.queued > 0, JSON.stringify(answer));
	assert.equal(answer.written + answer.queued, text.length);
	const more = await keys(server, 's', { text: '!' });
	assert.equal(more.written, 0, 'it is queued behind the rest');
	assert.ok(more.queued > 1 && more.queued <= answer.queued + 1);
	writeFileSync(path.join(server.cwd, 'go'), '');
	const got = await until('the complete input', () => { try { return readFileSync(path.join(server.cwd, 'got'), 'latin1'); } catch { return false; } });
	assert.ok(got === `${text}!`, `${got.length} bytes came`);
	const entries = await typed(server, 's', answer.offset);
	assert.equal(entries.reduce((sum, { bytes }) => sum + bytes, 0), text.length + 1);
	assert.ok(entries.every((entry) => entry.text === null), 'a program in raw mode may have asked for a password');
});

shared('a line that the kernel would cut is refused', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	await start(server, 's', `stty -echo; ${python('import sys; print("re"+"ady", flush=True); [print(len(l), flush=True) for l in sys.stdin]')}; stty echo`, /ready/);
	const { offset } = await server.api.get('s');
	await refusedKeys(server, 's', 409, 'LINE_TOO_LONG', { text: `${'x'.repeat(4096)}\n` });
	await server.api.refused(409, 'LINE_TOO_LONG', 'POST', '/api/session/s/input', { data: 'x'.repeat(5000) });
	await refusedKeys(server, 's', 409, 'LINE_TOO_LONG', { paste: `short\n${'x'.repeat(4096)}` });
	assert.equal((await server.api.get('s')).offset, offset, 'nothing was typed');
	await keys(server, 's', { text: `${'x'.repeat(4095)}\n` });
	await server.outputMatches('s', /\b4096\r\n/, offset);
	await keys(server, 's', { text: 'x'.repeat(3000) });
	await refusedKeys(server, 's', 409, 'LINE_TOO_LONG', { text: 'x'.repeat(1096) });
	await keys(server, 's', { text: `${'x'.repeat(1095)}\n${`${'y'.repeat(99)}\n`.repeat(100)}` });
	await until('the lengths of all lines', async () => ((await server.api.text('s', offset)).match(/^(4096|100)\r$/gm) ?? []).length === 102);
	await keys(server, 's', { keys: 'C-d' });
	await server.shellReady('s');
	const before = (await server.api.get('s')).offset;
	await keys(server, 's', { text: `v=${'z'.repeat(6000)}; echo \${#v}` , submit: true });
	await server.outputMatches('s', /\x076000\r\n/, before);
});

shared('typed input is listed with its author, without secrets', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	const { offset } = await server.api.get('s');
	await keys(server, 's', { text: 'echo visible', keys: ['Enter'], name: 'robot' });
	await server.outputMatches('s', /\x07visible\r\n/, offset);
	const ada = await server.client({ sessionId: 's', name: 'Ada' }).connect();
	for (const key of 'read -s secret\r') ada.type(key);
	await until('the prompt of read', async () => (await keys(server, 's', { text: '' })).state.input === 'password');
	for (const key of 'hunter2') ada.type(key);
	await keys(server, 's', { text: 'correct-horse\r', name: 'robot' });
	await server.shellReady('s');
	// The second line is typed before the fate of the first is known.
	const raw = (await server.api.get('s')).offset;
	await server.api.input('s', 'read -s other\rbattery-staple');
	await until('the prompt of read', async () => (await keys(server, 's', { text: '' })).state.input === 'password');
	await keys(server, 's', { keys: 'Enter' });
	await server.shellReady('s');
	await server.api.input('s', 'read -s -n 6 third; echo th""ird\r');
	await until('the prompt of read', async () => (await keys(server, 's', { text: '' })).state.status === 'waiting_input');
	await keys(server, 's', { text: 'sesame' });
	await server.outputMatches('s', /third\r\n/, raw);
	const entries = await typed(server, 's');
	const by = (name) => entries.filter((entry) => entry.label === name && entry.author === 'owner');
	const shown = (some) => some.filter(({ text }) => text !== null).map(({ text }) => text).join('');
	assert.equal(shown(by('robot')), 'echo visible\r', JSON.stringify(entries));
	assert.ok(by('robot').every(({ client, text, bytes }) => client === null && (text === null || bytes === text.length)));
	const hers = by('Ada');
	assert.ok(hers.every(({ client }) => client === ada.attached.clientId));
	assert.equal(shown(hers), 'read -s secret\r');
	assert.equal(hers.reduce((sum, { bytes }) => sum + bytes, 0), 'read -s secret\rhunter2'.length);
	assert.ok(entries.some((entry) => entry.text === null && entry.label === null && entry.bytes >= 'battery-staple'.length));
	const everything = [JSON.stringify(entries), await server.api.text('s'),
		...await Promise.all(['', '/state', '/screen', '/scrollback', '/lease', '/exec'].map(async (what) => (await server.api.raw('GET', `/api/session/s${what}`)).text))].join('');
	for (const secret of ['hunter2', 'correct-horse', 'battery-staple', 'sesame']) assert.ok(!everything.includes(secret), secret);
	assert.ok((await typed(server, 's', raw)).length < entries.length);
	await server.api.refused(400, 'VALIDATION_FAILED', 'GET', '/api/session/s/typed?from=x');
});

shared('an exclusive lease blocks what other terminals type, except Ctrl-C', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	const ada = await server.client({ sessionId: 's', name: 'Ada' }).connect();
	const { id, ...shown } = await lease(server, 's', { owner: 'robot', ttlMs: 60_000 });
	const leaseMessage = await ada.untilMessage('lease', (message) => message.lease?.owner === 'robot');
	assert.deepEqual(leaseMessage.lease, shown, 'without its id');
	const { offset } = await server.api.get('s');
	ada.type('nothing of this\r');
	await ada.untilMessage('error', ({ code }) => code === 'LEASED');
	assert.equal((await server.api.get('s')).offset, offset);
	await keys(server, 's', { text: 'sleep 100', submit: true, lease: id });
	await until('sleep', async () => (await keys(server, 's', { text: '', lease: id })).state.foreground?.name === 'sleep');
	ada.type('\x03');
	await server.outputMatches('s', /\^C/, offset);
	const { data } = await server.api.call('POST', '/api/session/s/exec', { command: 'echo mine', lease: id, queue: true });
	assert.equal(data.exitCode, 0);
	ada.control({ type: 'lease', id });
	ada.type('echo "she" has it\r');
	await ada.untilText('she has it');
	await server.api.call('DELETE', `/api/session/s/lease?id=${id}`);
	await ada.untilMessage('lease', (message) => message.lease === null);
	// A lease that is not returned expires.
	await lease(server, 's', { ttlMs: 1000 });
	await ada.untilMessage('lease', (message) => message.lease === null, { from: ada.messages.length });
	await keys(server, 's', { text: '' });
});

shared('a person and a program type at once: nothing is lost, and all input has its author', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	const program = await reader(server);
	const ada = await server.client({ sessionId: 's', name: 'Ada' }).connect();
	let hers = 0;
	let its = 0;
	const person = (async () => {
		for (; its < 200 || hers < 200; hers++) {
			ada.type(`<${hers}>`);
			await new Promise((resolve) => setTimeout(resolve, 3));
		}
	})();
	for (; its < 200 || hers < 200; its++) await keys(server, 's', { text: `(${its}`, keys: [')'], name: 'robot' });
	await person;
	const entries = async (name) => (await typed(server, 's')).filter(({ label }) => label === name);
	const total = (count) => Array.from({ length: count }, (_, i) => String(i).length + 2).reduce((a, b) => a + b, 0);
	await until('all of her input', async () => (await entries('Ada')).reduce((sum, { bytes }) => sum + bytes, 0) === total(hers));
	assert.equal((await entries('robot')).reduce((sum, { bytes }) => sum + bytes, 0), total(its));
	const got = await program.end();
	assert.deepEqual([...got.matchAll(/<(\d+)>/g)].map(([, i]) => Number(i)), Array.from({ length: hers }, (_, i) => i));
	assert.deepEqual([...got.matchAll(/\((\d+)\)/g)].map(([, i]) => Number(i)), Array.from({ length: its }, (_, i) => i));
	assert.equal(got.length, total(hers) + total(its));
});

shared('a paste during the start of a command is complete, and its end is not awaited', { timeout: 120_000 }, async (server) => {
	const { api } = server;
	await server.session({ id: 's', cwd: server.cwd });
	const exec = async (command) => (await api.call('POST', '/api/session/s/exec', { command, queue: true, waitMs: 20_000 })).data;
	const paste = (text) => api.raw('POST', '/api/session/s/keys', { paste: text });
	let met = 0;
	for (let round = 1; met < 2 && round <= 60; round += 1) {
		const length = 60_000 + round;
		// The paste is meant for the edited line, so it waits for the command, whose terminal would keep only 4095 bytes of it.
		const [{ exitCode }, { status, json }] = await Promise.all([exec('sleep 0.2'), paste(`v=${'x'.repeat(length)}`)]);
		assert.equal(exitCode, 0);
		if (status !== 200) {
			assert.equal(json.code, 'LINE_TOO_LONG'); // it came just too late
			continue;
		}
		met += 1;
		await until('the end of the queue', async () => (await keys(server, 's', { text: '' })).queued === 0);
		await keys(server, 's', { keys: ['Enter'] });
		const { output, state, endedBy } = await exec('echo ${#v}');
		assert.deepEqual({ output, state, endedBy }, { output: `${length}\n`, state: 'done', endedBy: 'command' });
	}
	assert.ok(met > 0, 'no paste met a command');
	// An interrupt passes queued input.
	const [{ exitCode }] = await Promise.all([exec('sleep 1000'), paste('y'.repeat(60_000)).then(async () => {
		await until('the command', async () => (await api.call('GET', '/api/session/s/state')).state.foreground?.name === 'sleep');
		await keys(server, 's', { keys: ['C-c'] });
	})]);
	assert.equal(exitCode, 130);
});

shared('keys that the terminal acts on are sent raw, whatever modes an earlier program has set', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	for (const key of ['C-c', 'C-\\', 'C-d']) {
		await start(server, 's', 'printf "\\e[>1u\\e[>4;2m"; cat', /cat\r\n/);
		await until('cat', async () => (await server.api.call('GET', '/api/session/s/state')).state.foreground?.name === 'cat');
		await keys(server, 's', { keys: [key] });
		await server.untilPrompt('s');
	}
});
