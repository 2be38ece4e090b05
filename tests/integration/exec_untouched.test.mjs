// What users define does not touch what runs commands for programs, and that shows itself nowhere.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const id = 's';
const exec = (server, command, fields = {}, session = id) => server.api.call('POST', `/api/session/${session}/exec`,
	{ command, queue: true, timeoutMs: 20_000, ...fields }).then(({ data }) => data);

/** What people see has nothing of ours. */
async function clean(server, session = id) {
	await until(() => 'a prompt', async () => (await server.api.call('GET', `/api/session/${session}/state`)).state.status === 'prompt');
	const { text } = await server.api.raw('GET', `/api/session/${session}/screen?format=text&scrollback=1000`);
	assert.doesNotMatch(text, /__rs_|builtin eval|\/proc\/|maximum function/, text);
}

const builtins = ('. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown '
	+ 'echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf '
	+ 'pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit '
	+ 'umask unalias unset wait').split(' ');

/** Commands that need nothing that could have been taken away. */
async function works(server, about, { statuses = true } = {}, session = id) {
	for (const [command, status, output] of [['/bin/echo ok', 0, 'ok\n'], ['/bin/false', 1, ''], ['(/bin/false) | /bin/true', 0, ''],
		['/bin/sh -c "exit 7"', 7, '']]) {
		const e = await exec(server, command, {}, session);
		const what = `${about}: ${command}: ${JSON.stringify(e)}`;
		assert.deepEqual([e.exitCode, e.output, e.endedBy, e.outputExact, e.timedOut], [status, output, 'command', true, false], what);
	}
	const e = await exec(server, '/usr/bin/env', { streams: 'pipes', stdin: null, cwd: '/', env: { GIVEN: 'x y' } }, session);
	assert.ok(e.stdout.includes('GIVEN=x y\n') && e.endedBy === 'command', `${about}: ${JSON.stringify(e)}`);
	if (statuses) {
		const again = await exec(server, '/usr/bin/env', { streams: 'pipes', stdin: null }, session);
		assert.ok(!again.stdout.includes('GIVEN='), `${about}: ${JSON.stringify(again)}`);
	}
}

scenario('functions that are named as the builtins, one at a time', { timeout: 200_000 }, async (server) => {
	await server.session({ id, rows: 40 });
	const called = path.join(server.cwd, 'called');
	for (const name of builtins) {
		// Those that a shell without job control has no use for still are functions like others.
		await exec(server, `function ${name} { /bin/echo ${name} "$@" >>${called}; }`);
		const e = await exec(server, '(/bin/sh -c "exit 7")');
		assert.deepEqual([e.exitCode, e.endedBy], [7, 'command'], name);
		assert.equal((await exec(server, '/bin/echo ok')).output, 'ok\n', name);
		assert.ok(!existsSync(called), `${name} was called: ${existsSync(called) && readFileSync(called)}`);
		const kept = await exec(server, `\\${name} mine`);
		assert.equal(kept.endedBy, 'command', name);
		assert.equal(readFileSync(called, 'utf8'), `${name} mine\n`, `${name} is the user's still`);
		await exec(server, name === 'unset' ? `/bin/rm ${called}; builtin unset -f unset` : `/bin/rm ${called}; unset -f ${name}`);
		assert.ok(!existsSync(called), `${name} was called`);
		assert.equal((await exec(server, 'echo as before')).output, 'as before\n', name);
	}
	await clean(server);
});

scenario('functions and aliases that are named as the builtins, all at once', { timeout: 100_000 }, async (server) => {
	const called = path.join(server.cwd, 'called');
	const all = (kind) => builtins.map((name) => (kind === 'alias' ? `\\alias ${name}='/bin/echo alias ${name} >>${called};'`
		: `function ${name} { /bin/echo function ${name} "$@" >>${called}; }`)).join('\n');
	for (const kind of ['alias', 'function']) {
		const session = `all-${kind}`;
		await server.session({ id: session, rows: 40 });
		writeFileSync(path.join(server.cwd, kind), `${all(kind)}\n`);
		await exec(server, `. ${server.cwd}/${kind}`, {}, session);
		await works(server, kind, {}, session);
		await clean(server, session);
		assert.ok(!existsSync(called), existsSync(called) && readFileSync(called, 'utf8'));
	}
	// The same from the user's file, before there was a prompt.
	writeFileSync(path.join(server.home, '.bashrc'), `${all('alias')}\n${all('function')}\n`);
	await server.api.create({ id: 'rc', rows: 40 });
	await works(server, 'rc', {}, 'rc');
	await clean(server, 'rc');
	assert.ok(!existsSync(called), existsSync(called) && readFileSync(called, 'utf8'));
});

