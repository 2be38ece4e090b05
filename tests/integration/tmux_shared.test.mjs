// Many programs on one tmux: a client that waits does not block others.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { kill, processesNaming } from './lib/proc.mjs';
import { binary } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { chain, withTmux } from './lib/tmux.mjs';
import { until } from './lib/until.mjs';

/** A shell script in which `tmux` is ours. */
function script(tmux, text) {
	return new Promise((resolve, reject) => {
		const child = spawn('/bin/sh', ['-c', `tmux() { ${binary} tmux "$@"; }; ${text}`], { ...tmux.options, stdio: ['ignore', 'pipe', 'inherit'], timeout: 40_000, killSignal: 'SIGKILL' });
		let out = '';
		child.stdout.setEncoding('utf8').on('data', (more) => { out += more; });
		child.on('error', reject);
		child.on('close', (status) => resolve({ status, out: out.trim() }));
	});
}

withTmux('the lock is not held during a wait', async (tmux, server) => {
	await tmux.good(['new-session', '-d', '-s', 'one', 'sleep 100']);
	await tmux.good(['load-buffer', '-b', 'large', '-'], 'x'.repeat(1 << 20));
	assert.deepEqual(await script(tmux, 'tmux show-buffer -b large | (tmux has-session -t one && wc -c)'), { status: 0, out: String(1 << 20) }, 'output that is not read yet');
	// A FIFO is open for writing when its reader has opened it.
	const fifo = path.join(server.root, 'fifo');
	execFileSync('mkfifo', [fifo]);
	for (const [args, input, then] of [
		[['load-buffer', '-b', 'slow', fifo], 'slow', ['show-buffer', '-b', 'slow']],
		[['source-file', fifo], 'set -g @slow "slow"', ['show-options', '-gv', '@slow']],
	]) {
		const under = tmux.run(args);
		const end = await open(fifo, 'w');
		assert.equal(await tmux.good(['display-message', '-p', '-t', 'one', '#S']), 'one', `during ${args[0]}`);
		await end.writeFile(input);
		await end.close();
		assert.deepEqual(await under, { status: 0, stdout: '', stderr: '' });
		assert.equal(await tmux.good(then), 'slow');
	}
	const late = `a-command-for-later-${process.pid}`;
	await tmux.good(['run-shell', '-b', '-d', '1000', `: ${late}`]);
	assert.equal(await tmux.good(['display-message', '-p', '-t', 'one', '#S']), 'one', 'during a later one');
	for (const pid of processesNaming(late)) kill(pid);
	assert.equal(await tmux.good(['display-message', '-p', '-t', 'one', `a#(${binary} tmux rename-session -t one two)b`]), 'ab', 'a command in a format, which calls tmux itself');
});

/** Every session of the server belongs to a pane. */
async function noStrays(tmux, server) {
	const panes = (await tmux.good(['list-panes', '-a', '-F', '#{ringside_session}'])).split('\n').sort();
	assert.deepEqual((await server.api.call('GET', '/api/session/list')).data.sort(), panes);
	return panes.length;
}

withTmux('many programs on one state, and the sudden death of some', async (tmux, server) => {
	const count = times(8, 20);
	await tmux.good(['new-session', '-d', '-s', 'one', 'sleep 100']);
	const each = await Promise.all(Array.from({ length: count }, async (_, i) => {
		const window = await tmux.good(['new-window', '-d', '-t', 'one', '-P', '-F', '#{window_id}', '-n', `w${i}`, 'cat']);
		await tmux.good(['set-option', '-w', '-t', window, '@mine', String(i), ';', 'send-keys', '-t', window, `line ${i}`, 'Enter', ';', 'set-buffer', '-b', `b${i}`, String(i),
			...i % 2 ? [';', 'kill-window', '-t', window] : []]);
		return window;
	}));
	assert.equal(new Set(each).size, count);
	const left = await tmux.good(['list-windows', '-t', 'one', '-F', '#{window_id} #W #{@mine}']);
	assert.deepEqual(left.split('\n').slice(1).sort(), each.map((w, i) => `${w} w${i} ${i}`).filter((_, i) => i % 2 === 0).sort());
	assert.equal((await tmux.good(['list-buffers', '-F', '#{buffer_name}'])).split('\n').length, count);
	assert.equal(await noStrays(tmux, server), 1 + count / 2);
	// At any moment: the next command finds a valid state, and kills sessions that no client got.
	const [command, ...first] = tmux.command;
	const deaths = times(6, 15);
	for (let i = 0; i < deaths; i++) {
		const child = spawn(command, [...first, ...(i % 3 ? ['new-window', '-d', '-t', 'one', 'cat'] : ['set-buffer', 'x'.repeat(1000)])], { ...tmux.options, stdio: 'ignore' });
		const ended = new Promise((resolve) => { child.on('close', resolve); });
		await new Promise((resolve) => { setTimeout(resolve, 75 * i / deaths); });
		child.kill('SIGKILL');
		await ended;
	}
	await tmux.good(['new-window', '-d', '-t', 'one', 'cat']);
	assert.ok(await noStrays(tmux, server) >= 2 + count / 2);
});

