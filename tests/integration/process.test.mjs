// Processes: their commands and streams, how they end, what they leave, and that they outlive the server.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { assertError } from './lib/api.mjs';
import { descriptors, isAlive } from './lib/proc.mjs';
import { Processes } from './lib/process.mjs';
import { scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { pause, stays, until } from './lib/until.mjs';

/** A scenario with processes; if it has server arguments, it does not share a server. */
function processes(name, options, body) {
	if (typeof options === 'function') [options, body] = [{}, options];
	(options.args ? scenario : shared)(name, options, (server, t) => body(new Processes(server), server, t));
}

const numbers = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => `${from + i}\n`).join('');
const directories = (server) => (existsSync(path.join(server.dir, 'processes')) ? readdirSync(path.join(server.dir, 'processes')) : []);
/** Wait until nothing is left of removed processes. */
const untilOnlyServer = (server) => until(() => `the end of all processes but the server: ${directories(server)} ${server.leftovers()}\n${server.stacks()}`,
	() => directories(server).length === 0 && server.leftovers().every((pid) => pid === server.pid));
const pidIn = async (p, id, name) => Number((await p.prints(id, new RegExp(`${name}=(\\d+)\\n`)))[1]);

processes('every command ends, with its true status', { timeout: 90_000 }, async (p, server) => {
	await untilOnlyServer(server);
	const heredoc = 'cat <<E\nhere\nE', open = 'echo "open';
	const cases = [
		['true', 0], ['exit 7', 7], ['exec sh -c "exit 9"', 9], [open, undefined], ['(', undefined], ['no-such-command', 127],
		['/etc/passwd', 126], ['kill -9 $$', 137], ['kill -TERM $$', 143], ['sh -c "kill -9 \\$\\$"', 137], ['return 4', undefined],
		['set -e; false; echo no', 1], ['trap "exit 5" EXIT; true', 5], ['exec 1>&- 2>&-; exit 6', 6], ['cat', 0], [heredoc, 0],
		['echo a \\', 0], ['# nothing', 0], ['sleep 0.01 &', 0], ['kill -USR1 $$', 138],
	];
	const of = (wanted) => shown[cases.findIndex(([command]) => command === wanted)].id;
	const shown = await Promise.all(cases.map(([command]) => p.finish(command)));
	for (const [i, [command, code]] of cases.entries()) {
		const { exitCode, status } = shown[i];
		if (code === undefined) assert.ok(exitCode > 0, `${command}: ${exitCode}`);
		else assert.equal(exitCode, code, command);
		assert.equal(status, exitCode === 0 ? 'completed' : [137, 143].includes(exitCode) ? 'killed' : 'failed', command);
	}
	assert.equal((await p.logs(of(heredoc))).stdout, 'here\n');
	assert.match((await p.logs(of(open))).stderr, /unexpected EOF/);
	await until('empty lists of processes', async () => (await Promise.all(
		shown.map(({ id }) => p.get(id)))).every(({ members }) => members === 0));
	assert.equal(directories(server).length, cases.length);
});

processes('the command has a clean environment, descriptors and no terminal', async (p, server) => {
	mkdirSync(path.join(server.root, 'elsewhere'));
	const { id } = await p.finish('ls /proc/self/fd; echo "$0|$A|$PWD|${B-unset}|$RINGSIDE_TOKEN"; '
		+ '[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || (: < /dev/tty) 2>/dev/null || echo no terminal; '
		+ 'trap; grep -E "^Sig(Ign|Blk)" /proc/self/status; compgen -v | grep -ciE "ringside|^REPLY$"', {
		env: { A: "it's \"quoted\" $x\n2" }, cwd: path.join(server.root, 'elsewhere'),
	});
	const { stdout, stderr } = await p.logs(id);
	assert.equal(stderr, '');
	const zero = '0'.repeat(16);
	assert.equal(stdout, `0\n1\n2\n3\nbash|it's "quoted" $x\n2|${server.root}/elsewhere|unset|\nno terminal\n`
		+ `SigBlk:\t${zero}\nSigIgn:\t${zero}\n0\n`);
});

