// Backups: round trips with the published client and by hand; hostile archives and configurations; cancelled backups.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, linkSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { everyTransport } from '../sandbox/local.mjs';
import { mounted } from './lib/mounted.mjs';
import { cmdline, kill, processesNaming, status } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const root = process.getuid() === 0;
const script = (text, ...args) => execFileSync('bash', ['-ec', text, 'bash', ...args], { encoding: 'utf8', stdio: 'pipe' });
const post = (server, what, body) => server.api.raw('POST', `/api/backup/${what}`, body);
const keep = (server) => path.join(server.cwd, '.ringside-backups');
const archive = (server, name = 'a.sqsh') => path.join(keep(server), name);
const listed = (file) => execFileSync('unsquashfs', ['-lc', file], { encoding: 'utf8' }).split('\n')
	.map((line) => line.replace(/^squashfs-root\/?/, '')).filter(Boolean).sort();
const stages = (dir) => readdirSync(dir).filter((name) => /^\.ringside-(restore|backup)-/.test(name));

/** A project, and all its names but those of directories that are not empty. */
function project(server) {
	const dir = path.join(server.cwd, 'project'), at = (name) => path.join(dir, name);
	for (const each of ['src/deep', 'node_modules/x', 'src/node_modules']) mkdirSync(at(each), { recursive: true });
	for (const each of ['file', 'src/a.log', 'src/deep/b.log', 'src/deep/c', 'node_modules/x/y', 'src/node_modules/z', '#hash', ' blank', 'st*r', 'stir', 'it\'s "q"', 'läng'])
		writeFileSync(at(each), each);
	chmodSync(at('file'), 0o751);
	symlinkSync('/etc/hostname', at('link'));
	return dir;
}
const everything = [' blank', '#hash', 'file', 'it\'s "q"', 'link', 'läng', 'node_modules/x/y', 'src/a.log', 'src/deep/b.log', 'src/deep/c', 'src/node_modules/z', 'st*r', 'stir'].sort();

async function saved(server, dir, body = {}) {
	const { status, json, text } = await post(server, 'create', { dir, archivePath: archive(server), ...body });
	assert.equal(status, 200, text);
	assert.equal(json.sizeBytes, statSync(json.archivePath).size);
	return json.archivePath;
}

for (const [transport, make] of Object.entries(everyTransport))
	shared(`the published client saves and restores, over ${transport}`, async (server) => {
		const client = make(server), dir = project(server);
		try {
			await client.utils.createSession({ id: 's', cwd: server.cwd });
			const made = await client.backup.createArchive(dir, archive(server), 's', { excludes: ['**/node_modules/**'], compression: { format: 'zstd', threads: 2 } });
			assert.deepEqual([made.success, made.archivePath, made.sizeBytes], [true, archive(server), statSync(archive(server)).size]);
			writeFileSync(path.join(dir, 'file'), 'changed');
			writeFileSync(path.join(dir, 'new'), '');
			const back = await client.backup.restoreArchive(dir, archive(server), 's');
			assert.deepEqual([back.success, back.dir], [true, dir]);
			assert.equal(readFileSync(path.join(dir, 'file'), 'utf8'), 'file');
			assert.ok(!existsSync(path.join(dir, 'new')) && !existsSync(path.join(dir, 'node_modules')));
			assert.equal(statSync(path.join(dir, 'file')).mode & 0o7777, 0o751);
			assert.equal(readlinkSync(path.join(dir, 'link')), '/etc/hostname');
			const error = await client.backup.restoreArchive(dir, archive(server, 'none'), 's').catch((e) => e);
			assert.deepEqual([error.code, error.httpStatus], ['BACKUP_RESTORE_FAILED', 500]);
			assert.deepEqual(stages(server.cwd), []);
		} finally {
			client.disconnect();
		}
	});

