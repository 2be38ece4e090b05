// Pastes: messages of the terminal socket, whose text cannot end them or send keys; and bracketed pastes that never end, of which
// input of other clients does not become part.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const begin = '\x1b[200~';
const end = '\x1b[201~';
const state = async (server) => (await server.api.call('GET', '/api/session/s/state')).state;
const exec = async (server, command) => (await server.api.call('POST', '/api/session/s/exec', { command, queue: true })).data;

async function open(server, fields = {}) {
	const client = server.client({ sessionId: 's', ...fields });
	await client.connect();
	return client;
}

shared('a paste is ended when its client disconnects', async (server) => {
	await server.session({ id: 's' });
	const client = await open(server);
	client.type(`${begin}${'x'.repeat(30_000)}`);
	await until('the paste', async () => (await state(server)).pasting);
	client.terminate();
	await until('the end of the paste', async () => !(await state(server)).pasting);
	await server.api.input('s', '\x15');
	await server.api.input('s', 'echo h""i\r');
	await server.outputMatches('s', /\x07hi\r\n/);
	assert.equal((await exec(server, 'echo there')).output, 'there\n');
});

shared('input of another client does not become part of a paste, and its own client continues it', async (server) => {
	await server.session({ id: 's' });
	const one = await open(server);
	const other = await open(server);
	one.type(`${begin}echo a\necho b\n`);
	await until('the paste', async () => (await state(server)).pasting);
	other.type('\x03');
	await server.outputMatches('s', /\^C/);
	other.type('echo be""hind\r');
	await server.outputMatches('s', /\x07behind\r\n/);
	const { offset } = await server.api.get('s');
	one.type('echo ru""ns\n');
	one.type(`echo late${end}`);
	await server.outputMatches('s', /late/, offset);
	assert.equal((await state(server)).pasting, false);
	assert.doesNotMatch(await server.api.text('s', offset), /\x07runs/);
	one.type('\r');
	await server.outputMatches('s', /\x07runs\r\n/, offset);
	// Requests over the API are distinguished by principal.
	await server.api.input('s', begin);
	await until('the paste', async () => (await state(server)).pasting);
	one.type('echo a""gain\r');
	await server.outputMatches('s', /\x07again\r\n/);
});

shared('a client that reconnects continues its paste', async (server) => {
	await server.session({ id: 's' });
	const client = await open(server, { client: '12345678901234567890123456789012'.slice(0, 32) });
	client.type(`${begin}echo o""ne\n`);
	await until('the paste', async () => (await state(server)).pasting);
	client.terminate();
	await until('the end of the paste', async () => !(await state(server)).pasting);
	const { offset } = await server.api.get('s');
	await client.connect();
	client.type(`echo t""wo\n${end}`);
	await server.outputMatches('s', /t""wo/, offset);
	assert.doesNotMatch(await server.api.text('s'), /\x07one\r\n/);
	client.type('\r');
	await server.outputMatches('s', /\x07one\r\n[^]*\x07two\r\n/);
});

shared('a paste that came while a command ran is ended after the command', async (server) => {
	await server.session({ id: 's' });
	const client = await open(server);
	await server.api.input('s', 'sleep 1\r');
	await until('the start of sleep', async () => (await state(server)).status === 'running');
	client.type(`${begin}echo pas""ted`);
	await until('the paste', async () => (await state(server)).pasting);
	client.terminate();
	await until('the end of the paste', async () => !(await state(server)).pasting);
	await server.api.input('s', '\recho ty""ped\r');
	await server.outputMatches('s', /\x07pasted\r\n[^]*\x07typed\r\n/);
	assert.equal((await exec(server, 'echo there')).output, 'there\n');
});

shared('keys from the client of an interrupted paste end it', async (server) => {
	await server.session({ id: 's' });
	const client = await open(server, { client: 'f'.repeat(32) });
	client.type(`${begin}echo lost`);
	await until('the paste', async () => (await state(server)).pasting);
	client.terminate();
	await until('the end of the paste', async () => !(await state(server)).pasting);
	await client.connect();
	client.type('\x15');
	client.type('echo he""re');
	client.type('\r');
	await server.outputMatches('s', /\x07here\r\n/);
	assert.equal((await state(server)).pasting, false);
});

