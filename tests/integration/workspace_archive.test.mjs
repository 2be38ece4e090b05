// The workspace as an archive in /tmp, and back: of the preview, by its published client and by hand.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { next, nextNamespace } from '../sandbox/next.mjs';
import { scenario } from './lib/server.mjs';

console.debug = console.info = () => {};

const skip = process.env.RINGSIDE_ISOLATED === '1' ? 'with rooms there is no workspace outside of them' : false;
const archive = (server, body) => server.api.raw('POST', '/api/workspace/archive', body);
const extract = (server, body) => server.api.raw('POST', '/api/workspace/extract', body);
const listed = (tar) => execFileSync('tar', ['-tf', tar], { encoding: 'utf8' }).trim().split('\n').map((name) => name.replace(/^\.\/|\/$/g, '')).filter(Boolean).sort();

scenario('the workspace becomes an archive, and is what it was again', { skip }, async (server) => {
	const sandbox = next.getSandbox(nextNamespace(server), 'box');
	mkdirSync(path.join(server.cwd, 'node_modules/deep'), { recursive: true });
	mkdirSync(path.join(server.cwd, 'src/node_modules'), { recursive: true });
	for (const name of ['node_modules/deep/file', 'src/main.c', 'src/node_modules/kept', 'a.log']) writeFileSync(path.join(server.cwd, name), name);
	const tar = await sandbox.createWorkspaceArchive({ root: '/workspace', excludes: ['node_modules', './a.log'] });
	try {
		assert.match(tar, /^\/tmp\/sandbox-workspace-[0-9a-f]{32}\.tar$/);
		assert.equal(statSync(tar).mode & 0o777, 0o600);
		assert.deepEqual(listed(tar).filter((name) => /^(node_modules|src|a\.log)/.test(name)), ['src', 'src/main.c', 'src/node_modules', 'src/node_modules/kept']);
		assert.equal((await sandbox.readFile(tar, { encoding: 'base64' })).size, statSync(tar).size);
		writeFileSync(path.join(server.cwd, 'src/main.c'), 'changed');
		rmSync(path.join(server.cwd, 'src/node_modules'), { recursive: true });
		writeFileSync(path.join(server.cwd, 'src/new'), 'new');
		await sandbox.extractWorkspaceArchive({ root: '/workspace', archivePath: tar });
		assert.equal(readFileSync(path.join(server.cwd, 'src/main.c'), 'utf8'), 'src/main.c');
		assert.deepEqual(readdirSync(path.join(server.cwd, 'src')).sort(), ['main.c', 'new', 'node_modules'], 'what is there is merged');
		assert.equal(readFileSync(path.join(server.cwd, 'a.log'), 'utf8'), 'a.log');
		// Of a directory in it alone.
		const part = await sandbox.createWorkspaceArchive({ root: '/workspace/src' });
		assert.deepEqual(listed(part), ['main.c', 'new', 'node_modules', 'node_modules/kept']);
		await sandbox.cleanupWorkspaceArchive(part);
		assert.ok(!existsSync(part));
		await sandbox.cleanupWorkspaceArchive(part);
	} finally {
		await sandbox.cleanupWorkspaceArchive(tar);
	}
	assert.ok(!existsSync(tar));
});

scenario('archives that are none, or lead elsewhere, change nothing', { skip }, async (server) => {
	const tar = `/tmp/sandbox-hydrate-${process.pid}-${Date.now()}.tar`;
	const before = () => readdirSync(server.cwd).sort();
	writeFileSync(path.join(server.cwd, 'file'), 'as it was');
	const was = before();
	const odd = path.join(server.home, 'odd');
	mkdirSync(path.join(odd, 'in'), { recursive: true });
	writeFileSync(path.join(odd, 'in/file'), 'changed');
	symlinkSync('/tmp', path.join(odd, 'in/link'));
	try {
		for (const [make, why] of [
			[() => writeFileSync(tar, ''), /damaged, or no tar archive/],
			[() => writeFileSync(tar, 'x'.repeat(5000)), /damaged, or no tar archive/],
			[() => execFileSync('tar', ['-cPf', tar, '--transform=s,^file,../file,', '-C', path.join(odd, 'in'), 'file']), /leads out/],
			[() => execFileSync('tar', ['-cPf', tar, '-C', path.join(odd, 'in'), 'link', '--transform=s,^file,link/file,', 'file']), /leads out/],
		]) {
			make();
			const { status, json, text } = await extract(server, { root: '/workspace', archivePath: tar });
			assert.deepEqual([status, json.code], [500, 'FILESYSTEM_ERROR'], text);
			assert.match(json.message, why);
			assert.deepEqual(before(), was);
			assert.equal(readFileSync(path.join(server.cwd, 'file'), 'utf8'), 'as it was');
		}
		rmSync(tar);
		assert.equal((await extract(server, { archivePath: tar })).json.code, 'FILE_NOT_FOUND');
		assert.equal((await archive(server, { root: '/workspace/none' })).json.code, 'FILE_NOT_FOUND');
	} finally {
		rmSync(tar, { force: true });
	}
	for (const [ask, body, field] of [
		...['/etc', '/', '/workspace/..', 'src', 5, '/workspace\0'].map((root) => [archive, { root }, 'root']),
		...['a', {}, [5], [''], ['../a'], ['a/../b'], Array(1025).fill('a')].map((excludes) => [archive, { excludes }, 'excludes']),
		...[undefined, '/etc/passwd', '/tmp/x.tar', '/tmp/sandbox-x', '/tmp/sandbox-/x.tar', '/tmp/sandbox-/../../etc/x.tar', 5].map((archivePath) => [extract, { archivePath }, 'archivePath']),
	]) {
		const { status, json, text } = await ask(server, body);
		assert.deepEqual([status, json.code, json.context.validationErrors[0].field], [400, 'VALIDATION_FAILED', field], `${JSON.stringify(body).slice(0, 100)}: ${text}`);
	}
});
