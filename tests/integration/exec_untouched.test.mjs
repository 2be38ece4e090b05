// User definitions do not affect the code that runs commands for programs, and that code is never visible.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { long } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const id = 's';
const exec = (server, command, fields = {}, session = id) => server.api.call('POST', `/api/session/${session}/exec`,
	{ command, queue: true, timeoutMs: 20_000, ...fields }).then(({ data }) => data);

/** Nothing of our code is visible to people. */
async function clean(server, session = id) {
	await until(() => 'a prompt', async () => (await server.api.call('GET', `/api/session/${session}/state`)).state.status === 'prompt');
	const { text } = await server.api.raw('GET', `/api/session/${session}/screen?format=text&scrollback=1000`);
	assert.doesNotMatch(text, /__rs_|builtin eval|\/proc\/|maximum function/, text);
}

const builtins = ('. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown '
	+ 'echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf '
	+ 'pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit '
	+ 'umask unalias unset wait').split(' ');

/** Check commands that need nothing that could have been redefined. */
async function assertWorks(server, about, { statuses = true } = {}, session = id) {
	for (const [command, status, output] of [['/bin/echo ok; /bin/sh -c "exit 7"', 7, 'ok\n'], ['(/bin/false) | /bin/true', 0, '']]) {
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

// Builtins that our code calls or that replace them. The others are tested together, and one by one in the suite soak.
const special = ('. : [ builtin cd command declare enable eval exit export history local mapfile printf read return set shopt trap '
	+ 'unset').split(' ');

shared('functions with the names of builtins, one at a time', { timeout: 200_000 }, async (server) => {
	await server.session({ id, rows: 40 });
	const log = path.join(server.cwd, 'called');
	const read = () => existsSync(log) && readFileSync(log, 'utf8');
	const rest = builtins.filter((name) => !special.includes(name));
	for (const names of [...special.map((name) => [name]), ...(long ? rest.map((name) => [name]) : [rest])]) {
		// Without job control some builtins do nothing: their functions are tested as well.
		await exec(server, names.map((name) => `function ${name} { /bin/echo ${name} "$@" >>${log}; }`).join('\n'));
		const e = await exec(server, '/bin/echo ok; (/bin/sh -c "exit 7")');
		assert.deepEqual([e.exitCode, e.endedBy, e.output], [7, 'command', 'ok\n'], `${names}`);
		assert.equal(read(), false, `our code called ${read()}`);
		const kept = await exec(server, names.map((name) => `\\${name} mine`).join('\n'));
		assert.equal(kept.endedBy, 'command', `${names}`);
		assert.equal(read(), names.map((name) => `${name} mine\n`).join(''), 'they still exist');
		const after = await exec(server, `/bin/rm ${log}; ${names.length === 1 && names[0] !== 'unset' ? '' : 'builtin '}unset -f ${names.join(' ')}; echo as before`);
		assert.equal(after.output, 'as before\n', `${names}`);
		assert.equal(read(), false, `our code called ${read()}`);
	}
	assert.equal((await exec(server, 'echo as before')).output, 'as before\n');
	await clean(server);
});

shared('functions and aliases with the names of builtins, all at once', { timeout: 100_000 }, async (server) => {
	const called = path.join(server.cwd, 'called');
	const all = (kind) => builtins.map((name) => (kind === 'alias' ? `\\alias ${name}='/bin/echo alias ${name} >>${called};'`
		: `function ${name} { /bin/echo function ${name} "$@" >>${called}; }`)).join('\n');
	for (const kind of ['alias', 'function']) {
		const session = `all-${kind}`;
		await server.session({ id: session, rows: 40 });
		writeFileSync(path.join(server.cwd, kind), `${all(kind)}\n`);
		await exec(server, `. ${server.cwd}/${kind}`, {}, session);
		await assertWorks(server, kind, {}, session);
		await clean(server, session);
		assert.ok(!existsSync(called), existsSync(called) && readFileSync(called, 'utf8'));
	}
	// The same from the startup file, before the first prompt.
	server.startup(`${all('alias')}\n${all('function')}\n`);
	await server.api.create({ id: 'rc', rows: 40 });
	await assertWorks(server, 'rc', {}, 'rc');
	await clean(server, 'rc');
	assert.ok(!existsSync(called), existsSync(called) && readFileSync(called, 'utf8'));
});

shared('disabled builtins', { timeout: 100_000 }, async (server) => {
	await server.session({ id, rows: 40 });
	const others = '. : [ history return trap unset'.split(' ');
	for (const names of [...['printf', 'eval', 'read', 'mapfile', 'builtin', 'declare'].map((name) => [name]), ...(long ? others.map((name) => [name]) : [others])]) {
		await exec(server, `enable -n ${names.join(' ')}`);
		await assertWorks(server, `${names}`, { statuses: names[0] !== 'declare' });
		const { output } = await exec(server, `enable -n; enable ${names.join(' ')}`);
		assert.deepEqual(output.split('\n').filter(Boolean).sort(), names.map((name) => `enable -n ${name}`).sort());
	}
	await clean(server);
});

// Settings, and how to undo them.
const usualIfs = "IFS=$' \\t\\n'";
const options = [
	...['-u', '-f', '-o pipefail', '-o posix', '-o noclobber', '-E', '-T', '-k', '-v', '-x', '-e'].map((each) => [`set ${each}`, `set +${each.slice(1)}`]),
	['set -B', 'set -B'], ['set +B', 'set -B'], ['set +m', 'set -m'],
	...['failglob', 'nullglob', 'xpg_echo', 'lastpipe', 'extdebug'].map((each) => [`shopt -s ${each}`, `shopt -u ${each}`]),
	...['expand_aliases', 'promptvars'].map((each) => [`shopt -u ${each}`, `shopt -s ${each}`]),
	...['IFS=0123456789', 'IFS=/rs_', 'IFS='].map((each) => [each, usualIfs]),
	...['LC_ALL=C', 'LC_ALL=nonsense', 'FUNCNEST=1', 'FUNCNEST=5', 'HISTCONTROL=ignoreboth:erasedups', 'HISTIGNORE="*"', 'TMOUT=1000', 'READLINE_LINE=x', 'CDPATH=/',
		'TIMEFORMAT=x'].map((each) => [each, `unset ${each.split('=')[0]}`]),
	['POSIXLY_CORRECT=y', 'unset POSIXLY_CORRECT'], ['PS4="+ "', ':'], ['PS0="zero "', 'PS0='], ['PS1="one> "', "PS1='\\$ '"], ['PS2=', "PS2='> '"],
	['PROMPT_COMMAND="PS1=again"', "PROMPT_COMMAND=; PS1='\\$ '"],
	...['RETURN', 'DEBUG', 'ERR', 'EXIT'].map((each) => [`trap : ${each}`, `trap - ${each}`]),
	['readonly HISTCONTROL', ':'],
];
const lasting = ['readonly PS1', 'PROMPT_COMMAND=(/bin/true /bin/true)'];

shared('options, variables and traps of users', { timeout: 200_000 }, async (server) => {
	const obeys = async (session, option, command) => {
		const set = await exec(server, command, {}, session);
		assert.equal(set.endedBy, 'command', `${option}: ${JSON.stringify(set)}`);
		for (const [asked, output] of [['/bin/echo ok; if /bin/false; then :; fi', 'ok\n'], ['/bin/true | /bin/cat; (exit 5) || (exit 6) || :', '']]) {
			const e = await exec(server, asked, { streams: 'pipes', stdin: null }, session);
			assert.deepEqual([e.exitCode, e.endedBy, e.stdout], [0, 'command', output], `${option}: ${asked}: ${JSON.stringify(e)}`);
		}
		if (option === 'set -e') return;
		const e = await exec(server, '(exit 7)', {}, session);
		assert.deepEqual([e.exitCode, e.endedBy], [7, 'command'], option);
	};
	await server.session({ id });
	let before = ':';
	for (const [option, back] of options) {
		await obeys(id, option, `${before}\n${option}`);
		before = back;
	}
	for (const [at, option] of lasting.entries()) {
		await server.session({ id: `lasting-${at}` });
		await obeys(`lasting-${at}`, option, option);
	}
});

// Each option with its non-default value, and the result of a third of the commands, or in a long run of each. Options that end the shell are left out.
shared('commands under every option of set and shopt', { timeout: 200_000 }, async (server) => {
	const ending = ['onecmd', 'errexit', 'noexec', 'emacs', 'vi', 'privileged', 'restricted', 'restricted_shell', 'login_shell', 'interactive-comments', 'interactive_comments'];
	const commands = [['echo one', 'one\n', [0]], ['true | false | true', '', [0, 1, 0]], ['(exit 3)', '', [3]], ['false |\n(exit 4)', '', [1, 4]], ['for i in 1 2; do echo "$i"; done | cat', '1\n2\n', [0, 0]],
		['x=5; echo "$x" \\\n  two', '5 two\n', [0]], ['cat <<E\nhere\nE', 'here\n', [0]], ['f() { return 6; }; f', '', [6]], ['{ echo out; echo err >&2; } 2>&1 | sort', 'err\nout\n', [0, 0]]];
	await server.session({ id, rows: 40 });
	const listed = async (command) => (await exec(server, command)).output.split('\n').filter(Boolean).map((line) => line.split(/\s+/)).filter(([name]) => !ending.includes(name));
	const all = [...(await listed('set -o')).map(([name, on]) => [`set ${on === 'on' ? '+' : '-'}o ${name}`, `set ${on === 'on' ? '-' : '+'}o ${name}`]),
		...(await listed('shopt')).map(([name, on]) => [`shopt -${on === 'on' ? 'u' : 's'} ${name}`, `shopt -${on === 'on' ? 's' : 'u'} ${name}`])];
	assert.ok(all.length > 60, `${all.length}`);
	for (const [at, [set, back]] of all.entries()) {
		assert.equal((await exec(server, set)).exitCode, 0, set);
		for (const [command, output, statuses] of commands.filter((_, n) => long || (n + at) % 3 === 0)) {
			const e = await exec(server, command);
			const shown = / -o (verbose|xtrace)$/.test(set) ? new RegExp(output.split('\n').join('\n[^]*'), 'm') : undefined;
			const about = `${set}: ${command}: ${JSON.stringify(e)}`;
			assert.deepEqual([e.endedBy, e.suspect, e.outputExact], ['command', false, true], about);
			if (shown) assert.match(e.output, shown, about);
			else if (!/noglob|braceexpand/.test(set)) assert.equal(e.output, output, about);
			assert.doesNotMatch(e.output, /__rs/, about);
			// The rest of the line would be shown.
			const piped = / -o verbose$/.test(set) && /\|/.test(command);
			const last = / -o pipefail$/.test(set) ? [...statuses].reverse().find((status) => status) ?? 0 : statuses.at(-1);
			assert.deepEqual([e.exitCode, e.pipeStatus], [last, piped ? [] : statuses], about);
		}
		assert.equal((await exec(server, back)).endedBy, 'command', back);
	}
	assert.equal((await exec(server, 'echo as before')).output, 'as before\n');
	await clean(server);
});

shared('a command sees the same state as a typed one', { timeout: 100_000 }, async (server) => {
	const commands = ['/bin/echo a b', 'false', 'echo $? $_', '(exit 3)', 'echo $?', 'f() { return 4; }; f x y', 'echo "$? $_ ${FUNCNAME[*]} ${BASH_SOURCE[*]} $-"',
		'! true', 'return 5', 'echo $?', 'x=1', 'echo ${x}', 'declare y=2; echo $y', 'sleep 0 & wait $!; echo $?',
		'history | tail -n 2 | sed "s/^ *[0-9]* *//"', 'true | false | true; echo ${PIPESTATUS[*]}', '-x', 'set -o | grep history'];
	const traps = 'trap \'echo "$BASH_COMMAND|$LINENO|$?" >>debug\' DEBUG; trap \'echo "$BASH_COMMAND|$LINENO|$?" >>err\' ERR; trap \'echo "$BASH_COMMAND|$?" >>return\' RETURN; set +o monitor';
	const results = {};
	for (const way of ['typed', 'asked']) {
		await server.session({ id: way, cwd: server.cwd, rows: 100, cols: 100, history: true });
		await exec(server, `mkdir ${way}; cd ${way}; PS1='> '`, {}, way);
		await exec(server, traps, {}, way);
		let asked = 0;
		/** A prompt for each line, and one more. */
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
		// The response comes before the last prompt.
		await prompted();
		await clean(server, way);
		const { text } = await server.api.raw('GET', `/api/session/${way}/screen?format=text`);
		const read = (name) => (existsSync(path.join(server.cwd, way, name)) ? readFileSync(path.join(server.cwd, way, name), 'utf8').split('\n') : []);
		results[way] = {
			screen: text.slice(text.indexOf('> /bin/echo a b')).replace(/\[1\] \d+/, '[1] PID').split('\n').map((row) => row.trimEnd()).filter(Boolean),
			// A DEBUG trap sees the calls of our functions, but not what they do.
			debug: read('debug').filter((line) => !/__rs_|builtin (trap|return)/.test(line)), err: read('err'), return: read('return'),
		};
	}
	assert.deepEqual(results.asked, results.typed);
});

// The mechanism of bash-preexec 0.5: a DEBUG trap at the first command after a prompt, and the history for its text.
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

shared('bash-preexec gets the commands', async (server) => {
	const log = path.join(server.cwd, 'log');
	server.startup(preexec(log));
	await server.api.create({ id });
	await until('the prompt', async () => (await server.api.call('GET', `/api/session/${id}/state`)).state.status === 'prompt');
	const commands = ['echo one', 'false', 'echo two; echo three', 'true | cat', 'echo "a\nb"', '(exit 3)'];
	// The first typed command of the session.
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
