// Use every feature that has a secret, then search for each secret where it must not be: the server's output, its log
// (verbose) and metrics, command lines and environments of processes, the runtime directory, core files, and what a
// viewer can read.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { request } from './lib/api.mjs';
import { mcpHeaders, routes } from './lib/may.mjs';
import { cli } from './lib/cli.mjs';
import { ControlClient } from './lib/control.mjs';
import { allPids, parentOf, processesNaming } from './lib/proc.mjs';
import { args, Receiver } from './lib/receiver.mjs';
import { scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const id = 's';
const random = (bytes = 24) => randomBytes(bytes).toString('hex');
const owner = `canary-${random()}`;
const webhookKey = randomBytes(24).toString('base64');

const metaOf = (server) => {
	const sessions = path.join(server.dir, 'sessions');
	return readdirSync(sessions).map((each) => JSON.parse(readFileSync(path.join(sessions, each, 'meta.json'), 'utf8')));
};

async function logIn(server, token) {
	const { headers, json } = await server.api.as(null).raw('POST', '/api/auth/login', { token }, { headers: { Origin: server.base } });
	return { cookie: headers['set-cookie'][0].split(';')[0], link: json.link };
}

async function tool(server, token, name, args) {
	const { json, text } = await server.api.as(token).raw('POST', '/mcp', {
		jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: routes.find(({ route }) => route === '/mcp').sent.params._meta },
	}, { headers: mcpHeaders('tools/call', name) });
	assert.ok(json?.result, text);
	return json.result;
}

/** Type a password at a prompt that does not echo. */
async function typePassword(server, password, ask, type) {
	await server.api.input(id, ask);
	await until('a prompt for a password', async () => (await server.api.call('GET', `/api/session/${id}/state`)).state.input === 'password');
	await type(`${password}\r`);
	await server.outputMatches(id, /24 characters/);
	await server.untilPrompt(id);
}

/** Secrets that commands and other servers get. */
async function giveThingsAway(server, secrets) {
	const { api } = server;
	const env = (what) => ({ CANARY: secrets[`the environment of ${what}`] = random() });
	await api.call('POST', `/api/session/${id}/exec`, { command: 'true', env: env('a command') });
	await api.call('POST', `/api/session/${id}/exec`, { command: 'true', fork: true, env: env('a fork') });
	await api.call('POST', '/api/execute', { command: 'true', sessionId: id, env: env('a command of the SDK') });
	await api.call('POST', '/api/run', { command: 'true', env: env('a run') });
	await api.call('POST', '/api/process/start', { command: 'exec sleep 1000', processId: 'e', env: env('a process') });
	await tool(server, owner, 'exec', { session_id: id, command: 'true', env: env('a command by MCP') });
	// A repository that asks for a password, and a store that accepts nothing.
	const other = http.createServer((request, response) => response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"', Connection: 'close' }).end());
	await new Promise((resolve) => { other.listen(0, '127.0.0.1', resolve); });
	const where = `127.0.0.1:${other.address().port}`;
	try {
		const clone = await api.raw('POST', '/api/git/checkout', { repoUrl: `http://ada:${secrets['a password of a repository'] = random()}@${where}/x.git`, timeoutMs: 20_000 });
		assert.ok(clone.status >= 400 && !clone.text.includes(secrets['a password of a repository']), clone.text);
		const archivePath = path.join(server.cwd, '.ringside-backups/a.sqsh');
		mkdirSync(path.dirname(archivePath), { recursive: true });
		writeFileSync(archivePath, 'x');
		const url = `https://${where}/bucket/key?partNumber=1&uploadId=u&X-Amz-Signature=${secrets['a signature of an upload'] = random()}`;
		const upload = await api.raw('POST', '/api/backup/upload-parts', { archivePath, parts: [{ partNumber: 1, url, offset: 0, size: 1 }] });
		assert.ok(upload.status >= 400 && !upload.text.includes(secrets['a signature of an upload']), upload.text);
	} finally {
		other.close();
	}
	// A preview that is visited, and an MCP client.
	const preview = await api.call('POST', '/api/expose-port', { port: 2999, sessionId: id });
	secrets['the token of a preview'] = preview.token;
	await request(server.base, { headers: { Host: `${preview.host}:${server.port}` } });
	const begun = await api.raw('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'initialize',
		params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'canary', version: '1' } } }, { headers: { Accept: 'application/json, text/event-stream' } });
	secrets['the id of a session of MCP'] = begun.headers['mcp-session-id'];
	assert.ok(secrets['the id of a session of MCP'], begun.text);
	const listed = await api.raw('POST', '/mcp', { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'session_list', arguments: {} } },
		{ headers: { 'Mcp-Session-Id': secrets['the id of a session of MCP'], Accept: 'application/json, text/event-stream' } });
	assert.equal(listed.status, 200, listed.text);
	// A webhook is sent, so its key has been used.
	secrets['the key of webhooks'] = webhookKey;
	await api.call('POST', `/api/session/${id}/notify`, { text: 'look', title: 'here' });
	await until('a webhook', () => server.receiver.got.length > 0);
}

