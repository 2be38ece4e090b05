// The config file: its settings, their precedence, and the installed example. Its errors are tested in
// unit/ws/client/test_program.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cli, socketOf } from './lib/cli.mjs';
import { scenario } from './lib/server.mjs';
import { shared } from './lib/together.mjs';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
const example = readFileSync(path.join(root, 'ws/client/config.example'), 'utf8');

/** Write a config file; returns functions that use it. No other server is named. */
function config(server, ...lines) {
	const file = path.join(server.root, 'config', 'ringside', 'config');
	mkdirSync(path.dirname(file), { recursive: true });
	rmSync(file, { force: true });
	writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
	const env = { XDG_CONFIG_HOME: path.join(server.root, 'config'), RINGSIDE_SOCKET: '', XDG_RUNTIME_DIR: path.join(server.root, 'nowhere') };
	return { file, env, run: (args, more) => cli(server, args, { env: { ...env, ...more } }) };
}

shared("the server's address, and the precedence of settings", async (server) => {
	await server.session({ id: 's' });
	const token = path.join(server.dir, 'token');
	for (const lines of [[`socket = ${socketOf(server)}`], [`url = ${server.base}`, `token-file=${token}`], ['# words', '', '[ls]', 'json = no', '[exec]', 'queue', `  cwd\t=  /usr `, '[run]', 'json']]) {
		const { run } = config(server, 'no-start = yes', ...lines);
		const here = lines[0].startsWith('#') ? { RINGSIDE_SOCKET: socketOf(server) } : {};
		const ran = await run(['exec', 's', 'pwd'], here);
		assert.deepEqual([ran.code, ran.stderr], [0, ''], lines.join());
		assert.equal(ran.stdout === '/usr\n', lines.includes('[exec]'));
		if (lines.includes('[exec]')) assert.equal((await run(['exec', '--cwd', '/tmp', 's', 'pwd'], here)).stdout, '/tmp\n');
	}
	const { run, file } = config(server, 'socket = /nowhere', 'no-start', '[wait]', 'timeout = 0.2');
	assert.equal((await run(['ls'])).code, 69);
	assert.equal((await run(['ls', '--url', server.base, '--token-file', token])).code, 0);
	assert.equal((await run(['wait', '--exit', 's'], { RINGSIDE_SOCKET: socketOf(server) })).code, 124);
	// The default is in ~/.config; the environment may name another file, or none.
	assert.match((await run(['ls'], { RINGSIDE_CONFIG: '' })).stderr, /no server is running at .*ringside\.sock/);
	const named = path.join(server.root, 'named');
	writeFileSync(named, `socket = ${socketOf(server)}\n`, { mode: 0o600 });
	assert.equal((await run(['ls'], { RINGSIDE_CONFIG: named })).code, 0);
	symlinkSync(path.dirname(path.dirname(file)), path.join(server.root, '.config'));
	assert.match((await run(['ls'], { XDG_CONFIG_HOME: 'relative', HOME: server.root })).stderr, /nowhere/);
	// A token is only sent to the server that the same file names.
	const { run: other } = config(server, 'url = http://127.0.0.1:1', 'token-file = /nowhere');
	assert.equal((await other(['ls', '--url', server.base])).code, 125, 'the token is not sent');
	assert.equal((await other(['ls', '--url', server.base], { RINGSIDE_TOKEN: server.token })).code, 0);
});

