// `ringside backup`: create and restore.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cli } from './lib/cli.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const USAGE = 2, FAILED = 125;
const listed = (file) => execFileSync('unsquashfs', ['-lc', file], { encoding: 'utf8' }).split('\n')
	.map((line) => line.replace(/^squashfs-root\/?/, '')).filter(Boolean).sort();

shared('create and restore', async (server) => {
	const at = (...names) => path.join(server.cwd, ...names);
	mkdirSync(at('project ü/deep'), { recursive: true });
	for (const name of ['file', 'a.log', 'deep/b.log', 'deep/c']) writeFileSync(at('project ü', name), name);
	const good = async (args, options) => {
		const result = await cli(server, ['backup', ...args], options);
		assert.deepEqual([result.code, result.stderr], [0, ''], args.join(' '));
		return result.stdout;
	};
	// A plain name, a relative path, an absolute path, and no path.
	assert.equal(await good(['create', 'project ü', 'first.sqsh']), `${at('.ringside-backups/first.sqsh')}\n`);
	assert.deepEqual(listed(at('.ringside-backups/first.sqsh')), ['a.log', 'deep/b.log', 'deep/c', 'file']);
	assert.equal(await good(['create', '.', '../.ringside-backups/second', '--exclude', '*.log', '--format', 'zstd', '--exclude=deep/c'], { cwd: at('project ü') }),
		`${at('.ringside-backups/second')}\n`);
	assert.deepEqual(listed(at('.ringside-backups/second')), ['deep', 'file']);
	const chosen = (await good(['create', at('project ü')])).trimEnd();
	assert.ok(statSync(chosen).size > 0, chosen);
	execFileSync('rm', ['-f', chosen]);
	const parsed = JSON.parse(await good(['create', '--json', 'project ü', 'third']));
	assert.deepEqual([parsed.sizeBytes, parsed.archivePath], [statSync(at('.ringside-backups/third')).size, at('.ringside-backups/third')]);

	writeFileSync(at('project ü/file'), 'changed');
	assert.equal(await good(['restore', '--extract', 'first.sqsh', 'project ü']), '');
	assert.equal(readFileSync(at('project ü/file'), 'utf8'), 'file');
	assert.equal(await good(['restore', at('.ringside-backups/second'), 'new/one']), '');
	assert.deepEqual(readdirSync(at('new/one')).sort(), ['deep', 'file']);
	assert.equal(JSON.parse(await good(['restore', 'first.sqsh', './new', '--json'])).mounted, false);
	assert.ok(existsSync(at('new/a.log')) && !existsSync(at('new/one')));
});

shared('errors name the cause', async (server) => {
	mkdirSync(path.join(server.cwd, 'dir'));
	const bad = async (code, pattern, args) => {
		const result = await cli(server, ['backup', ...args]);
		assert.equal(result.code, code, `${args.join(' ')}: ${result.stderr}`);
		assert.match(result.stderr, pattern, args.join(' '));
		assert.equal(result.stdout, '');
	};
	for (const args of [[], ['remove'], ['create'], ['restore'], ['restore', 'a'], ['create', 'a', 'b', 'c'], ['restore', 'a', 'b', 'c'], ['create', '--mount', 'dir'],
		['restore', '--gitignore', 'a', 'dir'], ['restore', '--exclude', 'x', 'a', 'dir'], ['create', '--exclude'], ['create', '--nonsense', 'dir']])
		await bad(USAGE, /./, args);
	await bad(FAILED, /directory does not exist/, ['create', 'none']);
	await bad(FAILED, /workspace, \/home/, ['create', '/etc']);
	await bad(FAILED, /archive does not exist/, ['restore', 'none.sqsh', 'dir']);
});

shared('Ctrl-C cancels it', async (server) => {
	const dir = path.join(server.cwd, 'dir');
	mkdirSync(dir);
	// Many bytes to read, but no work for the disk.
	for (let i = 0; i < 50; i++) {
		writeFileSync(path.join(dir, `${i}`), '');
		truncateSync(path.join(dir, `${i}`), 4e9);
	}
	const kept = path.join(server.cwd, '.ringside-backups');
	const stages = () => (existsSync(kept) ? readdirSync(kept) : []).filter((name) => name.startsWith('.ringside-backup-'));
	const result = await cli(server, ['backup', 'create', '--format', 'zstd', 'dir', 'a'], { started: async (child) => {
		await until('the stage of the backup', () => stages().length === 1);
		child.kill('SIGINT');
	} });
	assert.equal(result.signal, 'SIGINT', `${result.code} ${result.stderr}`);
	await until('the end of the stage', () => stages().length === 0);
	assert.ok(!existsSync(path.join(kept, 'a')));
});
