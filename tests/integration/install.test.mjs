// Files of `meson install`, and that they work there and after they were moved.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, readdirSync, readlinkSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { binaries, scenario, slowness } from './lib/server.mjs';

const about = (what) => JSON.parse(readFileSync(path.join(binaries, `meson-info/intro-${what}.json`), 'utf8'));
const options = Object.fromEntries(about('buildoptions').map(({ name, value }) => [name, value]));

/** Install into a directory of the test; returns the prefix in it. */
function install(server) {
	const destdir = path.join(server.root, 'destdir');
	execFileSync('meson', ['install', '-C', binaries, '--no-rebuild', '--quiet', '--destdir', destdir],
		{ timeout: 60_000 * slowness, stdio: ['ignore', 'ignore', 'inherit'] });
	return { destdir, prefix: path.join(destdir, options.prefix) };
}

const holderOf = async (server, id) => readlinkSync(`/proc/${(await server.run(id, 'echo $PPID')).trim()}/exe`);

scenario('every file is installed', { start: false, mayHaveDied: true }, (server) => {
	const { destdir, prefix } = install(server);
	const programs = ['bin/ringside', 'libexec/ringside/ringside-server', 'libexec/ringside/ringside-holder'];
	const others = ['share/man/man1/ringside.1', 'share/bash-completion/completions/ringside'];
	for (const place of [...programs, ...others]) assert.ok(existsSync(path.join(prefix, place)), place);
	const version = execFileSync(path.join(prefix, programs[0]), ['--version'], { encoding: 'utf8' });
	const release = about('projectinfo').version.replaceAll('.', '\\.');
	assert.match(version, new RegExp(`^ringside ${release}( \\((v[0-9.]+(-\\d+-g[0-9a-f]+)?|[0-9a-f]{12,40})(-dirty)?\\))?\n$`));
	const promised = Object.values(about('installed'));
	assert.ok(promised.length >= programs.length + others.length, 'the files that meson lists');
	for (const place of promised) {
		const { size, mode } = statSync(path.join(destdir, place));
		assert.ok(size > 0, place);
		const isProgram = programs.some((program) => place === path.join(options.prefix, program));
		assert.equal(mode & 0o7777, isProgram ? 0o755 : 0o644, place);
	}
	const units = promised.filter((place) => /\.(service|socket)$/.test(place));
	assert.deepEqual(units.map((place) => path.basename(place)).sort(),
		['ringside.service', 'ringside.socket', 'ringside@.service', 'ringside@.socket']);
	for (const unit of units.filter((place) => place.endsWith('.service')))
		assert.match(readFileSync(path.join(destdir, unit), 'utf8'), new RegExp(`^ExecStart=${options.prefix}/bin/ringside serve`, 'm'));
	const { stdout } = spawnSync('bash', ['--norc', '-c', '. "$0"; complete -p ringside', path.join(prefix, others[1])], { encoding: 'utf8' });
	assert.match(stdout, /^complete .* ringside$/m);
});

scenario('a session with the installed programs, also after they were moved', { start: false }, async (server) => {
	const { prefix } = install(server);
	const moved = path.join(server.root, 'an other place');
	server.options.binary = path.join(prefix, 'bin/ringside');
	await server.start();
	await server.session({ id: 'first' });
	assert.equal(await holderOf(server, 'first'), path.join(prefix, 'libexec/ringside/ringside-holder'));
	await server.kill('SIGTERM');
	renameSync(prefix, moved);
	// Those of the build tree must not be used here.
	for (const other of ['holder', 'server']) writeFileSync(path.join(moved, `bin/ringside-${other}`), '#!/bin/false\n', { mode: 0o755 });
	server.options.binary = path.join(moved, 'bin/ringside');
	await server.start();
	assert.equal(await server.run('first', 'echo kept'), 'kept\n');
	await server.session({ id: 'second' });
	assert.equal(await holderOf(server, 'second'), path.join(moved, 'libexec/ringside/ringside-holder'));
});

scenario('an incomplete installation', { start: false, mayHaveDied: true }, (server) => {
	const { prefix } = install(server);
	const only = path.join(server.root, 'bin');
	cpSync(path.join(prefix, 'bin'), only, { recursive: true });
	const { status, stderr } = spawnSync(path.join(only, 'ringside'), ['serve', '--listen', '127.0.0.1:0', '--runtime-dir', server.dir],
		{ encoding: 'utf8', timeout: 30_000 * slowness });
	assert.equal(status, 1);
	assert.match(stderr, /^ringside: .*\/ringside-server: No such file or directory\n$/);
	assert.deepEqual(readdirSync(only), ['ringside']);
	// The holder is missing.
	cpSync(path.join(prefix, 'libexec/ringside/ringside-server'), path.join(only, 'ringside-server'));
	const other = spawnSync(path.join(only, 'ringside'), ['serve', '--listen', '127.0.0.1:0', '--runtime-dir', server.dir],
		{ encoding: 'utf8', timeout: 30_000 * slowness });
	assert.equal(other.status, 1);
	assert.match(other.stderr, /^ringside: .*\/ringside-holder: No such file or directory\n$/);
	// ringside-server is not a command.
	const alone = spawnSync(path.join(only, 'ringside-server'), ['--listen', '127.0.0.1:0'], { encoding: 'utf8', timeout: 30_000 * slowness });
	assert.deepEqual([alone.status, alone.stderr], [2, 'ringside-server is started by ringside serve\n']);
});
