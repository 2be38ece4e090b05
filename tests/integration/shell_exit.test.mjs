// The end of a session's shell: close, reexec, respawn.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isAlive } from './lib/proc.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const exec = (server, id, command, fields = {}) => server.api.call('POST', `/api/session/${id}/exec`,
	{ command, queue: true, ...fields }).then(({ data }) => data);

/** Ways to end a shell: input or command, with the expected result; by: policies under which it does not end. */
const endings = {
	exit: { command: 'exit 3', code: 3, by: ['reexec', 'respawn'] },
	errexit: { command: 'set -e; false', code: 1, by: ['reexec', 'respawn'] },
	kill: { command: 'kill -9 $$', signal: 'KILL', by: ['respawn'] },
	eof: { typed: '\x04', code: 0, by: ['reexec', 'respawn'] },
	exec: { command: 'exec true', code: 0, by: ['respawn'] },
};
const policies = ['close', 'reexec', 'respawn'];

/** Wait until the shell has run long enough to be restarted. */
const untilGrown = (server, id) => until('a shell older than a second', async () => (await exec(server, id,
	'(( ${EPOCHREALTIME/[.,]/} - ${__rs_b:-0} > 1000000 ))')).exitCode === 0, { interval: 250 });

async function begin(server, policy, id) {
	const session = (await server.api.open({ id, onShellExit: policy, cols: 91, rows: 27 })).data;
	assert.equal(session.onShellExit, policy);
	const e = await exec(server, id, 'cd /usr; export KEPT=kept; local_one=1; echo before');
	assert.equal(e.exitCode, 0);
	await untilGrown(server, id);
	return session;
}

/** The session goes on, or ends, as its policy says. */
async function check(server, policy, session, ending) {
	const { id } = session;
	const about = `${policy}: ${ending.command ?? 'Ctrl-D'}`;
	let now;
	const goesOn = ending.by.includes(policy);
	await until(() => `the end of a shell (${about}): ${JSON.stringify(now)}`, async () => {
		now = await server.api.get(id);
		return goesOn ? now.shellRestarts > 0 : now.state === 'exited';
	});
	assert.equal(now.epoch, session.epoch, about);
	assert.equal(now.onShellExit, policy, about);
	if (!goesOn) {
		assert.equal(now.exit.code, ending.code ?? null, about);
		assert.equal(now.exit.signal, ending.signal ?? null, about);
		assert.equal(now.shellRestarts, 0, about);
	} else {
		assert.equal(now.state, 'running', about);
		assert.equal(now.shellRestarts, 1, about);
		if (policy === 'reexec') assert.equal(now.pid, session.pid, about);
		else assert.ok(now.pid !== session.pid && isAlive(now.pid) && !isAlive(session.pid), about);
		const e = await exec(server, id, 'echo "$PWD $KEPT$local_one $$ $(stty size) $((6*7))"; stty -a | grep -o -e " echo " -e " icanon"');
		assert.equal(e.exitCode, 0, about);
		assert.equal(e.endedBy, 'command', about);
		assert.equal(e.outputExact, true, about);
		assert.equal(e.output, `/usr ${policy === 'reexec' ? 'kept' : ''} ${now.pid} 27 91 42\n icanon\n echo \n`, about);
		const { state } = await server.api.call('GET', `/api/session/${id}/state`);
		assert.equal(state.cwd, '/usr', about);
	}
	// The prompt after the command may still be coming.
	let all;
	await until(() => `all of the output (${about}): ${all.length} of ${now.offset} bytes`, async () => {
		all = await server.api.output(id, 0);
		now = await server.api.get(id);
		return all.length === now.offset;
	});
	assert.match(all.toString(), /before\r\n/, about);
}

function checkExec(e, policy, ending) {
	const about = `${policy}: ${JSON.stringify(e)}`;
	assert.equal(e.state, 'done', about);
	assert.equal(e.endedBy, 'shell', about);
	assert.equal(e.exitCode, ending.signal ? 137 : ending.code, about);
	assert.match(e.output, /^working\n/, about);
}

