// User definitions in zsh and fish do not affect the code that runs commands for programs (exec_untouched tests bash):
// statuses are true and output is complete, or the result says that a command has not run.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { scenario } from './lib/server.mjs';
import { inEach, statusOf } from './lib/shells.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const shells = ['zsh', 'fish'];
const exec = (server, id, command, fields = {}) => server.api.call('POST', `/api/session/${id}/exec`,
	{ command, queue: true, timeoutMs: 20_000, ...fields }).then(({ data }) => data);
const screenOf = async (server, id) => (await server.api.raw('GET', `/api/session/${id}/screen?format=text&scrollback=1000`)).text;
const litter = /__rs_[^u]|builtin eval|\\eval|\/proc\//;

/** Check commands that need nothing that could have been redefined. */
async function assertWorks(server, id, about, shown = true) {
	const piped = await exec(server, id, '/bin/echo ok; /usr/bin/env | /bin/grep -c __rs', { streams: 'pipes', stdin: null });
	assert.deepEqual([piped.exitCode, piped.stdout, piped.endedBy, piped.suspect, piped.timedOut], [1, 'ok\n0\n', 'command', false, false], `${about}: ${JSON.stringify(piped)}`);
	const e = await exec(server, id, '/bin/echo out; /usr/bin/test x = y');
	assert.deepEqual([e.exitCode, e.output, e.endedBy, e.outputExact], [1, 'out\n', 'command', true], `${about}: ${JSON.stringify(e)}`);
	const text = await screenOf(server, id);
	if (shown) assert.doesNotMatch(text, litter, `${about}: ${text}`);
}

const usualIfs = "IFS=$' \\t\\n\\0'", usualPrompt = "function fish_prompt; echo -n '> '; end";
// Settings, and how to undo them; without an undo, the next setting is tested in a new session.
const settings = {
	zsh: [...['nounset errreturn', 'verbose', 'noclobber extendedglob nullglob', 'cshnullglob globsubst shwordsplit', 'ksharrays kshtypeset', 'ignoreclosebraces rcquotes',
		'posixbuiltins posixaliases posixidentifiers posixtraps', 'allexport warncreateglobal warnnestedvar', 'localoptions localtraps localpatterns',
		'correctall promptbang singlelinezle', 'noaliases noequals noglob nomultios'].map((each) => [`setopt ${each}`, `unsetopt ${each}`]),
	['unsetopt monitor promptsp promptcr promptpercent', 'setopt monitor promptsp promptcr promptpercent'],
	['unsetopt debugbeforecmd; trap : DEBUG', 'trap - DEBUG; setopt debugbeforecmd'], ...['sh', 'ksh', 'csh'].map((each) => [`emulate ${each}`, 'emulate zsh']),
	['IFS=/rs_0123456789', usualIfs], ['IFS=', usualIfs], ['LC_ALL=nonsense', 'unset LC_ALL'], ['FUNCNEST=1', 'FUNCNEST=500'],
	['TMOUT=1000 KEYTIMEOUT=1 NULLCMD=false READNULLCMD=false', 'unset TMOUT; KEYTIMEOUT=40 NULLCMD=cat READNULLCMD=more'], ['HISTSIZE=0 SAVEHIST=0', 'HISTSIZE=30'],
	['trap : EXIT ZERR DEBUG', 'trap - EXIT ZERR DEBUG'], ['TRAPZERR() { :; }; TRAPDEBUG() { :; }; TRAPEXIT() { :; }', 'unfunction TRAPZERR TRAPDEBUG TRAPEXIT'],
	['precmd() { return 3; }; preexec() { false; }', 'unfunction precmd preexec'], ['bindkey -v', 'bindkey -e'],
	['disable read print trap eval emulate; disable -r if', 'enable -r if; enable read print trap eval emulate'], ['zmodload -u zsh/parameter zsh/sched', ':'],
	['alias -g 2=3', 'unalias \\2'], ['ulimit -n 20', 'ulimit -n 200'], ['mkdir -p z; cd z; rmdir ../z', 'cd /'], ['COLUMNS=5 LINES=1', 'COLUMNS=120 LINES=24'],
	['set -- a b; chpwd() { :; }', 'set --; unfunction chpwd'], ['PATH= cdpath=(/) fpath=()', undefined], ['precmd_functions=(none) preexec_functions=()', undefined],
	['readonly PS1 PS2 PROMPT_EOL_MARK REPLY reply', ':'], ['typeset -r preexec_functions', ':'], ['readonly precmd_functions', ':'], ['typeset -r zshaddhistory_functions', ':']],
	fish: [['set -g IFS 0', 'set -eg IFS'], ['function fish_prompt; false; end', usualPrompt], ['functions -e fish_prompt', usualPrompt],
		['function fish_right_prompt; echo right; end; function fish_mode_prompt; echo m; end', 'functions -e fish_right_prompt fish_mode_prompt'],
		['function x --on-event fish_preexec; false; end', 'functions -e x'], ['function x --on-event fish_postexec; false; end; function y --on-event fish_prompt; false; end', 'functions -e x y'],
		['function x --on-variable PWD; echo moved; end', 'functions -e x'], ['trap : EXIT', 'trap - EXIT'], ['fish_vi_key_bindings', 'fish_default_key_bindings'],
		['set -g fish_sequence_key_delay_ms 1000', 'set -eg fish_sequence_key_delay_ms'], ['set -gx LC_ALL nonsense', 'set -eg LC_ALL'], ['set -gx PATH /nowhere', 'set -gx PATH /usr/bin /bin'],
		['function cd; false; end', 'functions -e cd'], ['alias echo=false', 'functions -e echo'], ['abbr -a builtin false', 'abbr -e builtin'],
		['status job-control none', 'status job-control interactive'], ['status job-control full', 'status job-control interactive'], ['umask 777', 'umask 022'],
		['mkdir -p f; cd f; rmdir ../f', 'builtin cd /'], ['stty -icrnl', 'stty icrnl'], ['set -g argv a b; set -g history x', undefined], ['set -ge HOME; set -g CDPATH /', undefined]],
};

