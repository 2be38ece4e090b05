// Sessions, processes and runs as another user: their properties, what they cannot access, and that everything else works as
// usual. Every Debian has "daemon", with an existing home.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after } from 'node:test';
import { Group, noGroups } from './lib/groups.mjs';
import { asUser, openBinary } from './lib/other_user.mjs';
import { isAlive } from './lib/proc.mjs';
import { noSandboxes } from './lib/sandboxes.mjs';
import { inSandboxes, scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const name = 'daemon';

/** false, or why the tests are skipped: the value for `skip`. */
function findReason() {
	if (process.getuid() !== 0) return 'only root may start what is another user\'s';
	if (inSandboxes) return 'root owns the sandboxes of these tests';
	return false;
}
const skip = findReason();
const noSandboxesForUser = skip || noSandboxes || (spawnSync('setpriv', ['--reuid=1', '--regid=1', '--clear-groups', 'bwrap', '--unshare-user', '--ro-bind', '/', '/', 'true']).status !== 0
	&& 'bubblewrap makes no namespaces for other users here');

const groups = [];
after(() => groups.forEach((each) => each.remove()));

const worlds = [
	['alone', skip, []],
	['with --isolate', noSandboxesForUser, ['--isolate']],
	['with control groups', skip || noGroups, ['--tasks-max', '300', '--memory-max', '512M'], true],
	['with --isolate and control groups', noSandboxesForUser || noGroups, ['--isolate', '--tasks-max', '300'], true],
	['with --rlimits', skip, ['--rlimits', '--tasks-max', '500']],
];
const some = [worlds[0], worlds[1], worlds[3]];

/** A test for each configuration, with a running server. */
function everywhere(title, body, chosen = worlds) {
	for (const [world, reason, args, grouped] of chosen)
		scenario(`${title}, ${world}`, { start: false, skip: reason }, async (server, t) => {
			chmodSync(server.root, 0o755); // the path to the runtime directory
			server.options.binary = openBinary();
			if (grouped) {
				const group = new Group();
				groups.push(group);
				server.options.prefix = group.prefix;
			}
			await server.start({ args: ['--session-user', name, ...args] });
			await body(server, t);
		});
}

const idOf = (...args) => execFileSync('id', args, { encoding: 'utf8' }).trim();

/** Run a command in the session; returns its result. */
const ask = async (server, command, more = {}, id = 's') => {
	const { data } = await server.api.call('POST', `/api/session/${id}/exec`, { command, waitMs: 20_000, yieldMs: 20_000, ...more });
	assert.equal(data.state, 'done', JSON.stringify(data));
	assert.equal(data.outputExact, true, JSON.stringify(data));
	return data;
};
const state = async (server) => (await server.api.call('GET', '/api/session/s/state')).state;

everywhere('everything runs as the user', async (server) => {
	const { api } = server;
	const [, , , , , home] = execFileSync('getent', ['passwd', name], { encoding: 'utf8' }).trim().split(':');
	const inSandbox = server.options.args.includes('--isolate');
	const identify = 'echo "$UID:$EUID:$(id -g):$HOME:$USER:$LOGNAME:$SHELL:$PWD"; grep -E "^(Cap(Prm|Eff|Amb)):" /proc/self/status | tr -d "\\n0\\t"';
	const is = `${idOf('-u', name)}:${idOf('-u', name)}:${idOf('-g', name)}:${home}:${name}:${name}:/bin/bash:${home}\nCapPrm:CapEff:CapAmb:`;
	await server.session({ id: 's' });
	assert.equal((await ask(server, identify)).output, is);
	const run = async (body) => (await api.raw('POST', '/api/run', body)).json;
	assert.equal((await run({ command: identify })).stdout, is);
	assert.equal((await run({ command: 'cat; echo to it >/proc/self/fd/1; exit 4', stdin: 'given\n' })).stdout, 'given\nto it\n');
	assert.equal((await run({ command: 'echo again >/proc/self/fd/2; tty <&1 >/dev/null', terminals: true })).stderr.trim(), 'again');
	assert.equal((await api.raw('POST', '/api/execute', { command: identify })).json.stdout, is);
	const { processId } = await api.call('POST', '/api/process/start', { command: identify });
	const one = async () => (await api.call('GET', `/api/process/${processId}`)).process;
	await until('the end of the process', async () => (await one()).status === 'completed');
	assert.equal((await api.call('GET', `/api/process/${processId}/logs`)).stdout, is);
	if (!inSandbox) assert.equal((await ask(server, 'id -G')).output.trim(), idOf('-G', name));
	assert.equal((await ask(server, 'x=from_session; cd /tmp')).exitCode, 0);
	assert.equal((await api.raw('POST', '/api/execute', { command: 'echo "$UID $PWD"', sessionId: 's' })).json.stdout, `${idOf('-u', name)} /tmp`);
});

everywhere('commands, their input, states and signals work as usual', async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	assert.equal((await ask(server, 'false | (exit 7)')).exitCode, 7);
	assert.equal((await ask(server, 'wc -c', { stdin: 'x'.repeat(70_000) })).output.trim(), '70000');
	assert.equal((await ask(server, 'echo out; echo err >&2', { streams: 'pipes' })).exitCode, 0);
	await api.input('s', 'read -s x\r');
	await until('a prompt for a password', async () => {
		const { status, input } = await state(server);
		return status === 'waiting_input' && input === 'password';
	});
	await api.input('s', 'secret\r');
	await until('the prompt', async () => (await state(server)).status === 'prompt');
	const late = await api.call('POST', '/api/session/s/exec', { command: 'sleep 1000', waitMs: 20_000, yieldMs: 20_000, timeoutMs: 500 });
	assert.equal(late.data.timedOut, true, JSON.stringify(late.data));
	const { blocks } = await api.call('GET', '/api/session/s/blocks');
	assert.ok(JSON.stringify(blocks).includes('sleep 1000'));
	// A process: its standard input, signals, the end of its tree.
	const { processId } = await api.call('POST', '/api/process/start', { command: 'read -r line; echo "got $line"; setsid sleep 1000 & sleep 1000', stdin: 'pipe' });
	await api.call('POST', `/api/process/${processId}/input`, { data: 'a line\n' });
	await until('the output', async () => (await api.call('GET', `/api/process/${processId}/logs`)).stdout === 'got a line\n');
	const { process: { pid } } = await api.call('GET', `/api/process/${processId}`);
	assert.equal(statSync(`/proc/${pid}`).uid, Number(idOf('-u', name)));
	await api.call('DELETE', `/api/process/${processId}`);
	await until('the end of the process', () => !isAlive(pid));
}, some);

