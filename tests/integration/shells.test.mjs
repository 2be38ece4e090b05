// Commands of programs and people in bash, zsh and fish, by one table: true statuses, exact output, kept state, and what is left unchanged.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { scenario } from './lib/server.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const shells = ['bash', 'zsh', 'fish'];
const exec = (server, id, command, fields = {}) => server.api.call('POST', `/api/session/${id}/exec`,
	{ command, queue: true, timeoutMs: 20_000, ...fields }).then(({ data }) => data);
const stateOf = async (server, id) => (await server.api.call('GET', `/api/session/${id}/state`)).state;
const blocksOf = async (server, id) => (await server.api.call('GET', `/api/session/${id}/blocks`)).blocks;
const screenOf = async (server, id) => (await server.api.raw('GET', `/api/session/${id}/screen?format=text&scrollback=1000`)).text;
const atPrompt = (server, id) => until(`the prompt of ${id}`, async () => (await stateOf(server, id)).status === 'prompt');
const litter = /__rs_|builtin eval|\\eval|\/proc\/|ZDOTDIR|133;/;

// A command, its status, its output and the statuses of its pipeline; differences by shell.
const table = [
	['echo one; echo two', 0, 'one\ntwo\n', [0]],
	['false', 1, '', [1]],
	['sh -c "exit 7"', 7, '', [7]],
	[{ bash: 'echo $?', zsh: 'echo $?', fish: 'echo $status' }, 0, '7\n', [0]],
	['false | true | sh -c "exit 4"', 4, '', [1, 0, 4]],
	['true | cat', 0, '', [0, 0]],
	['no-such-program', 127, /no-such-program/, [127]],
	['printf "no end"', 0, 'no end', [0]],
	["printf '\\0\\377x\\r\\n'", 0, /x/, [0]],
	['seq 3000 | tail -n 1', 0, '3000\n', [0, 0]],
	['echo "open', { bash: 2, zsh: 1, fish: 123 }, /\S/, undefined],
	['true', 0, '', [0]],
	['# only a comment', 0, '', undefined],
	['echo off # a comment', 0, 'off\n', [0]],
	['echo "it\'s $HOME" | wc -l', 0, '1\n', [0, 0]],
	["echo '日本 😀 !! naïve'", 0, '日本 😀 !! naïve\n', [0]],
	[{ bash: 'cat <<E\na\nb\nE', zsh: 'cat <<E\na\nb\nE', fish: 'printf "%s\\n" "a\nb"' }, 0, 'a\nb\n', [0]],
	[{ bash: 'for i in 1 2; do\necho $i\ndone', zsh: 'for i in 1 2; do\necho $i\ndone', fish: 'for i in 1 2\necho $i\nend' }, 0, '1\n2\n', [0]],
	[{ bash: 'x=kept', zsh: 'x=kept', fish: 'set x kept' }, 0, '', [0]],
	['echo $x', 0, 'kept\n', [0]],
	[{ bash: 'f() { return 4; }', zsh: 'f() { return 4; }', fish: 'function f; return 4; end' }, 0, '', [0]],
	['f', 4, '', [4]],
	['return 5', { bash: 2, zsh: 5, fish: 5 }, { bash: /return/, zsh: '', fish: '' }, undefined],
	['mkdir -p sub; cd sub', 0, '', [0]],
	['basename $PWD', 0, 'sub\n', [0]],
	['cd ..', 0, '', [0]],
	['printf "%s;" a\tb', 0, 'a;b;', [0]],
	['sleep 60 & ', 0, /^/, [0]],
	[{ bash: 'kill %sleep; wait', zsh: 'kill %sleep; wait', fish: 'kill (jobs -lp); wait' }, undefined, /^/, undefined],
	['env | grep -c -e __rs -e ZDOT', 1, '0\n', [0, 1]],
	['echo \\', { bash: 0, zsh: 0, fish: 123 }, /^/, undefined],
	['echo still', 0, 'still\n', [0]],
];

