// Commands of programs in the shell that people use.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inSandboxes } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { pause, until } from './lib/until.mjs';

const id = 's';
const alike = inSandboxes && 'the same in a sandbox as outside';

/** Run a command; resolves with the exec. */
async function exec(server, command, fields = {}, { session = id } = {}) {
	const { data } = await server.api.call('POST', `/api/session/${session}/exec`, { command, queue: true, ...fields });
	return data;
}

const find = async (server, exec) => (await server.api.call('GET', `/api/session/${id}/exec/${exec}`)).data;

/** The rows of the screen. */
async function rows(server) {
	const { text } = await server.api.raw('GET', `/api/session/${id}/screen?format=text`);
	return text.split('\n').map((row) => row.trimEnd());
}

/** The terminal output in an exec's range, from the ring. */
async function ranged(server, { range }) {
	const bytes = await server.api.output(id, range.start);
	return bytes.subarray(0, range.end - range.start).toString();
}

// command, status, output, and options that differ from the defaults
const cases = [
	['printf no-newline', 0, 'no-newline'],
	['echo out; echo err >&2', 0, 'out\nerr\n'],
	['false | true | (exit 4)', 4, '', { pipeStatus: [1, 0, 4] }],
	['true | false | true', 0, '', { pipeStatus: [0, 1, 0] }],
	['cat <<END\none\n  two $((1+1))\nEND', 0, 'one\n  two 2\n'],
	["cat <<'END' | tr a-z A-Z\nno $expansion\nEND", 0, 'NO $EXPANSION\n'],
	['echo "open', 2, /unexpected EOF/],
	["echo 'open", 2, /unexpected EOF/],
	['if true; then', 2, /syntax error/],
	[')', 2, /syntax error/],
	['echo a # comment', 0, 'a\n'],
	['echo a \\', 0, 'a \\\n'],
	['echo !!; echo "!x"', 0, '!!\n!x\n'],
	['echo a\tb', 0, 'a b\n'],
	['echo "a\tb"', 0, 'a\tb\n'],
	['echo one\necho two\n\necho three', 0, 'one\ntwo\nthree\n'],
	['for i in 1 2 3; do\n\techo $i\ndone', 0, '1\n2\n3\n'],
	['echo \'it\'"\'"\'s\' "q\\"q" \\\\ $\'\\x41\'', 0, 'it\'s q"q \\ A\n'],
	['echo äöü 世界 🎪', 0, 'äöü 世界 🎪\n'],
	['nosuchcommand_x', 127, /command not found/],
	['/etc/passwd', 126, /denied/],
	['bash -c "kill -9 \\$\\$"', 137, /Killed|^$/],
	['sh -c "kill -TERM \\$\\$"', 143, /Terminated|^$/],
	['yes | head -n 1', 0, 'y\n', { pipeStatus: [141, 0] }],
	['trap "echo trapped" USR1; kill -USR1 $$; trap - USR1', 0, 'trapped\n'],
	['return 5', 2, /only .return. from a function/],
	['exec >/dev/null; echo gone; exec >/dev/tty; echo back', 0, 'back\n'],
	['stty -a >/dev/null; stty raw; stty sane', 0, ''],
	['(sleep 0.1; exit 3) & wait $!', 3, /.*/],
	['f() { local x=1; return $((x+1)); }; f', 2, ''],
	['declare -A map=([a]=1); echo ${map[a]}', 0, '1\n'],
	['echo "${map[a]}"', 0, '1\n'],
	['alias greet="echo hello"', 0, ''],
	['greet', 0, 'hello\n'],
	['cd /usr', 0, '', { cwd: '/usr' }],
	['pwd; cd - >/dev/null', 0, '/usr\n'],
	['PS1="changed> "; PROMPT_COMMAND=', 0, ''],
	['echo after the prompt changed', 0, 'after the prompt changed\n'],
	['PS1="% "; unset PROMPT_COMMAND PS0 PS2', 0, ''],
	['echo after all hooks are gone', 0, 'after all hooks are gone\n'],
	['history | tail -n 1', 0, /history \| tail -n 1/, { history: true }],
	['history | tail -n 1', 0, /history \| tail -n 1/, { history: true }],
	['set -o vi', 0, ''],
	['echo in vi mode', 0, 'in vi mode\n'],
	['set -o emacs', 0, ''],
	['head -c 100000 /dev/zero | tr "\\0" x', 0, 'x'.repeat(100_000)],
	['printf "\\033]133;D;0;aid=0;id=fake\\a"; echo forged', 0, /forged/],
	['false\ntrue && false', 1, ''],
	['! true', 1, ''],
];