everywhere('sessions and processes outlive the server, and end with their directory', async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	await ask(server, 'x=kept; cd /tmp');
	await api.input('s', 'read -rs line\r');
	const waits = async () => (await state(server)).status === 'waiting_input';
	await until('the waiting program', waits);
	const { processId } = await api.call('POST', '/api/process/start', { command: 'read -r line; echo "got $line"', stdin: 'pipe' });
	await server.kill('SIGKILL');
	await server.start();
	await until('the waiting program', waits);
	await api.input('s', 'typed\r');
	await until('the prompt', async () => (await state(server)).status === 'prompt');
	assert.equal((await ask(server, 'cat; echo "$x $line $UID"', { stdin: 'more ' })).output, `more kept typed ${idOf('-u', name)}\n`);
	await api.call('POST', `/api/process/${processId}/input`, { data: 'a line\n' });
	await until('the output', async () => (await api.call('GET', `/api/process/${processId}/logs`)).stdout === 'got a line\n');
	const { pid } = await api.get('s');
	assert.equal(statSync(`/proc/${pid}`).uid, Number(idOf('-u', name)));
	const [directory] = readdirSync(path.join(server.dir, 'sessions'));
	await api.delete('s');
	await until('the end of the process and of its directory', () => !isAlive(pid) && !existsSync(path.join(server.dir, 'sessions', directory)));
}, some);