scenario('builtins that are switched off', { timeout: 100_000 }, async (server) => {
	await server.session({ id, rows: 40 });
	for (const name of ['printf', 'eval', 'read', 'mapfile', 'builtin', 'unset', 'trap', 'history', 'declare', 'return', '[', ':', '.']) {
		await exec(server, `enable -n ${name}`);
		await works(server, name, { statuses: name !== 'declare' });
		assert.equal((await exec(server, 'enable -n')).output, `enable -n ${name}\n`);
		await exec(server, `enable ${name}`);
	}
	await clean(server);
});

const options = ['set -u', 'set -f', 'set -o pipefail', 'set -o posix', 'set -o noclobber', 'set -E', 'set -T', 'set -k', 'set -B', 'set +B', 'set +m',
	'set -v', 'set -x', 'IFS=0123456789', 'IFS=/rs_', 'IFS=', 'shopt -s failglob', 'shopt -s nullglob', 'shopt -u expand_aliases', 'shopt -s xpg_echo', 'shopt -s lastpipe',
	'shopt -s extdebug', 'shopt -u promptvars', 'LC_ALL=C', 'LC_ALL=nonsense', 'FUNCNEST=1', 'FUNCNEST=5', 'PS4="+ "', 'PS0="zero "', 'PS1="one> "', 'PS2=', 'PROMPT_COMMAND="PS1=again"',
	'PROMPT_COMMAND=(/bin/true /bin/true)', 'HISTCONTROL=ignoreboth:erasedups', 'HISTIGNORE="*"', 'readonly PS1', 'readonly HISTCONTROL', 'TMOUT=1000', 'POSIXLY_CORRECT=y',
	'READLINE_LINE=x', 'CDPATH=/', 'TIMEFORMAT=x', 'trap : RETURN', 'trap : DEBUG', 'trap : ERR', 'trap : EXIT', 'set -e'];

scenario('options, variables and traps of the user', { timeout: 200_000 }, async (server) => {
	for (const [at, option] of options.entries()) {
		const session = `option-${at}`;
		await server.session({ id: session });
		const set = await exec(server, option, {}, session);
		assert.equal(set.endedBy, 'command', `${option}: ${JSON.stringify(set)}`);
		const outputs = [];
		for (const command of ['/bin/echo ok', 'if /bin/false; then :; fi', '(exit 5) || (exit 6) || :', '/bin/true | /bin/cat']) {
			const e = await exec(server, command, { streams: 'pipes', stdin: null }, session);
			assert.deepEqual([e.exitCode, e.endedBy], [0, 'command'], `${option}: ${command}: ${JSON.stringify(e)}`);
			outputs.push(e.stdout);
		}
		assert.deepEqual(outputs, ['ok\n', '', '', ''], option);
		if (!/-e/.test(option)) {
			const e = await exec(server, '(exit 7)', {}, session);
			assert.deepEqual([e.exitCode, e.endedBy], [7, 'command'], option);
		}
		await server.api.delete(session);
	}
});

