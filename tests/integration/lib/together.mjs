// Tests that share a server: a new one for each costs more than most of what is asked of it.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { binary, leftOut, Server } from './server.mjs';
import { until, within } from './until.mjs';

function hangUp(server) {
	for (const client of server.clients) client.terminate();
	server.clients.clear();
}

/** What there is of each kind, by what it is asked for and how it is taken away. */
const kinds = {
	sessions: ['/api/session/list', ({ data }) => data, (id) => ['POST', '/api/session/delete', { sessionId: id }]],
	processes: ['/api/process/list', ({ processes }) => processes.map(({ id }) => id), (id) => ['DELETE', `/api/process/${id}?remove=true&graceMs=0`]],
	contexts: ['/api/contexts', ({ contexts }) => contexts.map(({ id }) => id), (id) => ['DELETE', `/api/contexts/${id}`]],
	previews: ['/api/exposed-ports', ({ ports }) => ports, ({ port, token }) => ['DELETE', `/api/exposed-ports/${port}?token=${token}`]],
};

/** Takes away what a test has left: clients, sessions but those that are kept, processes and so on, and files where the server was started. */
export async function tidy(server, keep = []) {
	const { api } = server;
	hangUp(server);
	for (const [kind, [route, listed, removal]] of Object.entries(kinds)) {
		await until(`end of all ${kind}`, async () => {
			const left = listed(await api.call('GET', route)).filter((each) => kind !== 'sessions' || !keep.includes(each));
			await Promise.all(left.map((each) => api.raw(...removal(each)))); // some may be going already
			return left.length === 0;
		});
	}
	for (const name of readdirSync(server.cwd)) rmSync(path.join(server.cwd, name), { recursive: true, force: true });
}

/**
 * Returns what stands for scenario() where tests share a server that is started with these options, those of Server. It is started
 * for the first of them and ended behind the last; behind one that fails there is a new one. Each finds nothing of those before it
 * but the log, what /metrics has counted, and sessions of the names in `keep`, and has to leave a server that runs. bare: it is one
 * that has none of all that.
 */
export function together(options = {}, { keep, bare = false } = {}) {
	let server;
	let coming = 0;
	const end = async (graceful) => {
		const ended = server;
		server = undefined;
		try {
			await ended?.cleanup({ graceful });
		} catch (error) {
			console.error(ended.report());
			throw error;
		}
	};
	after(() => end(true)); // the last may have been left out by its name
	return (name, more, body) => {
		if (typeof more === 'function') [more, body] = [{}, more];
		const { timeout = 50_000, skip = false, memory, numbers, ...rest } = more;
		assert.deepEqual(rest, {}, `${name}: options of the server are those of all`);
		const left = skip || leftOut({ memory, numbers });
		if (!left) coming += 1;
		test(name, { skip: left }, async (t) => {
			coming -= 1;
			if (!existsSync(binary)) throw new Error(`${binary} does not exist (set RINGSIDE_BIN)`);
			try {
				if (!server) {
					server = new Server(options);
					await server.start();
				}
				await within(`end of the test "${name}"`, body(server, t), timeout);
				if (bare) hangUp(server);
				else if (coming > 0) await tidy(server, keep);
			} catch (error) {
				console.error(server.report() + (error.late ? server.stacks() : ''));
				await end(false).catch(() => {});
				throw error;
			}
			if (coming === 0) await end(true);
		});
	};
}
