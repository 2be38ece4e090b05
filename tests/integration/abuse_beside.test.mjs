// A program of one session (with a huge environment, unreadable memory, a fork bomb) must not slow down other
// sessions.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { processesNaming } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { slowness, until } from './lib/until.mjs';

const script = fileURLToPath(new URL('lib/odd_process.py', import.meta.url));
const ECHO_MS = 1000; // a stopped server takes much longer; benchmarks measure the usual time

/** The longest time from a key to its echo, in ms. */
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

/** Call everything that inspects the programs of a session. */
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
const python = (server, kind, ...args) => `python3 ${script} ${[kind, ...args.map((each) => path.join(server.root, each))].join(' ')}`;
const bomb = 'setpriv --reuid=63457 --clear-groups bash -c "ulimit -u 40; b() { b | b & }; b" 2>/dev/null';
const hog = 'python3 -c "while True: bytearray(500 << 20)"';

const kinds = {
	'a program with 1 GiB of environment': [false, (server) => python(server, 'huge')],
	'a program with unreadable arguments': [noFuse, (server) => python(server, 'silent', 'mount')],
	'both, a fork bomb, a process that allocates too much memory, and an ended foreground group': [noFuse, (server) =>
		[python(server, 'huge'), hog, bomb, python(server, 'silent', 'mount'), python(server, 'leaderless', 'group')].join(' & ')],
};

for (const [name, [skip, makeCommand]] of Object.entries(kinds))
	scenario(name, { skip, timeout: 90_000 }, async (server, t) => {
		const mount = path.join(server.root, 'mount');
		mkdirSync(mount);
		await server.session({ id: 'other' });
		await server.session({ id: 'odd' });
		const client = await server.client({ sessionId: 'other' }).connect();
		try {
			const command = makeCommand(server);
			await server.api.input('odd', `${command}\r`);
			await server.outputMatches('odd', /ready\r/);
			if (command.includes('leaderless')) await until('the group', () => existsSync(path.join(server.root, 'group')));
			const worst = await slowest(client, async () => {
				await lookAt(server, 'odd');
				// Ending a run searches for the processes that it has started.
				const { json } = await server.api.raw('POST', '/api/run', { command: 'sleep 1000', timeoutMs: 200 });
				assert.equal(json.exitCode, 124);
				await server.api.input('odd', '\r');
			});
			t.diagnostic(`the slowest key took ${Math.round(worst)} ms`);
			assert.ok(worst < ECHO_MS * slowness, `${worst} ms`);
			await server.api.delete('odd');
		} finally {
			// Unblock the processes that hang in the mount, so that they can be killed.
			spawnSync('umount', ['-f', '-l', mount]);
		}
		await until('the end of the odd process', () => processesNaming('odd_process.py').length === 0);
		assert.equal(await server.run('other', 'echo served'), 'served\n');
	});

// While a program is being executed, the kernel shows nothing of it. Here execve() never ends: the file blocks.
for (const inPlace of [false, true])
	scenario(`${inPlace ? 'a shell' : 'a program'} whose execve() never ends`, { skip: noFuse, timeout: 90_000 }, async (server, t) => {
		const { api } = server, mount = path.join(server.root, 'mount');
		mkdirSync(mount);
		await server.session({ id: 'other' });
		await server.session({ id: 'odd' });
		const client = await server.client({ sessionId: 'other' }).connect();
		let read; // blocks, as on a slow disk
		try {
			await api.input('odd', `${inPlace ? 'exec ' : ''}${python(server, 'executed', 'mount')}\r`);
			await server.outputMatches('odd', /ready\r/);
			const worst = await slowest(client, async () => {
				await lookAt(server, 'odd');
				const { json: { state } } = await api.raw('GET', '/api/session/odd/state');
				assert.equal(state.certain, false);
				assert.equal(state.foreground.name, 'python3');
				assert.equal((await api.raw('GET', '/api/ports')).status, 200);
				const { json } = await api.raw('POST', '/api/session/odd/exec', { command: 'echo never', timeoutMs: 500 });
				assert.ok(json.code || json.timedOut, JSON.stringify(json));
				read = api.raw('POST', '/api/read', { path: 'none', sessionId: 'odd' });
				// It gets a signal, and the server reports that it survives.
				assert.equal((await api.raw('POST', '/api/session/delete', { sessionId: 'odd' })).json.code, 'NOT_ENDED');
			});
			t.diagnostic(`the slowest key took ${Math.round(worst)} ms`);
			assert.ok(worst < ECHO_MS * slowness, `${worst} ms`);
		} finally {
			spawnSync('umount', ['-f', '-l', mount]);
		}
		await until('the end of the odd process', () => processesNaming('odd_process.py').length === 0);
		await read;
		await until('the end of the session', async () => (await api.raw('GET', '/api/session/odd')).status === 404);
		assert.equal(await server.run('other', 'echo served'), 'served\n');
	});

// Links make expensive requests: searches in a long history, and patterns matched against a flood.
scenario('links that search and wait with an expensive pattern', { timeout: 90_000 }, async (server, t) => {
	const { api } = server;
	await server.session({ id: 'other' });
	await server.session({ id: 'busy' });
	const client = await server.client({ sessionId: 'other' }).connect();
	const tokens = (await Promise.all(Array.from({ length: 4 }, () => api.link('busy', 'viewer')))).map(({ token }) => token);
	await server.run('busy', 'seq -f "%.0f aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" 20000');
	await api.input('busy', 'while :; do seq 1 100000; done\r');
	const pattern = '(a?){60}b';
	const ask = (at, method, where, body) => api.raw(method, `/api/session/busy/${where}`, body, { headers: { Authorization: `Bearer ${tokens[at % tokens.length]}` } });
	let over = false;
	const statuses = new Set();
	const worst = await slowest(client, async () => {
		const waits = Array.from({ length: 16 }, (_, at) => ask(at, 'POST', 'wait', { until: [{ type: 'match', pattern: `${pattern}{3}`, regex: true, on: at % 2 ? 'screen' : 'output' }], timeoutMs: 1000 }));
		const searches = Array.from({ length: 32 }, async (_, at) => {
			while (!over) statuses.add((await ask(at, 'GET', `search?q=${encodeURIComponent(pattern)}&regex=1&limit=1`)).status);
		});
		for (const { json } of await Promise.all(waits)) assert.equal(json.type, 'timeout');
		over = true;
		await Promise.all(searches);
	});
	t.diagnostic(`the slowest key took ${Math.round(worst)} ms`);
	assert.deepEqual([...statuses], [200]);
	assert.ok(worst < ECHO_MS * slowness, `${worst} ms`);
	await api.input('busy', '\x03');
});