/** Use everything; resolves with the secrets by name. */
async function work(server) {
	const { api } = server;
	const secrets = { 'the owner\'s token': owner };
	await server.session({ id, cwd: server.cwd });
	await server.session({ id: 'other' });
	for (const role of ['viewer', 'driver']) secrets[`a ${role}'s link`] = (await api.link(id, role)).token;
	const revoked = await api.link(id, 'driver');
	secrets['a revoked link'] = revoked.token;
	const viewer = secrets['a viewer\'s link'];
	const driver = secrets['a driver\'s link'];
	const page = await logIn(server, owner);
	secrets['the owner\'s cookie'] = page.cookie.split('=')[1];
	secrets['a driver\'s cookie'] = (await logIn(server, driver)).cookie.split('=')[1];
	const browser = await server.client({ sessionId: id, token: null, headers: { Cookie: page.cookie }, origin: server.base }).connect();
	const guest = await server.client({ sessionId: id, token: driver, name: 'Guest' }).connect();
	const control = await new ControlClient(server, { token: driver }).connect();

	// Commands, of each kind.
	await api.call('POST', `/api/session/${id}/exec`, { command: 'echo one; cd /tmp' });
	await api.as(driver).call('POST', `/api/session/${id}/exec`, { command: 'echo two', fork: true });
	await control.request('POST', `/api/session/${id}/exec`, { command: 'echo three', streams: 'pipes' });
	await api.call('POST', '/api/run', { command: 'cat', stdin: secrets['the environment of a run'] = random() });
	await api.call('POST', '/api/process/start', { command: 'exec sleep 1000', processId: 'p' });
	await tool(server, owner, 'exec', { session_id: id, command: 'echo four' });
	await tool(server, driver, 'snapshot', {});
	assert.equal((await cli(server, ['ls'])).code, 0);

	await giveThingsAway(server, secrets);

	// A lease, and failing requests.
	const { lease } = await api.as(driver).call('POST', `/api/session/${id}/lease`, { owner: 'robot', ttlMs: 60_000 });
	secrets['the id of a lease'] = lease.id;
	for (const of of ['', '/lease', '/state']) assert.ok(!(await api.as(viewer).raw('GET', `/api/session/${id}${of}`)).text.includes(lease.id), `a viewer reads the id of a lease${of}`);
	await api.as(driver).call('POST', `/api/session/${id}/keys`, { text: 'echo five', submit: true, lease: lease.id });
	await api.refused(409, 'LEASED', 'POST', `/api/session/${id}/input`, { data: 'x' });
	await api.as(driver).call('DELETE', `/api/session/${id}/lease?id=${lease.id}`);
	await api.as(secrets['a token that is wrong'] = random()).refused(401, 'UNAUTHENTICATED', 'GET', '/api/session/list');
	await api.as(null).refused(401, 'UNAUTHENTICATED', 'POST', '/api/auth/login', { token: secrets['a wrong token at the login'] = random() });
	await api.as(null).raw('GET', `/api/session/list?token=${secrets['a token in an address'] = random()}`);
	await api.raw('POST', `/api/session/${id}/exec`, Buffer.from(`{"command": "${secrets['invalid JSON'] = random()}`));

	// Passwords: on the page, over the API, and by an answer link.
	const ask = 'read -s -p "word: " w; echo "${#w} characters"; unset w; clear\r';
	await server.untilPrompt(id);
	const passwords = [random(12), random(12), random(12)];
	secrets['a password by the page'] = passwords[0];
	secrets['a password by the API'] = passwords[1];
	secrets['a password by its link'] = passwords[2];
	await typePassword(server, passwords[0], ask, (text) => browser.type(text));
	await typePassword(server, passwords[1], ask, (text) => api.call('POST', `/api/session/${id}/input`, { data: text }));
	await typePassword(server, passwords[2], ask, async (text) => {
		const { state } = await api.call('GET', `/api/session/${id}/state`);
		secrets['a link for a password'] = state.humanUrl.split('#link=')[1];
		const person = await server.client({ sessionId: id, token: secrets['a link for a password'] }).connect();
		person.type(text);
		await person.untilClosed();
	});

	await api.call('DELETE', `/api/session/${id}/links/${revoked.link.id}`);
	for (const each of [browser, guest]) await each.close();
	control.terminate();
	for (const { id: of, nonce } of metaOf(server)) secrets[`the nonce of the shell of ${of}`] = nonce;
	secrets['the key that signs'] = readFileSync(path.join(server.dir, 'key'), 'utf8').trim();
	return { secrets, viewer };
}

// Secrets that files of the runtime directory may contain, if only the user can read them.
const permittedPlaces = {
	'the key that signs': /^key$/,
	// The nonce of a shell's marks is in its script, and where the next server finds it.
	'the nonce of the shell of s': /^sessions\//, 'the nonce of the shell of other': /^sessions\//,
	// The environment of a process and of its holder, which passes it on.
	'the environment of a process': /^the environment of \d+ \((sleep|ringside-holder|ringside-guard|ringside-watch)\)$/,
	// The next server needs the tokens of previews.
	'the token of a preview': /^previews\.json$/,
};

