// Exhausted resources are named: terminals, processes, descriptors; unknown objects are not internal errors.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { cli } from './lib/cli.mjs';
import { asUser, startAs } from './lib/other_user.mjs';
import { scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const root = process.getuid() === 0;
const four = ['unshare', '--mount', 'sh', '-c', `mount -t devpts -o newinstance,ptmxmode=666,max=4 none /dev/pts &&
	mount --bind /dev/pts/ptmx /dev/ptmx && exec "$@"`, 'sh'];

scenario('no terminals left', { skip: !root && 'needs a mount', prefix: four }, async (server) => {
	for (const id of ['a', 'b', 'c', 'd']) await server.session({ id });
	const refused = async (where, body) => {
		const { message } = await server.api.refused(500, 'TOO_MANY_TERMINALS', 'POST', where, body);
		assert.match(message, /terminals/);
	};
	await refused('/api/session/create', { id: 'e' });
	await refused('/api/process/start', { command: 'true' });
	await refused('/api/run', { command: 'true' });
	await refused('/api/execute', { command: 'true', sessionId: 'e' });
	assert.equal((await server.api.list()).data.length, 4);
	await server.api.delete('a');
	await until('a terminal', async () => (await server.api.raw('POST', '/api/session/create', { id: 'e' })).status === 200);
	await server.api.delete('b');
});

// An otherwise unused user, so that its processes can be counted.
const uid = 54_321;
const other = asUser(uid);

scenario('no processes left', { skip: !root && 'needs another user', start: false, prefix: other }, async (server) => {
	await startAs(server, uid);
	await server.session({ id: 'a' });
	const limit = (n) => execFileSync(other[0], [...other.slice(1), 'prlimit', '--pid', String(server.pid), `--nproc=${n}`]);
	limit('1:'); // the soft limit
	const refused = async (where, body) => {
		const { message } = await server.api.refused(500, 'TOO_MANY_PROCESSES', 'POST', where, body);
		assert.match(message, /processes/);
	};
	await refused('/api/session/create', { id: 'b' });
	await refused('/api/process/start', { command: 'true' });
	await refused('/api/run', { command: 'true' });
	limit('10000:');
	assert.equal((await server.api.call('POST', '/api/run', { command: 'echo again' })).stdout, 'again\n');
});

scenario('a missing runtime directory is reported as such, not as a missing working directory', { mayHaveDied: true }, async (server) => {
	for (const name of readdirSync(server.dir)) rmSync(path.join(server.dir, name), { recursive: true });
	for (const [where, body] of [['/api/session/create', { id: 'a', cwd: server.cwd }], ['/api/process/start', { command: 'true', cwd: server.cwd }]]) {
		const { status, json } = await server.api.raw('POST', where, body);
		assert.equal(status, 500, JSON.stringify(json));
		assert.doesNotMatch(json.message, /working directory/);
	}
	await server.api.refused(400, 'VALIDATION_FAILED', 'POST', '/api/session/create', { id: 'a', cwd: '/no/such' });
});

scenario('unknown objects', async (server) => {
	await server.session({ id: 'a' });
	const missing = await cli(server, ['kill', 'nosuch']);
	assert.deepEqual([missing.code, missing.stderr], [125, "ringside kill: There is no session 'nosuch' (SESSION_NOT_FOUND)\n"]);
	const signal = await cli(server, ['kill', '-s', 'NOSUCH', 'a']);
	assert.match(signal.stderr, /signal: .*VALIDATION_FAILED/);
	assert.match((await cli(server, ['kill', '-s', 'INT', 'nosuch'])).stderr, /SESSION_NOT_FOUND/);
	await server.api.refused(400, 'VALIDATION_FAILED', 'POST', '/api/session/a/signal', { signal: 'NOSUCH' });
	const both = await cli(server, ['kill', 'nosuch', 'a']);
	assert.notEqual(both.code, 0);
	await server.api.refused(404, 'SESSION_NOT_FOUND', 'GET', '/api/session/a');
});
