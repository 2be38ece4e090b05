// An upgrade with living sessions: what an earlier release has started ($RINGSIDE_EARLIER) goes on under this one.
import assert from 'node:assert/strict';
import { readlinkSync } from 'node:fs';
import { binary, scenario } from '../integration/lib/server.mjs';
import { until } from '../integration/lib/until.mjs';

const earlier = process.env.RINGSIDE_EARLIER;
const token = 'the-token-of-this-test-0123456789';

/** What is to be the same afterwards. */
async function look(server) {
	const seen = {};
	for (const id of ['work', 'busy', 'over']) {
		const { epoch, offset, rows, cols, status } = await server.api.get(id);
		const { screen } = await server.api.call('GET', `/api/session/${id}/screen`);
		seen[id] = { epoch, offset, rows, cols, status, output: await server.api.text(id, 0), lines: screen?.lines ?? screen };
	}
	return seen;
}

for (const signal of ['SIGTERM', 'SIGKILL'])
	scenario(`sessions live through an upgrade (${signal})`, { start: false, timeout: 120_000, binary: earlier, env: { RINGSIDE_TOKEN: token } }, async (server) => {
		assert.ok(earlier, 'RINGSIDE_EARLIER says what is upgraded');
		await server.start();
		assert.equal(readlinkSync(`/proc/${server.pid}/exe`), earlier);
		for (const id of ['work', 'busy', 'over']) await server.session({ id });
		await server.run('work', 'mine=kept; cd /; printf "\\033[31mred\\033[m\\n"');
		const { data } = await server.api.call('POST', '/api/session/work/exec', { command: 'echo before; (exit 3)' });
		assert.equal(data.exitCode, 3);
		await server.api.input('busy', 'while ! [ -e go ]; do sleep 0.05; done; echo went; exec 9<&-\r');
		await server.outputMatches('busy', /exec 9/);
		await server.api.input('over', 'exit 5\r');
		await until('its end', async () => (await server.api.get('over')).status !== 'running');
		await server.api.call('POST', '/api/process/start', { command: 'read x; echo got $x; sleep 100', processId: 'p' });
		const before = await look(server);
		await server.kill(signal);
		server.options.binary = binary;
		await server.start();
		assert.equal(readlinkSync(`/proc/${server.pid}/exe`), binary);
		assert.deepEqual(await look(server), before);
		assert.equal(await server.run('work', 'echo $mine $PWD'), 'kept /\n');
		const answer = await server.api.call('POST', '/api/session/work/exec', { command: 'echo after; (exit 4)' });
		assert.equal(answer.data.exitCode, 4);
		const { blocks } = await server.api.call('GET', '/api/session/work/blocks');
		assert.ok(blocks.some((block) => /echo before/.test(block.command)) && blocks.some((block) => /echo after/.test(block.command)), 'one history');
		await server.session({ id: 'new' });
		await server.run('new', `touch ${server.cwd}/go`);
		await server.outputMatches('busy', /went\r\n/);
		const { process: p } = await server.api.call('GET', '/api/process/p');
		assert.equal(p.status, 'running');
		// And once more under the same: nothing of the first time is in the way.
		await server.restart();
		assert.equal(await server.run('work', 'echo $mine'), 'kept\n');
		assert.equal(await server.run('new', 'echo new'), 'new\n');
	});