processes('a command may be almost 1 MiB long', async (p) => {
	for (const size of [100_000, 1_000_000]) {
		const command = `: '${'é'.repeat(size / 2)}'\n`
			+ 'echo "$0|${REPLY-unset}|$LINENO"; echo "${#BASH_EXECUTION_STRING}" >&2; exit 5';
		const shown = await p.finish(command);
		assert.equal(shown.exitCode, 5, `${size}`);
		assert.equal((await p.logs(shown.id)).stdout, 'bash|unset|2\n');
		assert.equal(shown.commandTruncated, true);
		assert.ok(command.startsWith(shown.command) && shown.command.length > 8000);
		await p.remove(shown.id);
	}
});

processes('bytes are exact, in order, and characters are not cut', async (p) => {
	const { processId } = await p.start('printf "a\\r\\nb\\n\\r\\r\\n"; printf "\\xff\\x00x" >&2; printf "\\xe2\\x82"; '
		+ 'sleep 0.05; printf "\\xac\\n"; printf "\\xf0\\x9f"');
	const stream = p.stream(processId);
	await stream.until('exit', ({ type }) => type === 'exit');
	const out = 'a\r\nb\n\r\r\n€\n�';
	assert.equal(Processes.joined(stream.events, 'stdout'), out);
	assert.equal(Processes.joined(stream.events, 'stderr'), '�\0x');
	assert.equal((await p.logs(processId)).stdout, out);
	assert.equal((await p.output(processId, 'stream=stdout')).data, out);
	const { base64 } = await p.output(processId, 'stream=stdout&encoding=base64');
	assert.deepEqual(Buffer.from(base64, 'base64'), Buffer.from('610d0a620a0d0d0ae282ac0af09f', 'hex'));
});

processes('lost output is reported, and memory is limited', { args: ['--process-ring', '64K'] }, async (p) => {
	const { id } = await p.finish('seq 1 100000; echo end');
	const logs = await p.logs(id);
	assert.ok(logs.lost > 500_000, `${logs.lost}`);
	assert.ok(logs.stdout.endsWith('99999\n100000\nend\n'));
	assert.ok(logs.stdout.length > 40_000 && logs.stdout.length < 65_536);
	const piece = await p.output(id, 'stream=stdout&cursor=0&limit=1000000');
	assert.equal(piece.lost, logs.lost);
	assert.equal(piece.data, logs.stdout);
	const stream = p.stream(id);
	await stream.until('exit', ({ type }) => type === 'exit');
	const [notice] = stream.events.filter(({ type }) => type === 'truncated');
	assert.equal(notice.lost, logs.lost);
	assert.equal(Processes.joined(stream.events, 'stdout'), logs.stdout);
});

processes('an unread stream blocks nothing, and reports its losses', async (p, server) => {
	const { processId } = await p.start('read x; seq 1 1500000; exit 4', { stdin: 'pipe' });
	const stream = p.stream(processId);
	await stream.until('process_info', ({ type }) => type === 'process_info');
	const { socket } = stream.request;
	socket.pause();
	await p.input(processId, { data: '\n' });
	assert.equal((await p.ended(processId)).exitCode, 4);
	socket.resume();
	await stream.until('exit', ({ type }) => type === 'exit');
	const notices = stream.events.filter(({ type }) => type === 'truncated');
	assert.ok(notices.length > 0);
	assert.ok(Processes.joined(stream.events, 'stdout').endsWith('\n1500000\n'));
	const missed = notices.reduce((sum, { lost }) => sum + lost, 0);
	const got = Processes.joined(stream.events, 'stdout');
	const whole = 10_888_896; // bytes of seq 1 1500000
	// Each LF stands for two bytes, except one whose CR was the last missing byte.
	const more = got.length + got.split('\n').length - 1 + missed - (whole + 1_500_000);
	assert.ok(more >= 0 && more <= notices.length, `${more} excess bytes`);
	assert.ok(server.child);
});

