// Sandboxes of sessions, processes and runs: their contents, what is hidden, and that everything else works as usual.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cli } from './lib/cli.mjs';
import { asUser, openBinary, ordinaryUser } from './lib/other_user.mjs';
import { cmdline, isAlive, processesNaming } from './lib/proc.mjs';
import { noSandboxes } from './lib/sandboxes.mjs';
import { scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const skip = noSandboxes;
const isRoot = process.getuid() === 0;
const uid = isRoot ? ordinaryUser : undefined;
const isolated = { skip, args: ['--isolate'], ordinary: true };

/** Run a command in the session; returns its result. */
const ask = async (server, command, id = 's') => {
	const { data } = await server.api.call('POST', `/api/session/${id}/exec`, { command, waitMs: 20_000, yieldMs: 20_000 });
	assert.equal(data.state, 'done', JSON.stringify(data));
	assert.equal(data.outputExact, true);
	return data;
};

scenario('the contents of a sandbox', isolated, async (server) => {
	await server.session({ id: 's' });
	await server.session({ id: 'other' });
	const outputOf = async (command) => (await ask(server, command)).output;
	assert.equal((await outputOf('echo /proc/[0-9]*')).trim().split(' ').length, 2, 'the shell and its parent');
	assert.equal(await outputOf('ls -A ~ | wc -l'), '0\n');
	assert.equal(await outputOf('pwd'), `${server.home}\n`);
	assert.equal((await ask(server, 'touch /usr/x /etc/x 2>/dev/null')).exitCode, 1);
	assert.equal(await outputOf('head -c 1 /etc/shadow 2>/dev/null | wc -c'), '0\n');
	assert.equal(await outputOf('grep -c : /proc/net/dev'), '1\n', 'its own loopback');
	// Of the runtime directory it sees only its own directory, read-only, without secrets.
	assert.match(await outputOf(`ls -A ${server.dir} ${server.dir}/sessions`), /^\S+:\nsessions\n\n\S+:\ns\+[0-9a-f]{16}\n$/);
	assert.equal((await ask(server, `touch ${server.dir}/sessions/*/x 2>/dev/null`)).exitCode, 1);
	const split = `${server.token.slice(0, 9)}""${server.token.slice(9)}`; // the command itself is in the directory
	assert.equal(await outputOf(`grep -rsl -e ${split} ${server.dir} /proc/[0-9]*/environ /tmp /run | wc -l`), '0\n');
	// The holder's descriptors lead nowhere else.
	assert.equal(await outputOf('ls /proc/$PPID/fd/3/..'), `${path.basename((await outputOf('echo /proc/$PPID/fd/3/../*')).trim())}\n`);
	assert.equal((await outputOf('cd -P /proc/$PPID/fd/3/../../../.. && pwd; cd')).includes(server.dir), false);
	for (const command of ['kill -9 $PPID', 'unshare -U true', 'mount -t tmpfs x /mnt', 'chroot / true']) await ask(server, `${command} 2>/dev/null`);
	assert.equal((await ask(server, '(exit 7)')).exitCode, 7, 'the shell is alive');
});

// Every address family that python3 can open, both ways. EAFNOSUPPORT is 97.
const sockets = `import socket
for family in range(1, 46):
	for make in (socket.socket, socket.socketpair):
		try:
			make(family, socket.SOCK_DGRAM)
			error = 0
		except OSError as e:
			error = e.errno
		if family not in (1, 2, 10, 16) and error != 97:
			print(family, make.__name__, error)
		if family in (1, 2, 16) and make is socket.socket and error:
			print(family, error)
`;

scenario('a sandbox has no access to the kernel', { skip, start: false, ordinary: true }, async (server) => {
	for (const profile of ['private', 'system']) {
		await server.start({ args: [`--isolate=${profile}`] });
		await server.session({ id: 's', cwd: '/' });
		await server.api.call('POST', '/api/session/s/exec', { command: 'cat >/tmp/sockets.py', streams: 'pipes', stdin: sockets });
		const { output } = await ask(server, 'python3 /tmp/sockets.py');
		assert.equal(output, '', 'families of sockets');
		// Writing any of these files would affect the machine.
		const { output: writable } = await ask(server, 'for file in /proc/sys/kernel/{core_pattern,modprobe,ns_last_pid,hostname} /proc/sys/vm/drop_caches /proc/sysrq-trigger '
			+ '/proc/irq/default_smp_affinity /sys/power/state /sys/kernel/uevent_helper; do { : >>$file; } 2>/dev/null && echo $file; done; '
			+ 'find /proc/sys /proc/irq /proc/bus /proc/sysrq-trigger /sys -writable -print -quit 2>/dev/null');
		assert.equal(writable, '', 'files of the kernel');
		// The same for privileged users: everything there is mounted read-only.
		const mounts = (await ask(server, `awk '$5 ~ "^/proc/" {print $5, substr($6, 1, 2)}' /proc/self/mountinfo`)).output.trim().split('\n');
		assert.ok(mounts.includes('/proc/sys ro') && mounts.every((each) => / ro$/.test(each)), `${mounts}`);
		await server.kill('SIGTERM');
		server.killLeftovers();
	}
	await server.start();
});

scenario('directories and the network are shared by name', { skip, start: false, ordinary: true }, async (server) => {
	const [writable, readable] = ['w', 'r'].map((name) => path.join(server.root, name));
	mkdirSync(writable);
	mkdirSync(readable);
	writeFileSync(path.join(readable, 'given'), 'here');
	await server.start({ args: ['--isolate=system', '--share-net', '--bind', writable, '--ro-bind', readable] });
	await server.session({ id: 's', cwd: writable });
	assert.equal((await ask(server, `pwd; cat ${readable}/given; echo out >made`)).output, `${writable}\nhere`);
	assert.equal(readFileSync(path.join(writable, 'made'), 'utf8'), 'out\n');
	assert.equal((await ask(server, `touch ${readable}/x 2>/dev/null`)).exitCode, 1);
	// The server is reachable over the shared network, and requires credentials there too.
	assert.match((await ask(server, `exec 9<>/dev/tcp/127.0.0.1/${server.port}; printf 'GET /api/session/list HTTP/1.1\\r\\nHost: ${server.host}\\r\\nConnection: close\\r\\n\\r\\n' >&9; head -1 <&9; exec 9>&-`)).output, /401/);
});

scenario('runs and processes have sandboxes too', isolated, async (server) => {
	const { api } = server;
	const run = async (command) => (await api.raw('POST', '/api/run', { command })).json;
	assert.deepEqual((({ stdout, exitCode }) => [stdout, exitCode])(await run('echo "$0"; pwd; exit 4')), [`bash\n${server.home}\n`, 4]);
	assert.equal((await run(`ls ${server.dir}`)).stdout, '');
	assert.equal((await run('echo /proc/[0-9]*')).stdout.trim().split(' ').length <= 3, true);
	// Variables for the loader only affect programs inside: it prints for those it loads.
	const { stdout: loaded } = (await api.raw('POST', '/api/run', { command: 'true', env: { LD_SHOW_AUXV: '1' } })).json;
	assert.equal(loaded.match(/^AT_EXECFN/gm).length, 1, loaded);
	const { processId } = await api.call('POST', '/api/process/start', { command: 'setsid sleep 1000 & echo up; ls -A ~; sleep 1000' });
	const one = async () => (await api.call('GET', `/api/process/${processId}`)).process;
	await until('the output', async () => (await api.call('GET', `/api/process/${processId}/logs`)).stdout === 'up\n');
	const { pid } = await one();
	assert.ok(isAlive(pid), 'the pid is valid outside');
	await api.call('DELETE', `/api/process/${processId}`);
	await until('the end of the process', async () => (await one()).status === 'killed' && !isAlive(pid));
	// Processes that end at once have run.
	const many = await Promise.all(Array.from({ length: 20 }, (_, at) => api.call('POST', '/api/process/start', { command: `exit ${at}`, processId: `p${at}` })));
	assert.equal(many.length, 20);
	await until('the end of all', async () => (await Promise.all(many.map(async (_, at) => (await api.call('GET', `/api/process/p${at}`)).process.exitCode === at))).every(Boolean));
});

scenario('a run may clean up, and background jobs that it leaves are killed', isolated, async (server) => {
	const command = 'trap "echo bye; exit 3" TERM; echo up; while :; do sleep .05; done';
	const run = async (fields) => (await server.api.raw('POST', '/api/run', { streams: 'pipes', ...fields })).json;
	const { stdout, timedOut } = await run({ command, timeoutMs: 1000 });
	assert.deepEqual([stdout, timedOut], ['up\nbye\n', true]);
	assert.equal((await run({ command: 'sleep 1234 >&- 2>&- & echo up' })).stdout, 'up\n');
	const pids = () => processesNaming(server.root).filter((pid) => /^sleep 1234/.test(cmdline(pid)));
	assert.equal(pids().length, 1);
	process.kill(pids()[0], 'SIGKILL');
	await until('the end of the sandbox', () => processesNaming(server.root).every((pid) => !/bwrap/.test(cmdline(pid))));
});

scenario('a run in a hidden directory is refused, and the error names permitted ones', isolated, async (server) => {
	const { api } = server;
	const outside = path.join(server.root, 'outside');
	mkdirSync(outside);
	const { message } = await api.refused(400, 'VALIDATION_FAILED', 'POST', '/api/run', { command: 'pwd', cwd: outside });
	assert.match(message, /not in the sandbox of commands/);
	for (const cwd of ['/', '/usr/bin', '/tmp', server.root, server.home, '/etc/../usr'])
		assert.deepEqual((({ exitCode, stderr }) => [exitCode, stderr])((await api.raw('POST', '/api/run', { command: 'cd .', cwd })).json), [0, ''], cwd);
	const ran = await cli(server, ['run', 'pwd'], { cwd: outside, uid });
	assert.deepEqual([ran.code, ran.stdout], [125, '']);
	assert.match(ran.stderr, /outside is not in the sandbox of commands \(--isolate\): choose another/);
	assert.equal((await cli(server, ['run', '--cwd', '/usr', 'pwd'], { cwd: outside, uid })).stdout, '/usr\n');
});

scenario('a sandbox outlives the server, and ends with its session', isolated, async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	await ask(server, 'x=kept; cd /tmp; touch here');
	await api.input('s', 'sleep 1000 & read -r line\r');
	const waits = async () => (await api.call('GET', '/api/session/s/state')).state.status === 'waiting_input';
	await until('the waiting program', waits);
	await server.kill('SIGKILL');
	await server.start();
	await until('the waiting program', waits);
	await api.input('s', 'typed\r');
	await until('the prompt', async () => (await api.call('GET', '/api/session/s/state')).state.status === 'prompt');
	assert.equal((await ask(server, 'echo "$x $line"; ls here')).output, 'kept typed\nhere\n');
	const { pid } = await api.get('s');
	assert.ok(isAlive(pid));
	const [directory] = readdirSync(path.join(server.dir, 'sessions'));
	await api.delete('s');
	await until('the end of all its processes', () => !isAlive(pid) && processesNaming(directory).length === 0);
	assert.ok(!existsSync(path.join(server.dir, 'sessions', directory)));
});

