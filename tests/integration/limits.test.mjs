// A session, process or run that exceeds its limits does not affect anything else: limits by control groups where possible,
// and by setrlimit(2) elsewhere.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { after } from 'node:test';
import { Group, noGroups } from './lib/groups.mjs';
import { noSandboxes } from './lib/sandboxes.mjs';
import { asUser, openBinary, startAs } from './lib/other_user.mjs';
import { binary, scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const tasks = 40;
const other = 63_456; // a user without other processes
const bomb = 'b() { b | b & }; b';
const many = `import os, time
children = []
try:
	for at in range(2 * ${tasks}):
		children.append(os.fork())
		if children[-1] == 0: time.sleep(1000)
except OSError as error: print(error)
for child in children: os.kill(child, 9)`;
const hog = (megabytes) => `python3 -c 'x = bytearray(${megabytes} << 20); print(len(x) >> 20)'`;

const groups = [];
after(() => groups.forEach((each) => each.remove()));

/** A scenario whose server may make control groups below its own. */
const grouped = (name, args, body, { skip = noGroups, start } = {}) => {
	const group = skip ? undefined : new Group();
	if (group) groups.push(group);
	return scenario(name, { skip, start, args, prefix: group?.prefix }, (server) => body(server, group));
};

/** Run a command in the session; returns its result. */
const ask = async (server, id, command) => {
	const { data } = await server.api.call('POST', `/api/session/${id}/exec`, { command, waitMs: 20_000, yieldMs: 20_000 });
	assert.equal(data.state, 'done', JSON.stringify(data));
	return data;
};
const run = async (server, command) => (await server.api.raw('POST', '/api/run', { command })).json;

grouped('a fork bomb in one session does not affect the server and other sessions', ['--tasks-max', `${tasks}`], async (server, group) => {
	await server.session({ id: 'bad' });
	await server.session({ id: 'good' });
	const [bad] = group.children('session-bad');
	assert.equal(group.read(bad, 'pids.max'), `${tasks}`);
	await server.api.input('bad', `${bomb}\r`);
	await until('the limit', () => Number(/max (\d+)/.exec(group.read(bad, 'pids.events'))[1]) > 0);
	for (let at = 0; at < 5; at++) assert.equal((await ask(server, 'good', `echo $((${at} + 1))`)).output, `${at + 1}\n`);
	assert.equal((await run(server, 'echo here')).stdout, 'here\n');
	assert.ok(Number(group.read(bad, 'pids.current')) <= tasks);
	await server.api.delete('bad');
	await until('the end of the group', () => group.children('session-bad').length === 0);
	assert.equal((await ask(server, 'good', 'echo still')).output, 'still\n');
});

grouped('a process that allocates too much memory is killed, and its shell is not', ['--memory-max', '64M'], async (server, group) => {
	await server.session({ id: 's' });
	assert.equal(group.read(group.children('session-s')[0], 'memory.max'), `${64 << 20}`);
	assert.equal((await ask(server, 's', hog(200))).exitCode, 137);
	assert.equal((await ask(server, 's', hog(20))).output, '20\n');
	assert.equal((await run(server, `${hog(200)}; echo $?`)).stdout, '137\n');
	const { processId } = await server.api.call('POST', '/api/process/start', { command: `exec ${hog(200)}` });
	await until('the end of the process', async () => (await server.api.call('GET', `/api/process/${processId}`)).process.exitCode === 137);
	assert.equal((await ask(server, 's', 'echo still')).output, 'still\n');
});

grouped('groups outlive the server, and end with their processes', ['--tasks-max', `${tasks}`, '--memory-max', '256M'], async (server, group) => {
	const { api } = server;
	await server.session({ id: 's' });
	const [name] = group.children('session-s');
	const { processId } = await api.call('POST', '/api/process/start', { command: 'cat /proc/self/cgroup; sleep 1000' });
	await until('the group of the process', async () => (await api.call('GET', `/api/process/${processId}/logs`)).stdout.includes(`/process-${processId}+`));
	assert.match((await run(server, 'cat /proc/self/cgroup')).stdout, /\/run-[0-9a-f]{32}\n/);
	assert.deepEqual(group.children('run-'), []);
	// A background process of a run keeps the run's group alive.
	await run(server, 'sleep 1000 >/dev/null 2>&1 & echo');
	const [run1] = group.children('run-');
	const sleeper = group.read(run1, 'cgroup.procs');
	assert.equal(group.read('', 'cgroup.procs'), '', 'no process is in the server\'s own group');
	assert.ok(group.read('server', 'cgroup.procs').split('\n').includes(`${server.pid}`));
	// A process that is only found by its group.
	await ask(server, 's', 'x=kept; (setsid bash -c "ulimit -Sx unlimited; exec sleep 1000" >/dev/null 2>&1 &)');
	await server.kill('SIGKILL');
	await server.start({ args: ['--tasks-max', '50', '--memory-max', '256M'] });
	assert.equal(group.read(name, 'pids.max'), '50', 'today\'s limit');
	assert.equal((await ask(server, 's', 'echo "$x"')).output, 'kept\n');
	assert.ok((await ask(server, 's', 'cat /proc/self/cgroup')).output.includes(name));
	process.kill(Number(sleeper));
	await until('the end of the run\'s group', () => group.children('run-').length === 0);
	await api.delete('s');
	await api.raw('DELETE', `/api/process/${processId}?remove=true&graceMs=0`);
	await until('the end of the groups', () => group.children('session-').length + group.children('process-').length === 0);
	// A session whose holder is gone is killed by its group.
	await server.session({ id: 't' });
	const { pid } = await api.get('t');
	const shells = group.read(group.children('session-t')[0], 'cgroup.procs');
	assert.ok(shells.split('\n').includes(`${pid}`));
	await api.delete('t');
	await until('the end of the group', () => group.children('session-').length === 0);
});

grouped('groups together with sandboxes', ['--session-user', 'daemon', '--isolate', '--tasks-max', `${tasks}`], async (server, group) => {
	chmodSync(server.root, 0o755);
	server.options.binary = openBinary();
	await server.start();
	await server.session({ id: 's' });
	const [name] = group.children('session-s');
	const { pid } = await server.api.get('s');
	assert.ok(group.read(name, 'cgroup.procs').split('\n').includes(`${pid}`));
	await server.api.input('s', `${bomb}\r`);
	await until('the limit', () => Number(/max (\d+)/.exec(group.read(name, 'pids.events'))[1]) > 0);
	assert.match((await run(server, `python3 -c '${many}'`)).stdout, /Resource temporarily unavailable/);
	await server.api.delete('s');
	await until('the end of the group', () => group.children('session-').length === 0);
}, { skip: noGroups || noSandboxes, start: false });

const refused = (server, args, prefix = []) => {
	const [command, ...rest] = [...prefix, binary, 'serve', '--listen', '127.0.0.1:0', '--runtime-dir', server.dir, ...args];
	const { status, stderr } = spawnSync(command, rest, { encoding: 'utf8', timeout: 20_000 });
	assert.ok(status === 1 || status === 2, `${args}: ${status} ${stderr}`);
	return stderr;
};

scenario('limits that cannot be enforced are refused, and the error names what is missing', { start: false, mayHaveDied: true }, async (server) => {
	assert.match(refused(server, ['--rlimits']), /only with --tasks-max or --memory-max/);
	assert.match(refused(server, ['--tasks-max', '1']), /must be a number from 2 to/);
	if (process.getuid() === 0) assert.match(refused(server, ['--rlimits', '--tasks-max', '50']), /no effect on processes of root/);
	// The test is in the server's group, if there is one.
	assert.match(refused(server, ['--tasks-max', '50']), /^ringside: --tasks-max: .*(no controller "pids"|not mounted|other processes are in|not delegated to this server).*--rlimits\n$/);
	assert.match(refused(server, ['--memory-max', '64M']), /^ringside: --memory-max: .*(no controller "memory"|not mounted|other processes are in|not delegated to this server).*--rlimits\n$/);
});

// AddressSanitizer needs an unlimited address space; bash and python3 are not instrumented.
scenario('without groups: a process that allocates too much memory', { args: ['--rlimits', '--memory-max', '1G'] }, async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	const { exitCode, output } = await ask(server, 's', `${hog(2000)}; ulimit -v`);
	assert.match(output, /MemoryError/);
	assert.match(output, /^1048576$/m);
	assert.equal(exitCode, 0);
	assert.equal((await ask(server, 's', hog(20))).output, '20\n');
	assert.match((await run(server, `${hog(2000)} 2>&1`)).stdout, /MemoryError/);
	const { processId } = await api.call('POST', '/api/process/start', { command: `exec ${hog(2000)} 2>&1` });
	await until('the end of the process', async () => (await api.call('GET', `/api/process/${processId}`)).process.exitCode === 1);
	assert.match((await api.call('GET', `/api/process/${processId}/logs`)).stdout, /MemoryError/);
	assert.equal((await run(server, 'exit 3')).exitCode, 3);
});

scenario('without groups: a fork bomb, of a user that is not root', { start: false, skip: process.getuid() !== 0 && 'only root can be another user', args: ['--rlimits', '--tasks-max', `${tasks}`], prefix: asUser(other) }, async (server) => {
	await startAs(server, other);
	await server.session({ id: 'bad' });
	await server.session({ id: 'good' });
	await server.api.input('good', 'cat\r');
	await until('the waiting program', async () => (await server.api.call('GET', '/api/session/good/state')).state.status === 'waiting_input');
	await server.api.input('bad', `${bomb}\r`);
	await server.outputMatches('bad', /Resource temporarily unavailable/);
	// The server and running programs go on. New processes wait, because the limit counts all processes of the user.
	for (const id of ['bad', 'good']) assert.equal((await server.api.get(id)).state, 'running');
	await server.api.input('good', 'typed\r');
	await server.outputMatches('good', /typed\r\ntyped\r\n/);
	await server.api.delete('bad');
	await until('a run of another command', async () => (await run(server, '/bin/echo here')).stdout === 'here\n');
});

