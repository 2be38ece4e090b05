// Tests that share a server: starting one costs more than most tests.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { keeping } from './api.mjs';
import { binary, endInTime, skipReason, Server } from './server.mjs';
import { until, within } from './until.mjs';

function hangUp(server) {
	for (const client of server.clients) client.terminate();
	server.clients.clear();
}

/** Kinds of objects: how to list and how to remove them. */
const kinds = {
	sessions: ['/api/session/list', ({ data }) => data, (id) => ['POST', '/api/session/delete', { sessionId: id }]],
	processes: ['/api/process/list', ({ processes }) => processes.map(({ id }) => id), (id) => ['DELETE', `/api/process/${id}?remove=true&graceMs=0`]],
	contexts: ['/api/contexts', ({ contexts }) => contexts.map(({ id }) => id), (id) => ['DELETE', `/api/contexts/${id}`]],
	previews: ['/api/exposed-ports', ({ ports }) => ports, ({ port, token }) => ['DELETE', `/api/exposed-ports/${port}?token=${token}`]],
};

/**
 * Remove what a test has left: clients, sessions except those in `keep`, processes and other objects, files in the server's working
 * directory, and another startup file of bash.
 */
export async function tidy(server, keep = []) {
	const { api } = server;
	hangUp(server);
	server.startup();
	await keeping(server.base, async (agent) => {
		for (const [kind, [route, listed, removal]] of Object.entries(kinds)) {
			await until(`end of all ${kind}`, async () => {
				const left = listed(await api.call('GET', route, undefined, { agent })).filter((each) => kind !== 'sessions' || !keep.includes(each));
				await Promise.all(left.map((each) => api.raw(...removal(each)))); // some may be ending already
				return left.length === 0;
			});
		}
	});
	for (const name of readdirSync(server.cwd)) rmSync(path.join(server.cwd, name), { recursive: true, force: true });
}

/**
 * Returns a function like scenario() for tests that share a server with these options (see Server). It starts with the first
 * test and ends after the last; after a failure a new one is started. A test may see earlier log lines, metrics, and sessions
 * in `keep`, and must leave a running server. bare: the server has no sessions, only clients are removed.
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
	endInTime();
	after(() => end(true)); // the last test may have been skipped
	return (name, more, body) => {
		if (typeof more === 'function') [more, body] = [{}, more];
		const { timeout = 50_000, skip = false, memory, pids, ...rest } = more;
		assert.deepEqual(rest, {}, `${name}: options of the server are shared`);
		const left = skip || skipReason({ memory, pids });
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

/** A test with the server that all tests of the file without options share. */
export const shared = together();