shared('every odd command: status, output, range', { skip: alike, timeout: 100_000 }, async (server) => {
	await server.session({ id, cols: 100, rows: 30 });
	for (const [command, status, output, more = {}] of cases) {
		const e = await exec(server, command, { format: 'raw', maxOutput: 1 << 20, history: more.history });
		const about = `${JSON.stringify(command)}: ${JSON.stringify({ ...e, output: e.output.slice(0, 500) })}`;
		assert.equal(e.state, 'done', about);
		assert.equal(e.exitCode, status, about);
		assert.equal(e.lost, 0, about);
		const text = e.output.replaceAll('\r\n', '\n');
		if (output instanceof RegExp) assert.match(text, output, about);
		else assert.equal(text, output, about);
		assert.equal(e.outputExact, true, about);
		assert.equal(e.interleavedInput, false, about);
		if (more.pipeStatus) assert.deepEqual(e.pipeStatus, more.pipeStatus, about);
		if (more.cwd) assert.equal(e.cwd, more.cwd, about);
		assert.equal(await ranged(server, e), e.output, about);
	}
});

shared('during a search of the history', { skip: alike }, async (server) => {
	await server.session({ id });
	const { offset } = await server.api.get(id);
	await server.api.input(id, 'begun \x12ech');
	await server.outputMatches(id, /reverse-i-search/, offset);
	const e = await exec(server, 'echo found');
	assert.deepEqual([e.output, e.exitCode, e.outputExact], ['found\n', 0, true]);
	assert.doesNotMatch(await server.api.text(id, offset), /cannot find keymap/);
	await until('the partial line', async () => (await rows(server)).filter(Boolean).at(-1)?.endsWith('begun'));
	await server.api.input(id, '\x15');
});

