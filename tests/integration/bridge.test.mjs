// The bridge, /v1/sandbox: what OpenAI's Agents SDK does (with a small client like its CloudflareSandboxClient), and what it
// never does: paths and archives that escape, twenty terminals at once, a client that disconnects halfway.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, rmdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import WebSocket from 'ws';
import { request } from './lib/api.mjs';
import { cmdline } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { stays, until, within } from './lib/until.mjs';

const limit = 32 << 20;

/** A sandbox, by URL and token. */
class Sandbox {
	static async create(server) {
		const { status, json } = await request(server.base, { method: 'POST', path: '/v1/sandbox', headers: { Authorization: `Bearer ${server.token}` } });
		assert.equal(status, 200);
		assert.match(json.id, /^[a-z2-7]{26}$/);
		return new Sandbox(server, json.id);
	}

	constructor(server, id) {
		Object.assign(this, { server, id, url: `/v1/sandbox/${id}`, auth: { Authorization: `Bearer ${server.token}` } });
		this.dir = path.join(server.cwd, '.sandboxes', id);
	}

	ask(method, where, { body, headers = {}, octets = false } = {}) {
		return request(this.server.base, { method, path: `${this.url}${where}`, body, headers: { ...this.auth, ...(octets ? { 'Content-Type': 'application/octet-stream' } : {}), ...headers } });
	}

	async refused(status, code, method, where, options) {
		const answer = await this.ask(method, where, options);
		assert.equal(`${answer.status} ${answer.json?.code}`, `${status} ${code}`, `${method} ${where}: ${answer.text.slice(0, 300)}`);
		assert.equal(typeof answer.json.error, 'string');
		return answer.json;
	}

	/** Returns {stdout, stderr, exit_code} from the events in the form in which they came. */
	async exec(argv, { session, ...more } = {}) {
		const answer = await this.ask('POST', '/exec', { body: { argv, ...more }, headers: session ? { 'Session-Id': session } : {} });
		assert.equal(answer.status, 200, answer.text);
		assert.match(answer.headers['content-type'], /^text\/event-stream/);
		const result = { stdout: '', stderr: '' };
		for (const event of answer.text.split('\n\n').filter((each) => each && !each.startsWith(':'))) {
			const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? assert.fail(`invalid event: ${JSON.stringify(event)}`);
			assert.equal(result.exit_code, undefined, 'no event comes after the end');
			if (name === 'exit') result.exit_code = JSON.parse(data).exit_code;
			else if (name === 'error') assert.fail(data);
			else result[name] += Buffer.from(data, 'base64').toString('latin1');
		}
		return result;
	}

	sh = (command, more) => this.exec(['sh', '-c', command], more);
	get = (name, options) => this.ask('GET', `/file/${name}`, options);
	put = (name, body, options) => this.ask('PUT', `/file/${name}`, { body, octets: true, ...options });

	/** Open a terminal; resolves when it is ready. */
	async pty(query = 'cols=80&rows=24', headers = {}) {
		const ws = new WebSocket(`${this.server.base.replace(/^http/, 'ws')}${this.url}/pty?${query}`, { headers: { ...this.auth, ...headers } });
		const pty = { ws, text: '', exit: undefined };
		await within('the ready message', new Promise((resolve, reject) => {
			ws.on('error', reject);
			ws.on('unexpected-response', (_, answer) => reject(new Error(`status ${answer.statusCode}`)));
			ws.on('message', (data, binary) => {
				if (binary) pty.text += data;
				else {
					const message = JSON.parse(data);
					if (message.type === 'ready') resolve();
					if (message.type === 'exit') pty.exit = message.code;
				}
			});
		}), 30_000);
		return pty;
	}
}

const tar = (args, options) => {
	const made = spawnSync('tar', args, { maxBuffer: 64 << 20, ...options });
	assert.equal(made.status, 0, String(made.stderr));
	return made.stdout;
};