/** The server, holders, shells, and every other process that descends from them or names the directory. */
function processes(server) {
	const found = new Set([server.pid, ...processesNaming(server.root)]);
	for (let before = -1; before !== found.size;) {
		before = found.size;
		for (const pid of allPids()) if (found.has(parentOf(pid))) found.add(pid);
	}
	return [...found].filter((pid) => pid !== process.pid);
}

function read(file) {
	try {
		return readFileSync(file, 'latin1');
	} catch {
		return '';
	}
}

/** All places to search: [name, text]. */
async function* places(server, viewer) {
	yield ['standard output', server.stdout];
	yield ['the log', server.stderr];
	yield ['/metrics', (await server.api.raw('GET', '/metrics')).text];
	for (const pid of processes(server)) {
		const name = `${pid} (${read(`/proc/${pid}/comm`).trim()})`;
		yield [`the command line of ${name}`, read(`/proc/${pid}/cmdline`)];
		yield [`the environment of ${name}`, read(`/proc/${pid}/environ`)];
		yield [`the directory of ${name}`, (() => { try { return readlinkSync(`/proc/${pid}/cwd`); } catch { return ''; } })()];
	}
	for (const directory of [server.dir, server.cwd, server.home]) {
		for (const name of readdirSync(directory, { recursive: true })) {
			const file = path.join(directory, name);
			if (lstatSync(file).isFile()) yield [directory === server.dir ? name : file, read(file)];
			yield [directory === server.dir ? name : file, name];
		}
	}
	const guest = server.api.as(viewer);
	for (const { method, route, least } of routes) {
		if (method !== 'GET' || !['viewer', 'public'].includes(least) || /ws|stream$|events$|\{(exec|block)\}/.test(route)) continue;
		const { text } = await guest.raw(method, `${route.replace('{id}', id)}?from=0&q=e`);
		yield [`what a viewer reads at ${route}`, text];
	}
	for (const { id: block } of (await guest.call('GET', `/api/session/${id}/blocks`)).blocks)
		yield [`what a viewer reads of a block`, (await guest.raw('GET', `/api/session/${id}/blocks/${block}/output?format=bytes`)).text];
	for (const { id: exec } of (await guest.call('GET', `/api/session/${id}/exec`)).data)
		yield [`what a viewer reads of a command`, (await guest.raw('GET', `/api/session/${id}/exec/${exec}`)).text];
}

/** Encodings of a secret: plain, base64, hexadecimal. */
const forms = (secret) => [secret, Buffer.from(secret).toString('base64').replace(/=+$/, '').slice(0, -2), Buffer.from(secret).toString('hex')];

async function search(server, secrets, viewer, when) {
	const found = [];
	let looked = 0;
	for await (const [where, text] of places(server, viewer)) {
		looked += 1;
		for (const [what, secret] of Object.entries(secrets)) {
			assert.ok(secret.length >= 8, `${what} is too short to search for: ${secret}`);
			if (forms(secret).some((form) => text.includes(form)) && !permittedPlaces[what]?.test(where)) found.push(`${what} in ${where}`);
		}
		if (/(^|\/)core(\.\d+)?$/.test(where)) found.push(`a core file: ${where}`);
	}
	return { found: found.map((each) => `${when}: ${each}`), looked };
}

scenario("no secret leaks during a day's work", { start: false, env: { RINGSIDE_TOKEN: owner }, timeout: 120_000 }, async (server, t) => {
	server.receiver = await new Receiver().open();
	t.after(() => server.receiver.close());
	const keys = path.join(server.root, 'keys');
	writeFileSync(keys, `whsec_${webhookKey}\n`, { mode: 0o600 });
	await server.start({ args: ['--verbose', ...args([server.receiver.url('/hook')], '--webhook-key-file', keys)] });
	const { secrets, viewer } = await work(server);
	const first = await search(server, secrets, viewer, 'at work');
	await server.restart();
	await until('the session', async () => (await server.api.get(id)).state === 'running');
	await server.untilPrompt(id);
	await server.api.call('POST', `/api/session/${id}/exec`, { command: 'echo after' });
	const second = await search(server, secrets, viewer, 'after kill -9');
	await server.kill('SIGTERM');
	await server.start();
	const third = await search(server, secrets, viewer, 'after the next start');
	t.diagnostic(`${Object.keys(secrets).length} secrets, ${first.looked + second.looked + third.looked} places`);
	assert.deepEqual([...first.found, ...second.found, ...third.found], []);
	// The search finds what is there, so it can fail.
	const { found } = await search(server, { 'the home directory': server.home, 'the runtime directory': server.dir, 'the output': 'echo five' }, viewer, 'shown');
	for (const where of [/the home directory in the environment of/, /the runtime directory in the command line of/, /the output in what a viewer reads at \/api\/session\/\{id\}\/output/])
		assert.ok(found.some((each) => where.test(each)), `${where}: ${found.join(', ')}`);
});
