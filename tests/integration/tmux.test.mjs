// `ringside tmux` beside tmux: the same commands, output and statuses.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { scenario } from './lib/server.mjs';
import { chain, Tmux } from './lib/tmux.mjs';
import { until } from './lib/until.mjs';

/** Permitted differences, and their replacement. */
const explained = [
	[/\(created [^)]*\)/g, '(created …)'], // times
	[/history \d+\/\d+, \d+ bytes/g, 'history …'], // the server keeps the lines (--scrollback) and counts them differently
	[/\(\d\d:\d\d \d\d-\w{3}-\d\d\)/g, '(now)'],
	[/(\^\[\[200~c)\^@/g, '$1'], // a bracketed paste has no control characters here
	[/no server running on \S+|error connecting to \S+ \(No such file or directory\)|server exited unexpectedly/g, 'no server'], // three texts with one meaning
];

const normal = (text) => explained.reduce((now, [pattern, by]) => now.replace(pattern, by), text);

/** tmux's error for an invalid command line: then it does not run the earlier commands either. */
const unparsed = /^(?:unknown|ambiguous) command|^command \S+: /;

/** Both, side by side. */
class Pair {
	constructor(server, label) {
		this.theirs = new Tmux(server, { label, real: true });
		this.ours = new Tmux(server, { label });
		this.differences = [];
	}

	/**
	 * Run each command in both, one after another; differences are collected and fail the test at its end. tmux runs one at a
	 * time; ours starts more slowly, so successful commands run in one go, up to one that fails.
	 */
	async same(...commands) {
		let theirs = [];
		let group = [];
		const compare = async () => {
			if (group.length === 0) return;
			const args = chain(...group);
			const tmux = { status: theirs.at(-1).status, stdout: normal(theirs.map(({ stdout }) => stdout).join('')), stderr: normal(theirs.map(({ stderr }) => stderr).join('')) };
			const { status, stdout, stderr } = await this.ours.run(args);
			const ours = { status, stdout: normal(stdout), stderr: normal(stderr) };
			if (JSON.stringify(tmux) !== JSON.stringify(ours)) this.differences.push({ command: args.join(' '), tmux, ours });
			[group, theirs] = [[], []];
		};
		for (const command of commands) {
			const words = typeof command === 'string' ? command.split(' ') : command;
			const result = await this.theirs.run(words);
			const alone = words[0].startsWith('-') || unparsed.test(result.stderr);
			if (alone) await compare();
			group.push(words);
			theirs.push(result);
			if (alone || result.status !== 0 || words[0] === 'kill-server') await compare();
		}
		await compare();
	}

	/** The same, but wait until the output of both matches. */
	async eventually(args, pattern) {
		for (const one of [this.theirs, this.ours]) {
			let seen;
			await until(() => `${pattern} in ${one.command[0]} ${args.join(' ')}; the output is ${JSON.stringify(seen)}`, async () => {
				seen = await one.run(args);
				return pattern.test(seen.stdout);
			}, { timeout: 20_000, interval: 50 });
		}
	}
}

const subjects = [];
const conformance = (name, body) => subjects.push({ name, body });

const ALL = ['session_name', 'session_id', 'session_windows', 'session_attached', 'window_index', 'window_id', 'window_name', 'window_active',
	'window_flags', 'window_panes', 'window_width', 'window_height', 'window_layout', 'window_visible_layout', 'window_zoomed_flag', 'pane_id', 'pane_index',
	'pane_active', 'session_stack', 'active_window_index', 'last_window_index', 'next_session_id', 'window_stack_index', 'window_marked_flag',
	'window_active_sessions', 'window_active_sessions_list', 'window_linked_sessions_list', 'window_linked', 'pane_tabs', 'mouse', 'mouse_any_flag', 'pane_width', 'pane_height', 'pane_left', 'pane_top', 'pane_right', 'pane_bottom', 'pane_at_left', 'pane_at_right', 'pane_at_top',
	'pane_at_bottom', 'pane_dead', 'pane_in_mode', 'pane_last', 'pane_marked', 'pane_synchronized', 'nosuch', 'pane_start_command']
	.map((name) => `#{${name}}`).join('|');

conformance('sessions and windows', async (pair) => {
	await pair.same('ls', 'has-session -t x', 'new-session -d -s one', 'has-session -t one', 'has-session -t =on', 'has-session -t on', 'has -t two',
		'new-session -d -s one', ['new-session', '-d', '-s', ''], 'new-session -d -s b -n win -x 120 -y 40 -P', 'list-sessions', 'ls -F #S:#{session_windows}',
		['new-session', '-d', '-P', '-F', '#{session_name} #{window_id} #{pane_id}', '-n', 'x', '-s', 'a:b.c\nb\\x"$y', 'sleep 100'],
		['ls', '-F', '#{session_name}'], 'new-window -t one', 'new-window -d -t one: -n named -P', ['new-window', '-t', 'one:7', '-n', 'seven', 'sleep 100'], 'new-window -t one:7');
	// A window has the name of its program. tmux may look before it has executed that, and show its own name for up to half a second.
	await pair.eventually(['lsw', '-t', 'one', '-F', '#W'], /^bash\nbash\nnamed\nseven\n$/);
	await pair.same('list-windows -t one', 'lsw -a', `lsw -t one -F ${ALL}`, 'select-window -t one:0', 'next-window -t one', 'previous-window -t one', 'last-window -t one',
		'select-window -t one:9', 'lsw -t one', 'rename-window -t one:0 first', 'rename-window -t one:first second', 'rename-session -t one uno',
		'rename-session -t uno b', 'swap-window -s uno:0 -t uno:7', 'lsw -t uno', 'move-window -s uno:7 -t uno:3', 'move-window -r -t uno', 'lsw -t uno',
		['lsw', '-t', 'uno', '-f', '#{==:#{window_index},1}', '-F', '#I'], 'kill-window -t uno:1', 'lsw -t uno', 'kill-session -t nosuch',
		'kill-session -t uno', 'display-message -p -t b: #S', 'display-message -p -t nosuch x', 'kill-session -a -t b', 'ls', 'new -z', 'nosuch', 'n', 'lsp -t b:3',
		'resize-window -t b -x 90 -y 20', 'lsw -t b', 'unlink-window -t b:0', 'switch-client -t b', 'list-clients', 'new-session -s c', 'attach-session -t b',
		['new-session', '-d', '-s', 'q', ';', 'new-window', '-t', 'q', ';', 'lsw', '-t', 'q', '-F', '#I#{window_flags}'],
		['display-message', '-p', '-t', 'q', 'a\\;', ';', 'nosuch', ';', 'display-message', '-p', 'unreached'], 'kill-server');
});

conformance('panes and layouts', async (pair) => {
	const list = `list-panes -F ${ALL}`;
	await pair.same(['new-session', '-d', '-s', 'p', '-n', 'w', '-x', '160', '-y', '40', 'sleep 100'], ['split-window', '-h', '-t', 'p', 'sleep 100'], list,
		['split-window', '-v', '-l', '5', '-P', '-F', '#{pane_id} #{pane_index}', 'sleep 100'], ['splitw', '-hb', '-l', '25%', '-t', '%0', 'sleep 100'], list,
		['split-window', '-f', '-d', '-t', '%1', 'sleep 100'], list, ['splitw', '-fh', '-l', '10', '-t', '%0', 'sleep 100'], list,
		'lsp -s', 'lsp -a', 'lsp -t p:0 -F #D#P', 'select-pane -t %0', 'select-pane -R', 'lsp -F #{pane_id}#{pane_active}#{pane_last}', 'select-pane -L', 'select-pane -U',
		'select-pane -D', 'last-pane', list, 'resize-pane -t %0 -x 50', 'resize-pane -t %0 -y 12', list, 'resize-pane -t %2 -U 3', 'resize-pane -t %2 -L 4',
		'resize-pane -D', list, 'resize-pane -Z -t %1', list, 'resize-pane -Z', 'select-layout tiled', list, 'select-layout main-vertical', list,
		'select-layout main-horizontal', list, 'select-layout even-horizontal', list, 'select-layout even-vertical', list, 'next-layout', 'previous-layout', list,
		'set-option -w main-pane-width 60%', 'select-layout main-vertical', list, 'select-layout -o', list, 'select-layout -E', list, 
		'swap-pane -s %0 -t %1', list, 'swap-pane -U -t %2', list, 'rotate-window', list, 'kill-pane -t %1', list, 'kill-pane -t %77', 'break-pane -d -s %2 -n broken',
		'lsw', list, 'join-pane -s %2 -t %0 -h', list, 'lsw', 'resize-window -x 100 -y 30', list, 'display -p -t {top-left} #D', 'display -p -t p:0.1 #D',
		'display -p -t :.+ #D', 'display -p -t {last} #D', 'display -p -t p:w #{window_layout}', 'display -p -t {bottom-right} #D', 'display -p -t @0 #S',
		'display -p -t $0 #S', 'display -p -t %9 #S', 'display -p -t p:9 #S', 'display -p -t nosuch:0 #S', 'display -p -t p:0.9 #S', 'kill-pane -a -t %0', list,
		['select-layout', 'b25d,80x24,0,0,0'], list, ['select-pane', '-t', '%0', '-T', 'my title'], 'display -p #{pane_title}/#T', 'kill-pane');
	await pair.same('ls');
});

conformance('windows with several links', async (pair) => {
	const list = ['lsw', '-a', '-F', '#S:#I:#{window_id}#{window_flags}:#{window_linked}:#{window_linked_sessions}:#{window_active_sessions_list}'];
	const panes = ['lsp', '-a', '-F', '#S:#I #D'];
	await pair.same(...['a', 'b'].map((name) => ['new-session', '-d', '-s', name, 'sleep 100']), ['new-window', '-d', '-t', 'a:1', 'sleep 100'],
		'link-window -s a:1 -t b:1', 'move-window -s a:1 -t b:2', list, 'kill-session -t b', list, 'kill-server');
	await pair.same(...['a', 'b'].map((name) => ['new-session', '-d', '-s', name, 'sleep 100']), ['new-window', '-d', '-t', 'a:1', 'sleep 100'],
		'link-window -d -s a:1 -t b:1', 'link-window -d -s a:1 -t b:5', 'link-window -s a:1 -t b:5', 'move-window -k -s a:1 -t b:5', list, panes,
		['display-message', '-p', '-t', '@1', '#S:#I#{window_linked_sessions_list}'], 'link-window -d -s a:0 -t a:3', 'link-window -d -s a:0 -t b:3', list,
		// A replaced window survives where it is linked.
		['new-window', '-dk', '-t', 'b:3', 'sleep 100'], list, panes, 'link-window -dk -s b:0 -t a:3', list, panes, 'move-window -dk -s b:3 -t b:1', list, panes,
		'swap-window -d -s a:0 -t a:0', 'swap-window -s b:5 -t a:0', list, 'swap-window -d -s b:5 -t b:0', list,
		'unlink-window -t b:0', 'unlink-window -t a:0', list, 'unlink-window -t b:5', 'unlink-window -t a:3', list, panes,
		'link-window -d -s b:1 -t b:2', 'unlink-window -k -t b:2', 'link-window -d -s b:1 -t b:7', list, 'kill-window -a -t b:1', list, panes, 'kill-window -a -t a:1', 'kill-server');
	await pair.same(...['a', 'b'].map((name) => ['new-session', '-d', '-s', name, 'sleep 100']), ...[1, 2].map((at) => ['new-window', '-d', '-t', `a:${at}`, 'sleep 100']),
		'select-window -t a:1', 'select-window -t a:2', 'move-window -d -s a:2 -t a:5', list, 'select-window -t a:5', 'move-window -dk -s a:0 -t a:5', list, panes,
		'link-window -d -s a:1 -t b:1', 'kill-window -a -t b:0', list, 'kill-session -a -t b', list);
});

conformance('sizes of new panes', async (pair) => {
	await pair.same(['new-session', '-d', '-s', 's', '-x', '80', '-y', '24', 'sleep 100'], ['new-window', '-d', '-t', 's:1', 'sleep 100']);
	const join = ['join-pane', '-d', '-s', '%1', '-t', 's:0'], split = ['split-window', '-d', '-t', 's:0'];
	const sizes = (flag, texts) => texts.map((text) => [flag, text]);
	for (const size of [...sizes('-l', ['100%', '50%', '0', '2000']), ...sizes('-p', ['50']), []]) {
		await pair.same([...join, ...size], 'lsp -s -t s -F #D:#{pane_height}', ['break-pane', '-d', '-s', '%1', '-t', 's:1'],
			[...split, ...size, 'sleep 100'], 'lsp -t s:0 -F #{pane_height}', 'kill-pane -a -t s:0');
	}
	for (const size of [...sizes('-l', ['200%', 'x%', '5x', '-3', '']), ...sizes('-p', ['50%', '-3'])]) await pair.same([...join, ...size]);
	for (const size of [...sizes('-l', ['%', '-3%', '99999999999%', '99999999999']), ...sizes('-p', ['x'])]) await pair.same([...split, ...size, 'sleep 100']);
	await pair.same([...split, '-l', '200%', 'sleep 100'], 'lsp -t s:0 -F #{pane_height}', [...join, '-f', '-l', '50%'], 'lsp -t s:0 -F #D:#{pane_height}');
});

conformance('formats', async (pair) => {
	// unit/ws/client/tmux/test_tmux_format has more.
	const formats = ['#{?nosuch,yes,no}', '#{?#{==:#{session_name},f},same,other}', '#{||:0,1}#{&&:1,0}', '#{m/ri:^F$,f}', '#{=3:window_layout}', '#{=/2/...:window_layout}', '#{p-8:session_name}|',
		'#{n:window_layout}', '#{b:pane_current_path}', '#{d:pane_start_path}', '#{q:weird}', '#{a:65}', '#{s/(.)x/\\1y/:#{l:axbx}}', '#{e|/|f|3:10,3}', '#{T:status-left}',
		'#{S:#{session_name},}', '#{W:#{window_index} ,[#{window_index}] }', '#{P:#{pane_id}}', '##{x}', '#,#}', '#Q', '#{history-limit}', '#{@user}', '#{pane-base-index}', 'ü#{=1:#{l:üö}}', '%%', '#h#H',
		'#{host_short}', '#{version}', '#{session_attached}', '#{pane_dead}#{pane_pipe}', '#{e|%|:7,0}', '#{w:#{l:#[fg=red]あ}}', '#{w:@styled}'];
	await pair.same(['new-session', '-d', '-s', 'f', '-n', 'w', 'sleep 100']);
	await pair.eventually(['display-message', '-p', '-t', 'f', '#{pane_current_path}'], /\/start$/m); // tmux has no directory before the program runs
	await pair.same(['set-option', '-g', '@user', 'v a'], ['set-option', '-g', 'weird', 'x'], ['set-option', '-g', '@styled', '##[no]#[bold]###[dim]#x'],
		['display-message', '-p', '-t', 'f', 'x#{unclosed'],
		...Array.from({ length: Math.ceil(formats.length / 8) }, (_, i) => ['display-message', '-p', '-t', 'f', formats.slice(8 * i, 8 * i + 8).join('\n')]));
});

conformance('options, environment, buffers', async (pair) => {
	await pair.same(['new-session', '-d', '-s', 'o', 'sleep 100'], 'show-options -g', 'show-options -gw', 'show-options -g history-limit', 'show-options -gv history-limit',
		'set-option -g history-limit 5000', 'show -gv history-limit', 'set -g history-limit x', 'set -g history-limit -- -1', 'set -g nosuch x', 'set -qg nosuch x', 'set -g st x',
		'set -g status off', 'show -g status', 'set -g status maybe', 'set -g mouse', 'show -gv mouse', 'set -g mouse maybe', 'set -g default-shell /nosuch',
		'set -t o status-left hello', 'show -t o', 'show -A -t o status-right', 'set -a -t o status-left !', 'show -v -t o status-left', 'set -u -t o status-left', 'show -t o',
		['set', '@name', 'a "b" $c'], 'show @name', 'show -v @name', 'show @nosuch', 'show -q @nosuch', 'setw -t o remain-on-exit on', 'showw -t o', 'show -w -t o remain-on-exit',
		'set -p -t o remain-on-exit off', 'show -p -t o', 'set -o @name z', 'set -F @f #{session_name}', 'show -v @f', 'set -t nosuch status off',
		['set', '-p', 'pane-border-style', 'fg=blue'], ['set', '-w', 'pane-border-status', 'top'], 'showw', ['set', '-g', 'update-environment', 'A B'], 'show -g update-environment',
		'set-environment -t o FOO bar', 'show-environment -t o FOO', 'show-environment -t o -s FOO', 'set-environment -r -t o BAZ', 'show-environment -t o BAZ',
		'set-environment -u -t o FOO', 'show-environment -t o FOO', 'set-environment -g G 1', 'show-environment -g G', 'set-environment G=1 x', 'show-environment -g NOSUCH',
		'list-buffers', 'show-buffer', ['set-buffer', 'one\ntwo\t"x"'], 'list-buffers', 'show-buffer', ['set-buffer', '-b', 'mine', 'abc'], ['set-buffer', '-a', '-b', 'mine', 'def'],
		'show-buffer -b mine', 'list-buffers -F #{buffer_name}:#{buffer_size}', 'set-buffer -n other -b mine', 'delete-buffer -b other', 'delete-buffer -b other', 'list-buffers',
		'set-buffer', 'save-buffer -', 'save-buffer /nosuch/x', 'load-buffer /nosuch', 'list-commands send-keys', 'list-commands nosuch');
	for (const one of [pair.theirs, pair.ours]) await one.good(['load-buffer', '-b', 'in', '-'], 'from\0stdin');
	await pair.same('show-buffer -b in', 'list-buffers');
});

conformance('typing, capturing, the end of panes', async (pair) => {
	await pair.same(['new-session', '-d', '-s', 't', '-n', 'first', '-x', '40', '-y', '10', 'cat -v'], ['send-keys', '-t', 't', 'hello', 'Space', 'there', 'Enter']);
	const screen = ['capture-pane', '-p', '-t', 't'];
	await pair.eventually(screen, /hello there\nhello there/);
	await pair.same(screen, [...screen, '-S', '0', '-E', '0'], [...screen, '-S', '1', '-E', '-'], [...screen, '-S', '5', '-E', '2']);
	await pair.same(['send-keys', '-t', 't', '-l', 'Enter;x'], ['send-keys', '-t', 't', 'Enter', 'C-a', 'Up', 'M-x', 'F1', 'Escape', '^b', 'Enter']);
	await pair.eventually(screen, /\^B\n.*\^B\n/s); // or cat writes between the echoed keys
	await pair.same(['send-keys', '-t', 't', '-N', '3', 'z'], ['send-keys', '-t', 't', '-H', '41', '42', '0d']);
	await pair.eventually(screen, /zzzAB\n.*zzzAB/s);
	await pair.same(screen, 'send-keys -t nosuch x', ['send-keys', '-t', 't', '-N', 'x', 'y'], 'capture-pane -t t', 'list-buffers', 'show-buffer', 'capture-pane -p -a -t t', 'capture-pane -p -a -q -t t');
	// A paste separates lines by the separator, with and without bracketed paste.
	await pair.same(['respawn-pane', '-k', '-t', 't', "stty raw -echo; printf '\\033[?2004hready'; cat -v"]);
	await pair.eventually(screen, /ready/);
	await pair.same(['set-buffer', 'a\nb'], 'paste-buffer -p -t t', 'paste-buffer -p -s : -t t', 'paste-buffer -t t', ['send-keys', '-t', 't', '.']);
	await pair.eventually(['capture-pane', '-p', '-J', '-t', 't'], /b\.$/m);
	for (const one of [pair.theirs, pair.ours]) await one.good(['load-buffer', '-b', 'nul', '-'], 'c\0d\ne');
	await pair.same('paste-buffer -b nul -t t', 'paste-buffer -p -b nul -t t', ['send-keys', '-t', 't', ';.']);
	await pair.eventually(['capture-pane', '-p', '-J', '-t', 't'], /;\.$/m);
	await pair.same(['capture-pane', '-p', '-J', '-t', 't']);
	// Lines of the history, and wrapped lines.
	await pair.same(['respawn-pane', '-t', 't', 'x'], ['respawn-pane', '-k', '-t', 't', 'seq 30; printf "%050d  \\n" 7; printf end; sleep 100']);
	await pair.eventually(screen, /\nend\n/);
	await pair.same(screen, [...screen, '-S', '-'], [...screen, '-S', '-5', '-E', '-3'], [...screen, '-J', '-S', '-'], [...screen, '-N'], [...screen, '-S', '-2'], 'display -p #{cursor_x},#{cursor_y}',
		'display -p #{alternate_on}#{history_size}', 'clear-history', [...screen, '-S', '-'], 'display -p #{history_size}', 'clear-history x', 'clear-history -t nosuch');
	await pair.same(['set', '-g', 'history-limit', '12'], ['new-window', '-d', '-n', 'short', 'seq 15; sleep 100']);
	await pair.eventually(['capture-pane', '-p', '-t', 't:short'], /\n15\n/);
	await pair.same(['capture-pane', '-p', '-S', '-', '-t', 't:short'], 'display -p -t t:short #{history_size},#{history_limit}');
	await pair.same(['set', '-g', 'remain-on-exit', 'on'], ['new-window', '-d', '-n', 'gone', 'exit 3']);
	await pair.eventually(['display', '-p', '-t', 't:gone', '#{pane_dead}'], /1/);
	// tmux itself reports no status if it has seen the end of the output first.
	assert.equal(await pair.ours.good(['display', '-p', '-t', 't:gone', '#{pane_dead_status}']), '3');
	await pair.same(['respawn-window', '-t', 't:gone', 'sleep 100'], ['display', '-p', '-t', 't:gone', '#{pane_dead}'],
		['set', '-g', 'remain-on-exit', 'off'], ['new-window', '-d', '-n', 'brief', 'exit 0']);
	await pair.eventually(['lsw', '-F', '#W '], /^(?!.*brief)/s);
	await pair.same(['lsw', '-F', '#W']);
});

conformance('captured colours', async (pair) => {
	const drawn = ['\\033[31mred\\033[32mgreen\\033[0m \\033[1mbold\\033[0;4;38;5;200mu\\033[48;2;1;2;3mrgb\\033[m plain', '\\033[7mrev\\033[27mx \\033[91;103mbright\\033[39mdef\\033[49m',
		'\\033[3;9mitalic\\033[23mno\\033[m', '\\033[4:3mcurl\\033[58;5;3mcol\\033[m', '\\033[41m  \\033[m', '\\033]8;;http://x\\033\\\\link\\033]8;;\\033\\\\ n',
		'\\033[53mover\\033[2;5;8mmany\\033[21mdd\\033[4:4mdot\\033[4:5mdash\\033[58;2;9;8;7mus\\033[m', 'back\\\\slash   ', '\\343\\201\\202wide', 'end'].join('\\n');
	await pair.same(['new-session', '-d', '-s', 't', '-x', '40', '-y', '14', `printf '${drawn}\\n'; sleep 100`]);
	const screen = ['capture-pane', '-p', '-t', 't'];
	await pair.eventually(screen, /\nend\n/);
	await pair.same(...['-e', '-eJ', '-eN', '-eC', '-J', '-N', '-C'].flatMap((flags) => [[...screen, flags], [...screen, flags, '-S', '1', '-E', '3']]));
});

conformance('panes without input, styles, sizes', async (pair, server) => {
	await pair.same(['new-session', '-d', '-s', 't', '-x', '60', '-y', '12', 'cat -v'], 'select-pane -d -t t', 'display -p #{pane_input_off}', ['send-keys', '-t', 't', 'never', 'Enter'],
		['set-buffer', 'nor this'], 'paste-buffer -t t', 'select-pane -e -t t', 'display -p #{pane_input_off}', ['send-keys', '-t', 't', 'now', 'Enter']);
	const screen = ['capture-pane', '-p', '-t', 't'];
	await pair.eventually(screen, /now\nnow/);
	await pair.same(screen, 'last-pane -d', 'split-window -d cat', 'select-pane -t t.1', 'last-pane -d', 'lsp -F #{pane_index}#{pane_active}#{pane_input_off}', 'last-pane -e', 'lsp -F #{pane_index}#{pane_active}#{pane_input_off}');
	const styles = ['fg=red,bold', '#{?x,a,b}', '', `bold${',bold'.repeat(100)}`, 'invalid-style']; // unit/ws/client/tmux/test_tmux_style has more
	await pair.same(...styles.flatMap((style) => [['set', '-t', 't', 'status-style', style], ['show', '-t', 't', 'status-style']]));
	await pair.same(['set', '-t', 't', 'status-style', 'fg=red'], ['set', '-at', 't', 'status-style', 'bold'], ['set', '-at', 't', 'status-style', 'x'], 'show -t t status-style');
	await pair.same('resize-window -y 50', 'resize-window -a', 'display -p #{window_width}x#{window_height}', 'resize-window -x 5 -y 5', 'resize-window -A', 'display -p #{window_width}x#{window_height}',
		'lock-server', 'lock-session -t t', 'lock-session -t nosuch', 'lock-client', 'show-messages', 'display -p #{alternate_saved_x},#{mouse_sgr_flag}', ['send-keys', '-t', 't.0', '-R']);
	await pair.eventually([...screen.slice(0, -1), 't.0'], /^\n+$/);
	const all = await pair.ours.good(['display-message', '-a', '-t', 't.0']);
	for (const line of ['session_name=t', 'pane_id=%0', 'window_index=0', 'pane_input_off=0']) assert.ok(all.split('\n').includes(line), `${line} in ${all}`);
	// The first command, which starts the server, reads a file of settings, with any errors in it.
	const file = path.join(server.cwd, 'settings');
	writeFileSync(file, 'set -g base-index 3\nset -g nosuch x\nset -g @from file\n');
	await pair.same('show -t t default-size', 'kill-server', ['-f', file, 'new-session', '-d', '-s', 'f', 'cat'], 'lsw -F #{window_index}', ['-f', '/nosuch', 'show', '-gv', '@from'], 'kill-server', ['-f', '/nosuch', 'new-session', '-d', 'cat'], 'lsw -F #{window_index}');
});

conformance('scripts', async (pair) => {
	await pair.same(['new-session', '-d', '-s', 's', 'sleep 100'], ['if-shell', 'true', 'display -p yes', 'display -p no'],
		['if-shell', 'false', 'display -p yes', 'display -p no'], ['if-shell', '-F', '#{==:a,b}', 'display -p yes', 'display -p "n o"'],
		'wait-for -S ch', 'wait-for ch', 'wait-for -U no', 'wait-for -L lock', 'wait-for -U lock', 'source-file /nosuch', 'source-file /', 'source-file -q /', 'load-buffer /', ['run-shell', '-C', 'display -p x']);
	for (const one of [pair.theirs, pair.ours])
		await one.good(['source-file', '-'], 'set -g @e "\\u263a\\U0001f600\\u0041\\101"\n%if #{==:a,b}\nset -g @d no\n%elif #{==:a,a}\nset -g @d yes\n%else\nset -g @d never\n%endif\n# a comment\nset -g @a "x y"; set -g @b \'1\'\ndisplay -p \\\n "#{@a}"\nif -F 1 {\n set -g @c d }\n');
	await pair.same('show -gv @a', 'show -gv @b', 'show -gv @c', 'show -gv @d', 'show -gv @e', 'kill-server', 'kill-server');
});

// Most of the time is spent on starting programs: two at once double the speed.
scenario('ringside tmux beside tmux', { timeout: 300_000 }, async (server) => {
	const differences = [];
	const failures = [];
	const work = async () => {
		for (let subject = subjects.shift(); subject; subject = subjects.shift()) {
			const pair = new Pair(server, `conform-${subjects.length}`);
			try {
				await subject.body(pair, server);
			} catch (error) {
				failures.push(new Error(subject.name, { cause: error }));
			} finally {
				await pair.theirs.run(['kill-server']);
				await pair.ours.run(['kill-server']);
			}
			differences.push(...pair.differences.map((each) => ({ subject: subject.name, ...each })));
		}
	};
	await Promise.all([work(), work()]);
	if (failures.length > 0) throw new AggregateError(failures, failures.map((error) => `${error.message}: ${error.cause.stack}`).join('\n'));
	assert.deepEqual(differences, []);
});
