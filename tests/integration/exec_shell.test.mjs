// The shell itself: input before its first prompt, and programs that have replaced it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cmdline } from './lib/proc.mjs';
import { times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { stays, until } from './lib/until.mjs';

const ask = (server, session, fields) => server.api.raw('POST', `/api/session/${session}/exec`, { queue: true, ...fields });
const count = (text, word) => text.split(word).length - 1;

shared('input before the first prompt reaches the shell once, in order', { timeout: 100_000 }, async (server) => {
	// Startup files that read pending input, and change the terminal's modes.
	server.startup("sleep 0.3; stty -echo -icanon; timeout 0.1 cat </dev/null; stty sane; PS1='> '\n");
	const file = path.join(server.cwd, 'typed');
	await Promise.all(Array.from({ length: times(4, 8) }, async (_, at) => {
		const session = `s${at}`;
		if (at % 2) {
			const client = server.client({ sessionId: session });
			const connected = client.connect();
			client.socket.once('open', () => {
				client.type(`echo ${session} one >>${file}\r`);
				client.type(`echo ${session} two >>${file}\r`);
			});
			await connected;
		} else {
			await server.api.create({ id: session });
			await server.api.input(session, `echo ${session} one >>${file}\r`);
			await server.api.input(session, `echo ${session} two >>${file}\r`);
		}
		const { json } = await ask(server, session, { command: `echo ${session} three >>${file}` });
		assert.equal(json.data.endedBy, 'command', JSON.stringify(json));
		const lines = readFileSync(file, 'utf8').split('\n').filter((line) => line.startsWith(`${session} `));
		assert.deepEqual(lines, ['one', 'two', 'three'].map((word) => `${session} ${word}`));
		const text = await server.api.text(session);
		assert.equal(count(text, 'echo s'), 3, JSON.stringify(text));
	}));
});

shared('input while the first prompt is made is shown once', async (server) => {
	const put = (name) => writeFileSync(path.join(server.cwd, name), '');
	server.startup(`until [ -e begin ]; do sleep 0.01; done; PS1='$(touch made; until [ -e go ]; do sleep 0.01; done)> '\n`);
	await server.api.create({ id: 's', cwd: server.cwd });
	await server.api.input('s', 'echo one""\r');
	put('begin');
	await until('the start of the prompt command', () => existsSync(path.join(server.cwd, 'made')));
	await server.api.input('s', 'echo two""\r');
	await stays('nothing is shown', async () => !/echo/.test(await server.api.text('s')), 300);
	put('go');
	await server.outputMatches('s', /two\r\n/);
	const text = await server.api.text('s');
	assert.equal(count(text, 'echo one'), 1, JSON.stringify(text));
});

shared('startup files that read from the terminal get the input', async (server) => {
	server.startup("read -p 'name? ' name; echo \"it is $name\"; PS1='> '\n");
	await server.api.create({ id: 's' });
	const waiting = ask(server, 's', { command: 'echo "$name"' });
	await server.outputMatches('s', /name\? /);
	const { json: { data: queued } } = await ask(server, 's', { command: 'true', yieldMs: 0 });
	assert.equal(queued.state, 'queued');
	assert.match(queued.waitsFor, /Other commands wait|still starting/);
	await server.api.input('s', 'Ada\r');
	await server.outputMatches('s', /it is Ada/);
	assert.equal((await waiting).json.data.output, 'Ada\n');
	// A time limit ends the wait.
	await server.api.create({ id: 't' });
	const { json: { data: given } } = await ask(server, 't', { command: 'true', timeoutMs: 300 });
	assert.deepEqual([given.state, given.endedBy], ['done', 'busy']);
	await server.api.input('t', '\r');
});

const state = async (server, id) => (await server.api.call('GET', `/api/session/${id}/state`)).state;
const wait = (server, id, conditions) => server.api.call('POST', `/api/session/${id}/wait`, { until: conditions, timeoutMs: 30_000 }, { timeout: 60_000 });

shared('Ctrl-S does not stop a terminal, and no program is run before the first prompt for that', async (server) => {
	const ran = path.join(server.cwd, 'ran');
	const flow = async (id) => (await server.run(id, '/bin/stty -a')).match(/-?ixon/)[0];
	writeFileSync(path.join(server.home, 'stty'), `#!/bin/sh\necho "$@" >>${ran}\nexec /bin/stty "$@"\n`, { mode: 0o755 });
	server.startup('PATH=$HOME:$PATH\n');
	await server.session({ id: 's' });
	assert.equal(await flow('s'), '-ixon');
	assert.ok(!existsSync(ran));
	const read = ask(server, 's', { command: 'printf re%s ads; read x; echo "${#x}"' });
	await server.outputMatches('s', /reads/);
	await server.api.input('s', '\x13\r');
	assert.match((await read).json.data.output, /\n1\n$/);
	// A startup file may enable it, and other shells keep it.
	server.startup('/bin/stty ixon\n');
	await server.session({ id: 't' });
	assert.equal(await flow('t'), 'ixon');
	await server.api.create({ id: 'sh', shell: 'sh' });
	await server.api.input('sh', '/bin/stty -a\r');
	await server.outputMatches('sh', / ixon/);
});

shared('a shell is starting until its first prompt, and reports what its startup files wait for', async (server) => {
	const go = path.join(server.cwd, 'go');
	server.startup(`echo begins; until [ -e ${go} ]; do sleep 0.05; done
read -p 'name? ' name; read -sp 'secret? ' secret; read -n1 -p 'key? ' key; echo "it is $name $secret $key"; PS1='> '\n`);
	await server.api.create({ id: 's' });
	await server.outputMatches('s', /begins/);
	const prompt = wait(server, 's', [{ type: 'prompt' }]);
	for (let i = 0; i < 5; i++) assert.deepEqual([(await state(server, 's')).status, (await state(server, 's')).input], ['starting', undefined]);
	writeFileSync(go, '');
	for (const [kind, text] of [['line', 'Ada\r'], ['password', 'x\r'], ['raw', 'y']]) {
		const { state: seen } = await wait(server, 's', [{ type: 'input', kind }]);
		assert.deepEqual([seen.status, seen.input], ['starting', kind]);
		await server.api.input('s', text);
	}
	const { type, state: at } = await prompt;
	assert.deepEqual([type, at.status], ['prompt', 'prompt']);
	assert.match(await server.api.text('s'), /it is Ada x y/);
	// A shell without line editing reaches a prompt too, and so does a shell that replaced ours.
	for (const [id, text] of [['t', "set +o emacs +o vi; PS1='> '\n"], ['u', "exec env PS1='> ' bash --norc -i\n"]]) {
		server.startup(text);
		await server.api.create({ id });
		await until('a prompt', async () => (await state(server, id)).status === 'prompt');
	}
});

shared('nothing is typed into a program that has replaced bash', { timeout: 100_000 }, async (server) => {
	const other = path.join(server.cwd, 'othershell');
	copyFileSync('/bin/bash', other);
	const commands = ['exec dash', 'exec sh', 'exec bash --norc', `exec ${other} --norc`, 'exec python3'].filter((command) => !/python3/.test(command) || existsSync('/usr/bin/python3'));
	for (const [at, command] of commands.entries()) {
		const session = `s${at}`;
		await server.session({ id: session });
		const { pid } = await server.api.get(session);
		const before = cmdline(pid);
		await server.api.input(session, `${command}\r`);
		// The command line is empty during exec().
		await until(`another program: ${command}`, () => ![before, ''].includes(cmdline(pid)));
		const { offset } = await server.api.get(session);
		const refused = await ask(server, session, { command: 'echo no' });
		assert.deepEqual([refused.status, refused.json.code], [409, 'EXEC_UNSUPPORTED'], `${command}: ${refused.text}`);
		assert.match(refused.json.message, /taken the place/);
		assert.doesNotMatch(await server.api.text(session, offset), /7399;|17~/);
	}
	// From a startup file, with a command waiting.
	server.startup('sleep 0.2; exec dash\n');
	await server.api.create({ id: 'rc' });
	const { json } = await ask(server, 'rc', { command: 'echo no' });
	assert.equal((json.data ?? json).endedBy, 'not_started', JSON.stringify(json));
	assert.doesNotMatch(await server.api.text('rc'), /7399;|17~/);
	// Without line editing the key binding would not work.
	server.startup('set +o emacs +o vi\n');
	await server.api.create({ id: 'plain' });
	const early = await ask(server, 'plain', { command: 'echo no' });
	assert.equal((early.json.data ?? early.json).endedBy, 'not_started', early.text);
	const late = await ask(server, 'plain', { command: 'echo no' });
	assert.deepEqual([late.status, late.json.code], [409, 'EXEC_UNSUPPORTED'], late.text);
	assert.match(late.json.message, /line editing/);
	assert.doesNotMatch(await server.api.text('plain'), /7399;|17~/);
});

shared('our commands do not end a shell with set -e', async (server) => {
	await server.session({ id: 's' });
	for (const command of ['set -e', 'history -c', "trap ': $(history 1)' DEBUG"]) await ask(server, 's', { command });
	const { json: beside } = await ask(server, 's', { command: 'echo beside', fork: true, queue: undefined });
	assert.equal(beside.stdout, 'beside\n', JSON.stringify(beside));
	assert.equal((await ask(server, 's', { command: 'echo "$-"; history' })).json.data.output.includes('e'), true);
	assert.equal((await server.api.get('s')).state, 'running');
});

shared('a shell in the shell is busy, and gets no input', async (server) => {
	await server.session({ id: 's' });
	await server.api.input('s', "PS1='nested> ' bash --norc\r");
	await server.outputMatches('s', /nested> $|nested> \x1b/);
	const refused = await ask(server, 's', { command: 'echo no', queue: false });
	assert.deepEqual([refused.status, refused.json.code], [409, 'RESOURCE_BUSY'], refused.text);
	await server.api.input('s', 'exit\r');
	assert.equal((await ask(server, 's', { command: 'echo back' })).json.data.output, 'back\n');
	assert.doesNotMatch(await server.api.text('s'), /7399;|17~/);
});

// The shell edits its next line before the server has read the end of the last command.
shared('the prompt after a command is not input', { timeout: 100_000 }, async (server) => {
	await server.session({ id: 's' });
	const busy = [1, 2].map(() => spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' }));
	try {
		for (let at = 0; at < times(4, 40); at += 1) {
			const { json: { data } } = await ask(server, 's', { command: `sleep 0.${10 + at % 10}`, yieldMs: 0 });
			const got = await server.api.call('POST', '/api/session/s/wait', { until: [{ type: 'input' }, { type: 'exec', id: data.id }], timeoutMs: 15_000 });
			assert.equal(got.type, 'exec', `${at}: ${JSON.stringify(got)}`);
		}
		const { json: { data } } = await ask(server, 's', { command: 'read -e line', yieldMs: 0 });
		const got = await server.api.call('POST', '/api/session/s/wait', { until: [{ type: 'input' }, { type: 'exec', id: data.id }], timeoutMs: 15_000 });
		assert.deepEqual([got.type, got.state.input], ['input', 'raw'], JSON.stringify(got));
		await server.api.input('s', 'x\r');
	} finally {
		for (const child of busy) child.kill('SIGKILL');
	}
});

shared('a command with a truncated seal does not run, and the keyboard works', { timeout: 60_000 }, async (server) => {
	await server.session({ id: 's' });
	const file = path.join(server.cwd, 'runs');
	await ask(server, 's', { command: "trap 'debugged=$((debugged + 1))' DEBUG; f() { :; }" });
	// A complete line without a valid seal.
	await server.api.input('s', `\x1b[57399;17~ #${'0'.repeat(31)}\r`);
	await server.api.input('s', 'trap -p DEBUG; type -t f\r');
	await server.outputMatches('s', /debugged \+ 1\)\)' DEBUG\r\nfunction\r\n/);
	// The terminal's queue was flushed: only the key and the beginning of the seal are read.
	for (const torn of ['', ' ', ' #abc', ` #${'0'.repeat(31)}`]) {
		const key = `torn ${torn.length}`;
		const run = () => ask(server, 's', { command: `echo ${torn.length} >>${file}`, key });
		await server.api.input('s', `echo "half-${torn.length}-"""`);
		await server.api.input('s', `\x1b[57399;17~${torn}`);
		const { json: { data: none } } = await run();
		assert.deepEqual([none.state, none.endedBy], ['done', 'not_started'], JSON.stringify(none));
		assert.ok(!existsSync(file) || !readFileSync(file, 'utf8').split('\n').includes(`${torn.length}`));
		const { json: { data: once } } = await run();
		assert.deepEqual([once.endedBy, once.exitCode, once.suspect], ['command', 0, false], JSON.stringify(once));
		const { offset } = await server.api.get('s');
		await server.api.input('s', '"typed"\r');
		await until('the half-typed line', async () => /half-\d+-typed\r\n/.test(await server.api.text('s', offset)));
	}
	assert.equal(readFileSync(file, 'utf8'), '0\n1\n5\n33\n');
});

for (const [shell, prompt] of [['bash', "PS1='$ '"], ['zsh', "PS1='$ '"], ['fish', "function fish_prompt; echo -n '$ '; end"]])
	shared(`a command is shown in the row of its prompt, even if our line fills several rows: ${shell}`, async (server) => {
		await server.session({ id: 's', shell, cols: 80, rows: 24 });
		await ask(server, 's', { command: prompt });
		for (const cols of [20, 38, 39, 40, 41, 79, 80, 81]) {
			await server.api.call('POST', '/api/session/s/resize', { cols, rows: 24 });
			for (const command of ['clear', 'echo first', 'echo second']) await ask(server, 's', { command });
			const { lines } = await server.api.call('GET', '/api/session/s/screen?format=json');
			assert.deepEqual(lines.slice(0, 4).map(({ text }) => text), ['$ echo first', 'first', '$ echo second', 'second'], `${cols} columns`);
		}
	});

for (const [shell, prompt] of [['bash', "PS1='$(command sleep 0.8)$ '"], ['zsh', "setopt promptsubst; PS1='$(command sleep 0.8)$ '"], ['fish', "function fish_prompt; command sleep 0.8; echo -n '$ '; end"]])
	shared(`a command waits for a slow prompt: ${shell}`, async (server) => {
		await server.session({ id: 's', shell, cols: 80, rows: 24 });
		await ask(server, 's', { command: prompt });
		for (const command of ['clear', 'echo first', 'echo second']) await ask(server, 's', { command });
		const { lines } = await server.api.call('GET', '/api/session/s/screen?format=json');
		assert.deepEqual(lines.slice(0, 4).map(({ text }) => text), ['$ echo first', 'first', '$ echo second', 'second']);
	});