scenario("an agent's work: a sandbox, commands, files, deletion; a sandbox outlives its server", async (server) => {
	const health = await request(server.base, { path: '/health' });
	assert.deepEqual([health.status, health.json], [200, { ok: true }]);
	const box = await Sandbox.create(server), other = await Sandbox.create(server);
	assert.deepEqual(await box.exec(['mkdir', '-p', '--', '/workspace']), { stdout: '', stderr: '', exit_code: 0 });
	assert.deepEqual(await box.sh('echo out; printf "a\\0\\377"; echo err >&2; exit 7'), { stdout: 'out\na\0\xff', stderr: 'err\n', exit_code: 7 });
	assert.deepEqual(await box.exec(['printf', '%s|', 'a b', '\'"$x`', 'ä\n', '']), { stdout: Buffer.from('a b|\'"$x`|ä\n||').toString('latin1'), stderr: '', exit_code: 0 });
	assert.equal((await box.exec(['no such program'])).exit_code, 127);
	const sent = await box.ask('POST', '/exec', { body: { argv: ['sh', '-c', 'printf "a\\303"; sleep 0.2; printf "\\244b\\342\\202"; yes äöü€ | head -c 400000'] } });
	const pieces = [...sent.text.matchAll(/event: stdout\ndata: (.*)/g)].map(([, data]) => Buffer.from(data, 'base64'));
	const texts = pieces.map((piece) => new TextDecoder().decode(piece));
	assert.equal(texts.join(''), new TextDecoder().decode(Buffer.concat(pieces)), 'no character is cut in two');

	assert.deepEqual((await box.put('workspace/deep/er/a%20%C3%A4.txt', 'text')).json, { ok: true });
	assert.equal(readFileSync(path.join(box.dir, 'deep/er/a ä.txt'), 'utf8'), 'text');
	assert.equal((await box.exec(['cat', '/workspace/deep/er/a ä.txt'])).stdout, 'text', 'commands can use paths in /workspace');
	assert.equal((await box.sh('cat "er/a ä.txt"', { cwd: '/workspace/deep' })).stdout, 'text');
	assert.equal((await box.exec(['ls', 'er'], { cwd: 'deep' })).exit_code, 0, 'a relative directory is below /workspace');
	const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i * i % 251));
	assert.equal((await box.put('workspace/b', bytes)).status, 200);
	const read = await box.get('workspace/b');
	assert.equal(read.headers['content-type'], 'application/octet-stream');
	assert.ok(read.body.equals(bytes));
	assert.equal((await box.put('workspace/b', '')).status, 200);
	assert.equal((await box.get('workspace/b')).body.length, 0);
	await box.refused(404, 'workspace_read_not_found', 'GET', '/file/workspace/none');
	await other.refused(404, 'workspace_read_not_found', 'GET', '/file/workspace/b');
	await box.refused(400, 'invalid_request', 'GET', '/file/workspace/deep');

	assert.deepEqual((await box.ask('GET', '/running')).json, { running: true });
	const pool = await request(server.base, { path: '/v1/pool/stats', headers: box.auth });
	assert.equal(pool.json.assigned, 2);
	const described = await request(server.base, { path: '/v1/openapi.json', headers: box.auth });
	assert.deepEqual([described.json.info.title, described.json.info.version], ['Cloudflare Sandbox Service API', '1.0.0']);
	for (const where of ['prime', 'shutdown-prewarmed'])
		assert.equal((await request(server.base, { method: 'POST', path: `/v1/pool/${where}`, headers: box.auth })).status, 501);
	for (const [method, where] of [['POST', '/mount'], ['POST', '/unmount'], ['POST', '/tunnel/8080'], ['DELETE', '/tunnel/8080']])
		await box.refused(501, 'not_implemented', method, where, { body: {} });

	// Processes that a command has left behind end with the sandbox, also if the command and the server have ended.
	const children = () => server.leftovers().filter((pid) => cmdline(pid) === 'sleep 4711');
	await box.sh('sleep 4711 >/dev/null 2>&1 & setsid sleep 4711 >/dev/null 2>&1 &');
	await until('both processes', () => children().length === 2);
	await server.restart();
	assert.equal((await box.ask('DELETE', '')).status, 204);
	await until('the end of both processes', () => children().length === 0);
	assert.ok(!existsSync(box.dir) && existsSync(other.dir));
	assert.equal((await box.ask('DELETE', '')).status, 204, 'always');
	assert.deepEqual((await box.ask('GET', '/running')).json, { running: false });
	const given = await Sandbox.create(server);
	assert.deepEqual((await given.ask('GET', '/running')).json, { running: true });
	assert.equal((await given.ask('DELETE', '')).status, 204);
	assert.deepEqual(readdirSync(path.dirname(box.dir)).sort(), [other.id, `${other.id}.enter`]);

	// If it cannot be removed, the answer is an error, and it can be tried again.
	{
		const box = await Sandbox.create(server), folder = path.dirname(box.dir);
		await box.sh(`mkdir -p ${Array(140).fill('d').join('/')}`);
		await box.refused(502, 'exec_transport_error', 'DELETE', '');
		assert.ok(existsSync(box.dir));
		assert.deepEqual((await box.ask('GET', '/running')).json, { running: true });
		rmSync(path.join(box.dir, 'd'), { recursive: true });
		renameSync(folder, `${folder}.moved`);
		symlinkSync(`${folder}.moved`, folder);
		await box.refused(502, 'exec_transport_error', 'DELETE', '');
		rmSync(folder);
		renameSync(`${folder}.moved`, folder);
		assert.equal((await box.ask('DELETE', '')).status, 204);
		assert.ok(!existsSync(box.dir));
	}

	// A sandbox outlives its server.
	{
		const box = await Sandbox.create(server);
		await box.put('workspace/kept', 'kept');
		await server.restart();
		const again = new Sandbox(server, box.id);
		assert.deepEqual((await again.ask('GET', '/running')).json, { running: true });
		assert.equal((await again.get('workspace/kept')).text, 'kept');
		assert.equal((await again.ask('DELETE', '')).status, 204);
		assert.ok(!existsSync(box.dir));
	}
});