shared('a server that ends leaves a paste to the next one', async (server) => {
	await server.session({ id: 's' });
	const client = await open(server, { client: 'e'.repeat(32) });
	client.type(`${begin}echo o""ne\n`);
	await until('the paste', async () => (await state(server)).pasting);
	await server.kill('SIGTERM');
	await server.start();
	await client.connect();
	client.type(`echo t""wo${end}`);
	await server.outputMatches('s', /t""wo/);
	assert.doesNotMatch(await server.api.text('s'), /\x07one\r\n/);
	client.type('\r');
	await server.outputMatches('s', /\x07one\r\n[^]*\x07two\r\n/);
});

shared('a paste ends with its shell', async (server) => {
	await server.session({ id: 's', onShellExit: 'respawn' });
	const client = await open(server);
	client.type(`${begin}echo lost`);
	await until('the paste', async () => (await state(server)).pasting);
	const { pid } = await server.api.get('s');
	process.kill(pid, 'SIGKILL');
	await until('the next shell', async () => (await server.api.get('s')).pid !== pid && (await state(server)).status === 'prompt');
	assert.equal((await state(server)).pasting, false);
	await server.api.input('s', 'echo mi""ne\r');
	await server.outputMatches('s', /\x07mine\r\n/);
});

const key = (digit) => digit.repeat(32);

/** The messages that begin a paste, and its bytes. */
function paste(client, text, fields = {}) {
	const data = Buffer.from(text);
	const lines = text.split(/\r\n|\r|\n/);
	client.control({ type: 'paste', id: 1, bytes: data.length, lines: lines.length - (lines.at(-1) === '' ? 1 : 0),
		longest: lines.reduce((longest, line) => Math.max(longest, Buffer.byteLength(line)), 0), ...fields });
	return data;
}

shared('a paste message runs nothing, whatever its text contains', async (server) => {
	await server.session({ id: 's' });
	const client = await open(server);
	const text = 'echo o""ne\x1b[201~\necho two\x9b201~\r\necho \x03\x04three\n';
	client.type(paste(client, text));
	client.type('echo behi""nd');
	await server.outputMatches('s', /behi""nd/);
	assert.equal((await state(server)).pasting, false);
	const before = await server.api.text('s');
	assert.match(before, /echo o""ne\[201~[^]*echo two201~[^]*echo three/);
	assert.doesNotMatch(before, /\x07one/);
	client.type('\r');
	await server.outputMatches('s', /\x07one\[201~\r\n[^]*\x07two201~\r\n[^]*\x07three\r\n[^]*\x07behind\r\n/);
});

shared('several lines need a confirmation if the program would run each, and a long line is refused where it would be cut', async (server) => {
	await server.session({ id: 's' });
	const client = await open(server, { client: key('1') });
	client.type('cat\r');
	await server.api.call('POST', '/api/session/s/wait', { until: [{ type: 'input', kind: 'line' }] });
	const refused = (id) => client.untilMessage('paste', (message) => message.id === id);
	client.type(paste(client, 'never\nnever\n'));
	assert.equal((await refused(1)).code, 'PASTE_UNBRACKETED');
	client.type(paste(client, 'x'.repeat(4096), { id: 2 }));
	assert.equal((await refused(2)).code, 'LINE_TOO_LONG');
	client.type(paste(client, 'first\r\nsecond\n', { id: 3, confirmed: true }));
	await server.outputMatches('s', /second\r\n[^]*second\r\n/);
	client.type(paste(client, 'third', { id: 4 }));
	client.type('\r');
	await server.outputMatches('s', /third\r\nthird\r\n/);
	const shown = await server.api.text('s');
	// The terminal's echo and cat's lines.
	for (const line of ['first', 'second']) assert.equal(shown.split(`${line}\r\n`).length, 3, line);
	assert.doesNotMatch(shown, /never|xxx/);
	// Refused bytes count as taken, so that the client does not send them again.
	const typed = 'cat\rnever\nnever\nfirst\r\nsecond\nthird\r'.length + 4096;
	await client.untilMessage('input', ({ taken }) => taken === typed);
	assert.equal(client.messages.filter(({ type }) => type === 'paste').length, 2);
});

/** Send all of a paste, with at most 128 KiB without a receipt. */
async function send(client, data, before = 0) {
	for (let at = 0; at < data.length; at += 16_384) {
		const room = () => at - (client.messages.findLast(({ type }) => type === 'input')?.taken ?? before) + before < 131_072;
		if (!room()) await until('a receipt', () => room(), { interval: 5 });
		client.type(data.subarray(at, at + 16_384));
	}
}

/** A program that uses bracketed paste, reads slowly at first, and writes what it has read to a file. */
const slowReader = `import os, sys, time, tty
tty.setraw(0)
os.write(1, b'\x1b[?2004hready')
out = open('got', 'wb')
got = b''
while not got.endswith(b'q'):
    if len(got) < 20000: time.sleep(0.02)
    got += (piece := os.read(0, 1000))
    out.write(piece)
out.close()
os.write(1, b'\x1b[?2004lover')
`;

async function readSlowly(server, client) {
	writeFileSync(path.join(server.cwd, 'slow.py'), slowReader);
	client.type('python3 slow.py\r');
	await server.outputMatches('s', /ready/);
	return async () => {
		await server.outputMatches('s', /over/);
		return readFileSync(path.join(server.cwd, 'got'), 'utf8');
	};
}

shared('a large paste into a slow reader arrives whole and in order, and what is typed behind it comes behind it', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	const client = await open(server, { client: key('2') });
	const got = await readSlowly(server, client);
	const text = Array.from({ length: 300_000 }, (_, index) => index).join('\n');
	await send(client, paste(client, text), 'python3 slow.py\r'.length);
	client.type('q');
	assert.equal(await got(), `${begin}${text.replaceAll('\n', '\r')}${end}q`);
	assert.deepEqual(client.messages.filter(({ type }) => type === 'error' || type === 'paste'), []);
});

shared('a paste that is cancelled is ended, and so is one that another client interrupts', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	const client = await open(server, { client: key('3') });
	const got = await readSlowly(server, client);
	client.type(paste(client, 'abcdef').subarray(0, 3));
	client.control({ type: 'paste', id: 1, end: true });
	client.type(paste(client, 'ghijkl', { id: 2 }).subarray(0, 2));
	await until('the paste', async () => (await state(server)).pasting);
	const other = await open(server);
	other.type('X');
	await until('the end of the paste', async () => !(await state(server)).pasting);
	client.type('i'); // shorter than what is taken for a part of a paste without these messages
	client.type('jkl');
	client.type('q');
	assert.equal(await got(), `${begin}abc${end}${begin}gh${end}X${begin}ijkl${end}q`);
});