shared('options, variables and traps of users', { timeout: 120_000 }, (server) => inEach(async (shell) => {
	let id, sessions = 0;
	const does = async (command) => {
		const e = await exec(server, id, command);
		assert.equal(e.endedBy, 'command', `${command}: ${JSON.stringify(e)}`);
	};
	for (const [setting, back] of settings[shell]) {
		if (!id) {
			id = `${shell}-${sessions += 1}`;
			await server.api.create({ id, shell, cols: 120 });
		}
		await does(setting);
		await assertWorks(server, id, setting);
		if (back === undefined) id = undefined;
		else await does(back);
	}
}, shells));

const names = {
	zsh: ('. : [ alias autoload bg bindkey break builtin cd command declare dirs disable disown echo emulate enable eval exec exit export false fc fg float functions getln getopts hash history integer jobs kill let limit '
		+ 'local log logout noglob popd print printf pushd pushln pwd r read readonly rehash return sched set setopt shift source suspend test times trap true ttyctl type typeset ulimit umask unalias unfunction unhash '
		+ 'unlimit unset unsetopt vared wait whence where which zcompile zle zmodload zparseopts zselect zstyle sysopen').split(' '),
	fish: 'abbr alias bg bind block cd commandline complete contains count disown echo emit false fg fish_title functions help history isatty jobs math printf prompt_pwd psub pwd random realpath source string true trap type ulimit umask wait'.split(' '),
};
const lying = { zsh: (name) => `function '${name}' { /bin/echo lie; return 9; }`, fish: (name) => `function ${name}; /bin/echo lie; return 9; end` };