/** Each way to end under each policy, concurrently: body(policy, ending, id). */
const each = (body, endingsOf = Object.entries(endings)) => Promise.all(endingsOf.flatMap(
	([name, ending]) => policies.map((policy) => body(policy, ending, `${name}-${policy}`))));

const commands = Object.entries(endings).filter(([, { command }]) => command);

shared('at the prompt', async (server) => {
	await each(async (policy, ending, id) => {
		const session = await begin(server, policy, id);
		const watcher = await server.client({ sessionId: id }).connect();
		// Ctrl-D has no effect before the shell reads keys.
		await until('a prompt', async () => (await server.api.call('GET', `/api/session/${id}/state`)).state.status === 'prompt');
		await server.api.input(id, ending.typed ?? `${ending.command}\r`);
		await check(server, policy, session, ending);
		if (!ending.by.includes(policy)) {
			await watcher.untilMessage('exit');
			return;
		}
		const { shell } = await watcher.untilMessage('state', (m) => m.shell);
		assert.deepEqual(shell, {
			restarted: true, restarts: 1, exitCode: ending.code ?? null, signal: ending.signal ?? null,
		});
	});
	const restarts = Object.values(endings).reduce((sum, { by }) => sum + by.length, 0);
	const metrics = (await server.api.raw('GET', '/metrics')).text;
	assert.match(metrics, new RegExp(`ringside_shells_restarted_total ${restarts}\n`));
	assert.equal(server.stderr.match(/shell restarted/g).length, restarts);
});

shared('during a command', async (server) => {
	await each(async (policy, ending, id) => {
		const session = await begin(server, policy, id);
		const e = await exec(server, id, `echo working; ${ending.command}`);
		checkExec(e, policy, ending);
		await check(server, policy, session, ending);
	}, commands);
});

shared('during a command, while there is no server', async (server) => {
	const go = path.join(server.root, 'go');
	const begun = await each(async (policy, ending, id) => {
		const session = await begin(server, policy, id);
		const e = await exec(server, id, `echo working; until [ -e ${go} ]; do sleep 0.05; done; ${ending.command}`, { yieldMs: 0 });
		const find = (query) => server.api.call('GET', `/api/session/${id}/exec/${e.id}${query}`).then(({ data }) => data);
		await until('the running command', async () => (await find('')).state === 'running');
		return { policy, ending, session, find };
	}, commands);
	await server.kill('SIGKILL');
	writeFileSync(go, '');
	await until('the end of the shells', () => begun.every(({ policy, ending, session: { pid } }) => (
		policy === 'reexec' && ending.by.includes(policy)
			? readFileSync(`/proc/${pid}/environ`, 'latin1').includes('KEPT=kept') // it was exported
			: !isAlive(pid))));
	await server.start();
	await Promise.all(begun.map(async ({ policy, ending, session, find }) => {
		checkExec(await find('?waitMs=10000'), policy, ending);
		await check(server, policy, session, ending);
	}));
});

shared('the policy outlives the server', async (server) => {
	const { api } = server;
	for (const policy of policies) await api.create({ id: policy, onShellExit: policy });
	await server.restart();
	for (const policy of policies) assert.equal((await api.open({ id: policy, onShellExit: policy })).data.onShellExit, policy);
});

shared('shells that end at once end the session', async (server) => {
	const { api } = server;
	const ended = async (id) => until(`the end of ${id}`, async () => {
		const s = await api.get(id);
		return s.state === 'exited' && s;
	});
	for (const onShellExit of ['reexec', 'respawn']) {
		const id = `again-${onShellExit}`;
		await server.session({ id, onShellExit });
		await untilGrown(server, id);
		for (const code of [8, 1, 2, 3]) assert.equal((await exec(server, id, `exit ${code}`)).exitCode, code);
		assert.equal((await exec(server, id, 'echo "on ${__rs_qe+$(env | grep -c __rs_)}"')).output, 'on 0\n');
		assert.equal((await api.get(id)).shellRestarts, 4);
	}
	writeFileSync(path.join(server.home, '.bashrc'), 'exit 9\n');
	for (const onShellExit of ['reexec', 'respawn']) {
		await api.create({ id: onShellExit, onShellExit });
		assert.equal((await ended(onShellExit)).exit.code, 9);
	}
});

