// Commands that are cancelled just as they start: SIGINT alone ends each, and the shell is at a usable prompt.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { slowness } from './lib/until.mjs';

// Time before another signal than INT is sent. A command that takes so long hangs, also on a busy machine.
const graceMs = Math.min(60_000, 20_000 * slowness);
const commands = ['sleep 60', 'sleep 60 | cat', 'read line', 'yes | cat >/dev/null', 'while :; do :; done', '(sleep 60; echo no)', 'sh -c "sleep 60; :"', 'read -s -n 1 key', 'for i in 1 2 3; do sleep 60; done'];

for (const shell of ['bash', 'zsh', 'fish'])
	shared(`commands are cancelled right after their request: ${shell}`, { timeout: 600_000 }, async (server) => {
		const sessions = Array.from({ length: 4 }, (_, at) => `${shell}${at}`);
		const lost = [];
		await Promise.all(sessions.map(async (id, at) => {
			await server.session({ id, shell });
			const { pid } = await server.api.get(id);
			const usable = shell === 'fish' ? commands.filter((each) => !/while|for|\(|read -s/.test(each)) : commands;
			for (let i = 0; i < times(shell === 'bash' ? 20 : 8, shell === 'bash' ? 2500 : 300); i++) {
				const command = usable[(i * sessions.length + at) % usable.length];
				const { data } = await server.api.call('POST', `/api/session/${id}/exec`, { command, queue: true, yieldMs: 0 });
				await sleep(Math.random() * 5);
				const begun = performance.now();
				await server.api.call('POST', `/api/session/${id}/exec/${data.id}/cancel`, { graceMs }, { timeout: 5 * graceMs });
				const got = await server.api.call('POST', `/api/session/${id}/wait`, { until: [{ type: 'exec', id: data.id }], timeoutMs: 30_000 }, { timeout: 40_000 });
				const took = performance.now() - begun;
				const about = `${i}: ${command}: ${JSON.stringify(got.exec ?? got)} after ${took} ms`;
				assert.equal(got.type, 'exec', about);
				const { data: end } = await server.api.call('GET', `/api/session/${id}/exec/${data.id}`);
				assert.ok(['command', 'prompt', 'cancelled', 'not_started'].includes(end.endedBy), `${about} ${JSON.stringify(end)}`);
				if (end.signalsSent.some((signal) => signal !== 'INT')) lost.push(about + JSON.stringify(end));
				if (i % 5 === 4) {
					const { data: next } = await server.api.call('POST', `/api/session/${id}/exec`, { command: 'echo here', queue: true });
					assert.deepEqual([next.output, next.endedBy], ['here\n', 'command'], `${about} ${JSON.stringify(next)}`);
				}
			}
			assert.equal((await server.api.get(id)).pid, pid);
		}));
		assert.deepEqual(lost, []);
	});
