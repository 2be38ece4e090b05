// `ringside` inside a session: it finds its server and its session; messages to all clients of the session.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { request } from './lib/api.mjs';
import { cli, socketOf } from './lib/cli.mjs';
import { binaries, inSandboxes, scenario } from './lib/server.mjs';
import { EventStream } from './lib/sse.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const USAGE = 2, FAILED = 125;

shared('it finds its server and its session', { skip: inSandboxes && 'a sandbox hides the socket' }, async (server) => {
	await server.session({ id: 'box' });
	const inside = async (words) => {
		const { code, stdout, stderr } = await cli(server, ['exec', '--pipes', '--env', `PATH=${binaries}:${process.env.PATH}`, 'box', words]);
		return { code, stdout, stderr };
	};
	assert.equal((await inside('echo "$RINGSIDE_SESSION $RINGSIDE_SOCKET"')).stdout, `box ${socketOf(server)}\n`);
	assert.equal((await inside('ringside ls --names')).stdout, 'box\n');
	assert.deepEqual(await inside('ringside rename "Ein Name"'), { code: 0, stdout: '', stderr: '' });
	assert.equal((await server.api.get('box')).name, 'Ein Name');
	assert.match((await inside('ringside share')).stdout, /#link=/);
	const within = await inside('ringside attach box');
	assert.match(within.stderr, /this is session box: it cannot be shown within itself/);
	for (const words of ['env -u RINGSIDE_SESSION ringside attach box', `ringside --socket ${socketOf(server)} attach box`, 'setsid -w ringside --socket "$RINGSIDE_SOCKET" attach'])
		assert.match((await inside(words)).stderr, /this is session box: it cannot be shown within itself/, words);
	await server.api.open({ id: 'other' });
	assert.equal((await inside('ringside rename other Anders')).code, 0);
	assert.equal((await server.api.get('other')).name, 'Anders');
	assert.equal((await cli(server, ['run', 'echo "<$RINGSIDE_SESSION>$RINGSIDE_SOCKET"'])).stdout, '<>\n', 'a run has no session');
	assert.equal((await cli(server, ['rename', 'x'])).code, USAGE, 'outside a session the command requires a name');
	assert.equal((await cli(server, ['share'])).code, USAGE);
});

shared('notify and open: an event, and a message to all clients', async (server) => {
	await server.session({ id: 'box' });
	const client = await server.client({ sessionId: 'box' }).connect();
	await client.untilReady();
	const events = new EventStream(server, '/api/session/box/stream?types=notification');
	const env = { RINGSIDE_SESSION: 'box' };
	const good = async (...args) => {
		const { code, stdout, stderr } = await cli(server, args, { env });
		assert.deepEqual([code, stdout, stderr], [0, '', ''], args.join(' '));
	};
	await good('notify', 'tests', 'are', 'green');
	await good('notify', '--title', 'Bau', '-s', 'box', 'ferti\u{1f44d}g');
	await good('open', 'https://example.com/x?a=1#b');
	await server.api.input('box', 'printf "\\033]777;notify;Prog;said\\007"\r');
	const messages = await until('all four messages', () => {
		const found = client.messages.filter(({ type }) => type === 'notification');
		return found.length >= 4 && found;
	});
	assert.deepEqual(messages.map(({ title, text }) => [title, text]), [
		[null, 'tests are green'], ['Bau', 'ferti\u{1f44d}g'], [null, 'https://example.com/x?a=1#b'], ['Prog', 'said']]);
	const seen = await until(() => `the events ${JSON.stringify([events.status, events.events])}`, () => {
		const found = events.events.filter(({ type }) => type === 'notification');
		return found.length >= 4 && found;
	});
	assert.deepEqual(seen.map(({ title, text }) => [title, text]), messages.map(({ title, text }) => [title, text]));
	events.terminate();
	// A later client does not get earlier messages.
	const late = await server.client({ sessionId: 'box' }).connect();
	await late.untilReady();
	await good('notify', 'another');
	const first = await until('a notification', () => late.messages.find(({ type }) => type === 'notification'));
	assert.equal(first.text, 'another');
	// Of a flood of messages the latest are sent, always including the last.
	for (let i = 0; i < 3; i += 1)
		await Promise.all(Array.from({ length: 20 }, (_, n) => server.api.call('POST', '/api/session/box/notify', { text: `flood ${i} ${n}` })));
	await good('notify', 'the last message');
	await until('the last message', () => late.messages.some(({ text }) => text === 'the last message'));

	for (const args of [['notify'], ['notify', '--title', 'x'], ['open'], ['open', 'javascript:alert(1)'], ['open', 'http://a', 'b']])
		assert.equal((await cli(server, args, { env })).code, USAGE, args.join(' '));
	for (const text of ['', 'two\nlines', '\x1b[31m', 'x'.repeat(1001), '\u202e'])
		assert.equal((await cli(server, ['notify', '--', text], { env })).code, FAILED, JSON.stringify(text));
	assert.equal((await cli(server, ['notify', 'x'], { env: { RINGSIDE_SESSION: '' } })).code, USAGE);
	assert.equal((await cli(server, ['notify', '-s', 'none', 'x'])).code, FAILED);
});

shared('url and token', async (server) => {
	const token = await cli(server, ['token']);
	assert.equal(token.stdout, `${server.token}\n`);
	assert.equal((await cli(server, ['url'])).stdout, `${server.base}/\n`);
	const whole = new URL((await cli(server, ['url', '--token'])).stdout.trim());
	const identity = await request(server.base, { path: '/api/auth/whoami', headers: { Authorization: `Bearer ${whole.hash.replace('#token=', '')}` } });
	assert.equal(identity.json.role, 'owner');
	await server.kill('SIGTERM');
	writeFileSync(path.join(server.root, 'elsewhere'), 'of-the-owner-elsewhere\n', { mode: 0o600 });
	await server.start({ args: ['--token-file', path.join(server.root, 'elsewhere')] });
	const stale = await cli(server, ['token']);
	assert.deepEqual([stale.code, stale.stdout], [FAILED, '']);
	assert.match(stale.stderr, /see --token-file/);
});

scenario('in a sandbox that hides the socket it says so', {
	args: ['--isolate'], skip: inSandboxes, ordinary: true,
}, async (server) => {
	await server.api.open({ id: 'box' });
	const bound = path.join(binaries, 'ringside');
	const { code, stderr } = await cli(server, ['exec', '--pipes', 'box', `${bound} ls`]);
	if (code === 127) return; // the sandbox hides the program as well
	assert.equal(code, 69);
	assert.match(stderr, /cannot be seen from in here \(--isolate\)/);
});