withTmux('a state that cannot be read or written', async (tmux, server) => {
	await tmux.good(['new-session', '-d', '-s', 'one', 'sleep 100']);
	const file = `${await tmux.good(['display-message', '-p', '#{socket_path}'])}.state`;
	const state = readFileSync(file, 'utf8');
	// No space: EFBIG here, ENOSPC on a disk.
	const { status, out } = await script(tmux, `trap '' XFSZ; ulimit -f 1; for c in new-window split-window 'new-session -s two'; do tmux $c -d 'sleep 100' 2>&1 && exit 0; done; tmux set-buffer ${'x'.repeat(9000)} 2>&1`);
	assert.equal(status, 1);
	assert.match(out, /^(.*File too large\n?)+$/);
	assert.equal(readFileSync(file, 'utf8'), state, 'the state is unchanged');
	assert.equal(await noStrays(tmux, server), 1);
	for (const damaged of ['', state.slice(0, state.length / 2), '['.repeat(100_000)]) {
		writeFileSync(file, damaged);
		for (const args of damaged ? [['list-sessions']] : [['list-sessions'], ['new-session', '-d'], ['kill-server']]) {
			const { status: failed, stderr } = await tmux.run(args);
			assert.equal(failed, 1);
			assert.match(stderr, /damaged: /);
		}
		assert.equal(readFileSync(file, 'utf8'), damaged, 'a damaged file is not changed');
	}
	rmSync(file);
	await tmux.good(['new-session', '-d', '-s', 'again', 'sleep 100']);
	assert.equal((await server.api.call('GET', '/api/session/list')).data.length, 2, 'sessions go on');
	writeFileSync(file, state);
	await tmux.good(['has-session', '-t', 'one']);
	for (const id of (await server.api.call('GET', '/api/session/list')).data.filter((id) => id !== 'tmux-0'))
		await server.api.call('POST', '/api/session/delete', { sessionId: id });
});

withTmux('a restarted server, and excessive values', async (tmux, server) => {
	await tmux.good(['new-session', '-d', '-s', 'one', 'cat']);
	const waiting = tmux.run(['wait-for', 'later']);
	await until('the waiting client', async () => readFileSync(`${await tmux.good(['display-message', '-p', '#{socket_path}'])}.state`, 'utf8').includes('.wait-'));
	await server.kill('SIGKILL');
	assert.equal((await tmux.run(['list-sessions'])).status, 1);
	await server.start();
	assert.equal(await tmux.good(['list-sessions', '-F', '#S']), 'one');
	await tmux.good(['wait-for', '-S', 'later']);
	assert.deepEqual(await waiting, { status: 0, stdout: '', stderr: '' });
	const large = 'x'.repeat(100_000);
	assert.equal(await tmux.good(['display-message', '-p', large]), large);
	for (const args of [['kill-window', '-t', large], ['select-layout', large], ['set-option', large, 'x'], [large], ['send-keys', '-t', `one:${large}`, 'x'], ['has-session', '-t', `${large}:.%1`]]) {
		const { status, stderr } = await tmux.run(args);
		assert.equal(status, 1, args.join(' ').slice(0, 40));
		assert.ok(stderr.length > 10);
	}
	const buffer = await tmux.run(['load-buffer', '-b', 'huge', '/dev/zero']);
	assert.match(buffer.stderr, /buffer too large/);
	assert.equal((await tmux.run(['show-buffer', '-b', 'huge'])).status, 1);
	const names = ['a\nb\tc', '%1', '$0', '=x', '@2', '-', '{last}', '!', ' ', '#{session_id}', 'ü😀\u200b'];
	const all = await tmux.good(chain(...names.flatMap((name, i) => [['new-window', '-d', '-t', 'one', '-n', name, '-P', '-F', '#{window_id}', 'cat'],
		['rename-window', '-t', `@${i + 1}`, '--', `${name}${name}`], ['set-option', '-w', '-t', `@${i + 1}`, '@x', name], ['list-windows', '-t', 'one', '-F', '#{window_id}'],
		['kill-window', '-t', `@${i + 1}`]])));
	assert.deepEqual(all.split('\n'), names.flatMap((_, i) => [`@${i + 1}`, '@0', `@${i + 1}`]));
});