const resultOf = ({ exitCode, output, endedBy, outputExact }) => ({ exitCode, output, endedBy, outputExact });

async function commands(server, shell) {
	for (const row of table) {
		const [command, status, output, statuses] = row.map((cell) => cell?.[shell] ?? cell);
		const e = await exec(server, shell, command);
		const about = `${shell}: ${command}: ${JSON.stringify(e)}`;
		assert.match(e.endedBy ?? '', /^(command|prompt)$/, about);
		assert.equal(e.outputExact, true, about);
		if (status !== undefined) assert.equal(e.exitCode, status, about);
		if (output instanceof RegExp) assert.match(e.output, output, about);
		else assert.equal(e.output, output, about);
		if (statuses) assert.deepEqual(e.pipeStatus ?? e.statuses, statuses, about);
	}
}

async function circumstances(server, shell) {
	const status = shell === 'fish' ? '$status' : '$?';
	const fields = { streams: 'pipes', cwd: '/', env: { GIVEN: "it's $x\n", HOME: '/nowhere' }, stdin: 'told\n' };
	let e = await exec(server, shell, 'pwd; cat; echo "$GIVEN-$HOME"; echo err >&2; sh -c "exit 9"', fields);
	assert.deepEqual([e.stdout, e.stderr, e.exitCode], ["/\ntold\nit's $x\n-/nowhere\n", 'err\n', 9], shell);
	e = await exec(server, shell, `echo ${status} "[$GIVEN]" $HOME; pwd`, { streams: 'pipes', stdin: null });
	assert.equal(e.stdout, `9 [] ${server.home}\n${server.cwd}\n`, shell);
	e = await exec(server, shell, "sh -c 'test -t 1 && test -t 2 && echo both'; echo e >&2", { streams: 'terminals', format: 'raw' });
	assert.deepEqual([e.stdout, e.stderr], ['both\r\n', 'e\n'], shell);
	if (shell === 'fish') {
		await server.api.refused(409, 'EXEC_UNSUPPORTED', 'POST', `/api/session/${shell}/exec`, { command: 'true', isolate: true });
	} else {
		assert.equal((await exec(server, shell, 'x=gone; exit 3', { isolate: true })).exitCode, 3);
		assert.equal((await exec(server, shell, 'echo $x')).output, 'kept\n', shell);
	}
	const { json } = await server.api.raw('POST', `/api/session/${shell}/exec`, { command: 'echo "$HOME|${x-none}"', fork: true });
	assert.equal(json.stdout, `${server.home}|none\n`, shell);
}

async function interrupted(server, shell) {
	for (const command of ['sleep 60', { bash: 'while :; do :; done', zsh: 'while :; do :; done', fish: 'while true; end' }[shell]]) {
		const e = await exec(server, shell, command, { timeoutMs: 300 });
		assert.deepEqual([e.timedOut, e.exitCode, e.signalsSent, e.output.trim()], [true, 130, ['INT'], ''], `${shell}: ${JSON.stringify(e)}`);
	}
	const e = await exec(server, shell, 'cat', { yieldMs: 0 });
	await until(`cat in ${shell}`, async () => (await stateOf(server, shell)).foreground?.name === 'cat');
	await server.api.input(shell, 'typed\r\x04');
	const { data } = await server.api.call('GET', `/api/session/${shell}/exec/${e.id}?waitMs=20000`);
	assert.deepEqual([data.exitCode, data.output, data.interleavedInput], [0, 'typed\ntyped\n', true], shell);
}