shared('a lease stops a paste: the client is told once, and the rest is dropped', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	const client = await open(server, { client: key('4') });
	const got = await readSlowly(server, client);
	const data = paste(client, 'abcdefgh');
	client.type(data.subarray(0, 2));
	await until('the paste', async () => (await state(server)).pasting);
	const { lease } = await server.api.call('POST', '/api/session/s/lease', { owner: 'agent', ttlMs: 60_000 });
	client.type(data.subarray(2, 4));
	assert.equal((await client.untilMessage('paste')).code, 'LEASED');
	client.type(data.subarray(4, 6));
	await server.api.call('DELETE', '/api/session/s/lease', { id: lease.id });
	client.type(data.subarray(6));
	client.type('q');
	assert.equal(await got(), `${begin}ab${end}q`);
	assert.equal(client.messages.filter(({ type }) => type === 'paste' || type === 'error').length, 1);
});

for (const signal of [null, 'SIGKILL'])
	shared(`the rest of a paste comes on the next connection, ${signal ? 'also of the next server' : 'in a paste of its own'}`, async (server) => {
		await server.session({ id: 's', cwd: server.cwd });
		const client = await open(server, { client: key(signal ? '5' : '6') });
		const got = await readSlowly(server, client);
		const typed = 'python3 slow.py\r'.length;
		client.type(paste(client, 'abc\ndef').subarray(0, 4));
		await client.untilMessage('input', ({ taken }) => taken === typed + 4);
		if (signal) {
			await server.kill(signal);
			await server.start();
		} else {
			client.terminate();
			await until('the end of the paste', async () => !(await state(server)).pasting);
		}
		await client.connect();
		assert.equal(client.attached.input, typed + 4);
		client.type(paste(client, 'def'));
		client.type('q');
		assert.equal(await got(), `${begin}abc\r${signal ? '' : end + begin}def${end}q`);
	});

