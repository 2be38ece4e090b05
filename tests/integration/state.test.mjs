// The state of a session, with real programs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const state = async (server, id = 's') => (await server.api.call('GET', `/api/session/${id}/state`)).state;

/** Wait for a state. */
function reaches(server, want, id = 's') {
	let last;
	return until(() => `state ${JSON.stringify(want)}; the state is ${JSON.stringify(last)}`, async () => {
		last = await state(server, id);
		const seen = { ...last, name: last.foreground?.name };
		return Object.entries(want).every(([name, value]) => seen[name] === value) && last;
	});
}

const prompt = { status: 'prompt', certain: true, foreground: null };

function has(program) {
	try {
		execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
		return true;
	} catch {
		return false;
	}
}

shared('programs that people run', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	const programs = [
		['read x', { status: 'waiting_input', input: 'line' }, undefined, 'x\r'],
		['read -s x', { status: 'waiting_input', input: 'password' }, undefined, 'x\r'],
		['read -n1 x', { status: 'waiting_input', input: 'raw' }, undefined, 'x'],
		['cat | sort', { status: 'waiting_input', input: 'line', certain: true }, 'cat', '\x04'],
		['cat </dev/tty >/dev/null', { status: 'waiting_input', input: 'line', certain: true }, 'cat', '\x04'],
		['sleep 1000', { status: 'running', certain: true }, 'sleep', '\x03'],
		['while :; do :; done', { status: 'running', certain: true }, 'bash', '\x03'],
		['for i in 1; do', { status: 'waiting_input', input: 'line' }, undefined, '\x03'],
		['less /etc/services', { status: 'fullscreen', input: 'raw', alternate: true }, 'less', 'q'],
		['vim -u NONE', { status: 'fullscreen', input: 'raw', alternate: true }, 'vim', ':q!\r'],
		['python3 -q', { status: 'waiting_input', input: 'raw', certain: true }, undefined, '\x04'],
	].filter(([command]) => !/^(less|vim|python3)/.test(command) || has(command.split(' ')[0]));
	for (const [command, want, name, end] of programs) {
		await reaches(server, prompt);
		await server.api.input('s', `${command}\r`);
		const got = await reaches(server, { ...want, ...name && { name } });
		if (name === 'cat') assert.deepEqual(got.foreground.argv, ['cat']);
		await server.api.input('s', end);
	}
	await reaches(server, prompt);
});

shared('other states', async (server) => {
	await server.session({ id: 's', cwd: '/tmp', cols: 90, rows: 20 });
	let s = await reaches(server, prompt);
	assert.equal(s.cwd, '/tmp');
	assert.equal(s.cols, 90);
	assert.equal(s.rows, 20);
	assert.equal(s.stoppedJobs, 0);
	assert.equal(s.alternate, false);
	assert.equal(s.exec, null);
	assert.ok(!('exitCode' in s) && !('input' in s));
	await server.api.input('s', 'sleep 1000\r');
	s = await reaches(server, { status: 'running', name: 'sleep' });
	assert.ok(Math.abs(s.foreground.startedAt - Date.now()) < 60_000, `${s.foreground.startedAt}`);
	assert.ok(s.foreground.cpuMs < 5000);
	await server.api.input('s', '\x1a');
	await reaches(server, { ...prompt, stoppedJobs: 1 });
	await server.api.input('s', 'kill -KILL %1; until [ -z "$(jobs -p)" ]; do sleep 0.01; done; cd /; printf "\\033]2;a title\\a"\r');
	await reaches(server, { ...prompt, title: 'a title', cwd: '/', stoppedJobs: 0 });
	const { offset } = await server.api.get('s');
	s = await state(server);
	assert.equal(s.offset, offset);
	await until('the silence', async () => (await state(server)).quietMs >= 100);

	const { data } = await server.api.call('POST', '/api/session/s/exec', { command: 'read -p "Name: " x', yieldMs: 1 });
	s = await reaches(server, { status: 'waiting_input', input: 'line', exec: data.id });
	await server.api.input('s', 'Ann\r');
	await reaches(server, { ...prompt, exec: null });

	await server.api.input('s', 'exit 3\r');
	s = await reaches(server, { status: 'exited', certain: true });
	assert.equal(s.exitCode, 3);
	assert.equal(s.signal, null);
	await server.session({ id: 't' });
	await server.api.signal('t', 'KILL', 'shell');
	s = await reaches(server, { status: 'exited' }, 't');
	assert.equal(s.exitCode, null);
	assert.equal(s.signal, 'KILL');
});

shared('the next server reports the same', async (server) => {
	await server.session({ id: 's' });
	await server.api.input('s', 'cat\r');
	await reaches(server, { status: 'waiting_input', input: 'line', certain: true });
	await server.restart();
	await reaches(server, { status: 'waiting_input', input: 'line', certain: true });
	await server.api.input('s', '\x04');
	await reaches(server, prompt);
});