scenario('sessions survive kill -9 at any moment, and invalid entries of their file are ignored', { timeout: 100_000 }, async (server) => {
	const box = await Sandbox.create(server), file = `${box.dir}.sessions`;
	await box.sh('mkdir sub');
	const kept = Array.from({ length: 8 }, (_, i) => `s${i}`);
	const make = (id) => box.ask('POST', '/session', { body: { id, cwd: 'sub', env: { NAME: `name ${id}\n` } } });
	for (const { status, json } of await Promise.all(kept.map(make))) assert.equal(status, 200, JSON.stringify(json));
	assert.deepEqual((await Promise.all(kept.slice(4).map((id) => box.ask('DELETE', `/session/${id}`)))).map(({ status }) => status), Array(4).fill(204));
	assert.equal(statSync(file).mode & 0o777, 0o600, 'the file is private: it has variables');
	const both = await Promise.all([make('twice'), make('twice')]);
	assert.deepEqual(both.map(({ status }) => status).sort(), [200, 502]);
	// Sessions that were being made when it died exist or not; all earlier ones are unchanged.
	const late = ['a', 'b', 'c'].map((id) => make(id).catch(() => {}));
	await server.kill('SIGKILL');
	await Promise.all(late);
	await server.start();
	const pty = await until('the sandbox', () => box.pty('session=s3').catch(() => undefined));
	pty.ws.send(Buffer.from('echo "$(basename "$PWD") <$NAME>"\n'));
	await until('the directory and the variables', () => pty.text.includes('sub <name s3\r\n>'));
	pty.ws.close();
	for (const id of kept.slice(0, 4)) assert.equal((await box.sh('basename "$PWD"; printf %s "$NAME"', { session: id })).stdout, `sub\nname ${id}\n`);
	assert.equal((await box.sh('printf %s "$NAME"', { session: 's4' })).stdout, '', 'a deleted session');
	await box.refused(502, 'session_error', 'POST', '/session', { body: { id: 's0' } });
	// Entries that no request could have made.
	const wrong = { '../x': { cwd: '.' }, up: { cwd: '..' }, out: { cwd: 'a/../../b' }, root: { cwd: '/etc' }, none: 5, env: { cwd: '.', env: { 'A B': 'x' } } };
	for (const text of [JSON.stringify({ ...wrong, good: { cwd: 'sub', env: {} } }), '{', '[]', '']) {
		await server.kill('SIGKILL');
		writeFileSync(file, text);
		await server.start();
		for (const id of ['up', 'out', 'root', 'none', 'env']) assert.equal((await box.sh('printf %s "$PWD"', { session: id })).stdout, (await box.sh('printf %s "$PWD"')).stdout, id);
		assert.equal((await box.sh('basename "$PWD"', { session: 'good' })).stdout === 'sub\n', text.includes('good'), text);
	}
	assert.equal((await make('s0')).status, 200, 'after a missing file');
	// Sessions that cannot be written to the file are unchanged.
	rmSync(`${file}.new`, { force: true });
	spawnSync('mkfifo', [`${file}.new`]);
	assert.equal((await make('s1')).status, 200, 'a pipe instead of the file is ignored');
	mkdirSync(`${file}.new`);
	await box.refused(502, 'session_error', 'POST', '/session', { body: { id: 'fresh' } });
	await box.refused(502, 'session_error', 'DELETE', '/session/s1');
	const other = { body: { id: 's0', env: { NAME: 'another' } } };
	const all = await Promise.all([['DELETE', '/session/s0'], ['POST', '/session', other], ['DELETE', '/session/s0'], ['POST', '/session', other]].map((asked) => box.ask(...asked)));
	assert.deepEqual(all.map(({ status }) => status), Array(4).fill(502));
	for (const [id, expected] of [['s0', 'name s0\n'], ['s1', 'name s1\n'], ['fresh', '']]) assert.equal((await box.sh('printf %s "$NAME"', { session: id })).stdout, expected);
	rmdirSync(`${file}.new`);
	assert.equal((await box.ask('DELETE', '/session/s0')).status, 204);
	for (let i = 0; i < 4; i++) assert.equal((await box.ask('POST', '/session', { body: { env: { V: 'v'.repeat(60_000) } } })).status, 200);
	await box.refused(429, 'capacity_exceeded', 'POST', '/session', { body: { env: { V: 'v'.repeat(60_000) } } });
	await server.kill('SIGKILL');
	rmSync(file);
	spawnSync('mkfifo', [file]);
	writeFileSync(`${file}.new`, 'of a server that was killed');
	await server.start();
	assert.equal((await box.sh('echo there')).stdout, 'there\n', 'the sandbox still works');
	assert.equal((await box.ask('DELETE', '')).status, 204);
	assert.deepEqual(readdirSync(path.dirname(box.dir)), []);
});

