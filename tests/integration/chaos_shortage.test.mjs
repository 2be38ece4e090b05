// A system without free terminals or processes: refusals say why, and everything else goes on.
import assert from 'node:assert/strict';
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { documented } from './lib/openapi.mjs';
import { scenario } from './lib/server.mjs';

const root = process.getuid() === 0;

/** The code says that a resource is exhausted, and the route documents it. */
function assertRefused(answer, route) {
	const { code, httpStatus } = answer.json ?? {};
	assert.ok(documented('post', route, httpStatus).includes(code), `${route}: ${answer.status} ${answer.text}`);
	assert.ok(!['NO_SPACE', 'INTERNAL_ERROR'].includes(code), `the error does not name the cause: ${answer.status} ${answer.text}`);
}

/** Each further start is refused with an error that says why, and works again when resources are free again. */
async function exhausted(server, { most, release }) {
	const { api } = server;
	await server.session({ id: 'before' });
	const made = [];
	let refused;
	for (let at = 0; at < most && !refused; at += 1) {
		const answer = await api.raw('POST', '/api/session/create', { id: `e${at}` });
		if (answer.status === 200) made.push(`e${at}`);
		else refused = answer;
	}
	assert.ok(refused, `${most} sessions were made`);
	assertRefused(refused, '/api/session/create');
	for (const [route, body] of [['/api/run', { command: 'echo $((6*7)) | cat' }], ['/api/process/start', { command: 'true | cat' }],
		['/api/session/{id}/exec', { command: 'echo $((6*7))', streams: 'terminals' }]]) {
		const answer = await api.raw('POST', route.replace('{id}', 'before'), body);
		if (answer.status !== 200) assertRefused(answer, route);
	}
	const { data } = await api.call('POST', '/api/session/before/exec', { command: 'echo $((6*7))' });
	assert.deepEqual([data.exitCode, data.output], [0, '42\n']);
	await server.restart();
	assert.deepEqual((await api.list()).data.sort(), ['before', ...made].sort());
	await release?.();
	for (const id of made) await api.delete(id);
	await server.session({ id: 'again' });
	assert.equal(await server.run('again', 'echo $((6*7)) | cat'), '42\n');
}

const fewTerminals = ['unshare', '--mount', 'sh', '-c',
	'mount -t devpts -o newinstance,max=6,ptmxmode=666 none /dev/pts && mount --bind /dev/pts/ptmx /dev/ptmx && exec "$@"', 'sh'];

scenario('no terminals left', { skip: !root && 'needs a mount', prefix: fewTerminals, start: false }, async (server) => {
	await server.start();
	await exhausted(server, { most: 12 });
});

const pids = '/sys/fs/cgroup/pids';
const group = path.join(pids, `ringside-test-${process.pid}`);
const grouped = root && (() => {
	try {
		mkdirSync(group);
		process.on('exit', () => {
			try {
				rmdirSync(group);
			} catch {
				// a process is still in it
			}
		});
		return true;
	} catch {
		return false;
	}
})();

scenario('no processes left', {
	skip: !grouped && 'needs its own cgroup', prefix: ['sh', '-c', `echo $$ >${group}/cgroup.procs && exec "$@"`, 'sh'],
}, async (server) => {
	writeFileSync(path.join(group, 'pids.max'), '30');
	await exhausted(server, {
		most: 40,
		release: () => writeFileSync(path.join(group, 'pids.max'), 'max'),
	});
});