processes('many short processes: all end, all are reported, nothing is left', { args: ['--kept-processes', '500'], timeout: 150_000 }, async (p, server) => {
	await p.finish('true').then(({ id }) => p.remove(id));
	const before = Object.keys(descriptors(server.pid)).length;
	const ids = Array.from({ length: times(20, 500) }, (_, i) => `p${i}`);
	const queue = [...ids];
	await Promise.all(Array.from({ length: 10 }, async () => {
		for (let id = queue.pop(); id; id = queue.pop()) {
			const n = Number(id.slice(1));
			await p.start(`echo ${n}; exit ${n % 3}`, { processId: id });
		}
	}));
	await until('the end of all processes', async () => (await p.list('?status=running')).length === 0, { timeout: 60_000 });
	const list = new Map((await p.list()).map((each) => [each.id, each]));
	assert.equal(list.size, ids.length);
	for (const id of ids) {
		const n = Number(id.slice(1));
		assert.equal(list.get(id).exitCode, n % 3, id);
		assert.equal(list.get(id).status, n % 3 ? 'failed' : 'completed');
		assert.equal((await p.logs(id)).stdout, `${n}\n`);
	}
	for (const id of ids) await p.remove(id);
	assert.deepEqual(await p.list(), []);
	await until('an empty directory', () => directories(server).length === 0);
	await until('the end of all holders', () => server.leftovers().filter((pid) => pid !== server.pid).length === 0);
	await until('as many descriptors as before', () => Object.keys(descriptors(server.pid)).length <= before + 2);
});

processes('a kill lets a process clean up, and may be repeated', async (p) => {
	// SIGTERM suffices for a process that handles it, and its last output is kept.
	const polite = await p.start('trap "echo bye; exit 0" TERM; echo ready; while :; do sleep 0.01; done');
	await p.prints(polite.processId, /ready/);
	await p.kill(polite.processId);
	const ended = await p.get(polite.processId);
	assert.deepEqual([ended.status, ended.exitCode], ['killed', 0]);
	assert.equal((await p.logs(polite.processId)).stdout, 'ready\nbye\n');
	// Two concurrent requests both get a response.
	const twice = await p.start('sleep 1000');
	await Promise.all([p.kill(twice.processId), p.kill(twice.processId)]);
	assert.equal((await p.get(twice.processId)).exitCode, 143);
});

processes('processes left behind live on, their output is kept, and they can be killed', async (p, server) => {
	const { processId } = await p.start('(while [ ! -e go ]; do sleep 0.05; done; seq 1 30000; echo child; sleep 1000) & '
		+ 'echo left=$!; exit 3');
	const child = await pidIn(p, processId, 'left');
	const shown = await p.ended(processId);
	assert.deepEqual([shown.status, shown.exitCode], ['failed', 3]);
	assert.ok(shown.members >= 1);
	const stream = p.stream(processId);
	await stream.until('exit', ({ type }) => type === 'exit');
	assert.ok(isAlive(child));
	writeFileSync(path.join(server.cwd, 'go'), '');
	await p.prints(processId, /\n30000\nchild\n/);
	await server.restart();
	assert.ok(isAlive(child));
	assert.equal((await p.get(processId)).exitCode, 3);
	await p.kill(processId);
	assert.ok(!isAlive(child));
	assert.equal((await p.get(processId)).exitCode, 3);
});

scenario('a process that ends within its timeout did not time out, even if the server was stopped beyond it', async (server) => {
	const p = new Processes(server), timeoutMs = 2500, file = (name) => path.join(server.root, name);
	const command = (name) => `touch ${file(name)}; sleep .3; touch ${file(`${name}-over`)}`;
	await server.session({ id: 's' });
	const exec = server.api.call('POST', '/api/session/s/exec', { command: command('exec'), timeoutMs });
	const { processId } = await p.start(command('process'), { timeoutMs });
	await until('the start of both', () => ['exec', 'process'].every((name) => existsSync(file(name))));
	await server.kill('SIGSTOP');
	await until('the end of both', () => ['exec-over', 'process-over'].every((name) => existsSync(file(name))));
	await pause(timeoutMs);
	await server.kill('SIGCONT');
	const { data } = await exec;
	assert.deepEqual([data.exitCode, data.timedOut], [0, false]);
	const shown = await p.ended(processId);
	assert.deepEqual([shown.exitCode, shown.timedOut], [0, undefined]);
});