shared('the command line overrides flags of the file; words of the command are not options', async (server) => {
	await server.session({ id: 's' });
	const here = { RINGSIDE_SOCKET: socketOf(server) };
	const { run } = config(server, '[ls]', 'json', '[exec]', 'isolate = yes', 'json = yes', '[run]', 'json');
	const is = async (args, pattern) => {
		const { code, stdout, stderr } = await run(args, here);
		assert.deepEqual([code, stderr], [0, ''], args.join(' '));
		assert.match(stdout, pattern, args.join(' '));
	};
	await is(['ls'], /^\[/);
	await is(['ls', '--no-json'], /^s /m);
	await is(['exec', '--no-json', 's', 'x=kept'], /^$/);
	await is(['exec', '--no-json', 's', 'echo "[$x]"'], /^\[\]\n$/);
	await is(['exec', '--no-json', '--no-isolate', 's', 'x=kept'], /^$/);
	await is(['exec', '--no-json', 's', 'echo "[$x]" --no-isolate'], /^\[kept\] --no-isolate\n$/);
	await is(['run', '--no-json', 'echo', '--no-json'], /^--no-json\n$/);
});

scenario('a server reads its options there; the command line overrides them', { start: false }, async (server) => {
	const { env } = config(server, '[serve]', 'listen = unix:/nowhere/at/all', 'scrollback = 123', 'verbose', 'no-auth = no');
	server.options.env = env;
	await server.start();
	assert.equal((await server.api.call('GET', '/api/ping')).success, true);
	const { run } = config(server, '[serve]', 'scrollback = many');
	const { code, stderr } = await run(['serve']);
	assert.equal(code, 2, stderr);
	assert.match(stderr, /--scrollback/);
});

scenario('a server that another command starts listens where the file says, if the default port is in use', { start: false, mayHaveDied: true }, async (server) => {
	const { file } = config(server, '[serve]', `listen = unix:${path.join(server.root, 'said.sock')}`);
	const env = { RINGSIDE_CONFIG: file, RINGSIDE_SOCKET: '', XDG_RUNTIME_DIR: server.root, RINGSIDE_TEST_ROOT: server.root };
	const listener = net.createServer();
	await new Promise((resolve) => listener.once('error', resolve).listen(7070, '127.0.0.1', resolve)); // or another process has it
	try {
		assert.deepEqual(await cli(server, ['new', 's'], { env }).then(({ code, stderr }) => [code, stderr]), [0, '']);
		assert.ok(existsSync(path.join(server.root, 'said.sock')));
		assert.doesNotMatch(readFileSync(path.join(server.root, 'ringside', 'server.log'), 'utf8'), /^Ringside is at http/m);
	} finally {
		listener.close();
		await cli(server, ['stop', '--kill'], { env });
	}
});

shared('the example has every option, with its default', async (server) => {
	const set = example.replace(/^#([a-z-]+ = )/gm, '$1');
	const count = set.split('\n').filter((line) => /^[a-z-]+ = /.test(line)).length;
	assert.ok(count > 35, `${count}`);
	const without = config(server, set.replace(/^url = .*$/m, ''));
	const bad = await without.run(['ls', '--socket', socketOf(server)]);
	assert.deepEqual([bad.code, bad.stderr], [0, '']);
	// It sets nothing as installed.
	assert.equal((await config(server, example).run(['ls', '--socket', socketOf(server)])).code, 0);
	for (const name of ['record', 'record-size', 'record-age', 'isolate', 'tasks-max', 'memory-max']) assert.match(set, new RegExp(`^${name} = `, 'm'));
	let section = '';
	const helps = new Map();
	for (const line of set.split('\n')) {
		section = /^\[(.+)\]$/.exec(line)?.[1] ?? section;
		const setting = /^([a-z-]+) = (.*)$/.exec(line);
		if (!setting || !section) continue;
		const [, name, value] = setting;
		if (!helps.has(section)) helps.set(section, (await cli(server, [section, '--help'])).stdout);
		const lines = helps.get(section).split('\n');
		const at = lines.findIndex((each) => new RegExp(`^ +(-.*)?--${name}\\b`).test(each));
		assert.ok(at >= 0, `${section} --${name}`);
		let words = lines[at];
		for (let next = at + 1; lines[next]?.startsWith('          ') && !lines[next].trim().startsWith('-'); next += 1) words += ` ${lines[next].trim()}`;
		const standard = /\(default:? ([^ ,;)]+)/.exec(words)?.[1] ?? (/(\w+) \(default\)/.exec(words)?.[1]);
		// Options without a fixed default have an example.
		if (standard && !['off', 'such', 'where', 'a', 'the', 'that', '$RINGSIDE_TOKEN'].includes(standard)) assert.equal(value, standard, `${section} ${name}: ${words}`);
		if (!/ [A-Z]/.test(words.slice(0, 28)) && !words.includes('WHAT')) assert.ok(value === 'no' || !/^(yes|no)$/.test(value), `${name} is a flag`);
	}
});
