// Revoking, expiring and logging out end requests as well as sockets: pending requests are answered, streams end, queued work
// never starts, and no more output is sent.
import assert from 'node:assert/strict';
import http from 'node:http';
import { assertError, logIn } from './lib/api.mjs';
import { ControlClient } from './lib/control.mjs';
import { shared } from './lib/together.mjs';
import { stays, until } from './lib/until.mjs';

/** Send a request with these credentials without waiting; returns its response so far. */
function ask(server, headers, method, path, body) {
	const text = body === undefined ? undefined : JSON.stringify(body);
	const asked = { what: `${method} ${path} ${text ?? ''}`, text: '', over: false, whole: false };
	const request = http.request(`${server.base}${path}`, {
		method,
		agent: false,
		headers: {
			...headers,
			...(text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
			...(path === '/mcp' ? { Accept: 'application/json, text/event-stream' } : {}),
		},
	}, (response) => {
		asked.status = response.statusCode;
		asked.headers = response.headers;
		response.setEncoding('utf8').on('data', (piece) => { asked.text += piece; });
		response.on('end', () => { asked.whole = true; }).on('error', () => {}).on('close', () => { asked.over = true; });
	});
	request.on('error', () => { asked.over = true; });
	request.end(text);
	asked.abort = () => request.destroy();
	asked.events = () => asked.text.split('\n\n').filter((each) => each.startsWith('data: ')).map((each) => JSON.parse(each.slice(6)));
	return asked;
}

async function had(server, kind) {
	const { text } = await server.api.raw('GET', '/metrics');
	return Number(new RegExp(`^ringside_quota_had\\{kind="${kind}"\\} (\\d+)$`, 'm').exec(text)[1]);
}

const bearer = (token) => ({ Authorization: `Bearer ${token}` });
const cookie = (server, value) => ({ Cookie: value, Origin: server.base });

/** Kinds of access: headers, the query of the link, and how the access ends. */
const ways = {
	async revoked(server) {
		const { token, link } = await server.api.link('s', 'driver');
		return { headers: bearer(token), end: () => server.api.call('DELETE', `/api/session/s/links/${link.id}`) };
	},
	async expired(server) {
		const { token } = await server.api.link('s', 'driver', 4000);
		return { headers: bearer(token), end: async () => {} };
	},
	async 'logged out'(server) {
		const { token, link } = await server.api.link('s', 'driver');
		const headers = cookie(server, await logIn(server, token));
		return {
			headers,
			query: `link=${link.id}`,
			end: () => server.api.as(null, headers).call('POST', `/api/auth/logout?link=${link.id}`, {}),
		};
	},
	async 'ended as the owner\'s login'(server) {
		const headers = cookie(server, await logIn(server, server.token));
		const { logins } = await server.api.as(null, headers).call('GET', '/api/auth/logins');
		const { id } = logins.find(({ current }) => current);
		return { headers, owner: true, end: () => server.api.call('DELETE', `/api/auth/logins/${id}`) };
	},
};

const never = { until: [{ type: 'idle', ms: 3_000_000 }], timeoutMs: 3_000_000 };
const tool = (name, args, meta = {}) => ({
	jsonrpc: '2.0', id: 7, method: 'tools/call',
	params: { name, arguments: args, _meta: {
		'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {}, ...meta,
	} },
});

for (const [way, make] of Object.entries(ways)) {
	shared(`access that is ${way} ends all its requests`, async (server) => {
		await server.session({ id: 's' });
		const running = (await server.api.call('POST', '/api/session/s/exec', { command: 'read line; echo done', yieldMs: 0, queue: true })).data.id;
		const { headers, query, owner, end } = await make(server);
		const begin = (method, path, body, more = {}) =>
			ask(server, { ...headers, ...more }, method, query ? `${path}${path.includes('?') ? '&' : '?'}${query}` : path, body);
		const mcp = (message) => begin('POST', '/mcp', message, {
			'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': message.method, 'Mcp-Name': message.params.name,
			Accept: 'application/json, text/event-stream',
		});
		const waits = {
			'a wait': begin('POST', '/api/session/s/wait', never),
			'a wait with a key': begin('POST', '/api/session/s/wait', { ...never, key: 'k' }),
			'a wait for a command': begin('GET', `/api/session/s/exec/${running}?waitMs=3000000`),
			'a fork': begin('POST', '/api/session/s/exec', { command: 'sleep 3000', fork: true }),
			'a command in the queue': begin('POST', '/api/session/s/exec', { command: `touch '${server.cwd}/queued'`, queue: true }),
			'a tool of MCP': mcp(tool('wait', { session_id: 's', until: [{ type: 'idle', ms: 3_000_000 }], timeout_ms: 500_000 })),
		};
		const streams = {
			'events of the session': begin('GET', '/api/session/s/stream'),
			'output of a command': begin('GET', `/api/session/s/exec/${running}/stream`),
			'the list of sessions': begin('GET', '/api/session/events'),
		};
		const waitCall = mcp(tool('wait', { session_id: 's', until: [{ type: 'idle', ms: 3_000_000 }], timeout_ms: 500_000 }, { progressToken: 'p' }));
		const alone = begin('POST', '/api/session/s/wait', { ...never, key: 'alone' });
		const control = new ControlClient(server, { token: null, headers, origin: headers.Origin, path: query ? `/ws?${query}` : '/ws' });
		await control.connect();
		control.ask('POST', '/api/session/s/wait', never);
		const terminal = server.client({ sessionId: 's', token: null, headers, origin: headers.Origin, link: query?.slice(5) });
		await terminal.connect();
		if (!owner) {
			await until('all waits', async () => await had(server, 'waits') === 6, { interval: 5 });
			assert.equal(await had(server, 'commands'), 1);
			await until('a fork', async () => await had(server, 'forks') === 1, { interval: 5 });
			alone.abort();
		} else {
			await until('a queue', async () => (await server.api.call('GET', '/api/session/s/exec')).data.length === 2, { interval: 5 });
		}
		for (const each of Object.values(streams)) await until(`a stream: ${each.what}`, () => each.status === 200 && each.events().length > 0);
		await until('progress', () => waitCall.events().length > 0, { timeout: 30_000 });
		for (const [name, each] of Object.entries(waits)) assert.equal(each.status, undefined, `${name}: ${each.text}`);
		await end();
		for (const [name, each] of Object.entries(waits)) {
			await until(`the end of ${name}`, () => each.over);
			assertError({ status: each.status, json: JSON.parse(each.text), text: each.text }, 401, 'ACCESS_ENDED', name);
		}
		for (const [name, each] of Object.entries(streams)) {
			await until(`the end of ${name}`, () => each.over);
			const last = each.events().at(-1);
			assert.deepEqual([last.type, last.code], ['error', 'ACCESS_ENDED'], name);
			assert.ok(each.whole, `${name}: the response says so`);
		}
		await until('the end of the tool call', () => waitCall.over);
		assert.deepEqual(waitCall.events().at(-1).error.data, { code: 'ACCESS_ENDED' });
		await control.untilClosed();
		assert.equal(control.closed.code, 4401);
		assert.equal((await terminal.untilClosed()).code, 4401);
		// All slots are free, and no more output is sent.
		for (const kind of ['waits', 'patterns', 'commands', 'forks', 'requests', 'streams', 'mcp_calls', 'terminals'])
			await until(`no ${kind}`, async () => await had(server, kind) === 0);
		const all = [...Object.values(waits), ...Object.values(streams), waitCall];
		const before = all.map(({ text }) => text);
		// A running command goes on; queued ones never start.
		await server.api.input('s', 'secret\r');
		const { data } = await server.api.call('GET', `/api/session/s/exec/${running}?waitMs=10000`);
		assert.deepEqual([data.state, data.exitCode], ['done', 0]);
		const [queued] = (await server.api.call('GET', '/api/session/s/exec')).data.filter(({ id }) => id !== running);
		assert.deepEqual([queued.state, queued.endedBy], ['done', 'not_started']);
		await server.run('s', 'echo more');
		assert.ok(!(await server.run('s', 'ls')).includes('queued'));
		assert.deepEqual(all.map(({ text }) => text), before);
		assert.ok(!all.some(({ text }) => text.includes('secret')));
		assertError(await server.api.as(null, headers).raw('GET', `/api/session/s${query ? `?${query}` : ''}`), 401, 'UNAUTHENTICATED');
	});
}

shared('other logins of the owner go on', async (server) => {
	await server.session({ id: 's' });
	const first = cookie(server, await logIn(server, server.token));
	const second = cookie(server, await logIn(server, server.token));
	const asked = [first, second, bearer(server.token)].map((headers) => ask(server, headers, 'POST', '/api/session/s/wait', { ...never, key: 'same' }));
	const follow = ask(server, second, 'GET', '/api/session/s/stream');
	await until('the stream', () => follow.events().length > 0);
	await stays('the pending waits', () => asked.every(({ over }) => !over), 200);
	await server.api.as(null, first).call('POST', '/api/auth/logout', {});
	await until('the end of the first', () => asked[0].over);
	assert.equal(asked[0].status, 401);
	await stays('the others still wait', () => asked.slice(1).every(({ over }) => !over) && !follow.over, 1500);
	for (const each of [...asked, follow]) each.abort();
});

shared('a login that is replaced by newer ones loses its sockets', async (server) => {
	await server.session({ id: 's' });
	const { token, link } = await server.api.link('s', 'viewer');
	const headers = cookie(server, await logIn(server, token));
	const terminal = server.client({ sessionId: 's', token: null, headers, origin: headers.Origin, link: link.id });
	await terminal.connect();
	const asked = ask(server, headers, 'POST', `/api/session/s/wait?link=${link.id}`, never);
	for (let i = 0; i < 16; i += 1) await logIn(server, token);
	assert.equal((await terminal.untilClosed()).code, 4401);
	await until('the end of the wait', () => asked.over);
	assert.equal(asked.status, 401);
});

shared('a login ends all logins, and gets the response', async (server) => {
	const headers = cookie(server, await logIn(server, server.token));
	await logIn(server, server.token);
	assert.ok((await server.api.as(null, headers).call('DELETE', '/api/auth/logins')).revoked >= 2);
	assertError(await server.api.as(null, headers).raw('GET', '/api/auth/whoami'), 401, 'UNAUTHENTICATED');
});

shared('a body that began before the revocation is refused', async (server) => {
	await server.session({ id: 's' });
	const { token, link } = await server.api.link('s', 'driver');
	const text = JSON.stringify({ data: 'echo never\r' });
	let answer;
	const request = http.request(`${server.base}/api/session/s/input`, {
		method: 'POST', agent: false, headers: { ...bearer(token), 'Content-Type': 'application/json', 'Content-Length': text.length },
	}, (response) => {
		let whole = '';
		response.setEncoding('utf8').on('data', (piece) => { whole += piece; })
			.on('end', () => { answer = { status: response.statusCode, text: whole, json: JSON.parse(whole) }; });
	});
	request.on('error', () => {});
	request.write(text.slice(0, 5));
	await until('half a body', async () => /^ringside_quota_had\{kind="body_bytes"\} [1-9]/m.test((await server.api.raw('GET', '/metrics')).text));
	await server.api.call('DELETE', `/api/session/s/links/${link.id}`);
	request.end(text.slice(5));
	assertError(await until('the response', () => answer), 401, 'ACCESS_ENDED');
	assert.ok(!(await server.api.text('s')).includes('never'));
});

shared('a pending Enter is not typed after the revocation', async (server) => {
	await server.session({ id: 's' });
	const { token, link } = await server.api.link('s', 'driver');
	const asked = ask(server, bearer(token), 'POST', '/api/session/s/keys', { text: 'echo nev\'\'er', submit: true });
	await server.outputMatches('s', /echo nev''er/);
	await server.api.call('DELETE', `/api/session/s/links/${link.id}`);
	await until('the response', () => asked.over);
	assertError({ status: asked.status, json: JSON.parse(asked.text), text: asked.text }, 401, 'ACCESS_ENDED');
	await stays('the line without Enter', async () => !(await server.api.text('s')).includes('never'), 600);
});

shared('commands that waited for a revoked link: a key may be used again, and commands of other principals stay', async (server) => {
	await server.session({ id: 's' });
	const exec = async (token, fields) => (await server.api.as(token).call('POST', '/api/session/s/exec', { queue: true, yieldMs: 0, ...fields })).data;
	const now = async ({ id }) => (await server.api.call('GET', `/api/session/s/exec/${id}`)).data;
	const first = await exec(server.token, { command: 'sleep 1000' });
	const one = await server.api.link('s', 'driver');
	const other = await server.api.link('s', 'driver');
	const its = { command: 'echo its >>runs', key: 'its' };
	const shared = { command: 'echo shared >>runs', key: 'shared' };
	const mine = { command: 'echo mine >>runs', key: 'mine' };
	const both = { command: 'echo both >>runs', key: 'both' };
	const dropped = await exec(one.token, its);
	const kept = await exec(one.token, shared);
	assert.equal((await exec(server.token, shared)).id, kept.id);
	const joined = await exec(server.token, mine);
	assert.equal((await exec(one.token, mine)).id, joined.id);
	const gone = await exec(one.token, both);
	// The same key needs no further slot.
	for (let i = 0; i < 20; i += 1) assert.equal((await exec(other.token, both)).id, gone.id);
	assert.equal(await had(server, 'commands'), 5);
	await server.api.call('DELETE', `/api/session/s/links/${one.link.id}`);
	assert.deepEqual([(await now(dropped)).state, (await now(dropped)).endedBy], ['done', 'not_started']);
	for (const each of [kept, joined, gone]) assert.equal((await now(each)).state, 'queued');
	assert.equal(await had(server, 'commands'), 1);
	await server.api.call('DELETE', `/api/session/s/links/${other.link.id}`);
	assert.deepEqual([(await now(gone)).state, (await now(gone)).endedBy], ['done', 'not_started']);
	assert.equal(await had(server, 'commands'), 0);
	const again = await exec(server.token, its);
	assert.deepEqual([again.id !== dropped.id, again.state], [true, 'queued']);
	await server.api.call('POST', `/api/session/s/exec/${first.id}/cancel`, { graceMs: 50 });
	for (const { id } of [kept, joined, again])
		assert.equal((await server.api.call('GET', `/api/session/s/exec/${id}?waitMs=10000`)).data.exitCode, 0);
	const { output } = await exec(server.token, { command: 'cat runs', yieldMs: undefined });
	assert.equal(output, 'shared\nmine\nits\n');
});