shared('a client that breaks the rules of pastes is closed, and a viewer cannot paste', async (server) => {
	await server.session({ id: 's' });
	const wrong = [
		(client) => client.control({ type: 'paste', bytes: 3 }),
		(client) => client.control({ type: 'paste', id: 1, bytes: 2 ** 24 + 1 }),
		(client) => [paste(client, 'abc'), paste(client, 'abc', { id: 2 })],
	];
	for (const act of wrong) {
		const client = await open(server);
		act(client);
		assert.equal((await client.untilClosed()).code, 1008);
	}
	const { token } = await server.api.link('s', 'viewer', 60_000);
	const viewer = await open(server, { token });
	viewer.type(paste(viewer, 'abc'));
	assert.equal((await viewer.untilMessage('paste')).code, 'READ_ONLY');
	viewer.type('d');
	await viewer.untilMessage('error', ({ code }) => code === 'READ_ONLY');
	assert.doesNotMatch(await server.api.text('s'), /abc/);
});

shared('the link for one prompt gives one answer, also as a paste with keys behind it', async (server) => {
	await server.session({ id: 's' });
	await server.api.input('s', 'read -s word\r');
	const { state: { humanUrl } } = await server.api.call('POST', '/api/session/s/wait', { until: [{ type: 'input', kind: 'password' }] });
	const client = await open(server, { token: humanUrl.split('#link=')[1] });
	paste(client, 'secret\n');
	client.type('secret\necho ru""ns\n');
	assert.equal((await client.untilClosed()).code, 4401);
	await server.untilPrompt('s');
	assert.doesNotMatch(await server.api.text('s'), /ru""ns|\x07runs/);
});

shared('a paste is refused if it makes the typed line too long', async (server) => {
	await server.session({ id: 's' });
	const client = await open(server, { client: key('1') });
	client.type('cat | wc -c\r');
	await server.api.call('POST', '/api/session/s/wait', { until: [{ type: 'input', kind: 'line' }] });
	client.type(paste(client, 'x'.repeat(3000)));
	client.type(paste(client, 'y'.repeat(3000), { id: 2 }));
	client.type('\r\x04');
	assert.equal((await client.untilMessage('paste', ({ id }) => id === 2)).code, 'LINE_TOO_LONG');
	await server.outputMatches('s', /3001\r\n/);
});

/** A program that reads only when the file `go` exists, and then until a `q`. */
const lateReader = slowReader.replace('got = b', `while not os.path.exists('go'): time.sleep(0.02)\ngot = b`);

for (const how of ['the client connects again', 'the server is killed', 'the server is killed, and another client types first'])
	shared(`input that waits for the program comes once: ${how}`, async (server) => {
		await server.session({ id: 's', cwd: server.cwd });
		const client = await open(server, { client: key('7') });
		writeFileSync(path.join(server.cwd, 'late.py'), lateReader);
		client.type('python3 late.py\r');
		await server.outputMatches('s', /ready/);
		const typed = 'python3 late.py\r'.length;
		const text = 'x'.repeat(60_000);
		client.type(text);
		await client.untilMessage('input', ({ taken }) => taken > typed);
		client.terminate();
		if (how !== 'the client connects again') await server.restart();
		if (how.includes('another')) {
			writeFileSync(path.join(server.cwd, 'go'), '');
			const other = await open(server, { client: key('8') });
			other.type('y'.repeat(60_000));
			await other.untilMessage('input', ({ taken }) => taken === 60_000);
		}
		await client.connect();
		client.type(`${text.slice(client.attached.input - typed)}q`);
		writeFileSync(path.join(server.cwd, 'go'), '');
		await server.outputMatches('s', /over/);
		assert.equal(readFileSync(path.join(server.cwd, 'got'), 'utf8').replaceAll('y', ''), `${text}q`);
	});

shared('pastes while the session starts come behind earlier keys', async (server) => {
	const client = server.client({ sessionId: 's', client: key('f') });
	const connected = client.connect();
	await until('the socket', () => client.socket?.readyState === 1, { interval: 1 });
	client.type('echo ');
	client.type(paste(client, 'st""art'));
	client.control({ type: 'paste', id: 1, end: true });
	client.type(paste(client, 'ed', { id: 2 }));
	client.type('\r');
	await connected;
	await server.outputMatches('s', /\x07started\r\n/);
});

shared('several pastes may wait for the screen', async (server) => {
	await server.session({ id: 's' });
	const client = await open(server, { client: key('0') });
	client.type('yes | head -c 30000000; cat\r');
	await server.outputMatches('s', /y\r\ny\r\n/);
	for (let id = 1; id < 40; id++) client.type(paste(client, `${id},`, { id }));
	client.type('\r');
	await server.outputMatches('s', /37,38,39,\r\n/);
	assert.deepEqual(client.messages.filter(({ type }) => type === 'error' || type === 'paste'), []);
});