/** Typed lines are blocks; half-typed lines are restored; our definitions are not visible. */
async function people(server, shell) {
	await exec(server, shell, 'printf "\\033[3J\\033[H\\033[2J"'); // output of a second terminal is shown when it comes
	await atPrompt(server, shell);
	await server.api.input(shell, 'echo peo');
	await until('the half-typed line', async () => /echo peo$/.test((await screenOf(server, shell)).trimEnd()));
	assert.equal((await exec(server, shell, 'echo between')).output, 'between\n');
	await server.api.input(shell, 'ple; false\r');
	const block = await until(`the block in ${shell}`, async () => (await blocksOf(server, shell))
		.find(({ command, exitCode }) => command === 'echo people; false' && exitCode === 1));
	assert.equal((await server.api.raw('GET', `/api/session/${shell}/blocks/${block.id}/output?format=text`)).text, 'people\n', shell);
	await atPrompt(server, shell);
	const screen = await screenOf(server, shell);
	assert.doesNotMatch(screen, litter, screen);
	const history = { bash: 'HISTTIMEFORMAT= history', zsh: 'fc -l 1', fish: 'history' }[shell];
	const e = await exec(server, shell, `${history}; alias`);
	assert.match(e.output, /echo people; false/, shell);
	assert.doesNotMatch(e.output.replaceAll(/env \| grep.*/g, ''), litter, shell);
}

shared('bash, zsh and fish: one table for all', { timeout: 90_000 }, async (server) => {
	await Promise.all(shells.map(async (shell) => {
		await server.api.create({ id: shell, shell, rows: 50, cols: 100 });
		await commands(server, shell);
		await circumstances(server, shell);
		await interrupted(server, shell);
		await people(server, shell);
	}));
	// The next server recognizes the shells and continues.
	await server.kill();
	await server.restart();
	for (const shell of shells) {
		assert.equal((await exec(server, shell, 'echo $x')).output, 'kept\n', shell);
		const { exitCode, output, endedBy } = await exec(server, shell, 'exit 6');
		assert.deepEqual({ exitCode, output, endedBy }, { exitCode: 6, output: shell === 'bash' ? 'exit\n' : '', endedBy: 'shell' }, shell);
	}
});

shared('another program in place of the shell, and unsupported shells', { timeout: 60_000 }, async (server) => {
	for (const shell of shells) {
		await server.api.create({ id: shell, shell });
		await exec(server, shell, 'true');
		const replaced = await exec(server, shell, `exec ${shell}`, { yieldMs: 0 });
		const refusal = () => server.api.raw('POST', `/api/session/${shell}/exec`, { command: 'echo no' });
		await until(`a refusal of ${shell}: ${replaced.id}`, async () => (await refusal()).json.code === 'EXEC_UNSUPPORTED');
		assert.match((await refusal()).json.message, /taken the place/);
	}
	await server.api.create({ id: 'dash', shell: 'dash' });
	await server.api.refused(409, 'EXEC_UNSUPPORTED', 'POST', '/api/session/dash/exec', { command: 'echo no' });
	await server.api.input('dash', 'echo dash-$((1+1))\r');
	await server.outputMatches('dash', /dash-2/);
	assert.match(await screenOf(server, 'dash'), /dash-2/);
});