scenario('sessions have a directory and variables; sizes; foreign processes and files are not touched; commands end', { timeout: 100_000 }, async (server) => {
	const box = await Sandbox.create(server);
	await box.sh('mkdir sub');
	const made = await box.ask('POST', '/session', { body: { id: 'one.A_-', cwd: '/workspace/sub', env: { NAME: 'it is\n"me"' } } });
	assert.deepEqual([made.status, made.json], [200, { id: 'one.A_-' }]);
	assert.equal((await box.sh('basename "$PWD"; echo "$NAME"', { session: 'one.A_-' })).stdout, 'sub\nit is\n"me"\n');
	for (const pty of [await box.pty('session=one.A_-'), await box.pty('', { 'Session-Id': 'one.A_-' })]) {
		pty.ws.send(Buffer.from('echo "$(basename "$PWD") <$NAME>"\n'));
		await until('the directory and the variables', () => pty.text.includes('sub <it is\r\n"me">'));
		pty.ws.send(Buffer.from('exit 3\n'));
		assert.equal(await within('the end of the terminal', new Promise((resolve) => { pty.ws.on('close', resolve); })), 1000);
		assert.equal(pty.exit, 3);
	}
	assert.equal((await box.sh('echo "<$NAME>"')).stdout, '<>\n');
	assert.equal((await box.sh('echo "<$NAME>"', { session: 'missing' })).stdout, '<>\n', 'an unknown session is ignored');
	assert.match((await box.ask('POST', '/session')).json.id, /^[a-z2-7]{26}$/);
	await box.refused(502, 'session_error', 'POST', '/session', { body: { id: 'one.A_-' } });
	await box.refused(400, 'invalid_request', 'POST', '/session', { body: { id: 'a/b' } });
	for (const id of ['a/b', 'x'.repeat(2000)])
		await box.refused(400, 'invalid_request', 'POST', '/exec', { body: { argv: ['true'] }, headers: { 'Session-Id': id } });
	await box.refused(403, 'invalid_request', 'POST', '/session', { body: { cwd: '/etc' } });
	assert.equal((await box.ask('DELETE', '/session/one.A_-')).status, 204);
	await box.refused(502, 'session_error', 'DELETE', '/session/one.A_-');
	for (let i = 1; i < 64; i++) assert.equal((await box.ask('POST', '/session')).status, 200);
	await box.refused(429, 'capacity_exceeded', 'POST', '/session');

	{
		const box = await Sandbox.create(server);
		const most = Buffer.alloc(limit, 'x');
		assert.equal((await box.put('workspace/most', most)).status, 200);
		assert.ok((await box.get('workspace/most')).body.equals(most));
		await box.sh('echo >>most');
		await box.refused(413, 'payload_too_large', 'GET', '/file/workspace/most');
		const answer = await box.put('workspace/more', Buffer.alloc(limit + 1)).catch((error) => error);
		assert.ok(answer.status === 413 || answer.code === 'ECONNRESET' || answer.code === 'EPIPE', String(answer.status ?? answer));
		assert.ok(!existsSync(path.join(box.dir, 'more')));
	}

	// The bridge neither uses nor removes sessions and files that it has not made.
	{
		const box = new Sandbox(server, 'mine');
		mkdirSync(box.dir, { recursive: true });
		writeFileSync(path.join(box.dir, 'kept'), '');
		assert.equal((await box.ask('POST', '/exec', { body: { argv: ['true'] } })).status, 502);
		assert.equal((await box.ask('DELETE', '')).status, 204);
		assert.ok(existsSync(path.join(box.dir, 'kept')));
		const link = new Sandbox(server, 'link');
		symlinkSync(server.cwd, link.dir);
		assert.equal((await link.put('workspace/x', 'x')).status, 502);
		assert.equal((await link.ask('DELETE', '')).status, 204);
		assert.ok(existsSync(box.dir) && !existsSync(path.join(server.cwd, 'x')));
	}

	// A command ends after its timeout, with its client, and with its sandbox.
	{
		const box = await Sandbox.create(server);
		const late = await box.sh('echo before; sleep 300', { timeout_ms: 300 });
		assert.deepEqual([late.stdout, late.exit_code], ['before\n', 124]);
		const sleeps = () => server.leftovers().some((pid) => cmdline(pid).startsWith('sleep'));
		const begin = () => new Promise((resolve, reject) => {
			const outgoing = http.request(`${server.base}${box.url}/exec`, { method: 'POST', headers: { ...box.auth, 'Content-Type': 'application/json' } }, (incoming) => {
				incoming.on('error', () => {});
				incoming.once('data', () => resolve({ outgoing, incoming }));
			});
			outgoing.on('error', reject);
			outgoing.end(JSON.stringify({ argv: ['sh', '-c', 'echo begun; sleep 300'] }));
		});
		await until('the end of the command after its timeout', () => !sleeps());
		const { outgoing } = await begin();
		await until('a sleep', sleeps);
		outgoing.on('error', () => {});
		outgoing.destroy();
		await until('the end of the command after its client', () => !sleeps());
		const { incoming } = await begin();
		await until('a sleep', sleeps);
		let text = '';
		incoming.on('data', (data) => { text += data; });
		const ended = new Promise((resolve) => { incoming.on('end', resolve); });
		assert.equal((await box.ask('DELETE', '')).status, 204);
		await within('the end of the stream', ended);
		assert.match(text, /event: exit\ndata: \{"exit_code":\d+\}\n\n$/);
		await until('the end of the command after its sandbox', () => !sleeps());
	}
});

