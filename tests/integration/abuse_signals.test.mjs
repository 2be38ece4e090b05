// Reused ids: a new process group gets no signal that was meant for an earlier group of the same id.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAlive } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const last = '/proc/sys/kernel/ns_last_pid'; // proc_sys_kernel(5): the next process gets the pid after it
const may = (() => {
	try {
		accessSync(last, constants.W_OK);
		return process.getuid() === 0;
	} catch {
		return false;
	}
})();

const script = fileURLToPath(new URL('lib/odd_process.py', import.meta.url));

/** Start a process that leads a group of this id. */
async function lead(number) {
	return until(`a process with the number ${number}`, async () => {
		writeFileSync(last, String(number - 1));
		const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
		if (child.pid === number) return child;
		child.kill('SIGKILL');
		return false;
	});
}

scenario('a command whose group has ended, and whose group id is in use again', {
	skip: !may && 'pids cannot be chosen here', pids: true, timeout: 60_000,
}, async (server) => {
	const { api } = server;
	await server.session({ id: 's', cwd: server.cwd });
	const { data: e } = await api.call('POST', '/api/session/s/exec', { command: `python3 ${script} leaderless group`, yieldMs: 0 });
	const group = await until('the group', () => {
		try {
			return Number(readFileSync(path.join(server.cwd, 'group'), 'utf8'));
		} catch {
			return 0;
		}
	});
	const victim = await lead(group);
	try {
		await api.call('POST', `/api/session/s/exec/${e.id}/cancel`, { graceMs: 50 });
		await until('all steps', async () => (await api.call('GET', `/api/session/s/exec/${e.id}`)).data.unkillable);
		await api.raw('POST', '/api/session/s/signal', { signal: 'KILL' });
		await api.delete('s');
		assert.ok(isAlive(victim.pid), 'it got a signal for another group');
		assert.equal(victim.signalCode, null);
	} finally {
		victim.kill('SIGKILL');
	}
});