shared('commands stay out of the history unless a session keeps them', { skip: alike }, async (server) => {
	const file = path.join(server.cwd, 'history');
	server.startup(`PS1='$ '\nHISTFILE=${file}\n`);
	await server.session({ id });
	for (const trap of [':', "trap 'seen=$(builtin history 1)' DEBUG", "trap 'seen=$(builtin history 1)' DEBUG; IFS=$'\\n'; HISTCONTROL=erasedups"]) {
		await exec(server, trap);
		await exec(server, 'export TOKEN=secret');
		await exec(server, 'echo kept', { history: true });
		await exec(server, 'for i in 1 2; do echo "$i"; done; (exit 3)');
		const { output } = await exec(server, 'history; echo "last: $seen"');
		assert.match(output, /\d+ +echo awake.*\n( *\d+ +.*\n)* *\d+ +echo kept\n/, trap);
		assert.doesNotMatch(output.replace(/ history; echo.*\n/, trap === ':' ? '$&' : '').replace(/last: [^]*/, ''), /TOKEN|for i|history;/, trap);
		if (trap !== ':') assert.match(output, /last: +\d+ +history; echo/);
	}
	await exec(server, "trap - DEBUG; unset HISTCONTROL; IFS=$' \\t\\n'");
	await server.api.call('POST', `/api/session/${id}/keys`, { keys: ['Up'] });
	await until('the last kept command', async () => (await rows(server)).filter(Boolean).at(-1)?.endsWith('$ echo kept'));
	await server.api.input(id, '\x15');
	await server.api.input(id, 'history -w\r');
	await until('the history file', () => existsSync(file) && /history -w/.test(readFileSync(file, 'utf8')));
	assert.doesNotMatch(readFileSync(file, 'utf8'), /TOKEN|__rs/);
	// The settings of the user do not matter.
	for (const [set, unset] of [['HISTCONTROL=ignoreboth', 'unset HISTCONTROL'], ['HISTIGNORE="*"', 'unset HISTIGNORE'], ['readonly HISTCONTROL=ignoredups', ':']]) {
		const lines = async () => (await exec(server, 'history', { streams: 'pipes' })).stdout.replace(/^ *\d+ +/gm, '');
		await exec(server, set);
		const before = await lines();
		await exec(server, 'echo not kept');
		assert.equal(await lines(), before, set);
		assert.match((await exec(server, 'echo "$HISTCONTROL"')).output, set.includes('CONTROL') ? /ignore/ : /^\n$/);
		await exec(server, unset);
	}
	// The session keeps commands in the history.
	await server.session({ id: 'kept', history: true });
	assert.equal((await server.api.get('kept')).history, true);
	await exec(server, 'echo one', {}, { session: 'kept' });
	await exec(server, 'echo two', { history: false }, { session: 'kept' });
	assert.match((await exec(server, 'history 2', {}, { session: 'kept' })).output, /echo one\n *\d+ +history 2\n$/);
	if (existsSync('/bin/zsh')) {
		await server.session({ id: 'z', shell: 'zsh' });
		await exec(server, 'export TOKEN=secret', {}, { session: 'z' });
		await exec(server, 'echo kept', { history: true }, { session: 'z' });
		const { output } = await exec(server, 'fc -l 1', {}, { session: 'z' });
		assert.deepEqual([/TOKEN/.test(output), /echo kept/.test(output)], [false, true], output);
	}
});

shared('it looks typed, is in the history, and a half-typed line is restored', { skip: alike }, async (server) => {
	const { api } = server;
	await server.session({ id, cols: 60, rows: 20, history: true });
	await exec(server, "PS1='> '; clear");
	await until('a clear screen', async () => (await rows(server))[0] === '>');
	await api.input(id, 'ls -l /etc/hos');
	await until('the half line', async () => (await rows(server))[0] === '> ls -l /etc/hos');
	const e = await exec(server, 'echo first\necho second');
	assert.equal(e.output, 'first\nsecond\n');
	assert.equal(e.interleavedInput, false);
	await until('the half line again', async () => (await rows(server)).filter(Boolean).at(-1) === '> ls -l /etc/hos');
	assert.deepEqual((await rows(server)).filter(Boolean),
		['> echo first', 'echo second', 'first', 'second', '> ls -l /etc/hos']);
	await api.input(id, 'tname\r');
	await until('the whole line', async () => (await rows(server)).some((row) => row.endsWith('/etc/hostname') && !row.startsWith('>')));
	assert.match((await exec(server, 'history 3')).output, /echo first\n *echo second\n +\d+ +ls -l \/etc\/hostname\n +\d+ +history 3\n$/);
	assert.doesNotMatch(await api.text(id, 0), /proc.*No such file/);
	// Input typed before the prompt is restored after the prompt as well.
	await exec(server, 'clear');
	const slow = await exec(server, 'sleep 0.3', { yieldMs: 0 });
	await until('the start of the command', async () => (await find(server, slow.id)).state === 'running');
	await api.input(id, 'echo early');
	await until('the early line', async () => (await rows(server)).filter(Boolean).at(-1)?.endsWith('> echo early'));
	await exec(server, 'echo third');
	await until('the early line again', async () => (await rows(server)).filter(Boolean).at(-1) === '> echo early');
	assert.deepEqual((await rows(server)).filter(Boolean).slice(-3), ['> echo third', 'third', '> echo early']);
});

