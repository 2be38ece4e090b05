// Commands that programs send to tmux, and odd values: Claude Code's teams, Harbor's Terminus, OpenHands and libtmux.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { binary } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { chain, Tmux, withTmux } from './lib/tmux.mjs';
import { until } from './lib/until.mjs';

const patience = { timeout: 25_000, interval: 50 };

withTmux('a team of agents: panes beside the first, each with its title', async (tmux, server) => {
	await tmux.good(['-V']);
	assert.equal((await tmux.run(['has-session', '-t', 'claude-swarm'])).status, 1);
	assert.equal(await tmux.good(['new-session', '-d', '-s', 'claude-swarm', '-n', 'swarm-view', '-P', '-F', '#{pane_id}']), '%0');
	assert.equal(await tmux.good(['list-windows', '-t', 'claude-swarm', '-F', '#{window_name}']), 'swarm-view');
	assert.equal(await tmux.good(['split-window', '-t', '%0', '-h', '-l', '70%', '-P', '-F', '#{pane_id}']), '%1');
	assert.equal(await tmux.good(['split-window', '-t', '%1', '-v', '-P', '-F', '#{pane_id}']), '%2');
	for (const [pane, colour] of [['%1', 'blue'], ['%2', 'green']]) {
		await tmux.good(chain(['select-pane', '-t', pane, '-P', `bg=default,fg=${colour}`],
			['set-option', '-p', '-t', pane, 'pane-border-style', `fg=${colour}`],
			['set-option', '-p', '-t', pane, 'pane-active-border-style', `fg=${colour}`],
			['select-pane', '-t', pane, '-T', `agent ${colour}`],
			['set-option', '-p', '-t', pane, 'pane-border-format', `#[fg=${colour},bold] #{pane_title} #[default]`]));
	}
	assert.equal(await tmux.good(chain(['set-option', '-w', '-t', 'claude-swarm:swarm-view', 'pane-border-status', 'top'],
		['select-layout', '-t', 'claude-swarm:swarm-view', 'main-vertical'],
		['resize-pane', '-t', '%0', '-x', '30%'],
		['list-panes', '-t', 'claude-swarm:swarm-view', '-F', '#{pane_id} #{pane_width} #{pane_title}'])),
		`%0 24 ${await tmux.good(['display-message', '-p', '#{host}'])}\n%1 55 agent blue\n%2 55 agent green`);
	await tmux.good(['send-keys', '-t', '%1', `cd ${server.root} && echo in $TMUX_PANE of $(tmux() { ${binary} tmux "$@"; }; tmux display-message -p '#{pane_id}#{session_name}')`, 'Enter']);
	await until('the output', async () => /in %1 of %1claude-swarm/.test((await tmux.good(['capture-pane', '-p', '-J', '-t', '%1'])).replaceAll('\n', '')), patience);
	assert.deepEqual((await server.api.call('GET', '/api/session/list')).data.sort(), ['tmux-0', 'tmux-1', 'tmux-2'], 'the panes are sessions');
	const { cols } = await server.api.call('GET', '/api/session/tmux-1').then((r) => r.data ?? r);
	assert.equal(cols, 55, 'the terminal has the size of its cell');
	assert.equal(await tmux.good(chain(['kill-pane', '-t', '%2'], ['display-message', '-t', '%0', '-p', '#{window_panes}'])), '2');
	await tmux.good(['kill-session', '-t', 'claude-swarm']);
	assert.deepEqual((await server.api.call('GET', '/api/session/list')).data, []);
});

