// Many failures at once: mixed work under kill -9 of the server, stopped holders, no file descriptors, a full disk, a log
// that is not read. Every acknowledged result must hold afterwards: see lib/oracle.mjs.
//
// SEED repeats the work, RINGSIDE_SOAK=1 prolongs it (tests/soak).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { RawClient } from './lib/client.mjs';
import { mounted } from './lib/mounted.mjs';
import { Oracle } from './lib/oracle.mjs';
import { descriptors, kill, parentOf } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { long, times } from './lib/soak.mjs';
import { pause, until } from './lib/until.mjs';

const sessions = times(2, 3);
const patience = long ? 1_800_000 : 120_000;

scenario('mixed work under kill -9: acknowledged work is there, true, and done once', { args: ['--ring-size', '16M'], timeout: patience }, async (server) => {
	const oracle = await new Oracle(server, { sessions }).begin();
	for (let round = 0; round < times(4, 300); round += 1) {
		const work = oracle.work(4 + oracle.random.below(16));
		work.catch(() => {}); // its failure is reported below
		await pause(oracle.random.below(160));
		await server.kill('SIGKILL');
		await work;
		await server.start();
		await oracle.check();
	}
	await oracle.end();
	oracle.stop();
});

scenario('restarted at once, with children between fork and exec', { timeout: patience }, async (server) => {
	const oracle = await new Oracle(server, { sessions: 1, viewers: 0 }).begin();
	for (let round = 0; round < times(5, 400); round += 1) {
		const work = Promise.all(Array.from({ length: 6 }, () => {
			oracle.count += 1;
			return oracle.process();
		}));
		work.catch(() => {});
		await pause(oracle.random.below(25));
		// Wait for the process only, not for its pipes, which children may still have open.
		const { child } = server;
		child.kill('SIGKILL');
		await once(child, 'exit');
		server.child = undefined;
		await server.start();
		await work;
		await oracle.check();
	}
	await oracle.end();
	oracle.stop();
});

scenario('terminated during work, with a log that is not read', {
	prefix: ['bash', '-c', 'mkfifo "$RINGSIDE_TEST_ROOT/log" 2>/dev/null; exec "$0" "$@" 2<>"$RINGSIDE_TEST_ROOT/log" 0<&-'],
	args: ['--verbose', '--ring-size', '16M'], timeout: patience,
}, async (server) => {
	const oracle = await new Oracle(server, { sessions }).begin();
	for (let round = 0; round < times(3, 150); round += 1) {
		const work = oracle.work(4 + oracle.random.below(10));
		work.catch(() => {});
		await pause(oracle.random.below(120));
		assert.deepEqual(await server.kill('SIGTERM'), { code: 0, signal: null });
		await work;
		await server.start();
		await oracle.check();
	}
	await oracle.end();
	oracle.stop();
});

scenario('holders that are stopped for a while and continue', { args: ['--ring-size', '16M'], timeout: patience }, async (server) => {
	const oracle = await new Oracle(server, { sessions }).begin();
	const holders = [...oracle.sessions.values()].map(({ pid }) => parentOf(pid));
	for (let round = 0; round < times(2, 100); round += 1) {
		const stopped = holders.filter(() => oracle.random.below(2));
		const work = oracle.work(8);
		work.catch(() => {});
		for (const holder of stopped) kill(holder, 'SIGSTOP');
		await pause(oracle.random.below(100));
		if (round % 2) await server.restart();
		for (const holder of stopped) kill(holder, 'SIGCONT');
		await work;
		await until('all sessions', async () => (await server.api.list()).sessions.every(({ state }) => state === 'running'));
		await oracle.check();
	}
	await oracle.end();
	oracle.stop();
});

const most = 140;

scenario('no file descriptors, again and again', { prefix: ['prlimit', `--nofile=${most}:${most}`], timeout: patience }, async (server) => {
	const oracle = await new Oracle(server, { sessions, viewers: 0, mayRefuse: true }).begin();
	for (let round = 0; round < times(2, 60); round += 1) {
		const work = oracle.work(12);
		work.catch(() => {});
		await pause(oracle.random.below(40));
		// Silent connections use all descriptors but a few.
		const left = most - Object.keys(descriptors(server.pid)).length - oracle.random.below(16);
		const silent = Array.from({ length: Math.max(0, left) }, () => new RawClient(server));
		await pause(oracle.random.below(300));
		silent.forEach((each) => each.terminate());
		await work;
		await until('a response', async () => (await server.api.raw('GET', '/healthz')).status === 200);
		if (round % 2) {
			await oracle.excuse();
			await server.restart();
		}
		await oracle.check();
	}
	await oracle.end();
	oracle.stop();
});

const disk = mounted('tmpfs', 'size=512k,mode=0700');

scenario('the disk is full, again and again', {
	skip: disk ? false : 'a small file system cannot be mounted here', dir: disk, timeout: patience,
}, async (server) => {
	const oracle = await new Oracle(server, { sessions, viewers: 0, mayRefuse: true }).begin();
	for (let round = 0; round < times(2, 40); round += 1) {
		const fill = path.join(disk, 'fill');
		const work = oracle.work(10);
		work.catch(() => {});
		await pause(oracle.random.below(60));
		spawnSync('dd', ['if=/dev/zero', `of=${fill}`, 'bs=1k']);
		await work;
		await oracle.work(6);
		if (round % 2) {
			await oracle.excuse();
			await server.kill('SIGKILL');
			await server.start();
		}
		rmSync(fill, { force: true });
		await oracle.check();
	}
	await oracle.end();
	oracle.stop();
});
