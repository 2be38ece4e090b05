// Sessions and processes whose holder is stopped, traced or gone end nevertheless, completely and in time.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { assertError } from './lib/api.mjs';
import { allPids, cmdline, isAlive, kill, parentOf, processesNaming, status } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { until, within } from './lib/until.mjs';

const isOurs = (text) => (pid) => isAlive(pid) && cmdline(pid).includes(text);
const stop = async (pid) => {
	kill(pid, 'SIGSTOP');
	await until('the stop', () => /^T/.test(status(pid).State));
};

// Processes that ignore SIGHUP: with another parent, process group or kernel session, without environment or terminal.
async function startStubborn(server, id, mark) {
	const script = path.join(server.home, `${mark}.pl`);
	writeFileSync(script, "use POSIX; $SIG{$_} = 'IGNORE' for qw(HUP INT TERM QUIT CONT); sleep 1 while 1;\n");
	const commands = [
		`perl ${script} 1 &`,
		`setsid perl ${script} 2 &`,
		`(setsid perl ${script} 3 </dev/null >/dev/null 2>&1 &)`,
		`env -i setsid -f perl ${script} 4 </dev/null >/dev/null 2>&1`,
		`(trap "" HUP; setsid sh -c 'perl ${script} 5 & perl ${script} 6 & wait' & )`,
	];
	await server.run(id, `${commands.map((command) => command + (command.endsWith('&') ? '' : ';')).join(' ')} true`);
	return until('the stubborn processes', () => {
		const found = allPids().filter(isOurs(script)).filter((pid) => /^perl/.test(cmdline(pid)));
		return found.length === 6 && found;
	});
}

const nothingLeft = (server) => until(() => `the end of ${processesNaming(server.root).map(cmdline)}`,
	() => processesNaming(server.root).length === (server.child ? 1 : 0));

shared('a session whose holder is stopped is deleted, with its whole tree', async (server) => {
	const { pid } = await server.session({ id: 's' });
	const tree = await startStubborn(server, 's', 'stopped');
	const holder = parentOf(pid);
	await stop(holder);
	await server.api.delete('s');
	assert.deepEqual(tree.filter(isAlive), []);
	assert.ok(!isAlive(pid));
	await nothingLeft(server);
});

shared('the same when a holder is stopped again each time it continues', async (server) => {
	const { pid } = await server.session({ id: 's' });
	const tree = await startStubborn(server, 's', 'again');
	const holder = parentOf(pid);
	await stop(holder);
	const deleted = server.api.delete('s');
	const guard = setInterval(() => kill(holder, 'SIGSTOP'), 1);
	try {
		await deleted;
		assert.deepEqual([...tree, pid].filter(isAlive), []);
		await until('the end of the holder', () => !isAlive(holder));
	} finally {
		clearInterval(guard);
	}
	await nothingLeft(server);
});

shared("a killed holder's processes are killed, and no others", async (server) => {
	const { pid } = await server.session({ id: 's' });
	const other = await server.session({ id: 'other' });
	const tree = await startStubborn(server, 's', 'killed');
	const others = await startStubborn(server, 'other', 'others');
	kill(parentOf(pid));
	const session = await until('the end of the session', async () => {
		const each = await server.api.get('s');
		return each.state === 'exited' && each;
	});
	assert.equal(session.exit.reason, 'holder_died');
	await until('the end of its processes', () => !tree.some(isAlive));
	await server.api.delete('s');
	assert.equal(others.filter(isAlive).length, 6, 'processes of another session were killed');
	assert.ok(isAlive(other.pid));
	await server.api.delete('other');
	await nothingLeft(server);
});

shared('a stopped holder delays nothing else at a restart, and is adopted when it continues', async (server) => {
	const { api } = server;
	await server.session({ id: 'fine' });
	const { pid } = await server.session({ id: 's' });
	await server.run('s', 'echo before-$((40+2))');
	const holder = parentOf(pid);
	await stop(holder);
	// More restarts than the holder's backlog of connections.
	for (let i = 0; i < 12; i++) {
		await server.restart();
		assert.equal((await api.get('fine')).state, 'running');
		assert.equal((await api.get('s')).state, 'unresponsive');
	}
	for (const [method, where, body] of [
		['POST', '/api/session/s/resize', { cols: 100, rows: 30 }],
		['POST', '/api/session/s/signal', { signal: 'INT' }],
		['POST', '/api/session/s/exec', { command: 'true' }],
		['POST', '/api/session/s/input', { data: 'x' }],
		['POST', '/api/session/open', { id: 's' }],
		['POST', '/api/execute', { command: 'true', sessionId: 's' }],
	]) {
		assertError(await api.raw(method, where, body), 409, 'SESSION_UNRESPONSIVE', where);
	}
	for (const where of ['/api/session/s/screen', '/api/session/s/output']) {
		assert.equal((await api.raw('GET', where)).status, 409, where);
	}
	kill(holder, 'SIGCONT');
	await until('adoption', async () => (await api.get('s')).state === 'running');
	assert.match(await api.text('s'), /before-42/);
	assert.equal(await server.run('s', 'echo after-$((40+2))'), 'after-42\n');
	assert.equal((await api.get('s')).pid, pid);
});