scenario('arguments of shells', { timeout: 60_000 }, async (server) => {
	const { api } = server;
	writeFileSync(path.join(server.home, '.bashrc'), 'where=bashrc\n');
	writeFileSync(path.join(server.home, '.bash_profile'), 'where=profile\n');
	writeFileSync(path.join(server.home, 'other rc'), 'where=other\n');
	writeFileSync(path.join(server.home, '.zshrc'), 'where=zshrc\n');
	writeFileSync(path.join(server.home, '.zprofile'), 'login=yes\n');
	for (const [shell, shellArgs, expected] of [
		['bash', undefined, 'bashrc'], ['bash', [], 'bashrc'], ['bash', ['--norc'], ''], ['bash', ['-l'], 'profile'], ['bash', ['--noprofile', '--login'], ''],
		['bash', ['--rcfile', `${server.home}/other rc`, '-o', 'vi'], 'other'],
		['zsh', ['-l', '-o', 'vi'], 'zshrcyes'], ['zsh', ['-f'], ''], ['fish', ['-N', '-C', 'set -g where init'], 'init']]) {
		const data = await api.create({ shell, shellArgs });
		assert.deepEqual(data.shellArgs, shellArgs?.length ? shellArgs : undefined);
		const e = await exec(server, data.id, 'echo "$where$login"');
		assert.deepEqual([e.output, e.exitCode], [`${expected}\n`, 0], `${shell} ${shellArgs}`);
		await api.delete(data.id);
	}
	// Unknown arguments are used, but without support for commands.
	await api.create({ id: 'plain', shell: 'bash', shellArgs: ['--noediting', '--norc'] });
	await api.refused(409, 'EXEC_UNSUPPORTED', 'POST', '/api/session/plain/exec', { command: 'echo no' });
	await api.input('plain', 'echo $0-$-\r');
	await server.outputMatches('plain', /bash-\w+/);
	for (const bad of ['--norc', [1], [['x']], ['a\0b'], Array(300).fill('x'), ['x'.repeat(20_000)], { a: 1 }])
		await api.refused(400, 'VALIDATION_FAILED', 'POST', '/api/session/create', { shellArgs: bad });
	await api.refused(400, 'VALIDATION_FAILED', 'POST', '/api/session/create', { argv: ['true'], shellArgs: ['x'] });
	await api.refused(400, 'VALIDATION_FAILED', 'POST', '/api/session/create', { shell: 'zsh', onShellExit: 'reexec' });
	// Arguments are kept with the session.
	await api.create({ id: 'kept', shell: 'zsh', shellArgs: ['-f'] });
	await exec(server, 'kept', 'true');
	await server.kill();
	await server.restart();
	assert.deepEqual((await api.get('kept')).shellArgs, ['-f']);
	assert.equal((await exec(server, 'kept', 'echo $ZSH_NAME')).output, 'zsh\n');
});

scenario('a shell that reads its startup files is starting, and their commands are reported', { timeout: 60_000 }, async (server) => {
	mkdirSync(path.join(server.home, '.config', 'fish'), { recursive: true });
	for (const [shell, file] of [['bash', '.bashrc'], ['zsh', '.zshrc'], ['fish', '.config/fish/config.fish']]) {
		execFileSync('mkfifo', [path.join(server.home, shell)]);
		const substitution = shell === 'fish' ? '(head -n 1 ~/fish)' : `$(head -n 1 ~/${shell})`;
		writeFileSync(path.join(server.home, file), `echo ${substitution}\n`);
		await server.api.create({ id: shell, shell });
		let state;
		await until(() => `head in the startup files of ${shell}: ${JSON.stringify(state)}`, async () => {
			state = await stateOf(server, shell);
			return state.status === 'starting' && state.foreground?.name === 'head' && state.foreground.argv.length > 0; // the exec may not be over yet
		});
		assert.deepEqual(state.foreground.argv, ['head', '-n', '1', path.join(server.home, shell)]);
		writeFileSync(path.join(server.home, shell), 'go on\n');
		assert.equal((await exec(server, shell, 'echo ready')).output, 'ready\n');
		await atPrompt(server, shell);
	}
});

const zshrc = `
setopt hist_ignore_space extended_history prompt_subst auto_pushd share_history no_clobber
HISTFILE=~/.zsh_history SAVEHIST=100 HISTSIZE=100
bindkey -v
export KEYTIMEOUT=20
typeset -ga seen
preexec() { seen+=("pre $1") }
later() { seen+=("hook $1") }
preexec_functions=(later)
precmd() { psvar=(branch) }
zle-line-init() { zle -K viins }
zle -N zle-line-init
zle-keymap-select() { zle reset-prompt }
zle -N zle-keymap-select
PROMPT='%(?..%F{red})%1v \${\${KEYMAP/vicmd/N}/(main|viins)/I}> ' RPROMPT='%F{blue}right%f'
print() { builtin echo mine "$@" }
alias builtin=false eval=false printf=false
echo ready
`;
const fishrc = `
function fish_prompt
    set -l s $status $pipestatus
    printf '%s %s> ' (count $s) $s[1]
    command git branch --show-current 2>/dev/null
end
function fish_right_prompt; echo right; end
function seen --on-event fish_preexec; set -ga lines $argv; end
function printf; command printf $argv; end
function count; builtin count $argv; end
fish_vi_key_bindings
set -g fish_greeting hello
`;