shared('separate streams, standard input, directory and environment of a command', async (server) => {
	await server.session({ id });
	const { data: { cwd } } = await server.api.call('GET', `/api/session/${id}`);
	const pipes = (command, fields) => exec(server, command, { streams: 'pipes', stdin: null, ...fields });
	let e = await pipes('echo out; echo err >&2; [ -t 1 ] || echo "no terminal"; exit_is() { return 9; }; exit_is');
	assert.deepEqual([e.exitCode, e.stdout, e.stderr], [9, 'out\nno terminal\n', 'err\n']);
	e = await pipes('ls -d / /usr', {});
	assert.equal(e.stdout, '/\n/usr\n');
	e = await pipes('printf "a\\r\\nb\\rc\\n\\r"; printf "\\r" >&2');
	assert.deepEqual([e.stdout, e.stderr], ['a\r\nb\rc\n\r', '\r']);
	e = await pipes('head -c 720000 /dev/urandom | tee copy | base64 -w0; echo', { maxOutput: 8 << 20 });
	assert.equal(e.stdout.length, 960_001);
	assert.equal((await pipes('base64 -d | cmp - copy && echo same', { stdin: e.stdout.slice(0, 900_000) })).exitCode, 1);
	assert.equal((await pipes('cat', { stdin: 'with no line end' })).stdout, 'with no line end');
	assert.equal((await pipes('cat')).stdout, '');
	assert.equal((await exec(server, 'tty; cat', { stdin: 'text' })).output, 'not a tty\ntext');

	e = await pipes('pwd; cd /usr; echo $A-$HOME-$(printenv A)', { cwd: '/tmp', env: { A: "it's $x", HOME: '/nowhere' } });
	assert.equal(e.stdout, "/tmp\nit's $x-/nowhere-it's $x\n");
	assert.equal(e.cwd, cwd);
	e = await pipes('pwd; echo "[${A-unset}]" "${HOME##*/}"');
	assert.equal(e.stdout, `${cwd}\n[unset] home\n`);
	await exec(server, 'declare -x EXPORTED=1; PLAIN="two words"; LIST=(a b)');
	await pipes('echo', { env: { EXPORTED: 'x', PLAIN: 'y', LIST: 'z' } });
	e = await pipes('declare -p EXPORTED PLAIN LIST');
	assert.equal(e.stdout, 'declare -x EXPORTED="1"\ndeclare -- PLAIN="two words"\ndeclare -a LIST=([0]="a" [1]="b")\n');

	const both = (command) => exec(server, command, { streams: 'terminals', format: 'raw' });
	e = await both('[ -t 1 ] && [ -t 2 ] && echo terminals; printf "e\\nr\\r\\n\\r" >&2; ls /nope');
	assert.deepEqual([e.exitCode, e.stdout, e.stderr],
		[2, 'terminals\r\n', "e\nr\r\n\rls: cannot access '/nope': No such file or directory\n"]);
	for (let at = 0; at < times(2, 20); at += 1) {
		e = await both(`seq ${at} 300; seq 300 >&2`);
		assert.equal(e.stderr, Array.from({ length: 300 }, (_, i) => `${i + 1}\n`).join(''));
		assert.equal(e.stdout.split('\r\n').length, 302 - at);
	}
	await server.restart();
	assert.equal((await both('echo again >&2')).stderr, 'again\n');

	// A child that keeps the pipes open delays nothing.
	e = await pipes('(sleep 30; echo late) & echo "$!" >pid; echo now');
	assert.equal(e.stdout, 'now\n');
	await exec(server, 'kill $(cat pid)');
});

