// The config file: what it sets, what wins over it, what is wrong with it; and the example that is installed.
import assert from 'node:assert/strict';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cli, socketOf } from './lib/cli.mjs';
import { scenario } from './lib/server.mjs';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
const example = readFileSync(path.join(root, 'ws/client/config.example'), 'utf8');

/** A file of these lines, and how the command line is told of it: no other server is named. */
function config(server, ...lines) {
	const file = path.join(server.root, 'config', 'ringside', 'config');
	mkdirSync(path.dirname(file), { recursive: true });
	rmSync(file, { force: true });
	writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
	const env = { XDG_CONFIG_HOME: path.join(server.root, 'config'), RINGSIDE_SOCKET: '', XDG_RUNTIME_DIR: path.join(server.root, 'nowhere') };
	return { file, env, run: (args, more) => cli(server, args, { env: { ...env, ...more } }) };
}

scenario('which server, and what wins', async (server) => {
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
	assert.equal((await run(['ls', '--socket', socketOf(server)])).code, 0);
	assert.equal((await run(['--socket', socketOf(server), 'ls'])).code, 0);
	assert.equal((await run(['ls', '--url', server.base, '--token-file', token])).code, 0);
	assert.equal((await run(['ls'], { RINGSIDE_SOCKET: socketOf(server) })).code, 0);
	assert.equal((await run(['wait', '--exit', 's'], { RINGSIDE_SOCKET: socketOf(server) })).code, 124);
	// Without a directory of its own it is in ~/.config; another may be named, and none.
	assert.match((await run(['ls'], { RINGSIDE_CONFIG: '' })).stderr, /no server is running at .*ringside\.sock/);
	const named = path.join(server.root, 'named');
	writeFileSync(named, `socket = ${socketOf(server)}\n`, { mode: 0o600 });
	assert.equal((await run(['ls'], { RINGSIDE_CONFIG: named })).code, 0);
	symlinkSync(path.dirname(path.dirname(file)), path.join(server.root, '.config'));
	assert.match((await run(['ls'], { XDG_CONFIG_HOME: 'relative', HOME: server.root })).stderr, /nowhere/);
	// A token goes to the server that it stands beside, and to no other.
	const { run: other } = config(server, 'url = http://127.0.0.1:1', 'token-file = /nowhere');
	assert.match((await other(['ls'])).stderr, /\/nowhere/);
	assert.equal((await other(['ls', '--url', server.base])).code, 125, 'it has no token');
	assert.equal((await other(['ls', '--url', server.base], { RINGSIDE_TOKEN: server.token })).code, 0);
});