scenario('complex configurations: hooks, vi keys, right prompts, functions named like builtins', { timeout: 60_000 }, async (server) => {
	writeFileSync(path.join(server.home, '.zshenv'), 'export ZDOTDIR=~/zsh FROM_ENV=1\n');
	mkdirSync(path.join(server.home, 'zsh'));
	writeFileSync(path.join(server.home, 'zsh', '.zshrc'), zshrc);
	mkdirSync(path.join(server.home, '.config', 'fish'), { recursive: true });
	writeFileSync(path.join(server.home, '.config', 'fish', 'config.fish'), fishrc);
	await server.api.create({ id: 'zsh', shell: 'zsh', cols: 100 });
	await server.api.create({ id: 'fish', shell: 'fish', cols: 100 });
	for (const [shell, vi] of [['zsh', '\x1b'], ['fish', '\x1b']]) {
		assert.equal((await exec(server, shell, '/bin/echo one')).output, 'one\n', shell);
		await atPrompt(server, shell);
		await server.api.input(shell, `half line${vi}`); // and in command mode
		await until('the half-typed line', async () => /half line/.test(await screenOf(server, shell)));
		assert.deepEqual(resultOf(await exec(server, shell, 'sh -c "exit 3" | cat; false | true')),
			{ exitCode: 0, output: '', endedBy: 'command', outputExact: true }, shell);
		await until('the restored line', async () => /half line/.test((await screenOf(server, shell)).trimEnd().split('\n').at(-1)));
		await server.api.input(shell, '\x03');
		await until('an empty line', async () => !/half line/.test((await screenOf(server, shell)).trimEnd().split('\n').at(-1)));
		await atPrompt(server, shell);
		await server.api.input(shell, `${shell === 'fish' ? '' : 'i'}/bin/echo by hand\r`);
		const block = await until('the block', async () => (await blocksOf(server, shell)).find(({ command }) => /by hand/.test(command)));
		assert.match(block.command, /^i?\/bin\/echo by hand$/, shell);
		await atPrompt(server, shell);
		assert.doesNotMatch(await screenOf(server, shell), litter, shell);
	}
	// A command is shown after the mode and the prompt.
	await server.api.create({ id: 'vi', shell: 'fish', cols: 120 });
	for (const text of ['one', 'two']) {
		await exec(server, 'vi', `echo ${text}`);
		assert.match(await screenOf(server, 'vi'), new RegExp(`^\\[I\\] \\S.*> .*echo ${text} *\\n${text} *$`, 'm'));
	}
	const zsh = (await exec(server, 'zsh', '/usr/bin/printf "%s\\n" "$ZDOTDIR" "$FROM_ENV" "${seen[@]}"; print x')).output.split('\n');
	assert.deepEqual(zsh.slice(0, 4), [path.join(server.home, 'zsh'), '1', 'pre /bin/echo one', 'hook /bin/echo one']);
	assert.equal(zsh.at(-2), 'mine x');
	assert.match((await exec(server, 'zsh', 'echo $KEYMAP${(j:,:)preexec_functions}; whence -f preexec')).output, /later/);
	assert.doesNotMatch(readFileSync(path.join(server.home, '.zsh_history'), 'utf8').replaceAll('"$ZDOTDIR"', ''), litter);
});
