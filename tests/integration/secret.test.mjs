// Secrets that a program must not see: a person types them in the browser, by a link that an agent passes on.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { asUser, startAs } from './lib/other_user.mjs';
import { parentOf, stop } from './lib/proc.mjs';
import { readText, scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const id = 's';

scenario('a link for a person to type a secret', async (server) => {
	const { api } = server;
	await server.session({ id });
	const state = async (as = api) => (await as.call('GET', `/api/session/${id}/state`)).state;
	assert.equal((await state()).humanUrl, undefined);
	await api.input(id, 'read -s word; echo "${#word} characters"\r');
	const { state: asked } = await api.call('POST', `/api/session/${id}/wait`, { until: [{ type: 'input', kind: 'password' }], timeoutMs: 15_000 });
	assert.equal(asked.input, 'password');
	const [address, token] = asked.humanUrl.split('#link=');
	assert.equal(address, `${server.base}/`);
	assert.equal((await state()).humanUrl, asked.humanUrl, 'the same link again');
	await api.as(token).refused(401, 'UNAUTHENTICATED', 'GET', `/api/session/${id}/state`);
	const person = await server.client({ sessionId: id, token });
	await person.connect();
	assert.equal(person.attached.role, 'driver', 'the page allows typing');
	await assert.rejects(server.client({ sessionId: id, token }).connect(), ({ status }) => status === 401);
	await api.as(null).refused(401, 'UNAUTHENTICATED', 'POST', '/api/auth/login', { token });
	assert.equal((await state()).humanUrl, undefined, 'the link is used up');
	const { cols } = await api.get(id);
	person.control({ type: 'resize', cols: cols + 1, rows: 30 });
	person.type('hunter2\recho more\r');
	await person.untilMessage('error', ({ code, message }) => code === 'READ_ONLY' && /one answer/.test(message));
	assert.equal((await api.get(id)).cols, cols);
	for (const key of 'hunter2') person.type(key);
	assert.equal((await state()).input, 'password');
	person.type('\r');
	assert.equal((await person.untilClosed()).code, 4401);
	await until('the end of the command', async () => (await state()).status === 'prompt');
	assert.match((await api.output(id)).toString(), /7 characters/);
	assert.doesNotMatch((await api.output(id)).toString(), /hunter2/);
	assert.doesNotMatch(JSON.stringify(await api.call('GET', `/api/session/${id}/typed`)), /hunter2/);
	assert.doesNotMatch(JSON.stringify(await api.call('GET', `/api/session/${id}/blocks`)), /hunter2/);
	assert.equal((await state()).humanUrl, undefined);
	assert.deepEqual((await api.call('GET', `/api/session/${id}/links`)).links.filter(({ role }) => role !== 'viewer'), []);
});

const untilAsked = async (api, command) => {
	await api.input(id, `${command}\r`);
	const { state } = await api.call('POST', `/api/session/${id}/wait`, { until: [{ type: 'input', kind: 'password' }], timeoutMs: 15_000 });
	return state.humanUrl.split('#link=')[1];
};

scenario('the link for a secret comes after the prompt, though the program waits before the prompt has arrived', async (server) => {
	const { api } = server;
	await server.session({ id });
	await server.shellReady(id);
	const { pid } = await api.get(id);
	const go = path.join(server.cwd, 'go');
	const program = path.join(server.cwd, 'ask.py');
	writeFileSync(program, `import getpass, os, time
while not os.path.exists('${go}'): time.sleep(0.05)
getpass.getpass()
`);
	await api.input(id, `python3 ${program}\r`);
	await until('the command', async () => (await api.call('GET', `/api/session/${id}/state`)).state.foreground?.name === 'python3');
	const holder = parentOf(pid);
	await stop(holder);
	const waited = api.call('POST', `/api/session/${id}/wait`, { until: [{ type: 'input', kind: 'password' }], timeoutMs: 15_000 });
	waited.catch(() => {}); // it fails when the test does
	writeFileSync(go, '');
	const asked = await until('the program waits', async () => {
		const { state } = await api.call('GET', `/api/session/${id}/state`);
		return state.input === 'password' && state;
	});
	assert.equal(asked.humanUrl, undefined, 'it would be invalid as soon as the prompt arrives');
	// Longer than the silence after which a wait takes a program as waiting.
	await until('a while', async () => (await api.call('GET', `/api/session/${id}/state`)).state.quietMs > 600);
	process.kill(holder, 'SIGCONT');
	const token = (await waited).state.humanUrl.split('#link=')[1];
	await server.client({ sessionId: id, token }).connect();
});

scenario('the link for a secret is valid for one prompt, and for one client', async (server) => {
	const { api } = server;
	await server.session({ id });
	// The page's requests: a login and reads.
	const first = await untilAsked(api, 'read -s -p first: a; read -s -p second: b; echo "${#a} ${#b}"');
	const login = await api.as(null).raw('POST', '/api/auth/login', { token: first });
	assert.equal(login.status, 200);
	assert.equal(login.json.role, 'driver');
	await api.as(null).refused(401, 'UNAUTHENTICATED', 'POST', '/api/auth/login', { token: first });
	const page = api.as(null, { Cookie: login.headers['set-cookie'][0].split(';')[0], Origin: server.base, 'Content-Type': 'application/json' });
	const by = `link=${login.json.link}`;
	const { answers } = await page.call('GET', `/api/auth/whoami?${by}`);
	assert.equal(answers.sessionName, id);
	assert.deepEqual([answers.block.command.slice(0, 7), answers.block.by, answers.block.state], ['read -s', 'human', 'running']);
	assert.deepEqual(login.json.answers, answers);
	assert.equal((await api.call('GET', '/api/auth/whoami')).answers, null);
	await page.call('GET', `/api/session/${id}?${by}`);
	const cases = [
		['POST', 'keys', { text: 'x' }], ['POST', 'input', { data: 'x' }], ['POST', 'exec', { command: 'true' }], ['POST', 'exec', { command: 'true', fork: true }],
		['POST', 'resize', { cols: 90, rows: 30 }], ['POST', 'signal', { signal: 'INT' }], ['POST', 'lease', {}], ['GET', 'screen'], ['GET', 'output'], ['GET', 'stream'], ['GET', 'typed']];
	for (const [method, route, body] of cases)
		assert.equal((await page.raw(method, `/api/session/${id}/${route}?${by}`, body)).status, 403, route);
	assert.equal((await page.raw('POST', `/mcp?${by}`, {})).status, 403);
	// Another client answers the first prompt: the link is not valid for the second.
	await api.input(id, 'one\r');
	const { state } = await api.call('POST', `/api/session/${id}/wait`, { until: [{ type: 'match', pattern: 'second:', regex: false }, { type: 'exit' }], from: 0, timeoutMs: 15_000 });
	assert.ok(state);
	assert.ok([401, 403].includes((await page.raw('GET', `/api/session/${id}?${by}`)).status));
	const second = await until('another link', async () => {
		const { humanUrl } = (await api.call('GET', `/api/session/${id}/state`)).state;
		return humanUrl && humanUrl.split('#link=')[1];
	});
	assert.notEqual(second, first);
	const watcher = await server.client({ sessionId: id, token: second }).connect();
	await api.input(id, 'three\r');
	assert.equal((await watcher.untilClosed()).code, 4401, 'the prompt was answered by another client');
	await until('the end of the command', async () => /3 5/.test((await api.output(id)).toString()));
	// A link that is not opened in time is invalid.
	const third = await untilAsked(api, 'read -s c');
	await api.input(id, '\x03');
	await until('the prompt', async () => (await api.call('GET', `/api/session/${id}/state`)).state.status === 'prompt');
	await assert.rejects(server.client({ sessionId: id, token: third }).connect(), ({ status }) => status === 401 || status === 403);
});

const secret = 'a-token-that-must-stay-secret-0123456789';

scenario('the token is removed from the environment', { env: { RINGSIDE_TOKEN: secret } }, async (server) => {
	assert.equal(server.token, secret);
	assert.ok(!readText(`/proc/${server.pid}/environ`).includes(secret));
	assert.match(readText(`/proc/${server.pid}/environ`), /HOME=/, 'other variables stay');
	assert.match(readText(`/proc/${server.pid}/limits`), /^Max core file size +0 /m);
});

const uid = 54_322;
const other = asUser(uid);

scenario('a program in a session cannot inspect the server', {
	skip: process.getuid() !== 0 && 'needs another user', start: false, prefix: other,
}, async (server) => {
	await startAs(server, uid);
	await server.session({ id });
	const { pid } = server;
	const look = `for f in environ mem maps fd/0 io; do (exec 3<"/proc/${pid}/$f") 2>/dev/null && echo "$f can be opened"; done; id -u`;
	assert.equal((await server.api.call('POST', '/api/run', { command: look })).stdout, `${uid}\n`);
	assert.equal((await server.run(id, 'echo works; ulimit -Sc')).trim().split(/\s+/).join(' '), 'works 0');
});
