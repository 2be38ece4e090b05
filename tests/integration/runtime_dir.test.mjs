// The runtime directory: which ones are accepted, and changes to it while a server runs.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { binary, scenario } from './lib/server.mjs';

const refused = (dir) => {
	const { status, stderr } = spawnSync(binary, ['serve', '--listen', '127.0.0.1:0', '--runtime-dir', dir], { encoding: 'utf8', timeout: 20_000 });
	assert.equal(status, 1, `${dir}: ${stderr}`);
	return stderr;
};

scenario('a directory of another user, and other files, are refused', { start: false, mayHaveDied: true }, async (server) => {
	const [real, link, file] = ['real', 'link', 'file'].map((name) => path.join(server.root, name));
	mkdirSync(real, { mode: 0o755 });
	symlinkSync(real, link);
	writeFileSync(file, '');
	for (const dir of [link, `${link}/`, `${link}//`, `${link}/.`, `${link}/./`, file]) assert.match(refused(dir), /is not a directory of this user/, dir);
	assert.match(refused(`${file}/`), /is not a directory of this user/);
	assert.deepEqual(readdirSync(real), [], 'no file is created');
	assert.equal(statSync(real).mode & 0o777, 0o755, 'the mode is unchanged');
	if (process.getuid() !== 0) return;
	chownSync(real, 65534, 65534);
	assert.match(refused(real), /is not a directory of this user/);
});

scenario('a directory that other users can write to', { start: false }, async (server) => {
	mkdirSync(server.dir);
	chmodSync(server.dir, 0o777);
	mkdirSync(path.join(server.dir, 'sessions'));
	assert.match(refused(server.dir), /others can write to it/);
	assert.equal(statSync(server.dir).mode & 0o777, 0o777, 'the mode is unchanged');
	rmSync(path.join(server.dir, 'sessions'), { recursive: true });
	// It is empty now. A directory that other users can read is made private. Slashes do not matter.
	server.dir = `${server.dir}//`;
	await server.start();
	assert.equal(statSync(server.dir).mode & 0o777, 0o700);
	await server.kill('SIGTERM');
	chmodSync(server.dir, 0o755);
	await server.start();
	assert.equal(statSync(server.dir).mode & 0o777, 0o700);
	await server.session({ id: 's' });
});

scenario('a directory that is replaced while a server runs', {}, async (server) => {
	await server.session({ id: 's' });
	const moved = path.join(server.root, 'moved');
	renameSync(server.dir, moved);
	for (const make of [() => {}, () => mkdirSync(server.dir, { mode: 0o700 }), () => writeFileSync(path.join(server.dir, 'lock'), '')]) {
		make();
		for (const [where, body] of [['/api/session/create', { id: 'new', cwd: server.cwd }], ['/api/process/start', { command: 'true', cwd: server.cwd }]]) {
			const { status, json } = await server.api.raw('POST', where, body);
			assert.equal(status, 500, JSON.stringify(json));
			assert.match(json.message, /runtime directory has been replaced or removed/);
		}
	}
	assert.equal(await server.run('s', 'echo goes on'), 'goes on\n');
	rmSync(server.dir, { recursive: true });
	renameSync(moved, server.dir);
	await server.session({ id: 'new' });
	assert.equal(await server.run('s', 'echo still'), 'still\n');
});