shared('two clients that paste in turn run nothing', async (server) => {
	await server.session({ id: 's' });
	const clients = [await open(server, { client: key('a') }), await open(server, { client: key('b') })];
	const texts = clients.map((client, index) => paste(client, `echo ${index}""1\necho ${index}""2\necho ${index}""3\n`));
	for (let at = 0; at < 30; at += 10)
		for (const [index, client] of clients.entries()) {
			client.type(texts[index].subarray(at, at + 10));
			await client.untilMessage('input', ({ taken }) => taken >= at + 10);
		}
	await server.outputMatches('s', /1""3/);
	assert.doesNotMatch(await server.api.text('s'), /\x07[01]\d\r\n/);
	clients[0].type('\r');
	await server.outputMatches('s', /\x0713\r\n/);
});

shared('keys and the focus of other clients do not become part of a paste in raw mode', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	const client = await open(server, { client: key('9') });
	writeFileSync(path.join(server.cwd, 'slow.py'), slowReader.replace('2004hready', '2004h\\x1b[?1004hready').replace('2004lover', '2004l\\x1b[?1004lover'));
	client.type('python3 slow.py\r');
	await server.outputMatches('s', /ready/);
	const other = await open(server, { client: key('c') });
	const data = paste(client, 'abcdef');
	const typed = 'python3 slow.py\r'.length;
	for (const [at, input] of [[2, '\x03'], [4, '\x1b[I']]) {
		client.type(data.subarray(at - 2, at));
		await client.untilMessage('input', ({ taken }) => taken === typed + at);
		other.type(input);
		await until('the end of the paste', async () => !(await state(server)).pasting);
	}
	client.type(data.subarray(4));
	client.type('q');
	await server.outputMatches('s', /over/);
	assert.equal(readFileSync(path.join(server.cwd, 'got'), 'utf8'), `${begin}ab${end}\x03${begin}cd${end}\x1b[I${begin}ef${end}q`);
});

for (const how of ['its client disconnected', 'another client typed'])
	shared(`the rest of a paste that had ended when the server was killed is a paste: ${how}`, async (server) => {
		await server.session({ id: 's' });
		const client = await open(server, { client: key('d') });
		client.type(paste(client, 'echo o""ne\necho t""wo\n').subarray(0, 11));
		await client.untilMessage('input', ({ taken }) => taken === 11);
		if (how.startsWith('another')) (await open(server)).type('X');
		else client.terminate();
		await until('the end of the paste', async () => !(await state(server)).pasting);
		await server.restart();
		client.terminate();
		await client.connect();
		client.type(paste(client, 'echo t""wo\n'));
		await server.outputMatches('s', /t""wo/);
		await exec(server, 'true');
		assert.doesNotMatch(await server.api.text('s'), /\x07(one|two)\r\n/);
	});

shared('keys of another client do not become part of a paste that a killed server has left', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	const client = await open(server, { client: key('e') });
	const got = await readSlowly(server, client);
	client.type(paste(client, 'abcd').subarray(0, 2));
	await client.untilMessage('input', ({ taken }) => taken === 'python3 slow.py\r'.length + 2);
	await server.restart();
	client.terminate();
	(await open(server)).type('X');
	await client.connect();
	client.type(paste(client, 'cd'));
	client.type('q');
	assert.equal(await got(), `${begin}ab${end}X${begin}cd${end}q`);
});

shared('the rest of a paste runs nothing if the program that read its beginning has ended', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	const client = await open(server, { client: key('2') });
	writeFileSync(path.join(server.cwd, 'ends.py'), `import os, tty, termios
modes = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b'\x1b[?2004hready')
os.read(0, 100)
os.write(1, b'\x1b[?2004l')
termios.tcsetattr(0, termios.TCSADRAIN, modes)
`);
	client.type('python3 ends.py\r');
	await server.outputMatches('s', /ready/);
	const data = paste(client, 'xx\necho o""ne\necho t""wo\n');
	client.type(data.subarray(0, 2));
	await server.untilPrompt('s');
	client.type(data.subarray(2));
	await server.outputMatches('s', /t""wo/);
	assert.equal((await state(server)).pasting, false);
	assert.doesNotMatch(await server.api.text('s'), /\x07(one|two)\r\n/);
});