processes('a time limit ends the tree and is reported', async (p, server) => {
	// Output before the timeout is kept, however short the timeout is.
	let processId;
	let printed;
	let shown;
	for (let timeoutMs = 300; !printed; timeoutMs *= 3) {
		({ processId } = await p.start('sleep 1000 & echo pid=$!; wait', { timeoutMs }));
		shown = await p.ended(processId);
		printed = /pid=(\d+)\n/.exec((await p.logs(processId)).stdout);
	}
	const pid = Number(printed[1]);
	assert.deepEqual([shown.exitCode, shown.timedOut, shown.status], [124, true, 'killed']);
	await until('the end of its child', () => !isAlive(pid));
	assert.equal((await p.finish('exit 1', { timeoutMs: 60_000 })).timedOut, undefined);
	// The next server enforces the timeout.
	const later = await p.start('sleep 1000', { timeoutMs: 1500 });
	await server.restart();
	assert.equal((await p.ended(later.processId)).exitCode, 124);
});

processes('signals reach the command, or the tree', async (p, server) => {
	const signal = (id, body) => server.api.call('POST', `/api/process/${id}/signal`, body);
	const { processId } = await p.start('trap "echo usr1" USR1; (trap "echo child" USR1; echo up; while :; do sleep 0.1; done) & '
		+ 'echo up; while :; do sleep 0.1; done');
	await p.prints(processId, /up\nup\n/);
	await signal(processId, { signal: 'USR1' });
	await p.prints(processId, /usr1\n/);
	assert.doesNotMatch((await p.logs(processId)).stdout, /child/);
	await signal(processId, { signal: 'SIGKILL', tree: true });
	assert.equal((await p.ended(processId)).exitCode, 137);
});

processes('standard input is a pipe that outlives the server', async (p, server) => {
	const { processId } = await p.start('while read -r line; do echo "<$line>"; done; echo eof; cat; exit 6', { stdin: 'pipe' });
	await p.input(processId, { data: 'one\ntw' });
	await p.prints(processId, /<one>\n/);
	await server.restart();
	await stays('the running process', async () => (await p.get(processId)).status === 'running', 100);
	await p.input(processId, { base64: Buffer.from('o\n').toString('base64') });
	await p.prints(processId, /<one>\n<two>\n/);
	await p.input(processId, { data: 'last\n', eof: true });
	const shown = await p.ended(processId);
	assert.equal(shown.exitCode, 6);
	assert.equal((await p.logs(processId)).stdout, '<one>\n<two>\n<last>\neof\n');
	await server.api.refused(404, 'COMMAND_NOT_FOUND', 'POST', `/api/process/${processId}/input`, { data: 'x' });
	// More than a pipe holds, at once.
	const big = 'x'.repeat(700_000);
	const slow = await p.start('read x; wc -c', { stdin: 'pipe' });
	await p.input(slow.processId, { data: 'go' });
	const { queued } = await p.input(slow.processId, { data: `${big}` });
	assert.ok(queued > 0);
	await p.input(slow.processId, { data: `\n${big}`, eof: true });
	await p.ended(slow.processId);
	assert.equal((await p.logs(slow.processId)).stdout, '700000\n');
});

processes('unread standard input is refused with a clear error', async (p, server) => {
	const input = (id, status, code, body) => server.api.refused(status, code, 'POST', `/api/process/${id}/input`, body);
	const closed = await p.start('exec 0<&-; echo closed; sleep 1000', { stdin: 'pipe' });
	await p.prints(closed.processId, /closed/);
	await input(closed.processId, 409, 'INPUT_CLOSED', { data: 'x' });
	const idle = await p.start('sleep 1000', { stdin: 'pipe' });
	for (let i = 0; i < 5; i++) await p.input(idle.processId, { data: 'x'.repeat(800_000) });
	await input(idle.processId, 429, 'LIMIT_REACHED', { data: 'x'.repeat(800_000) });
	await p.input(idle.processId, { eof: true });
	await input(idle.processId, 409, 'INPUT_CLOSED', { data: 'x' });
	await p.kill(idle.processId);
});

