// Archives that are mounted instead of extracted, wherever /dev/fuse exists.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { kill } from './lib/proc.mjs';
import { inSandboxes } from './lib/server.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

/** Sandboxes have no /dev/fuse. */
const skip = existsSync('/dev/fuse') && !inSandboxes ? false : 'there is no /dev/fuse';
const mounts = (below) => readFileSync('/proc/self/mountinfo', 'utf8').split('\n').map((line) => line.split(' '))
	.map((words) => ({ at: words[4]?.replaceAll('\\040', ' '), kind: words[words.indexOf('-') + 1] })).filter(({ at }) => at?.startsWith(`${below}/`));
const overlays = (below) => mounts(below).filter(({ kind }) => kind === 'fuse.fuse-overlayfs').map(({ at }) => at);
const base = process.getuid() === 0 ? () => '/var/backups/mounts' : (server) => path.join(server.cwd, '.ringside-backups/mounts');
/** The mounts of this server's archives. */
const records = (server) => (existsSync(base(server)) ? readdirSync(base(server)) : []).map((name) => path.join(base(server), name))
	.filter((each) => { try { return readFileSync(path.join(each, 'archive'), 'utf8').startsWith(`${server.cwd}/`); } catch { return false; } });
const restore = (server, dir, archivePath, mount = true) => server.api.raw('POST', '/api/backup/restore', { dir, archivePath, mount });

function mounting(name, body) {
	shared(name, { skip }, async (server) => {
		const dir = path.join(server.cwd, 'a project'), archivePath = path.join(server.cwd, '.ringside-backups/a.sqsh');
		mkdirSync(path.join(dir, 'deep'), { recursive: true });
		writeFileSync(path.join(dir, 'file'), 'saved');
		writeFileSync(path.join(dir, 'deep/other'), 'x'.repeat(100_000));
		const { status, text } = await server.api.raw('POST', '/api/backup/create', { dir, archivePath });
		assert.equal(status, 200, text);
		try {
			await body(server, dir, archivePath);
		} finally {
			for (const { at } of mounts(server.cwd).reverse()) spawnSync('fusermount3', ['-uz', at]);
			for (const each of records(server)) {
				spawnSync('fusermount3', ['-uz', path.join(each, 'lower')]);
				rmSync(each, { recursive: true });
			}
		}
	});
}

mounting('a restored mount can be written to, and another restoration discards it', async (server, dir, archivePath) => {
	writeFileSync(path.join(dir, 'file'), 'changed');
	for (const round of [1, 2, 3]) {
		const { status, json, text } = await restore(server, dir, archivePath);
		assert.deepEqual([status, json.mounted, json.dir], [200, true, dir], text);
		assert.deepEqual(overlays(server.cwd), [dir], 'one mount, and no older one below it');
		assert.deepEqual(readdirSync(dir).sort(), ['deep', 'file'], `round ${round}`);
		assert.equal(readFileSync(path.join(dir, 'file'), 'utf8'), 'saved');
		assert.equal(statSync(dir).mode & 0o777, 0o755);
		assert.equal(records(server).length, 1);
		writeFileSync(path.join(dir, 'file'), `changed ${round}`);
		writeFileSync(path.join(dir, 'new'), '');
		rmSync(path.join(dir, 'deep'), { recursive: true });
		assert.equal((await server.api.call('POST', '/api/run', { command: 'cat file; ls -1', cwd: dir })).stdout, `changed ${round}file\nnew\n`);
	}
	// The mounted directory can be saved again.
	const second = path.join(path.dirname(archivePath), 'b.sqsh');
	assert.equal((await server.api.raw('POST', '/api/backup/create', { dir, archivePath: second })).status, 200);
	assert.match(execFileSync('unsquashfs', ['-lc', second], { encoding: 'utf8' }), /new/);
});