withTmux('Terminus: a log of everything, keys, and the end of a command', async (tmux, server) => {
	const log = path.join(server.root, 'pane.log');
	await tmux.good(['new-session', '-x', '160', '-y', '40', '-d', '-s', 'agent', 'bash --norc', ';', 'set-option', '-t', 'agent', 'history-limit', '10000000', ';',
		'pipe-pane', '-t', 'agent', `cat > ${log}`]);
	assert.equal(await tmux.good(['show-options', '-v', '-t', 'agent', 'history-limit']), '10000000');
	const waiting = tmux.good(['wait-for', 'done']);
	await tmux.good(['send-keys', '-t', 'agent', `seq 3; echo $((40+2)); ${binary} tmux wait -S done`, 'Enter']);
	await waiting;
	const screen = await tmux.good(['capture-pane', '-p', '-S', '-', '-t', 'agent']);
	assert.match(screen, /\n1\n2\n3\n42\n/);
	await until('the log', () => existsSync(log) && /1\r\n2\r\n3\r\n42\r\n/.test(readFileSync(log, 'utf8')), patience);
	assert.equal(await tmux.good(['display-message', '-p', '-t', 'agent', '#{pane_pipe}#{pane_current_command}']), '1bash');
	await server.kill('SIGKILL');
	await server.start();
	await tmux.good(['send-keys', '-t', 'agent', 'echo after $((1+1))', 'Enter']);
	await until('the log of the next server', () => /after 2\r\n/.test(readFileSync(log, 'utf8')), patience);
	await tmux.good(['pipe-pane', '-t', 'agent']);
	await until('the end of the pipe', async () => await tmux.good(['display-message', '-p', '-t', 'agent', '#{pane_pipe}']) === '0', patience);
	const big = 'x'.repeat(3000).concat('\n').repeat(20);
	await tmux.good(['load-buffer', '-b', 'keys', '-'], `cat >${server.root}/pasted <<'E'\n${big}E\n`);
	await tmux.good(['paste-buffer', '-d', '-b', 'keys', '-t', 'agent']);
	await until('the paste', () => existsSync(`${server.root}/pasted`) && readFileSync(`${server.root}/pasted`, 'utf8') === big, patience);
});

withTmux('a buffer that is no text is pasted as it is', async (tmux, server) => {
	const bytes = Buffer.concat([Buffer.alloc(70_000, 0x80), Buffer.from('\0ü\x1b[201~'), Buffer.alloc(70_000, 0xbf), Buffer.from('end')]);
	const [from, to] = ['bytes', 'pasted'].map((name) => path.join(server.root, name));
	writeFileSync(from, bytes);
	await tmux.good(['new-session', '-d', '-s', 'raw', `stty raw -echo; echo ready; head -c ${bytes.length} >${to}; echo done; sleep 100`]);
	await until('the program', async () => /ready/.test(await tmux.good(['capture-pane', '-p', '-t', 'raw'])), patience);
	await tmux.good(['load-buffer', from, ';', 'paste-buffer', '-t', 'raw']);
	await until('what was pasted', async () => /done/.test(await tmux.good(['capture-pane', '-p', '-t', 'raw'])), patience);
	assert.ok(readFileSync(to).equals(bytes));
});