shared('an unadopted session can be deleted, and the next server completes that', async (server) => {
	for (const id of ['a', 'b']) {
		const { pid } = await server.session({ id });
		const tree = await startStubborn(server, id, `late-${id}`);
		const holder = parentOf(pid);
		await stop(holder);
		for (let i = 0; i < (id === 'a' ? 1 : times(2, 12)); i++) await server.restart();
		assert.equal((await server.api.get(id)).state, 'unresponsive');
		if (id === 'a') {
			await server.api.delete(id);
		} else {
			const guard = setInterval(() => kill(holder, 'SIGSTOP'), 1);
			const lost = server.api.delete(id).catch(() => {});
			await until('the deletion', async () => (await server.api.list()).data.length === 0);
			await server.restart();
			await lost;
			assert.deepEqual((await server.api.list()).data, []);
			await until('the end of all processes', () => [...tree, pid, holder].filter(isAlive).length === 0);
			clearInterval(guard);
		}
		assert.deepEqual([...tree, pid].filter(isAlive), []);
	}
	await nothingLeft(server);
});

shared('requests to a running session whose holder stops get a response', async (server) => {
	const { api } = server;
	const { pid } = await server.session({ id: 's' });
	const holder = parentOf(pid);
	await stop(holder);
	// Acknowledged requests are carried out when the holder continues.
	await api.resize('s', 100, 30);
	let refused;
	for (let i = 0; i < 2000 && !refused; i++) {
		const answer = await api.raw('POST', '/api/session/s/signal', { signal: 'WINCH' });
		if (answer.status !== 200) refused = answer;
	}
	assertError(refused, 409, 'SESSION_UNRESPONSIVE', 'all pending requests');
	// A terminal shows the last screen.
	const client = await server.client({ sessionId: 's' }).connect();
	client.terminate();
	kill(holder, 'SIGCONT');
	assert.equal(await server.run('s', 'echo on-$((40+2))'), 'on-42\n');
	assert.equal(await server.run('s', 'stty size'), '30 100\n');
});

shared('many at once, stopped and killed', async (server) => {
	const pids = [];
	for (let i = 0; i < times(6, 24); i++) pids.push((await server.session({ id: `m${i}` })).pid);
	const trees = await startStubborn(server, 'm0', 'many');
	const holders = pids.map(parentOf);
	for (const [i, holder] of holders.entries()) {
		if (i % 3 === 0) await stop(holder);
		else if (i % 3 === 1) kill(holder);
	}
	await Promise.all(pids.map((_, i) => server.api.delete(`m${i}`)));
	assert.deepEqual([...trees, ...pids].filter(isAlive), []);
	await nothingLeft(server);
});

scenario('--kill-sessions-on-exit ends them too', { args: ['--kill-sessions-on-exit'], mayHaveDied: true }, async (server) => {
	const { pid } = await server.session({ id: 's' });
	const tree = await startStubborn(server, 's', 'exit');
	const { processId } = await server.api.call('POST', '/api/process/start', { command: 'trap "" TERM HUP; sleep 1000; sleep 1000' });
	const running = await until('the process', async () => {
		const { process: each } = await server.api.call('GET', `/api/process/${processId}`);
		return each.pid > 0 && each;
	});
	for (const each of [pid, parentOf(running.pid)]) await stop(parentOf(each));
	const holders = [parentOf(pid), parentOf(parentOf(running.pid))];
	const guard = setInterval(() => holders.forEach((each) => kill(each, 'SIGSTOP')), 1);
	try {
		await within('the end of the server', server.kill('SIGTERM'), 20_000);
	} finally {
		clearInterval(guard);
	}
	assert.deepEqual([...tree, pid, running.pid, ...holders].filter(isAlive), []);
	await nothingLeft(server);
});

// A process that ignores all signals that it can, with a child in another kernel session.
async function startProcess(server, processId) {
	const script = path.join(server.home, `${processId}.pl`);
	writeFileSync(script, "use POSIX; $SIG{$_} = 'IGNORE' for qw(HUP INT TERM); fork or POSIX::setsid(); sleep 1 while 1;\n");
	await server.api.call('POST', '/api/process/start', { command: `exec perl ${script}`, processId });
	const pids = await until('both processes', () => {
		const found = allPids().filter(isOurs(script)).filter((pid) => /^perl/.test(cmdline(pid)));
		return found.length === 2 && found;
	});
	const watch = parentOf(Math.min(...pids));
	return { pids, holder: parentOf(watch) };
}

shared('processes whose holder is stopped or killed are killed and removed', async (server) => {
	const { api } = server;
	const remove = (id) => api.call('DELETE', `/api/process/${id}?remove=true&graceMs=0`);
	for (const [id, how] of [['p1', 'stop'], ['p2', 'always'], ['p3', 'kill'], ['p4', 'restart'], ['p5', 'none']]) {
		const { pids, holder } = await startProcess(server, id);
		assert.match(cmdline(holder), /ringside-holder/);
		let guard;
		if (how === 'kill') kill(holder);
		else if (how !== 'none') await stop(holder);
		if (how === 'always') guard = setInterval(() => kill(holder, 'SIGSTOP'), 1);
		if (how === 'restart') await server.restart();
		if (how === 'none') {
			await server.kill();
			kill(holder);
			await until('the end of both processes', () => !pids.some(isAlive));
			await server.start();
		} else {
			await remove(id);
		}
		assert.deepEqual(pids.filter(isAlive), [], how);
		await until('the end of the holder', () => !isAlive(holder));
		clearInterval(guard);
		assertError(await api.raw('GET', `/api/process/${id}`), 404, 'PROCESS_NOT_FOUND');
	}
	const { pids, holder } = await startProcess(server, 'killed');
	await stop(holder);
	await api.call('DELETE', '/api/process/killed?graceMs=0');
	assert.deepEqual(pids.filter(isAlive), []);
	await remove('killed');
	await nothingLeft(server);
});