shared('exits of subshells, and traps of users', async (server) => {
	const { api } = server;
	const session = await server.session({ id: 's', onShellExit: 'reexec' });
	await untilGrown(server, 's');
	for (const command of ['(exit 3)', 'bash -c "exit 3"', 'f() { return 3; }; f', '(set -e; false; true) && false || (exit 3)'])
		assert.equal((await exec(server, 's', command)).exitCode, 3);
	assert.equal((await exec(server, 's', 'exit 3', { isolate: true })).exitCode, 3);
	assert.equal((await api.get('s')).shellRestarts, 0);
	// With redirected or closed streams the next shell uses the terminal.
	const e = await exec(server, 's', 'echo out; echo err >&2; exec >/dev/null 2>&1 </dev/null; exit 4', { streams: 'pipes', stdin: null });
	assert.deepEqual([e.endedBy, e.exitCode, e.stdout, e.stderr.startsWith('err\n')], ['shell', 4, 'out\n', true]);
	assert.match((await exec(server, 's', 'tty; tty <&1; tty <&2; echo $$')).output, new RegExp(`^(/dev/pts/\\d+)\\n\\1\\n\\1\\n${session.pid}\\n$`));
	await untilGrown(server, 's');
	// Clients of the container get a normal result.
	const executed = await api.raw('POST', '/api/execute', { command: 'echo once; exit 2', sessionId: 's' });
	assert.deepEqual([executed.status, executed.json.success, executed.json.exitCode], [200, false, 2], executed.text);
	await untilGrown(server, 's');
	const streamed = await api.raw('POST', '/api/execute/stream', { command: 'exit 2', sessionId: 's' });
	assert.match(streamed.text, /"type":"complete","exitCode":2/);
	await untilGrown(server, 's');
	await exec(server, 's', 'trap "echo mine" EXIT');
	assert.match((await exec(server, 's', 'exit 6')).output, /mine/);
	await until('the end of the session', async () => (await api.get('s')).exit?.code === 6);
});

shared('processes that a shell leaves behind stay until the session is deleted', async (server) => {
	const { api } = server;
	for (const policy of ['reexec', 'respawn']) {
		await server.session({ id: policy, onShellExit: policy });
		await untilGrown(server, policy);
		const pid = Number((await exec(server, policy, 'sleep 1000 & echo $!')).output.split('\n').find((line) => /^\d+$/.test(line)));
		assert.equal((await exec(server, policy, 'exit 1')).endedBy, 'shell');
		assert.equal((await exec(server, policy, 'echo on')).output, 'on\n');
		assert.ok(isAlive(pid));
		await api.delete(policy);
		assert.ok(!isAlive(pid));
	}
});

shared('terminal modes that an ended shell has left, and pending input', async (server) => {
	const { api } = server;
	await server.session({ id: 's', onShellExit: 'respawn', cols: 77, rows: 22 });
	await exec(server, 's', 'mkdir -p gone/deep && cd gone/deep');
	await api.resize('s', 66, 21);
	await api.input('s', 'stty raw -echo; touch ready; exec sleep 1000\r');
	await until('the directory of the program', () => readdirSync(path.join(server.cwd, 'gone/deep')).includes('ready'));
	rmSync(path.join(server.cwd, 'gone'), { recursive: true });
	await api.input('s', 'touch dead\r'.repeat(500));
	await api.signal('s', 'KILL', 'shell');
	// Until then nothing is run: another program has replaced the shell.
	await until('the next shell', async () => (await api.get('s')).shellRestarts === 1);
	const e = await exec(server, 's', 'stty size; stty -a | grep -c -w -e icrnl; pwd; ls');
	assert.deepEqual([e.exitCode, e.output], [0, `21 66\n1\n${server.cwd}\n`]);
});

shared('a shell other than bash', async (server) => {
	const { api } = server;
	const session = await server.session({ id: 'sh', shell: '/bin/sh', onShellExit: 'respawn' });
	await api.input('sh', 'exit 4\r');
	await until('the next shell', async () => (await api.get('sh')).shellRestarts === 1);
	assert.notEqual((await api.get('sh')).pid, session.pid);
	await server.restart();
	await server.shellReady('sh');
});