scenario('what a command finds is what it finds when it is typed', { timeout: 100_000 }, async (server) => {
	const commands = ['/bin/echo a b', 'false', 'echo $? $_', '(exit 3)', 'echo $?', 'f() { return 4; }; f x y', 'echo "$? $_ ${FUNCNAME[*]} ${BASH_SOURCE[*]} $-"',
		'! true', 'return 5', 'echo $?', 'x=1', 'echo ${x}', 'declare y=2; echo $y', 'sleep 0 & wait $!; echo $?',
		'history | tail -n 2 | sed "s/^ *[0-9]* *//"', 'true | false | true; echo ${PIPESTATUS[*]}', '-x', 'set -o | grep history'];
	const traps = 'trap \'echo "$BASH_COMMAND|$LINENO|$?" >>debug\' DEBUG; trap \'echo "$BASH_COMMAND|$LINENO|$?" >>err\' ERR; trap \'echo "$BASH_COMMAND|$?" >>return\' RETURN; set +o monitor';
	const results = {};
	for (const way of ['typed', 'asked']) {
		await server.session({ id: way, cwd: server.cwd, rows: 100, cols: 100 });
		await exec(server, `mkdir ${way}; cd ${way}; PS1='> '`, {}, way);
		await exec(server, traps, {}, way);
		let asked = 0;
		/** A prompt for each line that was entered, and one more. */
		const prompted = () => until(`prompt ${asked} of ${way}`, async () => {
			const { text } = await server.api.raw('GET', `/api/session/${way}/screen?format=text`);
			const lines = text.split('\n').map((row) => row.trimEnd()).filter(Boolean);
			return lines.at(-1) === '>' && lines.filter((row) => row.startsWith('>')).length === asked + 2;
		});
		for (const command of commands) {
			if (way === 'asked') {
				await exec(server, command, {}, way);
				asked += 1;
				continue;
			}
			await prompted();
			asked += 1;
			await server.api.input(way, `${command}\r`);
			await prompted();
		}
		// The answer comes before the prompt behind the last command.
		await prompted();
		await clean(server, way);
		const { text } = await server.api.raw('GET', `/api/session/${way}/screen?format=text`);
		const read = (name) => (existsSync(path.join(server.cwd, way, name)) ? readFileSync(path.join(server.cwd, way, name), 'utf8').split('\n') : []);
		results[way] = {
			screen: text.slice(text.indexOf('> /bin/echo a b')).replace(/\[1\] \d+/, '[1] PID').split('\n').map((row) => row.trimEnd()).filter(Boolean),
			// A DEBUG trap sees the calls of ours around a command, and nothing of what they do.
			debug: read('debug').filter((line) => !/__rs_|builtin (trap|return)/.test(line)), err: read('err'), return: read('return'),
		};
	}
	assert.deepEqual(results.asked, results.typed);
});

// Its mechanism as of 0.5, in short: a DEBUG trap that takes the first command after a prompt, and the history for its text.
const preexec = (log) => `
__bp_precmd() { local s=$?; echo "precmd $s" >>${log}; return $s; }
__bp_interactive() { __bp_on=1; }
__bp_preexec() {
	if [[ ! -t 1 && -z "\${__bp_delay_install:-}" ]]; then return; fi
	if [[ -n "\${COMP_POINT:-}" || -n "\${READLINE_POINT:-}" ]]; then return; fi
	if [[ -z "\${__bp_on:-}" ]]; then return; fi
	if [[ 0 -eq "\${BASH_SUBSHELL:-}" ]]; then __bp_on=; fi
	local this
	this=$(export LC_ALL=C; HISTTIMEFORMAT= builtin history 1 | sed '1 s/^ *[0-9][0-9]*[* ] //')
	if [[ -z "$this" ]]; then return; fi
	echo "preexec $this" >>${log}
}
__bp_install() {
	trap '__bp_preexec "$_"' DEBUG
	PROMPT_COMMAND=\${PROMPT_COMMAND/__bp_install}
	PROMPT_COMMAND=$'__bp_precmd\\n'$PROMPT_COMMAND
	PROMPT_COMMAND+=('__bp_interactive')
	__bp_precmd
	__bp_interactive
}
PROMPT_COMMAND=__bp_install
`;

scenario('bash-preexec is handed the commands', async (server) => {
	const log = path.join(server.cwd, 'log');
	writeFileSync(path.join(server.home, '.bashrc'), preexec(log));
	await server.api.create({ id });
	await until('the prompt', async () => (await server.api.call('GET', `/api/session/${id}/state`)).state.status === 'prompt');
	const commands = ['echo one', 'false', 'echo two; echo three', 'true | cat', 'echo "a\nb"', '(exit 3)'];
	// One that somebody types, the first of the session.
	const start = readFileSync(log, 'utf8');
	await server.api.input(id, 'echo first\r');
	await until('the command', () => readFileSync(log, 'utf8').slice(start.length).includes('precmd'));
	assert.equal(readFileSync(log, 'utf8').slice(start.length), 'preexec echo first\nprecmd 0\n');
	const before = readFileSync(log, 'utf8');
	for (const command of commands) await exec(server, command);
	await until('the last prompt', () => readFileSync(log, 'utf8').endsWith('precmd 3\n'));
	assert.equal(readFileSync(log, 'utf8').slice(before.length),
		commands.map((command) => `preexec ${command}\nprecmd ${{ false: 1, '(exit 3)': 3 }[command] ?? 0}\n`).join(''));
	await clean(server);
});