everywhere("the user cannot access the server's files, nor plant any", async (server) => {
	await server.session({ id: 's' });
	await server.session({ id: 'other' });
	const { dir } = server;
	const inSandbox = server.options.args.includes('--isolate'); // other directories have these names in the sandbox
	const [own] = readdirSync(path.join(dir, 'sessions')).filter((each) => each.startsWith('s+'));
	const place = path.join(dir, 'sessions', own);
	const before = readdirSync(place);
	const victim = path.join(server.root, 'victim');
	writeFileSync(victim, 'as it was\n');
	assert.equal(statSync(dir).mode & 0o777, 0o711);
	const tries = [`cat ${server.tokenFile}`, `cat ${dir}/lock`, `ls ${dir}`, `ls ${dir}/sessions`,
		`cat ${place}/meta.json`, `cat ${dir}/sessions/${readdirSync(path.join(dir, 'sessions')).find((each) => each.startsWith('other+'))}/meta.json`,
		`touch ${place}/x`, `ln -s ${victim} ${place}/input.x`, `rm ${place}/s`, `mv ${place}/meta.json ${place}/execs`, `rm -rf ${place}`,
		`mkdir ${dir}/x`, `ln -s ${victim} ${dir}/x`, `chmod 777 ${place}`, `cat /proc/${server.pid}/environ`, `kill -0 ${server.pid}`, `echo >${victim}`,
		`(exec 9<>/proc/$PPID/fd/3/x)`].filter((each) => !inSandbox || !/^(ls|echo) /.test(each));
	for (const command of tries) assert.notEqual((await ask(server, `(${command}) </dev/null >/dev/null 2>&1`)).exitCode, 0, command);
	// Nor through the shell's parent, which is the user's, or through a link that root would follow.
	await ask(server, `for d in /proc/$PPID/fd/3 /proc/$PPID/fd/3/.. /proc/$PPID/fd/3/../..; do for n in input.x execs blocks meta.json.new ending s; do ln -sf ${victim} $d/$n; done; done 2>/dev/null`);
	const ours = ['blocks', 'execs']; // the server writes these, if there is something to record
	assert.deepEqual(readdirSync(place).filter((each) => !ours.includes(each)), before.filter((each) => !ours.includes(each)));
	assert.equal((await ask(server, 'cat', { stdin: 'x\n' })).output, 'x\n');
	for (const each of readdirSync(place)) assert.ok(!lstatSync(path.join(place, each)).isSymbolicLink(), each);
	assert.equal(readFileSync(victim, 'utf8'), 'as it was\n');
	assert.equal(statSync(victim).uid, 0);
}, worlds.slice(0, 2));

everywhere('variables of a command do not affect programs of root', async (server) => {
	const env = { LD_SHOW_AUXV: '1' }; // the loader prints for the programs it loads
	const uid = idOf('-u', name);
	const { stdout } = (await server.api.raw('POST', '/api/run', { command: 'true', env })).json;
	const uids = [...stdout.matchAll(/^AT_UID:\s+(\d+)$/gm)].map(([, each]) => each);
	assert.ok(uids.length > 0 && uids.every((each) => each === uid), stdout);
	assert.equal((await server.api.raw('POST', '/api/run', { command: 'env | grep -c ringside', env: {} })).json.stdout, '0\n');
}, [worlds[0], worlds[2], worlds[4]]);

scenario('invalid options are refused before anything starts', { start: false, skip, mayHaveDied: true }, async (server) => {
	chmodSync(server.root, 0o755);
	const refused = (prefix, user, dir = server.dir) => {
		const [command, ...args] = [...prefix, openBinary(), 'serve', '--listen', '127.0.0.1:0', '--runtime-dir', dir, '--session-user', user];
		const { status, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: 20_000 });
		assert.equal(status, 1, stderr);
		return stderr;
	};
	assert.match(refused([], 'no-such-user'), /--session-user: there is no such user/);
	assert.match(refused([], '54321'), /--session-user: there is no such user/);
	assert.match(refused([], 'root'), /--session-user: must not be root/);
	const none = path.join('/tmp', `rs-none-${process.pid}`);
	assert.match(refused(asUser(1), 'daemon', none), /--session-user: only root/);
	assert.ok(!existsSync(none), 'no directory is created');
	const closed = path.join(server.root, 'closed');
	mkdirSync(closed, { mode: 0o700 });
	assert.match(refused([], name, path.join(closed, 'run')), /closed\/run: the user of --session-user cannot reach it/);
	symlinkSync(server.root, path.join(server.root, 'link'));
	assert.match(refused([], name, path.join(server.root, 'link')), /is not a directory of this user/);
});

