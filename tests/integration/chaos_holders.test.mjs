// Holders that die during work: their whole session ends, and no other. No result denies that a command ran. SEED repeats the
// work, RINGSIDE_SOAK=1 prolongs it.
import assert from 'node:assert/strict';
import { Oracle } from './lib/oracle.mjs';
import { isAlive, kill, parentOf } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { long, times } from './lib/soak.mjs';
import { until } from './lib/until.mjs';

scenario('a holder that dies ends only its own session', { timeout: long ? 1_800_000 : 120_000 }, async (server) => {
	const oracle = await new Oracle(server, { sessions: times(1, 3), viewers: 0 }).begin();
	for (let round = 0; round < times(2, 80); round += 1) {
		const id = `victim${round}`;
		const { pid } = await server.session({ id, cwd: server.cwd });
		const key = `victim-${round}`;
		const { data: { id: exec } } = await server.api.call('POST', `/api/session/${id}/exec`,
			{ command: `echo ${key} >>'${oracle.effectsFile}'; sleep 1000`, yieldMs: 0 });
		const { data: { id: behind } } = await server.api.call('POST', `/api/session/${id}/exec`,
			{ command: `echo behind-${key} >>'${oracle.effectsFile}'`, yieldMs: 0, queue: true });
		await until('the start of the command', () => oracle.effects().get(key));
		const work = oracle.work(6);
		kill(parentOf(pid));
		if (round % 2) await server.restart();
		await work;
		await until('the end of the command', async () => {
			const { sessions } = await server.api.list();
			return sessions.every((each) => each.id !== id || each.state === 'exited');
		});
		await until('end of the shell', () => !isAlive(pid));
		for (const [which, ran] of [[exec, true], [behind, false]]) {
			const answer = await server.api.raw('GET', `/api/session/${id}/exec/${which}`);
			if (answer.json?.code === 'SESSION_NOT_FOUND') continue;
			assert.equal(answer.status, 200, answer.text);
			const { state, exitCode, endedBy } = answer.json.data;
			assert.deepEqual([state, exitCode], ['done', null], answer.text);
			if (ran) assert.ok(!['not_started', 'busy', 'cancelled'].includes(endedBy), `it ran, but endedBy is ${endedBy}`);
		}
		assert.equal(oracle.effects().get(`behind-${key}`), undefined);
		await server.api.raw('POST', '/api/session/delete', { sessionId: id });
		await oracle.check();
	}
	await oracle.end();
	oracle.stop();
});