withTmux('OpenHands and libtmux: formats with separators, one window after another', async (tmux) => {
	const fields = ['session_id', 'session_name', 'session_created', 'session_windows', 'session_group', 'session_attached', 'window_id', 'window_index',
		'window_name', 'window_width', 'window_height', 'window_layout', 'pane_id', 'pane_index', 'pane_pid', 'pane_tty', 'pane_current_path', 'pane_current_command',
		'cursor_x', 'cursor_y', 'history_size', 'history_limit', 'alternate_on', 'buffer_name', 'client_tty', 'pane_dead', 'pane_format', 'version', 'socket_path', 'pid'];
	const session = await tmux.good(['new-session', '-P', '-F#{session_id}', '-senv', '-d', '-x', '256', '-y', '200', 'bash', '--norc']);
	assert.equal(session, '$0');
	const row = (await tmux.good(['list-panes', '-a', `-F${fields.map((f) => `#{${f}}`).join('␞')}`])).split('␞');
	assert.equal(row.length, fields.length);
	const of = Object.fromEntries(fields.map((f, i) => [f, row[i]]));
	assert.deepEqual([of.session_name, of.window_width, of.pane_index, of.client_tty, of.buffer_name], ['env', '256', '0', '', '']);
	assert.ok(Number(of.pane_pid) > 1 && of.pane_tty.startsWith('/dev/pts/') && Number(of.session_created) > 1e9);
	await tmux.good(['set-option', '-t', session, 'history-limit', '10000']);
	const window = await tmux.good(['new-window', '-t', session, '-P', '-F#{window_id}', '-n', 'bash', '-c', '/tmp', '-e', 'MARK=here', 'bash', '--norc']);
	await tmux.good(['kill-window', '-t', of.window_id]);
	await tmux.good(['send-keys', '-t', window, 'set +H; PS1="$ "; echo $MARK-$PWD', 'Enter']);
	await until('the output', async () => /here-\/tmp\n/.test(await tmux.good(['capture-pane', '-J', '-pS', '-', '-t', window])), patience);
	await tmux.good(['send-keys', '-t', window, 'sleep 1000', 'Enter']);
	await until('the running program', async () => await tmux.good(['display-message', '-p', '-t', window, '#{pane_current_command}']) === 'sleep', patience);
	await tmux.good(['send-keys', '-t', window, 'C-c']);
	await until('the end of the program', async () => await tmux.good(['display-message', '-p', '-t', window, '#{pane_current_command}']) === 'bash', patience);
	await tmux.good(['kill-session', '-t', session]);
	assert.match((await tmux.run(['list-sessions'])).stderr, /no server running on/);
});

withTmux('many at once, names, and a link with such a name', async (tmux, server) => {
	const results = await Promise.all(Array.from({ length: times(8, 20) }, () => tmux.run(['new-session', '-d', '-s', 'same', 'sleep 100'])));
	assert.equal(results.filter((r) => r.status === 0).length, 1);
	for (const r of results) assert.ok(r.status === 0 || r.stderr === 'duplicate session: same\n', r.stderr);
	assert.deepEqual((await server.api.call('GET', '/api/session/list')).data, ['tmux-0']);
	const split = await Promise.all(Array.from({ length: 4 }, () => tmux.run(['new-window', '-d', '-t', 'same', '-P', '-F', '#{pane_id}#{window_index}', 'sleep 100'])));
	assert.equal(new Set(split.map((r) => r.stdout)).size, 4, 'ids and indices are unique');
	for (const args of [['send-keys', '-X', 'cancel'], ['copy-mode'], ['bind-key', 'x', 'y'], ['new-session', '-t', 'same', '-d'], ['split-window', '-I']]) {
		const { status, stderr } = await tmux.run(args);
		assert.equal(status, 1, args.join(' '));
		assert.match(stderr, /not available here/);
	}
	const link = path.join(server.root, 'tmux');
	symlinkSync(binary, link);
	const linked = new Tmux(server);
	linked.command = [link];
	assert.equal(await linked.good(['-V']), 'tmux 3.3a');
	assert.equal(await linked.good(['display-message', '-p', '-t', '$0', '#S']), 'same');
	const own = path.join(server.root, 'a socket');
	await linked.good(['-S', own, 'new-session', '-d', '-s', 'same', 'sleep 100']);
	assert.equal(await linked.good(['-S', own, 'ls', '-F', '#{session_name}#{socket_path}']), `same${own}`);
	await linked.good(['-S', own, 'kill-server']);
	assert.ok(!existsSync(own));
	writeFileSync(own, 'something else');
	assert.match((await linked.run(['-S', own, 'new-session', '-d'])).stderr, /something else/);
	assert.equal(readFileSync(own, 'utf8'), 'something else');
});

withTmux('a hundred thousand lines, and a pane that dies meanwhile', async (tmux) => {
	await tmux.good(['new-session', '-d', '-s', 'much', '-x', '20', '-y', '5', 'seq 100000; sleep 100']);
	await until('the last line', async () => /\n100000\n/.test(await tmux.good(['capture-pane', '-p', '-t', 'much'])), patience);
	const lines = (await tmux.good(['capture-pane', '-p', '-S', '-', '-t', 'much'])).trimEnd().split('\n');
	const first = 100_001 - lines.length;
	assert.ok(lines.length > 9_000 && lines.every((line, i) => line === String(first + i)), 'the whole history, in order');
	const pane = await tmux.good(['split-window', '-d', '-t', 'much', '-P', '-F', '#{pane_id}', 'read x']);
	const waiting = tmux.run(['wait-for', 'never']);
	await tmux.good(['send-keys', '-t', pane, 'Enter']);
	await until('the end of the program', async () => await tmux.good(['list-panes', '-t', 'much', '-F', '#{pane_height}']) === '5', patience);
	assert.match((await tmux.run(['send-keys', '-t', pane, 'x'])).stderr, /can't find pane/);
	await until('a response while another client waits', async () => (await tmux.run(['display-message', '-p', 'x'])).status === 0, patience);
	await tmux.good(['kill-server']);
	assert.equal((await waiting).status, 1, 'the wait ends with the server');
});