mounting('a mount survives the server, and its own dead process is replaced', async (server, dir, archivePath) => {
	assert.equal((await restore(server, dir, archivePath)).json.mounted, true);
	writeFileSync(path.join(dir, 'mine'), 'mine');
	for (const signal of ['SIGKILL', 'SIGTERM']) {
		await server.kill(signal);
		await server.start();
		assert.equal(readFileSync(path.join(dir, 'mine'), 'utf8'), 'mine', signal);
	}
	const record = records(server)[0];
	const pid = Number(spawnSync('pgrep', ['-f', `fuse-overlayfs.*${record}/lower`], { encoding: 'utf8' }).stdout);
	assert.ok(pid > 0);
	kill(pid, 'SIGKILL');
	await until('a dead mount', () => { try { readdirSync(dir); return false; } catch (error) { return error.code === 'ENOTCONN'; } });
	const { status, json, text } = await restore(server, dir, archivePath);
	assert.deepEqual([status, json.mounted], [200, true], text);
	assert.deepEqual(readdirSync(dir).sort(), ['deep', 'file']);
	assert.equal(records(server).length, 1);
});

mounting('an archive is mounted in one place at a time', async (server, dir, archivePath) => {
	const elsewhere = path.join(server.cwd, 'elsewhere');
	assert.equal((await restore(server, dir, archivePath)).json.mounted, true);
	assert.equal((await restore(server, elsewhere, archivePath)).json.mounted, true);
	assert.deepEqual(overlays(server.cwd), [elsewhere]);
	assert.equal(readFileSync(path.join(dir, 'file'), 'utf8'), 'saved', 'the directory below the mount');
});

mounting('failures leave no mount, and the directory unchanged', async (server, dir, archivePath) => {
	writeFileSync(path.join(dir, 'file'), 'changed');
	const damaged = path.join(path.dirname(archivePath), 'damaged.sqsh');
	writeFileSync(damaged, Buffer.concat([readFileSync(archivePath).subarray(0, 200), Buffer.alloc(5000)]));
	for (const [archive, mount] of [[damaged, true], [`${archivePath}.none`, true]]) {
		const { status, json } = await restore(server, dir, archive, mount);
		assert.deepEqual([status, json.code], [500, 'BACKUP_RESTORE_FAILED']);
	}
	const { status, json } = await restore(server, dir, archivePath, 'yes');
	assert.deepEqual([status, json.code], [400, 'INVALID_BACKUP_CONFIG']);
	assert.deepEqual([mounts(server.cwd), records(server)], [[], []]);
	assert.equal(readFileSync(path.join(dir, 'file'), 'utf8'), 'changed');
});

mounting('without FUSE, or without the option, the archive is extracted', async (server, dir, archivePath) => {
	const { status, json } = await restore(server, dir, archivePath, null);
	assert.deepEqual([status, json.mounted, mounts(server.cwd)], [200, false, []]);
	// The workspace holds the archives: a mount would hide them.
	const whole = await restore(server, server.cwd, archivePath);
	assert.deepEqual([whole.status, whole.json.mounted], [200, false], whole.text);
	assert.ok(existsSync(archivePath));
});

mounting('the server is killed at any moment of it: the old or the new mount is there', async (server, dir, archivePath) => {
	assert.equal((await restore(server, dir, archivePath)).json.mounted, true);
	for (let i = 0; i < 10; i++) {
		const pending = restore(server, dir, archivePath).catch((error) => error);
		await new Promise((resolve) => { setTimeout(resolve, 5 + i * 20); }); // kill the server at different moments
		await server.kill('SIGKILL');
		await pending;
		await server.start();
		await until('a mount', () => overlays(server.cwd).length === 1);
		assert.deepEqual(readdirSync(dir).sort(), ['deep', 'file'], `round ${i}`);
	}
	await until('a mount that replaces the stale one', async () => (await restore(server, dir, archivePath)).json.mounted && records(server).length === 1);
	assert.deepEqual(overlays(server.cwd), [dir]);
});