shared('excluded files', async (server) => {
	const dir = project(server);
	const without = async (body) => listed(await saved(server, dir, body));
	const but = (gone) => everything.filter((name) => !gone.test(name));
	assert.deepEqual(await without({}), everything);
	for (const [excludes, gone] of [
		[['node_modules', '*.log'], /node_modules|\.log$/], [['/node_modules', '**/src/**/deep/**/*.log'], /^node_modules|deep\/b\.log/], [['deep/*.log', '"q"', '$(touch hacked)', '`id`', '-all-root'], /(?!)/],
		[['src/deep/', '#hash', ' blank', 'st\\*r'], /deep|#hash| blank|st\*r/], [['st[*]r', 'l*ng'], /st\*r|läng/], [['st*r'], /^st/],
	])
		assert.deepEqual(await without({ excludes }), but(gone), JSON.stringify(excludes));
	assert.deepEqual(await without({ excludes: Array.from({ length: 1000 }, (_, i) => `${'x'.repeat(1000)}${i}`) }), everything);
	assert.deepEqual(await without({ gitignore: true }), everything, 'git ignores nothing here');
	script('cd "$1"; git init -q .; printf \'node_modules\\n*.log\\nst\\\\*r\\n#not\\n\\\\#hash\\n\\\\ blank\\n\' >.gitignore', dir);
	const kept = (await without({ gitignore: true })).filter((name) => !name.startsWith('.git'));
	assert.deepEqual(kept, but(/node_modules|\.log$|st\*r|#hash| blank/));
	for (const format of ['gzip', 'lz4', 'zstd']) await saved(server, dir, { compression: { format, threads: 1000000 } });
});

shared('a backup needs only a directory, and excludes archives in the workspace', async (server) => {
	project(server);
	const { status, json, text } = await post(server, 'create', { dir: server.cwd });
	assert.equal(status, 200, text);
	assert.ok(json.archivePath.startsWith('/var/backups/ringside/') || json.archivePath.startsWith(`${keep(server)}/`), json.archivePath);
	try {
		await saved(server, server.cwd);
		const names = listed(archive(server));
		assert.ok(names.includes('project/file') && !names.some((name) => name.includes('ringside')), names.join());
		rmSync(path.join(server.cwd, 'project'), { recursive: true });
		writeFileSync(path.join(server.cwd, 'late'), '');
		for (const file of [json.archivePath, archive(server)]) {
			const back = await post(server, 'restore', { dir: server.cwd, archivePath: file });
			assert.equal(back.status, 200, back.text);
			assert.equal(readFileSync(path.join(server.cwd, 'project/file'), 'utf8'), 'file');
			assert.ok(existsSync(archive(server)) && !existsSync(path.join(server.cwd, 'late')));
		}
		const elsewhere = await post(server, 'restore', { dir: path.join(server.cwd, 'a/new one'), archivePath: archive(server) });
		assert.equal(elsewhere.status, 200, elsewhere.text);
		assert.ok(existsSync(path.join(server.cwd, 'a/new one/project/file')));
	} finally {
		rmSync(json.archivePath, { force: true });
	}
});

shared('refused requests', async (server) => {
	const dir = project(server), archivePath = archive(server);
	await saved(server, dir);
	for (const body of [
		{}, { dir: 1 }, { dir: '' }, { dir: 'project' }, { dir: '/etc' }, { dir: '/tmp/../etc' }, { dir: '/tmp/..' }, { dir: `${dir}\0x` }, { dir: `${dir}\n` }, { dir: `/tmp/${'x'.repeat(5000)}` },
		{ dir: '/homeless' }, { dir, archivePath: 1 }, { dir, archivePath: '' }, { dir, archivePath: '/etc/x' }, { dir, archivePath: '/var/backups' }, { dir, archivePath: '/var/backups/' },
		{ dir, archivePath: '/var/backups/../x' }, { dir, archivePath: '/var/backupsx/y' }, { dir, archivePath: path.join(dir, 'x') }, { dir, archivePath: keep(server) },
		{ dir, archivePath: './x' }, { dir, archivePath: `${archivePath}\nx` },
		{ dir, compression: 'lz4' }, { dir, compression: { format: 'xz' } }, { dir, compression: { format: 1 } }, { dir, compression: { threads: 0 } }, { dir, compression: { threads: 1.5 } },
		{ dir, compression: { threads: '1' } }, { dir, gitignore: 1 }, { dir, excludes: 'x' }, { dir, excludes: [1] }, { dir, excludes: [''] }, { dir, excludes: ['../x'] }, { dir, excludes: ['a\0b'] },
		{ dir, excludes: Array.from({ length: 1001 }, () => 'x') },
	]) {
		const { status, json } = await post(server, 'create', body);
		assert.deepEqual([status, json.code], [400, 'INVALID_BACKUP_CONFIG'], JSON.stringify(body).slice(0, 200));
	}
	for (const body of [{ dir }, { archivePath }, { dir: '/tmp', archivePath }, { dir: '/home/', archivePath }, { dir: '/tmp/.', archivePath }, { dir: '/', archivePath }, { dir, archivePath: '/etc/passwd' }]) {
		const { status, json } = await post(server, 'restore', body);
		assert.deepEqual([status, json.code], [400, 'INVALID_BACKUP_CONFIG'], JSON.stringify(body));
	}
	const gone = await post(server, 'create', { dir: `${dir}/none`, archivePath });
	assert.deepEqual([gone.status, gone.json.code, gone.json.context.operation], [500, 'BACKUP_CREATE_FAILED', 'backup.create']);
	const file = await post(server, 'restore', { dir: `${dir}/file`, archivePath });
	assert.deepEqual([file.status, file.json.code], [500, 'BACKUP_RESTORE_FAILED']);
	assert.equal(readFileSync(`${dir}/file`, 'utf8'), 'file');
});

const few = mkdtempSync(path.join(os.tmpdir(), 'rs-few-'));
symlinkSync('/bin/bash', path.join(few, 'bash'));
process.on('exit', () => rmSync(few, { recursive: true }));
scenario('without squashfs-tools the error says what to install', { env: { PATH: few } }, async (server) => {
	for (const what of ['create', 'restore']) {
		const { status, json } = await post(server, what, { dir: server.cwd, archivePath: archive(server) });
		assert.equal(status, 500);
		assert.match(json.message, /install squashfs-tools/);
	}
});

/** Archives with uncompressed tables, so that their names can be replaced by ones that mksquashfs never makes. */
const plain = ['-noI', '-noD', '-noF', '-noX', '-no-progress', '-quiet', '-noappend', '-no-recovery'];
function forge(server, name, make, from, to) {
	const dir = path.join(server.root, `forge-${name}`), file = archive(server, name);
	mkdirSync(dir);
	mkdirSync(keep(server), { recursive: true });
	script(`cd "$1"; ${make}`, dir);
	execFileSync('mksquashfs', [dir, file, ...plain], { stdio: 'pipe' });
	if (from) {
		const bytes = readFileSync(file), at = bytes.lastIndexOf(from);
		assert.ok(at > 0, name);
		bytes.write(to, at, 'latin1');
		writeFileSync(file, bytes);
	}
	return file;
}

shared('hostile archives change nothing', async (server) => {
	const dir = path.join(server.cwd, 'd'), outside = path.join(server.root, 'outside');
	mkdirSync(outside);
	mkdirSync(dir);
	writeFileSync(path.join(dir, 'mine'), 'mine');
	const bad = {
		'up': forge(server, 'up', 'echo x >zzzz; mkdir qqwx; echo x >qqwx/f', 'qqwx', '../w'),
		'dots': forge(server, 'dots', 'mkdir q9; echo x >q9/f', 'q9', '..'),
		'absolute': forge(server, 'absolute', 'echo x >Xetcx', 'Xetcx', '/etcx'),
		'twice': forge(server, 'twice', `ln -s '${outside}' qqa1; mkdir qqa2; echo x >qqa2/escaped`, 'qqa2', 'qqa1'),
		'junk': archive(server, 'junk'), 'empty': archive(server, 'empty'), 'cut': archive(server, 'cut'), 'a directory': archive(server, 'dir'),
		'fifo': archive(server, 'fifo'),
	};
	if (root) bad.device = forge(server, 'device', 'mkdir a; mknod a/null c 1 3');
	writeFileSync(bad.junk, 'hsqs'.padEnd(9000, '\xff'), 'latin1');
	writeFileSync(bad.empty, '');
	const whole = readFileSync(forge(server, 'whole', 'head -c 300000 /dev/urandom >f'));
	writeFileSync(bad.cut, whole.subarray(0, whole.length / 2));
	mkdirSync(bad['a directory']);
	script('mkfifo "$1"', bad.fifo);
	for (const [name, archivePath] of Object.entries(bad)) {
		const { status, json, text } = await post(server, 'restore', { dir, archivePath });
		assert.deepEqual([status, json.code], [500, 'BACKUP_RESTORE_FAILED'], `${name}: ${text}`);
		assert.deepEqual(readdirSync(dir), ['mine'], name);
		assert.deepEqual(readdirSync(outside), [], name);
		assert.deepEqual(readdirSync(server.cwd).sort(), ['.ringside-backups', 'd'], name);
	}
	// A link in place of the archives' directory would lead out of the workspace.
	const link = forge(server, 'link', `ln -s '${outside}' .ringside-backups; echo x >f`);
	const { status, json } = await post(server, 'restore', { dir: server.cwd, archivePath: link });
	assert.deepEqual([status, json.code], [500, 'BACKUP_RESTORE_FAILED']);
	assert.ok(lstatSync(keep(server)).isDirectory() && existsSync(link));
	assert.deepEqual([readdirSync(server.cwd).sort(), readdirSync(outside)], [['.ringside-backups', 'd'], []]);
});

/** Incompressible files that take a while to save. */
const large = (dir, mib) => script('mkdir -p "$1"; for i in $(seq "$2"); do head -c 1M /dev/urandom >"$1/$i"; done', dir, String(mib));

/** Send a request without waiting for its response. */
function asked(server, what, body) {
	const request = http.request(`${server.base}/api/backup/${what}`, { agent: false, method: 'POST', headers: {
		Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' } }, (answer) => assert.fail(`answered with ${answer.statusCode}`));
	request.on('error', () => {}).end(JSON.stringify(body));
	return request;
}

/** Programs that stop before they make or extract an archive, so that they are still running when they are cancelled. */
const stopping = mkdtempSync(path.join(os.tmpdir(), 'rs-stopping-'));
chmodSync(stopping, 0o755);
for (const name of ['mksquashfs', 'unsquashfs'])
	writeFileSync(path.join(stopping, name), `#!/bin/sh\ncase $* in *-no-progress*) [ ! -e "\${0%/*}/stop" ] || kill -STOP $$ ;; esac\nPATH=\${PATH#*:} exec ${name} "$@"\n`, { mode: 0o755 });
process.on('exit', () => rmSync(stopping, { recursive: true }));
const stopped = (command, marker) => until(command, () => processesNaming(marker)
	.some((pid) => cmdline(pid).includes(`${stopping}/${command}`) && status(pid).State?.startsWith('T')));

scenario('a backup ends with its client', { env: { PATH: `${stopping}:${process.env.PATH}` } }, async (server) => {
	const dir = path.join(server.cwd, 'large');
	mkdirSync(dir);
	for (let i = 0; i < 64; i++) writeFileSync(path.join(dir, `${i}`), 'content');
	rmSync(path.join(stopping, 'stop'), { force: true });
	await saved(server, dir);
	const before = readFileSync(archive(server)).length, marker = `${server.cwd}/.ringside-`;
	writeFileSync(path.join(stopping, 'stop'), '');
	let request = asked(server, 'create', { dir, archivePath: archive(server) });
	await stopped('mksquashfs', marker);
	request.destroy();
	await until('the end of the program', () => processesNaming(marker).length === 0 && stages(keep(server)).length === 0);
	// Until the server has seen its end too, restoring the directory is refused.
	await until('the cancellation in the log', () => server.stderr.includes('end=cancelled'));
	assert.equal(statSync(archive(server)).size, before, 'the archive that was there');
	writeFileSync(path.join(dir, 'late'), 'late');
	request = asked(server, 'restore', { dir, archivePath: archive(server) });
	await stopped('unsquashfs', marker);
	request.destroy();
	await until('the end of the program', () => processesNaming(marker).length === 0 && stages(server.cwd).length === 0);
	assert.equal(readFileSync(path.join(dir, 'late'), 'utf8'), 'late');
	assert.equal(readdirSync(dir).length, 65);
});

scenario('an interrupted restoration leaves the directory unchanged, and the next one removes its leftovers', { env: { PATH: `${stopping}:${process.env.PATH}` } }, async (server) => {
	const dir = path.join(server.cwd, 'large'), marker = `${server.cwd}/.ringside-`;
	large(dir, 4);
	rmSync(path.join(stopping, 'stop'), { force: true });
	await saved(server, dir);
	writeFileSync(path.join(dir, 'late'), 'late');
	writeFileSync(path.join(stopping, 'stop'), '');
	const answer = post(server, 'restore', { dir, archivePath: archive(server) });
	await stopped('unsquashfs', marker);
	for (const pid of processesNaming(marker)) kill(pid);
	const killed = await answer;
	rmSync(path.join(stopping, 'stop'));
	assert.deepEqual([killed.status, killed.json.code, killed.json.context.exitCode], [500, 'BACKUP_RESTORE_FAILED', 137]);
	await until('the end of the program', () => processesNaming(marker).length === 0);
	assert.equal(readFileSync(path.join(dir, 'late'), 'utf8'), 'late');
	for (const name of stages(server.cwd)) script('touch -d "1 hour ago" "$1"', path.join(server.cwd, name));
	// Leftovers that no process holds are removed by the next restoration, and the directory that was moved away is
	// restored.
	const left = path.join(server.cwd, '.ringside-restore-0123456789');
	mkdirSync(path.join(left, 'new/x'), { recursive: true });
	mkdirSync(path.join(left, 'old/lost'), { recursive: true });
	script('touch -d "1 hour ago" "$1"', left);
	const { status, text } = await post(server, 'restore', { dir, archivePath: archive(server) });
	assert.equal(status, 200, text);
	assert.deepEqual(stages(server.cwd), []);
	assert.ok(existsSync(path.join(server.cwd, 'lost')) && !existsSync(path.join(dir, 'late')));
});

const disk = mounted('tmpfs', 'size=8m,mode=0700');
scenario('the disk is full', { skip: disk ? false : 'a small file system cannot be mounted here', cwd: disk }, async (server) => {
	const dir = path.join(server.root, 'large'), small = path.join(server.cwd, 'small');
	large(dir, 12);
	mkdirSync(small);
	writeFileSync(path.join(small, 'f'), 'f');
	const made = await post(server, 'create', { dir, archivePath: archive(server) });
	assert.deepEqual([made.status, made.json.code], [500, 'BACKUP_CREATE_FAILED'], made.text);
	assert.match(JSON.stringify(made.json), /No space left/);
	assert.deepEqual(readdirSync(keep(server)), ['.gitignore']);
	// The tree needs more space than there is, its archive hardly any.
	const zeros = path.join(server.root, 'zeros');
	script('mkdir "$1"; head -c 20M /dev/zero >"$1/zeros"', zeros);
	await saved(server, zeros);
	const back = await post(server, 'restore', { dir: small, archivePath: archive(server) });
	assert.deepEqual([back.status, back.json.code], [500, 'BACKUP_RESTORE_FAILED'], back.text);
	assert.match(back.json.message, /space/);
	assert.deepEqual(readdirSync(small), ['f']);
	assert.deepEqual(stages(server.cwd), []);
	// A file name that looks like a line of the listing with a negative size does not help. Holes need no space, but
	// may be filled.
	script('d=$\'x\\n-rw-r--r-- 0\'; mkdir "$1/$d"; touch "$1/$d/0 -99999999 2026-01-01 00:00 y"; rm "$1/zeros"; truncate -s 20M "$1/zeros"', zeros);
	await saved(server, zeros);
	const lie = await post(server, 'restore', { dir: small, archivePath: archive(server) });
	assert.deepEqual([lie.status, lie.json.code], [500, 'BACKUP_RESTORE_FAILED'], lie.text);
	assert.match(lie.json.message, /not enough space/);
	assert.deepEqual(readdirSync(small), ['f']);
	// The whole directory is a mount point: its contents are exchanged.
	await saved(server, small);
	const inside = await post(server, 'restore', { dir: server.cwd, archivePath: archive(server) });
	assert.equal(inside.status, 200, inside.text);
	assert.deepEqual(readdirSync(server.cwd).sort(), ['.ringside-backups', 'f']);
	assert.ok(existsSync(archive(server)));
});

shared('links are checked by their target, and files with several names keep their mode', async (server) => {
	const dir = path.join(server.cwd, 'dir'), link = path.join(server.cwd, 'link');
	mkdirSync(dir);
	writeFileSync(path.join(dir, 'file'), 'saved', { mode: 0o400 });
	await saved(server, dir);
	linkSync(path.join(dir, 'file'), path.join(server.cwd, 'other'));
	assert.equal((await post(server, 'restore', { dir, archivePath: archive(server) })).status, 200);
	assert.equal(statSync(path.join(server.cwd, 'other')).mode & 0o777, 0o400);
	for (const [target, what] of [['/etc/skel', 'create'], ['/proc/none', 'restore'], ['/proc/self', 'restore']]) {
		symlinkSync(target, link);
		const { status, json } = await post(server, what, { dir: link, archivePath: archive(server) });
		assert.deepEqual([status, /leads to .* not in the workspace/.test(json.message)], [500, true], json.message);
		rmSync(link);
	}
});

shared('mounts inside a directory are not emptied', { skip: disk ? false : 'nothing can be mounted here' }, async (server) => {
	// Of the same file system, and with a name that is hard to parse.
	const dir = path.join(server.cwd, 'dir 1'), below = path.join(dir, 'a 2 %s \\3'), source = path.join(server.cwd, 'source');
	mkdirSync(below, { recursive: true });
	mkdirSync(source);
	writeFileSync(path.join(source, 'file'), 'kept');
	await saved(server, dir);
	script('mount --bind "$1" "$2"', source, below);
	try {
		const { status, json } = await post(server, 'restore', { dir, archivePath: archive(server) });
		assert.deepEqual([status, json.message.includes(`mounted in the directory: ${below}`)], [500, true], json.message);
	} finally {
		script('umount "$1"', below);
	}
	assert.equal(readFileSync(path.join(source, 'file'), 'utf8'), 'kept');
	assert.equal((await post(server, 'restore', { dir, archivePath: archive(server) })).status, 200);
});

shared('twenty at once', async (server) => {
	const dir = path.join(server.cwd, 'large');
	large(dir, 12);
	await saved(server, dir);
	const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => post(server, 'create', { dir, archivePath: archive(server, `${i}.sqsh`) })));
	const good = answers.filter(({ status }) => status === 200);
	assert.ok(good.length >= 4, 'four at least');
	for (const { status, json } of answers)
		if (status !== 200) assert.deepEqual([status, json.code, json.context.maxBackups], [429, 'LIMIT_REACHED', 4]);
	for (const { json } of good) assert.ok(listed(json.archivePath).length >= 12);
	const back = await Promise.all(Array.from({ length: 20 }, () => post(server, 'restore', { dir, archivePath: archive(server) })));
	assert.ok(back.some(({ status }) => status === 200));
	for (const { status, json } of back)
		if (status !== 200) assert.deepEqual([status, json.code], [409, 'RESOURCE_BUSY']);
	assert.equal(readdirSync(dir).length, 12);
	assert.deepEqual(stages(server.cwd), []);
});