scenario('invalid options are refused before anything starts', { skip, start: false, mayHaveDied: true }, async (server) => {
	if (isRoot) chownSync(server.root, uid, uid);
	const start = (prefix, args, env) => {
		const [command, ...rest] = [...prefix, openBinary(), 'serve', '--listen', '127.0.0.1:0', '--runtime-dir', server.dir, ...args];
		const { status, stderr } = spawnSync(command, rest, { encoding: 'utf8', timeout: 20_000, env });
		assert.ok(status === 1 || status === 2, `${args}: ${status}`);
		return stderr;
	};
	const refused = (...args) => start(isRoot ? asUser(uid) : [], args);
	assert.match(refused('--isolate=cosy'), /no profile "cosy": use private, system or home/);
	assert.match(refused('--bind', '/tmp'), /only with --isolate/);
	assert.match(refused('--isolate', '--bind', '/nowhere'), /\/nowhere: No such file/);
	assert.match(refused('--isolate', '--bind', server.dir), /for the server alone/);
	assert.match(refused('--isolate', '--share-net', '--no-auth'), /--no-auth/);
	assert.match(start(isRoot ? ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '/usr/bin/env', 'PATH=/nonexistent'] : [], ['--isolate'], { PATH: isRoot ? process.env.PATH : '/nonexistent', HOME: server.home }), /bubblewrap is not installed/);
	if (!isRoot) return;
	chownSync(server.dir, 0, 0);
	chownSync(server.root, 0, 0);
	assert.match(start([], ['--isolate']), /--isolate: a server of root requires --session-user/);
});