scenario('flags of the file are taken back on the command line, and the words of what is run are its own', async (server) => {
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
	await is(['ls', '--no-json', '--json'], /^\[/);
	await is(['exec', '--no-json', 's', 'x=kept'], /^$/);
	await is(['exec', '--no-json', 's', 'echo "[$x]"'], /^\[\]\n$/);
	await is(['exec', '--no-json', '--no-isolate', 's', 'x=kept'], /^$/);
	await is(['exec', '--no-json', 's', 'echo "[$x]" --no-isolate'], /^\[kept\] --no-isolate\n$/);
	await is(['exec', '--no-json', 's', 'echo', '--no-isolate', '--no-json'], /^--no-isolate --no-json\n$/);
	await is(['run', '--no-json', 'echo', '--no-json'], /^--no-json\n$/);
	const wrong = await run(['ls', '--no-nonsense'], here);
	assert.deepEqual([wrong.code, /there is no option --no-nonsense/.test(wrong.stderr)], [2, true], wrong.stderr);
});

scenario('what is wrong is told, with file and line and what was meant', async (server) => {
	for (const [lines, line, why] of [
		[['jso = yes'], 1, 'no option of all commands is called jso'], [['', 'sokcet = /x'], 2, 'did you mean socket?'], [['socket'], 1, 'needs a value'],
		[['[exce]', 'queue'], 2, 'there is no command exce (did you mean [exec]?)'], [['[exec]', '# x', 'queu'], 3, 'ringside exec has no option queu'],
		[['[exec]', 'queu'], 2, 'did you mean queue?'], [['[exec]', 'queue = perhaps'], 2, 'yes or no'], [['[serve]', 'ring-siez = 4M'], 2, 'did you mean ring-size?'],
		[['[serve]', 'help'], 2, 'no option help'], [['[exec'], 1, 'no [section]'], [['what is this'], 1, 'NAME = VALUE'], [['a\u001b[31m=b'], 1, 'control characters'],
	]) {
		const { run, file } = config(server, ...lines);
		for (const [command, status] of line > 1 ? [['ls', 2]] : [['exec', 125], ['serve', 2]]) {
			const { code, stdout, stderr } = await run([command, 's', 'true']);
			assert.deepEqual([code, stdout], [status, ''], lines.join());
			assert.ok(stderr.startsWith(`ringside: ${file}:${line}: `) && stderr.includes(why) && stderr.split('\n').length === 2, stderr);
		}
	}
	for (const helpful of [['help'], ['ls', '--help'], ['version']]) assert.equal((await config(server, 'wrong').run(helpful)).code, 0);
	assert.match((await config(server, 'url = http://x', 'socket = /x').run(['ls'])).stderr, /a server twice/);
	assert.match((await config(server, '#'.repeat(70_000)).run(['ls'])).stderr, /64 KiB/);
	assert.match((await config(server).run(['ls'], { RINGSIDE_CONFIG: '/nowhere/at/all' })).stderr, /\/nowhere\/at\/all: No such file/);
	assert.match((await config(server).run(['ls'], { RINGSIDE_CONFIG: '/' })).stderr, /is no file/);
	// Who may write it chooses the server.
	const { run, file } = config(server, `socket = ${socketOf(server)}`);
	assert.equal((await run(['ls'])).code, 0);
	for (const mode of [0o620, 0o602, 0o666]) {
		chmodSync(file, mode);
		const { code, stderr } = await run(['ls']);
		assert.equal(code, 2);
		assert.match(stderr, /may be written by others, who could choose the server/);
	}
	chmodSync(file, 0o600);
	chmodSync(path.dirname(file), 0o777);
	assert.match((await run(['ls'])).stderr, /others may put another in its place/);
	chmodSync(path.dirname(file), 0o700);
	if (process.getuid() === 0) {
		chownSync(file, 12345, 12345);
		assert.match((await run(['ls'])).stderr, /belongs to somebody else/);
	}
});

scenario('a server that is started has its options from there, and those of the command line in their place', async (server) => {
	const { env } = config(server, '[serve]', 'listen = unix:/nowhere/at/all', 'scrollback = 123', 'verbose', 'no-auth = no');
	await server.kill('SIGTERM');
	server.options.env = { ...server.options.env, ...env };
	await server.start();
	assert.equal((await server.api.call('GET', '/api/ping')).success, true);
	const { run } = config(server, '[serve]', 'scrollback = many');
	const { code, stderr } = await run(['serve']);
	assert.equal(code, 2, stderr);
	assert.match(stderr, /--scrollback/);
});

scenario('a server that is started where the usual port is taken listens where the file says', { start: false, mayHaveDied: true }, async (server) => {
	const { file } = config(server, '[serve]', `listen = unix:${path.join(server.root, 'said.sock')}`);
	const env = { RINGSIDE_CONFIG: file, RINGSIDE_SOCKET: '', XDG_RUNTIME_DIR: server.root, RINGSIDE_TEST_ROOT: server.root };
	const taken = net.createServer();
	await new Promise((resolve) => taken.once('error', resolve).listen(7070, '127.0.0.1', resolve)); // or somebody else has it
	try {
		assert.deepEqual(await cli(server, ['new', 's'], { env }).then(({ code, stderr }) => [code, stderr]), [0, '']);
		assert.ok(existsSync(path.join(server.root, 'said.sock')));
		assert.doesNotMatch(readFileSync(path.join(server.root, 'ringside', 'server.log'), 'utf8'), /^Ringside is at http/m);
	} finally {
		taken.close();
		await cli(server, ['stop', '--kill'], { env });
	}
});

scenario('the example: every option exists, and is what it is anyway', async (server) => {
	const set = example.replace(/^#([a-z-]+ = )/gm, '$1');
	const count = set.split('\n').filter((line) => /^[a-z-]+ = /.test(line)).length;
	assert.ok(count > 35, `${count}`);
	const without = config(server, set.replace(/^url = .*$/m, ''));
	const bad = await without.run(['ls', '--socket', socketOf(server)]);
	assert.deepEqual([bad.code, bad.stderr], [0, '']);
	// As it is installed it says nothing.
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
		// What has no fixed one is an example.
		if (standard && !['off', 'such', 'where', 'a', 'the', 'that', '$RINGSIDE_TOKEN'].includes(standard)) assert.equal(value, standard, `${section} ${name}: ${words}`);
		if (!/ [A-Z]/.test(words.slice(0, 28)) && !words.includes('WHAT')) assert.ok(value === 'no' || !/^(yes|no)$/.test(value), `${name} is a flag`);
	}
});