scenario('nothing escapes from a sandbox; archives of all files can be restored', { timeout: 100_000 }, async (server) => {
	const box = await Sandbox.create(server);
	const secret = path.join(server.cwd, 'secret');
	writeFileSync(secret, 'secret');
	await box.sh('mkdir d; echo in >file');
	symlinkSync(secret, path.join(box.dir, 'absolute'));
	symlinkSync('../../secret', path.join(box.dir, 'up'));
	symlinkSync('../..', path.join(box.dir, 'updir'));
	symlinkSync('/proc/self/root', path.join(box.dir, 'root'));
	symlinkSync('file', path.join(box.dir, 'inner'));
	assert.equal((await box.get('workspace/inner')).text, 'in\n', 'a link inside is followed');
	const ways = ['etc/passwd', 'workspacefoo/x', 'workspace/%2e%2e/%2e%2e/secret', 'workspace/d/%2e%2e/%2e%2e/x', 'workspace/absolute',
		'workspace/up', 'workspace/updir/secret', `workspace/root${secret}`, 'proc/self/environ', '%2fetc%2fpasswd'];
	for (const way of ways) {
		await box.refused(403, 'invalid_request', 'GET', `/file/${way}`);
		const put = await box.put(way, 'abuse');
		assert.equal(put.status, 403, `${way}: ${put.text}`);
	}
	assert.equal(readFileSync(secret, 'utf8'), 'secret');
	await box.refused(403, 'invalid_request', 'POST', '/exec', { body: { argv: ['true'], cwd: 'd/../../..' } });
	for (const body of ['', '[]', '{', '{"argv":[]}', '{"argv":"ls"}', '{"argv":[1]}', '{"argv":["a\\u0000b"]}', '{"argv":["ls"],"timeout_ms":-1}', '{"argv":["ls"],"timeout_ms":"1"}', '{"argv":["ls"],"cwd":1}'])
		assert.equal((await box.ask('POST', '/exec', { body })).status, 400, body);
	for (const id of ['A', 'a%2fb']) {
		const answer = await request(server.base, { method: 'POST', path: `/v1/sandbox/${id}/exec`, body: { argv: ['true'] }, headers: box.auth });
		assert.ok([400, 405].includes(answer.status), `${id}: ${answer.status}`);
	}
	assert.deepEqual(readdirSync(path.dirname(box.dir)).sort(), [box.id, `${box.id}.enter`]);
	const unknown = await request(server.base, { method: 'POST', path: '/v1/sandbox', headers: { Authorization: 'Bearer no' } });
	assert.equal(unknown.status, 401);
	assert.deepEqual([typeof unknown.json.error, unknown.json.code], ['string', 'unauthorized']);

	// Archives of all files can be restored.
	{
		const box = await Sandbox.create(server), other = await Sandbox.create(server);
		await box.sh('mkdir -p a/b skip "it\'s, x"; echo one >a/b/one; chmod 750 a/b/one; ln -s b/one a/link; ln a/b/one a/hard; touch skip/x a/skip "*"');
		const packed = await box.ask('POST', '/persist?excludes=skip,./nothing,%27%24(id)%27');
		assert.equal(packed.status, 200, packed.text.slice(0, 300));
		const names = tar(['-t'], { input: packed.body }).toString().split('\n').filter(Boolean).sort();
		assert.deepEqual(names, ['./', './*', './a/', './a/b/', './a/b/one', './a/hard', './a/link', './a/skip', './it\'s, x/'].sort());
		assert.deepEqual((await other.ask('POST', '/hydrate', { body: packed.body, octets: true })).json, { ok: true });
		assert.equal((await other.sh('cat a/link a/hard; stat -c %a a/b/one; ls')).stdout, 'one\none\n750\n*\na\nit\'s, x\n');
		assert.deepEqual((await other.ask('POST', '/hydrate', { body: packed.body, octets: true })).json, { ok: true }, 'over the existing files');
		// A file that is listed twice becomes a link to itself.
		writeFileSync(path.join(server.root, 'twice'), 'once');
		const twice = tar(['-c', '-C', server.root, 'twice', 'twice']);
		assert.deepEqual((await other.ask('POST', '/hydrate', { body: twice, octets: true })).json, { ok: true });
		assert.equal((await other.sh('cat twice')).stdout, 'once');
		await box.refused(400, 'invalid_request', 'POST', '/persist?excludes=a/../b');
		await box.refused(400, 'invalid_request', 'POST', '/hydrate', { body: '', octets: true });
		await box.refused(400, 'invalid_request', 'POST', '/hydrate', { body: 'no archive at all', octets: true });
		await box.refused(400, 'invalid_request', 'POST', '/hydrate', { body: packed.body.subarray(0, 700), octets: true });
	}

	// Archives that escape.
	{
		const from = path.join(server.root, 'from'), secret = path.join(server.cwd, 'secret');
		const pack = (...args) => tar(['-c', '-P', '-C', from, ...args]);
		mkdirSync(path.join(from, 'd'), { recursive: true });
		writeFileSync(path.join(from, 'x'), 'abuse');
		writeFileSync(path.join(from, 'd/secret'), 'abuse');
		writeFileSync(secret, 'secret');
		spawnSync('mkfifo', [path.join(from, 'fifo')]);
		symlinkSync('../..', path.join(from, 'l'));
		spawnSync('ln', [path.join(from, 'x'), path.join(from, 'y')]);
		const hostile = {
			'a name with ..': pack('--transform=s,x,../../secret,', 'x'),
			'.. in the middle of a name': pack('--transform=s,x,d/../../../secret,', 'x'),
			'an absolute name': pack(`--transform=s,x,${secret},`, 'x'),
			"through the archive's own link": pack('--transform=s,^d,l,', 'l', 'd/secret'),
			'a hard link to a file outside': pack(`--transform=flags=h;s,^x,${secret},`, 'x', 'y'),
			'a FIFO': pack('fifo'),
		};
		for (const [name, body] of Object.entries(hostile)) {
			const box = await Sandbox.create(server);
			const answer = await box.ask('POST', '/hydrate', { body, octets: true });
			assert.equal(answer.status, 400, `${name}: ${answer.status} ${answer.text}`);
			assert.equal(readFileSync(secret, 'utf8'), 'secret', name);
		}
		// An existing link to a directory is not followed either; one at a file's path is replaced.
		const box = await Sandbox.create(server);
		await box.sh('ln -s ../.. d; ln -s ../../secret x');
		assert.equal((await box.ask('POST', '/hydrate', { body: pack('d/secret'), octets: true })).status, 400);
		assert.deepEqual((await box.ask('POST', '/hydrate', { body: pack('x'), octets: true })).json, { ok: true });
		assert.equal((await box.get('workspace/x')).text, 'abuse');
		assert.equal(readFileSync(secret, 'utf8'), 'secret');
	}
});