processes('processes and their output survive kill -9 of the server', { timeout: 90_000 }, async (p, server) => {
	for (let round = 0; round < times(1, 10); round++) {
		const { processId, pid } = await p.start('for ((i = 1; i <= 4000; i++)); do echo $i; '
			+ '((i % 100)) || { echo "e$i" >&2; sleep 0.005; }; done; exit 9');
		const before = await p.start('echo done; exit 1');
		await p.ended(before.processId);
		await p.prints(processId, /\n500\n/);
		await server.kill('SIGKILL');
		assert.ok(isAlive(pid));
		await server.start();
		const stream = p.stream(processId);
		const shown = await p.ended(processId);
		assert.deepEqual([shown.exitCode, shown.status, shown.pid], [9, 'failed', pid]);
		const want = numbers(1, 4000);
		const errors = Array.from({ length: 40 }, (_, i) => `e${(i + 1) * 100}\n`).join('');
		const logs = await p.logs(processId);
		assert.equal(logs.stdout, want);
		assert.equal(logs.stderr, errors);
		await stream.until('exit', ({ type }) => type === 'exit');
		assert.equal(Processes.joined(stream.events, 'stdout'), want);
		assert.equal(Processes.joined(stream.events, 'stderr'), errors);
		assert.deepEqual([(await p.get(before.processId)).exitCode, (await p.logs(before.processId)).stdout], [1, 'done\n']);
	}
});

processes('the next server knows the end of a process while there was none', async (p, server) => {
	await untilOnlyServer(server);
	const { processId } = await p.start('while [ ! -e go ]; do sleep 0.05; done; seq 1 20000; exit 5');
	const quiet = await p.start('while [ ! -e go ]; do sleep 0.05; done; kill -9 $$');
	await server.kill('SIGKILL');
	writeFileSync(path.join(server.cwd, 'go'), '');
	await until('the end of both', () => server.leftovers().length === 4); // their holders and guards
	await server.start();
	const shown = await p.ended(processId);
	assert.deepEqual([shown.exitCode, shown.status], [5, 'failed']);
	assert.equal((await p.logs(processId)).stdout, numbers(1, 20000));
	assert.equal((await p.get(quiet.processId)).exitCode, 137);
});

processes('the next server continues a log of labels that has wrapped around', async (p, server) => {
	const { processId } = await p.start('for ((i = 0; i < 12000; i++)); do echo o$i; echo e$i >&2; done; read x; echo last',
		{ stdin: 'pipe' });
	await p.prints(processId, /o11999\n/);
	const before = await p.logs(processId);
	await server.restart();
	const after = await p.logs(processId);
	for (const stream of ['stdout', 'stderr']) {
		assert.ok(before[stream].endsWith(after[stream].slice(after[stream].indexOf('\n') + 1)));
		assert.ok(after[stream].length > 10_000, `${stream}: ${after[stream].length}`);
	}
	assert.match(after.stdout, /^(\d*\n)?(o\d+\n)+$/);
	assert.match(after.stderr, /^(\d*\n)?(e\d+\n)+$/);
	await p.input(processId, { data: '\n' });
	await p.ended(processId);
	assert.ok((await p.logs(processId)).stdout.endsWith('\nlast\n'));
});

processes('a server that is killed while it starts processes leaves no incomplete ones', { timeout: 90_000 }, async (p, server) => {
	await untilOnlyServer(server);
	const count = times(5, 12);
	for (let round = 0; round < times(2, 12); round++) {
		const starting = Array.from({ length: count }, (_, i) => server.api.raw('POST', '/api/process/start',
			{ command: `echo ${i}; exit 7`, processId: `r${round}-${i}` }).catch(() => undefined));
		if (round % 2) await starting[round % count];
		else await until('a directory', () => directories(server).length > 0, { interval: 1 });
		await server.kill('SIGKILL');
		await Promise.all(starting);
		await server.start();
		await until('the failure of all', async () => (await p.list()).every(({ status }) => status === 'failed'));
		const list = await p.list();
		for (const { id, exitCode } of list) {
			assert.equal(exitCode, 7, id);
			assert.equal((await p.logs(id)).stdout, `${id.split('-')[1]}\n`);
		}
		await until('no other directories', () => directories(server).length === list.length);
		for (const { id } of list) await p.remove(id);
		await until('no directories', () => directories(server).length === 0);
	}
});

processes('the death of a holder is an error, and nothing hangs', async (p, server) => {
	await untilOnlyServer(server);
	const { processId, pid } = await p.start('echo here; sleep 1000');
	await p.prints(processId, /here/);
	const stream = p.stream(processId);
	const holder = server.leftovers().find((each) => /^[^\0]*ringside-holder\0/.test(readFileSync(`/proc/${each}/cmdline`, 'latin1')));
	process.kill(holder, 'SIGKILL');
	const exit = await stream.until('exit', ({ type }) => type === 'exit');
	assert.equal(exit.exitCode, null);
	assert.equal((await p.get(processId)).status, 'error');
	assert.equal((await p.logs(processId)).stdout, 'here\n');
	await until('the end of the command', () => !isAlive(pid));
	// Its supervisor: the command ends with it.
	const other = await p.start('echo sup=$PPID; sleep 1000');
	process.kill(await pidIn(p, other.processId, 'sup'), 'SIGKILL');
	assert.equal((await p.ended(other.processId)).exitCode, 137);
	await until('the end of the command', () => !isAlive(other.pid));
});