scenario('a server without the option keeps these sessions', { start: false, skip }, async (server) => {
	chmodSync(server.root, 0o755);
	server.options.binary = openBinary();
	await server.start({ args: ['--session-user', name] });
	await server.session({ id: 's' });
	await server.kill('SIGKILL');
	await server.start({ args: [] });
	assert.equal((await ask(server, 'cat; echo "$UID"', { stdin: 'given ' })).output, `given ${idOf('-u', name)}\n`);
	await server.session({ id: 'new' });
	assert.equal((await ask(server, 'echo "$UID"', {}, 'new')).output, '0\n');
});

scenario('a user without home, shell or rights', { start: false, skip }, async (server) => {
	const { api } = server;
	chmodSync(server.root, 0o755);
	server.options.binary = openBinary();
	await server.start({ args: ['--session-user', 'nobody'] }); // in Debian this user has a home that does not exist, and nologin
	const [, , uid, , , home, shell] = execFileSync('getent', ['passwd', 'nobody'], { encoding: 'utf8' }).trim().split(':');
	assert.match(shell, /nologin/);
	assert.ok(!existsSync(home));
	const identify = `${uid} / /`;
	const say = 'echo "$(id -u) $HOME $PWD"';
	for (const name of ['bash', 'zsh', 'fish']) {
		await api.create({ id: name, shell: name });
		assert.equal((await ask(server, name === 'fish' ? 'echo (id -u) $HOME $PWD' : say, {}, name)).output, `${identify}\n`, name);
		const e = await ask(server, 'cat; sh -c "exit 5"', { stdin: 'given\n', streams: 'pipes' }, name);
		assert.deepEqual([e.stdout, e.exitCode, e.suspect], ['given\n', 5, false], name);
	}
	assert.equal((await api.raw('POST', '/api/run', { command: say })).json.stdout, `${identify}\n`);
	// Files are accessed with the user's rights.
	const place = path.join(server.root, 'place');
	mkdirSync(place);
	chmodSync(place, 0o777);
	await api.call('POST', '/api/write', { path: path.join(place, 'file'), content: 'x' });
	assert.equal(statSync(path.join(place, 'file')).uid, Number(uid));
	for (const [route, body] of [['write', { path: '/unwritable', content: 'x' }], ['read', { path: server.tokenFile }]]) {
		const refused = await api.raw('POST', `/api/${route}`, body);
		assert.ok(refused.status >= 400 && /ermission/.test(refused.json.message), refused.text);
	}
	assert.ok(!existsSync('/unwritable'));
	// Clones and interpreters use the user's rights too.
	const origin = path.join(place, 'origin');
	execFileSync('git', ['init', '-q', origin]);
	execFileSync('git', ['-C', origin, '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-q', '--allow-empty', '-m', 'first']);
	execFileSync('chown', ['-R', uid, origin]);
	const cloned = await api.raw('POST', '/api/git/checkout', { repoUrl: `file://${origin}`, targetDir: path.join(place, 'clone') });
	assert.equal(cloned.status, 200, cloned.text);
	assert.equal(statSync(path.join(place, 'clone', '.git')).uid, Number(uid));
	const { json } = await api.raw('POST', '/api/contexts', { language: 'python' });
	const ran = await api.raw('POST', '/api/execute/code', { code: 'import os; print(os.getuid())', context_id: json.id ?? json.contextId });
	assert.match(ran.text, new RegExp(`"text":"${uid}`));
});
