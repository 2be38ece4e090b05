// `ringside` alone, mistyped commands, and servers that commands start.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cli } from './lib/cli.mjs';
import { kill, processesNaming } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const USAGE = 2, NO_SERVER = 69, FAILED = 125;
const bare = { start: false, mayHaveDied: true };

/** An environment without a server: each server that a command starts uses the scenario's root as its runtime directory. */
async function alone(server, body) {
	const env = { RINGSIDE_SOCKET: '', XDG_RUNTIME_DIR: server.root, RINGSIDE_TEST_ROOT: server.root };
	const run = (args, options = {}) => cli(server, args, { ...options, env: { ...env, ...options.env } });
	const dir = path.join(server.root, 'ringside');
	try {
		return await body(run, dir);
	} finally {
		if (existsSync(path.join(dir, 'ringside.sock'))) {
			const { code, stderr } = await run(['stop', '--kill']);
			if (code !== NO_SERVER) assert.equal(code, 0, stderr);
		}
	}
}

const servers = (server) => processesNaming(server.root)
	.filter((pid) => /^(\S*\/)?ringside\0serve\0/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')));

scenario('ringside alone, help, version, and options before the command', bare, (server) => alone(server, async (run) => {
	const usage = await run([]);
	assert.equal(usage.code, 0);
	assert.match(usage.stdout, /^Ringside \d/);
	assert.ok(usage.stdout.split('\n').length < 20, 'it is short');
	for (const name of usage.stdout.matchAll(/^ {2}ringside (\w+)/gm))
		assert.equal((await run(['help', name[1]])).code, 0, name[1]);
	assert.equal(servers(server).length, 0, 'none of these starts a server');

	const { stdout: overview } = await run(['help']);
	assert.match(overview, /^ {2}serve +/m);
	assert.match(overview, /^ {2}attach +Show a session/m);
	assert.equal((await run(['--help'])).stdout, overview);
	assert.equal((await run(['help', 'ls'])).stdout, (await run(['ls', '--help'])).stdout);
	assert.match((await run(['serve', '--help'])).stdout, /^Usage: ringside serve/);
	assert.match((await run(['version'])).stdout, /^ringside \d+\.\d+/);
	// With the commit, if git was there to name it.
	const { version, commit } = JSON.parse((await run(['version', '--json'])).stdout);
	assert.equal((await run(['version'])).stdout, `ringside ${version}${commit ? ` (${commit})` : ''}\n`);
	assert.ok(commit === null || /^(v[0-9.]+(-\d+-g[0-9a-f]+)?|[0-9a-f]{7,40})(-dirty)?$/.test(commit), commit);
	const elsewhere = path.join(server.root, 'no.sock');
	assert.match((await run(['--no-start', `--socket=${elsewhere}`, '--json', 'ls', '--names'])).stderr, /no server is running at .*no\.sock/);
}));

scenario('an unknown command is reported with the nearest one', bare, (server) => alone(server, async (run) => {
	for (const [args, words] of [
		[['attch'], /no command 'attch': did you mean 'attach'\?/],
		[['help', 'scren'], /did you mean 'screen'\?/],
		[['quite-another'], /no command 'quite-another'; ringside help/],
		[['a\x1b]0;x\x07'], /no command 'a\?\]0;x\?'/],
		[['x'.repeat(5000)], /no command 'x{80}'/],
		[[''], /no command ''/],
		[['--listen', '127.0.0.1:0'], /no option '--listen' before a command/],
		[['--socket'], /no value for '--socket'/],
	]) {
		const { code, stdout, stderr } = await run(args);
		assert.match(stderr, words, args.join(' '));
		assert.deepEqual([code, stdout], [USAGE, ''], args.join(' '));
	}
	assert.equal(servers(server).length, 0);
}));

scenario('a command that needs a server starts one, once, in the background', bare, (server) => alone(server, async (run, dir) => {
	for (const args of [['ls'], ['new', '--no-start'], ['--no-start', 'new'], ['new', '--socket', path.join(dir, 'ringside.sock')]])
		assert.equal((await run(args)).code, NO_SERVER, args.join(' '));
	assert.equal((await run(['run', '--no-start', 'true'])).code, FAILED);
	assert.equal((await run(['new', '--url', 'http://127.0.0.1:1'])).code, NO_SERVER);
	assert.equal(servers(server).length, 0);

	const made = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((id) => run(['new', id])));
	assert.deepEqual(made.map(({ code, stderr }) => [code, stderr]), Array(6).fill([0, '']));
	assert.equal(servers(server).length, 1, 'exactly one server is started');
	assert.deepEqual((await run(['ls', '--names'])).stdout.trim().split('\n').sort(), ['a', 'b', 'c', 'd', 'e', 'f']);
	const [pid] = servers(server);
	assert.equal(Number(/^\d+ \(.*\) \S \d+ \d+ (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))[1]), pid, 'its own kernel session');
	assert.match(readFileSync(path.join(dir, 'server.log'), 'utf8'), /^Ringside is at http/m);
	assert.equal(statSync(path.join(dir, 'server.log')).mode & 0o777, 0o600);
	assert.equal((await run(['new', 'g'])).code, 0);
	assert.deepEqual(servers(server), [pid]);

	// Its sessions are back when any command starts the next server.
	kill(pid, 'SIGKILL');
	await until('the end of the server', () => servers(server).length === 0);
	assert.equal((await run(['ls'])).code, NO_SERVER);
	const done = await run(['run', 'echo here; exit 4']);
	assert.deepEqual([done.code, done.stdout], [4, 'here\n']);
	assert.match((await run(['ls', '--names'])).stdout, /^g$/m);

	assert.equal((await run(['stop'])).code, 0);
	assert.equal(servers(server).length, 0);
	assert.equal((await run(['stop'])).code, NO_SERVER);
	const hello = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`;
	assert.equal(JSON.parse((await run(['mcp'], { input: hello })).stdout).id, 1);
}));

scenario('a server that cannot start is reported with its own message', bare, (server) => alone(server, async (run, dir) => {
	mkdirSync(dir, { mode: 0o700 });
	writeFileSync(path.join(dir, 'sessions'), 'no directory', { mode: 0o600 });
	writeFileSync(path.join(dir, 'server.log'), 'old words\n'.repeat(500_000), { mode: 0o600 });
	const { code, stderr } = await run(['new']);
	assert.equal(code, NO_SERVER);
	assert.match(stderr, /the server that was started has ended: .*: Not a directory/);
	assert.equal((await run(['run', 'true'])).code, FAILED);
	assert.match(readFileSync(path.join(dir, 'server.log'), 'utf8'), /^ringside: [^\n]*\nringside: [^\n]*\n$/, 'a log that is too long is moved');
	assert.match(readFileSync(path.join(dir, 'server.log.1'), 'utf8'), /^old words/);
}));