processes('a process that is refused for lack of descriptors has not run', { args: [] }, async (p, server) => {
	await p.finish('true');
	const limit = (number) => assert.equal(spawnSync('prlimit', ['--pid', String(server.pid), `--nofile=${number}:4096`]).status, 0);
	/* The limit at which this many descriptors are free. */
	const limitFor = (free) => {
		const used = new Set(Object.keys(descriptors(server.pid)).map(Number));
		let number = 0;
		for (let left = free; left > 0 || used.has(number); number += 1) left -= !used.has(number);
		return number;
	};
	let refused = 0;
	for (let more = 0; more < 20; more += 1) {
		const file = path.join(server.cwd, `ran${more}`);
		// One connection, so that the number of descriptors is the same at each request.
		const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
		await server.api.raw('GET', '/api/ping', undefined, { agent });
		limit(limitFor(more));
		const answer = await server.api.raw('POST', '/api/process/start', { command: `touch '${file}'; echo ran`, processId: `p${more}` }, { agent });
		limit(4096);
		agent.destroy();
		if (answer.status === 200) {
			assert.equal((await p.ended(`p${more}`)).exitCode, 0);
			assert.equal((await p.logs(`p${more}`)).stdout, 'ran\n');
		} else {
			refused += 1;
			assertError(answer, 500, 'TOO_MANY_FILES');
			await stays('it has not run', () => !existsSync(file), 50);
		}
	}
	assert.ok(refused > 2, `${refused} were refused`);
});

processes('a wait misses no line of a flood', async (p) => {
	const { processId } = await p.start('read x; for i in 1 2; do seq 1 200000; done; echo needle; seq 1 50000', { stdin: 'pipe' });
	const found = p.wait(processId, { for: 'log', pattern: 'needle' });
	await p.input(processId, { data: '\n' });
	const { lost, line } = await found;
	assert.deepEqual([lost, line], [0, 'needle']);
});

processes('the log has the author and the command, but no environment', { args: ['--log-commands'] }, async (p, server) => {
	await p.finish('exit 3', { processId: 'logged', env: { SECRET: 'hush-hush' } });
	const line = (message) => until(`"${message}" in the log`,
		() => server.stderr.split('\n').find((each) => each.includes(`module=process msg=${message}`)));
	assert.match(await line('started'), /id=logged peer=127\.0\.0\.1 .*command="exit 3" cwd=/);
	assert.match(await line('ended'), /id=logged status=failed exit=3/);
	assert.ok(!server.stderr.includes('hush-hush'));
	const { text } = await server.api.raw('GET', '/metrics');
	assert.match(text, /^ringside_processes_started_total 1$/m);
	assert.match(text, /^ringside_processes_ended_total 1$/m);
});

processes('a directory without a holder is removed, and other files are left alone', async (p, server) => {
	await untilOnlyServer(server);
	const { processId } = await p.start('sleep 1000');
	await server.kill('SIGKILL');
	server.killLeftovers();
	await until('the end of all processes', () => server.leftovers().length === 0);
	writeFileSync(path.join(server.dir, 'processes', 'stray'), '');
	await server.start();
	assert.deepEqual(await p.list(), []);
	assert.deepEqual(directories(server), ['stray']);
	assert.ok(existsSync(path.join(server.dir, 'processes', 'stray')));
	rmSync(path.join(server.dir, 'processes', 'stray'));
	await server.api.refused(404, 'PROCESS_NOT_FOUND', 'GET', `/api/process/${processId}`);
});

scenario('sessions and processes end with the server if an option says so', {
	args: ['--kill-sessions-on-exit'], mayHaveDied: true,
}, async (server) => {
	const p = new Processes(server);
	await p.start('trap "" TERM; echo up; sleep 1000');
	await server.kill('SIGTERM');
	await until('the end of all processes', () => server.leftovers().length === 0);
});