shared('functions and aliases with the names of builtins, all at once', { timeout: 60_000 }, (server) => inEach(async (shell) => {
	// If return, or everything that can remove functions, is a function itself, zsh refuses commands and says so. Debian's
	// own line hooks print the output of printf and emulate.
	const few = names[shell].filter((name) => shell === 'fish' || !['unset', 'unfunction', 'unhash', 'command', 'return', 'printf', 'emulate'].includes(name));
	for (const kind of ['functions', 'aliases']) {
		const id = `${shell}-${kind}`, file = path.join(server.cwd, id);
		writeFileSync(file, (kind === 'functions' ? few.map(lying[shell])
			: names[shell].filter((name) => !/^[.[:]$/.test(name)).map((name) => `\\builtin alias ${name}='/bin/echo lie;'`)).join('\n').replaceAll(shell === 'fish' ? '\\builtin' : '\0', 'builtin'));
		await server.api.create({ id, shell, cols: 120 });
		assert.equal((await exec(server, id, `. ${file}`)).endedBy, 'command', id);
		await assertWorks(server, id, id, shell !== 'fish'); // fish prints traces of its prompt
	}
	if (shell === 'zsh') {
		await server.api.create({ id: 'no-way', shell });
		const e = await exec(server, 'no-way', ['builtin', 'unset', 'unfunction', 'unhash', 'command'].map(lying.zsh).join('; '));
		assert.deepEqual([e.exitCode, e.endedBy], [null, 'unknown'], JSON.stringify(e));
	}
}, shells));

shared('a DEBUG trap of zsh sees the command alone, and stays', async (server) => {
	for (const [set, list, gone] of [['trap \'echo "D $ZSH_DEBUG_CMD $?"\' DEBUG', 'trap', 'trap - DEBUG'],
		['TRAPDEBUG() { echo "D $ZSH_DEBUG_CMD $?"; }', 'functions TRAPDEBUG', 'unfunction TRAPDEBUG']]) {
		const id = await server.api.create({ shell: 'zsh', cols: 200 }).then((data) => data.id);
		await exec(server, id, 'setopt localtraps');
		await exec(server, id, set);
		const check = async (command, output, status = 0) => {
			const e = await exec(server, id, command);
			assert.deepEqual([e.output, e.exitCode, e.endedBy, e.outputExact], [output, status, 'command', true], `${set}: ${command}`);
			return e;
		};
		for (let i = 0; i < 2; i += 1) {
			await check('/bin/echo one', 'D /bin/echo one 0\none\n');
			await check('sh -c "exit 3"', 'D sh -c "exit 3" 0\n', 3);
			assert.deepEqual((await check('true | sh -c "exit 4"', 'D true | sh -c "exit 4" 3\n', 4)).pipeStatus, [4]);
			await check('true', 'D true 4\n');
		}
		assert.match((await exec(server, id, list)).output, /ZSH_DEBUG_CMD \$\?/);
		await exec(server, id, gone);
		await check('echo none', 'none\n');
		// For a typed line it sees the same as without our code, and one call for the prompt.
		await exec(server, id, set);
		await server.api.input(id, 'echo by hand\r');
		await until('the line', async () => /^D echo by hand 0\nby hand$/m.test((await screenOf(server, id)).replaceAll(/ +$/gm, '')));
	}
});

// In the style of oh-my-zsh, powerlevel10k and starship: an async prompt by zle -F, a prompt made by a program, hooks of all kinds.
const zshrc = `
autoload -Uz add-zsh-hook vcs_info
setopt prompt_subst auto_cd multios correct extended_glob hist_verify inc_append_history noclobber
typeset -gF started=0; zmodload zsh/datetime
git_prompt_info() { local ref; ref=$(command git symbolic-ref HEAD 2>/dev/null) || return 0; print -n "($ref)"; }
_started() { started=$EPOCHREALTIME; print -Pn "\\e]2;\${(V)1}\\a"; }
_ended() { local s=$? p=("\${pipestatus[@]}"); took=$(( EPOCHREALTIME - started )); PROMPT="$(printf '%s' '%(?..%F{red}[%?]%f)')\${p[*]} %F{cyan}%~%f $(git_prompt_info)%# "; RPROMPT='%D{%H}'; return 4; }
_vcs() { vcs_info }
add-zsh-hook preexec _started; add-zsh-hook precmd _ended; add-zsh-hook precmd _vcs; add-zsh-hook zshaddhistory _kept
_kept() { return 2; }
_async() { local fd; exec {fd}< <(print later); zle -F $fd _ready; }
_ready() { local line; read -r line <&$1; zle -F $1; exec {1}<&-; zle && zle reset-prompt; }
add-zsh-hook precmd _async
_wrapped() { BUFFER=$BUFFER; zle .accept-line; }
zle -N accept-line _wrapped
zle-line-init() { echoti smkx 2>/dev/null; POSTDISPLAY=' suggested'; region_highlight=('0 1 fg=red'); }
zle-line-finish() { echoti rmkx 2>/dev/null; POSTDISPLAY=; }
zle -N zle-line-init; zle -N zle-line-finish
TRAPWINCH() { zle && zle reset-prompt; }
TMOUT=5; TRAPALRM() { zle && zle reset-prompt; }
bindkey -v; export LS_COLORS=x; alias ls='ls --color' grep='grep --color' ..='cd ..'; alias -g G='| grep'; hash -d here=/tmp
`;
const fishrc = `
function starship_job --on-event fish_postexec; set -g took $CMD_DURATION; end
function fish_prompt
    set -l s $status; set -l p $pipestatus
    printf '%s %s %s> ' $s (string join '|' $p) (command date +%H)
    test -n "$async"; or begin; set -g async 1; commandline -f repaint; end
end
function fish_right_prompt; command printf right; end
function later --on-variable __done; commandline -f repaint; end
function ls; command ls --color $argv; end
function z --on-variable PWD; command true; end
function fish_preexec_hook --on-event fish_preexec; printf '\\e]2;%s\\a' $argv[1]; end
function multi --on-event fish_prompt; set -g last $status; false; end
fish_hybrid_key_bindings
bind \\r 'commandline -f execute'
abbr -a g git; set -g fish_greeting; set -gx STARSHIP_SHELL fish
`;

scenario('complex startup files', { timeout: 60_000 }, async (server) => {
	writeFileSync(path.join(server.home, '.zshrc'), zshrc);
	mkdirSync(path.join(server.home, '.config', 'fish'), { recursive: true });
	writeFileSync(path.join(server.home, '.config', 'fish', 'config.fish'), fishrc);
	await inEach(async (shell) => {
		await server.api.create({ id: shell, shell, cols: 120 });
		for (let i = 0; i < 2; i += 1) {
			// A prompt that redraws itself while our line is read shows that line for a moment: known, and in the README.
			await assertWorks(server, shell, shell, shell !== 'zsh');
			const { exitCode, pipeStatus, output } = await exec(server, shell, `sh -c "exit 5" | true; echo ${statusOf[shell]}; sh -c "exit 6"`);
			assert.deepEqual([exitCode, pipeStatus, output], [6, [6], '0\n'], shell);
			assert.equal((await exec(server, shell, `echo ${statusOf[shell]}`)).output, '6\n', shell);
		}
		const e = await exec(server, shell, 'sleep 30', { timeoutMs: 300 });
		assert.deepEqual([e.exitCode, e.timedOut], [130, true], shell);
		await server.api.input(shell, 'echo typed; sh -c "exit 8"\r');
		await until(`the block in ${shell}`, async () => (await server.api.call('GET', `/api/session/${shell}/blocks`)).blocks
			.some(({ command, exitCode, suspect }) => command === 'echo typed; sh -c "exit 8"' && exitCode === 8 && !suspect));
	}, shells);
});