shared('output of pipes is shown in the terminal as it comes', async (server) => {
	await server.session({ id, cols: 60, rows: 20 });
	await exec(server, 'clear');
	execFileSync('mkfifo', ['-m', '666', path.join(server.cwd, 'wait')]);
	const running = exec(server, 'echo one; echo two >&2; read -t 20 <>wait; echo three', { streams: 'pipes', stdin: null, cwd: server.cwd, env: {} });
	await until('the output', async () => (await rows(server)).includes('two'));
	assert.deepEqual((await rows(server)).filter(Boolean).slice(0, 3).filter((row) => !/^[$#]/.test(row)), ['one', 'two']);
	await server.api.signal(id, 'INT');
	assert.equal((await running).exitCode, 130);
});

shared('interrupted: Ctrl-C, Ctrl-Z, loops of the shell, and programs that ignore signals', { pids: true, timeout: 90_000 }, async (server) => {
	const { api } = server;
	await server.session({ id });
	const start = async (command, fields) => {
		const e = await exec(server, command, { yieldMs: 0, ...fields });
		let now;
		await until(() => `start of ${command}: ${JSON.stringify(now)}`, async () => (now = await find(server, e.id)).state === 'running');
		return e;
	};
	const ended = (e) => until(`the end of ${e.command}`, async () => {
		const now = await find(server, e.id);
		return now.state === 'done' && now;
	});
	// Wait for the program: bash's child loses signals between its fork and its exec.
	const program = (e) => until(`a program of ${e.command} in the foreground`, () => {
		const foreground = readFileSync(`/proc/${shell}/stat`, 'utf8').split(') ')[1].split(' ')[5];
		return readFileSync(`/proc/${foreground}/comm`, 'utf8').trim() === e.command.split(/[ ;]/)[0];
	});
	const shell = (await api.get(id)).pid;
	for (const command of ['sleep 30; echo never', 'while :; do :; done', 'read x; echo never', 'cat; echo never']) {
		const e = await start(command);
		if (/sleep|cat/.test(command)) await program(e);
		await api.input(id, '\x03');
		const now = await ended(e);
		assert.equal(now.exitCode, 130, `${command}: ${JSON.stringify(now)}`);
		assert.ok(now.endedBy === 'prompt' || now.endedBy === 'command');
		assert.doesNotMatch(now.output, /never/);
		assert.equal(now.interleavedInput, true);
	}
	let e = await start('sleep 30');
	await program(e);
	await api.input(id, '\x1a');
	const stopped = await ended(e);
	assert.equal(stopped.exitCode, 148);
	assert.match((await exec(server, 'jobs; kill %1')).output, /Stopped.*sleep 30/);

	// The shell itself ignores it: no stronger signal is sent, and the result says so.
	const written = (file) => until(`the file ${file}`, () => existsSync(path.join(server.cwd, file))
		&& readFileSync(path.join(server.cwd, file), 'utf8').trim());
	e = await start('trap "" INT; sleep 30 & echo $! >pid; wait; trap - INT');
	const pid = Number(await written('pid'));
	const { data: stubborn } = await api.call('POST', `/api/session/${id}/exec/${e.id}/cancel`, { graceMs: 20 });
	assert.deepEqual([stubborn.state, stubborn.unkillable, stubborn.signalsSent], ['running', true, ['INT']]);
	process.kill(pid);
	assert.equal((await ended(e)).state, 'done');
	e = await start("bash -c 'trap \"\" INT QUIT TERM; echo deaf >deaf; while :; do sleep 1; done'");
	await written('deaf');
	const { data } = await api.call('POST', `/api/session/${id}/exec/${e.id}/cancel`, { graceMs: 50 });
	assert.deepEqual(data.signalsSent, ['INT', 'QUIT', 'TERM', 'KILL']);
	assert.equal((await ended(e)).exitCode, 137);
	assert.equal((await exec(server, 'echo alive')).output, 'alive\n');

	e = await exec(server, 'sleep 30', { timeoutMs: 150 });
	assert.deepEqual([e.timedOut, e.exitCode, e.signalsSent], [true, 130, ['INT']]);
	assert.equal((await exec(server, 'echo alive')).output, 'alive\n');
});

// Signals between a fork and an exec are lost; a late one hits the next command.
shared('interrupted at any moment, on a busy machine', { skip: alike, timeout: 120_000 }, async (server) => {
	await server.session({ id });
	const busy = [1, 2].map(() => spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' }));
	const over = (e) => until(() => `the end of ${JSON.stringify(e)}`, async () => (e = await find(server, e.id)).state === 'done' && e);
	const begun = (e) => until(() => `the start of ${JSON.stringify(e)}`, async () => (e = await find(server, e.id)).state === 'running', { interval: 1 });
	try {
		for (let i = 0; i < times(2, 12); i += 1) {
			for (const command of ['while echo x; do sleep 0.01; done', 'sleep 30', 'sh -c "sleep 30"; echo never']) {
				const e = await exec(server, command, { yieldMs: 0 });
				await begun(e);
				await pause(i % 4 * 3);
				const { data } = await server.api.call('POST', `/api/session/${id}/exec/${e.id}/cancel`, {});
				assert.deepEqual([data.state, data.exitCode, data.signalsSent], ['done', 130, ['INT']], JSON.stringify(data));
				const next = await exec(server, '/bin/echo next');
				assert.deepEqual([next.exitCode, next.output], [0, 'next\n'], JSON.stringify(next));
			}
			const e = await exec(server, 'sleep 30', { yieldMs: 0 });
			await begun(e);
			await server.api.input(id, '\x03');
			assert.equal((await over(e)).exitCode, 130);
		}
	} finally {
		for (const child of busy) child.kill('SIGKILL');
	}
});

// Two signals for one command: the second interrupts the prompt hook, which bash then runs again.
shared('interrupted while the shell reports the end of a command', { skip: alike }, async (server) => {
	await server.session({ id });
	for (const at of ['133;D;', 'declare -px']) {
		await exec(server, `set -T; armed=; trap '[[ -n $armed && $BASH_COMMAND == *"${at}"* ]] && armed= && kill -INT $$' DEBUG`);
		const e = await exec(server, 'armed=1; sleep 30', { yieldMs: 0 });
		await until('the start of the command', async () => (await find(server, e.id)).state === 'running');
		await server.api.input(id, '\x03');
		let now;
		await until(() => `the end of ${JSON.stringify(now)}`, async () => (now = await find(server, e.id)).state === 'done');
		assert.deepEqual([now.exitCode, now.endedBy], [130, 'prompt'], at);
		assert.equal((await exec(server, 'trap - DEBUG; echo "armed:$armed"')).output, 'armed:\n');
	}
});

shared('busy: an incomplete line', { skip: alike }, async (server) => {
	const { api } = server;
	await server.session({ id });
	await api.input(id, 'for i in 1 2; do\r');
	await until('the continuation prompt', async () => /incomplete/.test((await api.raw('POST', `/api/session/${id}/exec`, { command: 'echo no' })).text));
	const impatient = exec(server, 'echo no', { queueMs: 200 });
	assert.deepEqual((({ state, endedBy, exitCode, output }) => ({ state, endedBy, exitCode, output }))(await impatient),
		{ state: 'done', endedBy: 'busy', exitCode: null, output: '' });
	await api.input(id, '\x03');
});

/** Run a command in a fork of the shell. The shell's directory is not known at all times. */
const beside = (api, command, fields) => until('a response', async () => {
	const { json } = await api.raw('POST', `/api/session/${id}/exec`, { command, fork: true, ...fields });
	return json.code !== 'RESOURCE_BUSY' && json;
});

shared('in a fork of the shell: its directory, environment, functions and aliases; no effect on the shell', async (server) => {
	const { api } = server;
	await server.session({ id });
	const fork = (command, fields) => beside(api, command, fields);
	await exec(server, `mkdir "a b"; cd "a b"; export GREETING=$'it\\'s\\nme' ONLY=session; unexported=1; unset LANG
		greet() { echo "hello $1"; }; alias gr='greet alias'; shopt -s expand_aliases`);
	const here = path.join(server.cwd, 'a b');
	const forked = await fork('pwd; echo "$GREETING|$ONLY|${unexported-none}|${LANG-none}|${__rs_n-none}"; greet you; gr; cd /; ONLY=changed; exit 3');
	assert.deepEqual([forked.stdout, forked.stderr, forked.exitCode], [`${here}\nit's\nme|session|none|none|none\nhello you\nhello alias\n`, '', 3]);
	const other = await fork('pwd; echo $ONLY; ps -o args= $$', { cwd: '/', env: { ONLY: 'request' } });
	assert.match(other.stdout, /^\/\nrequest\n/);
	assert.doesNotMatch(other.stdout, /GREETING|session/, 'exported values are not arguments of a process');
	assert.equal((await exec(server, 'pwd; echo $ONLY')).output, `${here}\nsession\n`);
	// While a command runs: variables that were exported at the last prompt.
	const running = await exec(server, 'export ONLY=later; read x', { yieldMs: 0 });
	await until('the start of the command', async () => (await find(server, running.id)).state === 'running');
	assert.equal((await fork('echo $ONLY; pwd')).stdout, `session\n${here}\n`);
	await api.input(id, '\n');
	await until('the end of the command', async () => (await find(server, running.id)).state === 'done');
	assert.doesNotMatch((await rows(server)).join('\n'), /hello you|__rs/);
});

shared('in a fork of a busy shell with many variables: those exported at its last prompt', { skip: alike, timeout: 60_000 }, async (server) => {
	const { api } = server;
	await server.session({ id });
	const forked = async (command, about) => {
		await exec(server, command);
		const running = await exec(server, 'read x', { yieldMs: 0 });
		await until('the start of the command', async () => (await find(server, running.id)).state === 'running');
		const json = await beside(api, 'echo "$GIVEN|${GONE-none}|${many7-none}|${HOME:+home}"');
		await api.input(id, '\n');
		await until('the end of the command', async () => (await find(server, running.id)).state === 'done');
		assert.equal(json.stderr, '', about);
		return json.stdout;
	};
	await exec(server, 'for ((i = 0; i < 600; i++)); do printf -v "many$i" %s "$i"; done');
	// The number of variables is checked from time to time.
	await until('the detection of many variables', async () => (await exec(server, 'echo "$__rs_ev"')).output === '1\n');
	assert.equal(await forked(`export GONE=1 GIVEN=$'it\\'s\\nme'`), "it's\nme|1|none|home\n");
	assert.equal(await forked('unset GONE; GIVEN=again'), 'again|none|none|home\n');
	assert.equal(await forked("declare -x GONE='a  b'; GIVEN=three"), 'three|a  b|none|home\n');
	assert.equal(await forked('for f in compgen mapfile declare; do eval "$f() { echo mine; }"; done; GIVEN=four'), 'four|a  b|none|home\n');
	assert.equal(await forked('unset -f compgen mapfile declare; enable -n compgen; GIVEN=five'), 'five|a  b|none|home\n');
	assert.equal(await forked('enable compgen; enable -n mapfile; GIVEN=six'), 'six|a  b|none|home\n');
	assert.equal(await forked('enable mapfile; set -eu; GIVEN=seven'), 'seven|a  b|none|home\n');
	assert.equal(await forked('set +eu; unset GONE; export many7=8'), 'seven|none|8|home\n');
	assert.doesNotMatch((await rows(server)).join('\n'), /compgen -P|\/proc\//);
});

shared('the shell ends: exit, exec, set -e', { timeout: 60_000 }, async (server) => {
	const { api } = server;
	for (const [command, status] of [['exit 3', 3], ['set -e; false; echo never', 1], ['kill -9 $$', 137], ["exec sh -c 'exit 6'", 6]]) {
		await api.open({ id });
		const e = await exec(server, command);
		assert.deepEqual([e.state, e.endedBy, e.exitCode], ['done', 'shell', status], `${command}: ${JSON.stringify(e)}`);
		assert.doesNotMatch(e.output, /never/);
		await api.delete(id);
	}
	await api.open({ id });
	assert.equal((await exec(server, 'set -e; false; exit 9', { isolate: true })).exitCode, 1);
	assert.equal((await exec(server, 'echo alive')).output, 'alive\n');
});

shared('long commands, and commands of many lines', { skip: alike }, async (server) => {
	await server.session({ id });
	const long = `: ${'x'.repeat(200_000)}; echo end`;
	const e = await exec(server, long);
	assert.deepEqual([e.exitCode, e.output], [0, 'end\n']);
	const lines = Array.from({ length: 20_000 }, (_, i) => `x=${i}`).join('\n');
	assert.equal((await exec(server, `${lines}\necho $x`)).output, '19999\n');
});

shared("directories disappear: the shell's and the session's", async (server) => {
	mkdirSync(path.join(server.cwd, 'gone'));
	await server.session({ id, cwd: path.join(server.cwd, 'gone') });
	rmSync(path.join(server.cwd, 'gone'), { recursive: true });
	assert.equal((await exec(server, 'echo still here')).output, 'still here\n');
	const sessions = path.join(server.dir, 'sessions');
	for (const name of readdirSync(sessions)) rmSync(path.join(sessions, name), { recursive: true });
	for (const streams of ['terminal', 'pipes']) {
		const e = await exec(server, 'echo out; false', { streams });
		assert.deepEqual([e.exitCode, e.output ?? e.stdout], [1, 'out\n']);
	}
	await server.api.delete(id).catch(() => {});
});

shared('a command and its result outlive the server', { timeout: 90_000 }, async (server) => {
	await server.session({ id });
	const finished = await exec(server, 'echo before; false | true');
	execFileSync('mkfifo', ['-m', '666', path.join(server.cwd, 'wait')]);
	const running = await exec(server, 'echo begun; read -t 20 line <>wait; echo over; (exit 5)', { yieldMs: 0, key: 'k', cwd: server.cwd });
	await server.outputMatches(id, /begun\r\n/);
	await server.restart();
	let e = await find(server, running.id);
	assert.equal(e.state, 'running');
	assert.equal(e.output, 'begun\n');
	await server.kill('SIGKILL');
	await server.start();
	await server.api.signal(id, 'INT').catch(() => {});
	e = (await server.api.call('GET', `/api/session/${id}/exec/${running.id}?waitMs=20000`)).data;
	assert.equal(e.state, 'done');
	assert.equal(e.exitCode, 130);
	assert.match(e.output, /^begun\n/);
	assert.equal((await find(server, finished.id)).output, 'before\n');
	assert.deepEqual((await find(server, finished.id)).pipeStatus, [0, 0].map((_, i) => 1 - i));
	assert.equal((await exec(server, 'x', { key: 'none' })).exitCode, 127);

	// It ends while there is no server.
	const other = await exec(server, 'until [ -e go ]; do sleep 0.05; done; echo in between; touch between; (exit 6)', { yieldMs: 0 });
	await until('the start of the command', async () => (await find(server, other.id)).state === 'running');
	await server.kill('SIGKILL');
	writeFileSync(path.join(server.cwd, 'go'), '');
	await until('the effect of the command', () => existsSync(path.join(server.cwd, 'between')));
	await server.start();
	e = (await server.api.call('GET', `/api/session/${id}/exec/${other.id}?waitMs=20000`)).data;
	assert.deepEqual([e.state, e.exitCode, e.output, e.outputExact], ['done', 6, 'in between\n', true]);
	assert.equal((await exec(server, 'echo and on')).output, 'and on\n');
});

shared('a lot of output: the head and the tail', { skip: alike, timeout: 120_000 }, async (server) => {
	const bytes = times(8e6, 100e6); // more than the ring holds
	await server.session({ id });
	const e = await exec(server, `yes "$(printf %099d 7)" | head -c ${bytes}; echo; echo the end`, { streams: 'pipes', stdin: null });
	assert.equal(e.exitCode, 0);
	assert.equal(e.truncated.stdout.totalBytes, bytes + 9);
	assert.ok(e.stdout.endsWith('the end\n'));
	assert.ok(e.stdout.length <= 1 << 20);
	assert.equal(e.truncated.stdout.omittedBytes, bytes + 9 - e.stdout.length);
});