scenario('each terminal is separate and ends with its socket; deletion; many at once, and clients that stall or disconnect', { timeout: 150_000 }, async (server) => {
	const box = await Sandbox.create(server);
	await box.put('workspace/file', 'in here');
	const many = times(6, 20);
	const ptys = await Promise.all(Array.from({ length: many }, () => box.pty()));
	ptys.forEach((pty, i) => pty.ws.send(Buffer.from(`sh -c 'cat file; X=${i}; echo " mine-$X-"; stty size'\n`)));
	await until('the output of all terminals', () => ptys.every((pty, i) => pty.text.includes(`in here mine-${i}-\r\n24 80`)));
	for (const [i, pty] of ptys.entries()) assert.ok(!ptys.some((other, k) => k !== i && other.text.includes(`mine-${i}-`)));
	assert.equal((await server.api.list()).data.length, many);
	ptys[0].ws.send(Buffer.from('exit 5\n'));
	await until('the exit of one', () => ptys[0].exit === 5);
	for (const pty of ptys) pty.ws.close();
	await until('the end of the sessions', async () => (await server.api.list()).data.length === 0);
	const last = await box.pty('cols=100&rows=30');
	last.ws.send(Buffer.from('stty size; sleep 300\n'));
	await until('the size of the terminal', () => last.text.includes('30 100'));
	const closed = new Promise((resolve) => { last.ws.on('close', resolve); });
	assert.equal((await box.ask('DELETE', '')).status, 204);
	await within('the close', closed);
	await assert.rejects(new Sandbox(server, 'none').pty(), /status 404/);
	await assert.rejects(new Sandbox(server, 'NO').pty(), /status 400/);
	await assert.rejects(box.pty('cols=x&rows=24'), /status 400/);

	// A client that stops reading blocks its program, and later gets all output.
	{
		const box = await Sandbox.create(server), pty = await box.pty();
		await until('the prompt', () => pty.text.length > 0);
		const count = times(1_500_000, 2_500_000);
		pty.ws.send(Buffer.from(`seq 1 ${count}; echo th""e end; touch over\n`));
		await until('the output', () => pty.text.includes('\n100\r\n'));
		pty.ws.pause();
		await stays('the blocked command', () => !existsSync(path.join(box.dir, 'over')), 1500);
		pty.ws.resume();
		await until('the end', () => pty.text.includes('the end'));
		const numbers = pty.text.slice(0, pty.text.indexOf('the end')).trim().split('\r\n').slice(-count);
		assert.equal(numbers.length, count);
		assert.match(numbers[0], /\b1$/);
		assert.ok(numbers.slice(1).every((number, i) => Number(number) === i + 2));
		pty.ws.close();
	}

	// A deleted sandbox stays deleted, also if requests make or fill it at that moment.
	{
		const from = path.join(server.root, 'from');
		mkdirSync(from);
		for (let i = 0; i < times(600, 3000); i += 1) writeFileSync(path.join(from, `f${i}`), '');
		const full = tar(['-c', '-C', from, '.']);
		const box = new Sandbox(server, 'filled');
		assert.equal((await box.sh('pwd')).stdout, (await box.sh('cd -P . && pwd')).stdout, 'a directory without a dot');
		const filling = box.ask('POST', '/hydrate', { body: full, octets: true });
		await until('the files', () => readdirSync(box.dir).length > 0);
		assert.equal((await box.ask('DELETE', '')).status, 204);
		assert.match(String((await filling).status), /^(200|409|502)$/);
		assert.equal(existsSync(box.dir), false);
		for (let round = 0; round < times(2, 5); round += 1) {
			const made = new Sandbox(server, `made${'abcde'[round]}`);
			const statuses = await Promise.all(Array.from({ length: times(10, 20) }, async (_, i) => (await (i % 2 ? made.ask('DELETE', '') : made.ask('POST', '/exec', { body: { argv: ['true'] } }))).status));
			for (const [i, status] of statuses.entries()) assert.ok(i % 2 ? status === 204 : status === 200 || status === 409, `${i}: ${statuses}`);
			await until('the end of the deletion', async () => (await made.ask('POST', '/exec', { body: { argv: ['true'] } })).status !== 409);
			assert.deepEqual(await made.sh('echo on'), { stdout: 'on\n', stderr: '', exit_code: 0 }, 'it can be made again');
			assert.equal((await made.ask('DELETE', '')).status, 204);
			assert.equal(existsSync(made.dir), false);
		}
	}

	// Many requests at once, and clients that disconnect.
	{
		const box = await Sandbox.create(server);
		// All of them make the sandbox; it is made once.
		const all = await Promise.all(Array.from({ length: times(8, 20) }, (_, i) => box.sh(`echo ${i}; exit ${i}`)));
		all.forEach((result, i) => assert.deepEqual(result, { stdout: `${i}\n`, stderr: '', exit_code: i }));
		await Promise.all(Array.from({ length: times(8, 20) }, async (_, i) => {
			let answer;
			do answer = await box.put('workspace/same', String(i).repeat(10_000)); while (answer.status === 429);
			assert.equal(answer.status, 200);
		}));
		assert.match((await box.get('workspace/same')).text, /^(1?\d)\1{9999}$/);
		// Clients that disconnect during an upload or an archive, and a deletion during other work.
		for (let i = 0; i < times(5, 20); i++) {
			const outgoing = http.request(`${server.base}${box.url}/file/workspace/half`, { method: 'PUT', headers: { ...box.auth, 'Content-Length': 1_000_000 } });
			outgoing.on('error', () => {});
			await new Promise((resolve) => { outgoing.write(Buffer.alloc(100_000), resolve); });
			outgoing.destroy();
		}
		assert.equal((await box.get('workspace/half')).status, 404);
		await until('a free body slot', async () => (await box.put('workspace/whole', 'x')).status === 200);
		const busy = [box.sh('while :; do mkdir -p x/y; touch x/y/$RANDOM; done'), box.ask('POST', '/persist'), box.put('workspace/late', 'late')]
			.map((each) => each.catch(() => {}));
		await until('files of the command', () => existsSync(path.join(box.dir, 'x/y')));
		assert.equal((await box.ask('DELETE', '')).status, 204);
		await Promise.all(busy);
		assert.ok(!existsSync(path.join(box.dir, 'x')), 'the command still makes files');
	}
});
