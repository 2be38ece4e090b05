// What the programs of one session do to themselves (a huge environment, memory that never answers, bombs) and others of the
// server feel nothing of.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { processesNaming } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { slowness, until } from './lib/until.mjs';

const script = fileURLToPath(new URL('lib/odd_process.py', import.meta.url));
const ECHO_MS = 1000; // a server that is stopped takes much longer; how long it takes otherwise is a benchmark

/** How long the slowest of some keys takes to be shown in a session. */
async function slowest(client, work) {
	let worst = 0, over = false;
	const typing = (async () => {
		for (let at = 0; !over || at < 5; at += 1) {
			const sent = performance.now();
			client.type(`: ec""ho-${at}\r`);
			await client.untilText(`ec""ho-${at}`);
			worst = Math.max(worst, performance.now() - sent);
		}
	})();
	try {
		await work();
	} finally {
		over = true;
		await typing;
	}
	return worst;
}

/** All that looks at what runs in a session. */
async function lookAt(server, id) {
	for (let at = 0; at < 5; at += 1) {
		await server.api.call('GET', `/api/session/${id}/state`);
		await server.api.raw('GET', `/api/session/${id}`);
	}
	const wait = server.api.raw('POST', `/api/session/${id}/wait`, { conditions: [{ type: 'input' }], timeoutMs: 500 });
	await server.api.raw('POST', `/api/session/${id}/keys`, { keys: ['C-c'] });
	await wait;
}

const noFuse = process.getuid() !== 0 ? 'only root may mount' : !existsSync('/dev/fuse') && 'there is no /dev/fuse';
const kinds = [['huge', false, []], ['silent', noFuse, ['mount']]];

for (const [kind, skip, places] of kinds)
	scenario(`a program with ${kind === 'huge' ? '1 GiB of environment' : 'arguments that never can be read'}`, { skip, timeout: 90_000 }, async (server, t) => {
		const mount = path.join(server.root, 'mount');
		for (const place of places) mkdirSync(path.join(server.root, place));
		await server.session({ id: 'other' });
		await server.session({ id: 'odd' });
		const client = await server.client({ sessionId: 'other' }).connect();
		try {
			await server.api.input('odd', `python3 ${script} ${kind} ${kind === 'silent' ? mount : ''}\r`);
			await server.outputMatches('odd', /\nready/);
			const worst = await slowest(client, async () => {
				await lookAt(server, 'odd');
				// Runs that have to be ended look for what they have started.
				const { json } = await server.api.raw('POST', '/api/run', { command: 'sleep 1000', timeoutMs: 200 });
				assert.equal(json.exitCode, 124);
				await server.api.input('odd', '\r');
			});
			t.diagnostic(`the slowest key took ${Math.round(worst)} ms`);
			assert.ok(worst < ECHO_MS * slowness, `${worst} ms`);
			await server.api.delete('odd');
		} finally {
			// What hangs in there goes on, and can be ended.
			for (const each of places) spawnSync('umount', ['-f', '-l', path.join(server.root, each)]);
		}
		await until('the end of it', () => processesNaming('odd_process.py').length === 0);
		assert.equal(await server.run('other', 'echo served'), 'served\n');
	});
