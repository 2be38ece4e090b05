// Abuse: every route and every tool, by everybody, over every transport, held against a table of who may (lib/may.mjs). Who
// may not is refused as the documents say, and nothing of what he has asked for has happened.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Api } from './lib/api.mjs';
import { Frames, Http2, http1 } from './lib/askers.mjs';
import { ca, cert, key } from './lib/certificate.mjs';
import { mcpHeaders, nobodies, principals, refusal, routes, tools } from './lib/may.mjs';
import { operations } from './lib/openapi.mjs';
import { scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const canary = 'matrix-canary';

/** Sessions, a process, and each kind of credentials: the tokens by principal, and the ids of what there is. */
async function prepare(server) {
	const { api } = server;
	await server.session({ id: 's', cwd: server.cwd });
	const earlier = (await api.link('s', 'driver')).token;
	await api.delete('s');
	await server.session({ id: 's', cwd: server.cwd, name: 'matrix-name' });
	await server.session({ id: 'other', cwd: server.cwd });
	const revoked = await api.link('s', 'driver');
	await api.call('DELETE', `/api/session/s/links/${revoked.link.id}`);
	const { token: expired, link: brief } = await api.link('s', 'driver', 1000);
	const { data: exec } = await api.call('POST', '/api/session/s/exec', { command: `echo ${canary}` });
	const { blocks } = await api.call('GET', '/api/session/s/blocks');
	const tokens = {
		none: undefined, owner: server.token, earlier, expired, revoked: revoked.token, viewer: (await api.link('s', 'viewer')).token,
		driver: (await api.link('s', 'driver')).token, other: (await api.link('other', 'driver')).token,
	};
	const link = (await api.link('s', 'viewer')).link.id;
	await api.as(null).call('POST', '/api/auth/login', { token: server.token });
	const [{ id: loginId }] = (await api.call('GET', '/api/auth/logins')).logins;
	await until('the end of a link', () => Date.now() > Date.parse(brief.expiresAt));
	await startProcess(server);
	return { tokens, ids: { link, loginId, exec: exec.id, block: blocks.at(-1).id } };
}

const startProcess = (server) => server.api.call('POST', '/api/process/start', { command: 'echo up; exec sleep 1000', processId: 'p' });

/** The files below, with what is in them if that is to be told. */
function files(directory, contents) {
	return readdirSync(directory, { recursive: true }).sort().map((name) => {
		const whole = path.join(directory, name);
		return contents && statSync(whole).isFile() ? [name, readFileSync(whole, 'utf8')] : name;
	});
}

/** All that a refused request might have changed. */
async function stateOf(server) {
	const get = (route) => server.api.call('GET', route).then(({ timestamp, ...rest }) => rest);
	const sessions = {};
	for (const id of (await server.api.list()).data) {
		const of = `/api/session/${id}`;
		// One that has expired is forgotten some time.
		const links = (await get(`${of}/links`)).links.filter(({ expiresAt }) => Date.parse(expiresAt) > Date.now());
		sessions[id] = [await get(of), await get(`${of}/lease`), links.sort((a, b) => a.id.localeCompare(b.id)), await get(`${of}/exec`), await get(`${of}/typed`), await get(`${of}/blocks`)];
	}
	const { text } = await server.api.raw('GET', '/metrics');
	return {
		sessions, processes: await get('/api/process/list'), logins: await get('/api/auth/logins'),
		places: text.split('\n').filter((line) => /^ringside_quota_had\{kind="(waits|commands|forks|mcp_sessions|streams)"\}/.test(line)),
		files: [files(server.cwd, true), files(server.home, true), files(server.dir, false)],
	};
}

/** Does what must change nothing. What was typed or signalled would be seen at a fence behind it. */
async function untouched(server, what, body) {
	let before;
	let after;
	// What went on before has to be over: files that are being written, commands that end.
	await until('rest', async () => {
		after = before;
		before = await stateOf(server);
		return isDeepStrictEqual(before, after);
	});
	await body();
	await until('what it was like', async () => isDeepStrictEqual(after = await stateOf(server), before), { timeout: 2000 })
		.catch(() => assert.deepEqual(after, before, `${what} has changed something`));
	for (const id of ['s', 'other']) {
		const { offset } = before.sessions[id][0].data;
		await server.run(id, 'echo fence');
		const since = await server.api.text(id, offset);
		assert.ok(!/abuse|\^C/.test(since), `${what}: ${JSON.stringify(since)}`);
	}
	assert.deepEqual(files(server.cwd, true), before.files[0], what);
}

const fill = (route, ids) => route.replace(/\{(\w+)\}/g, (_, name) => ids[name]);

/** What a row asks for, by somebody who may or may not. */
function request(server, fixture, each, may) {
	const { method, route, sent, query, headers, stream, socket } = each;
	const ids = { id: route.includes('/process/') ? 'p' : 's', ...fixture.ids, ...(may ? each.may?.ids : {}) };
	const body = (may ? each.may?.body : undefined) ?? sent;
	return {
		method, path: fill(route, ids) + (query ? `?${query}` : ''), headers, stream, socket,
		body: body && JSON.parse(JSON.stringify(body).replace('{owner}', server.token)),
	};
}

const transports = {
	'HTTP/1.1': async (server) => ({ ask: (who, token, asked) => http1(server, token, asked), serves: () => true, close() {} }),
	'HTTP/2': async (server) => {
		const client = new Http2(server);
		return { ask: (who, token, asked) => client.ask(token, asked), serves: ({ socket }) => !socket, close: () => client.close() };
	},
	'/ws': async (server, { tokens }) => {
		const open = {};
		for (const who of principals) open[who] = await Frames.open(server, tokens[who]);
		return {
			ask: (who, token, asked) => open[who].ask(asked), serves: ({ socket, route }) => !socket && route !== '/',
			close: () => Object.values(open).forEach((each) => each.close()),
		};
	},
};

const shown = ({ status, code }) => (status >= 400 && code ? `${status} ${code}` : `${status}`);
const short = (got) => got.replace('UNAUTHENTICATED', 'U').replace('PERMISSION_DENIED', 'P').replace('READ_ONLY', 'R').replace(/ [A-Z]\w+$/, '');

/** What was got, by row and principal, and what should not have been. */
class Verdicts {
	constructor() {
		this.cells = new Map();
		this.wrong = [];
	}

	add(name, who, how, expected, { status, code, text }) {
		const got = shown({ status, code });
		const right = [expected].flat().some((each) => (typeof each === 'number' ? each === status : each === got));
		const cell = `${name} ${who}`;
		this.cells.set(cell, (this.cells.get(cell) ?? new Set()).add(right ? short(got) : `${short(got)}!`));
		if (!right) this.wrong.push(`${name} by ${who} over ${how}: expected ${expected}, got ${got}`);
		// Whose it is not gets nothing of it, whatever the status.
		if ([...nobodies, 'other'].includes(who) && text.includes(canary)) this.wrong.push(`${name} by ${who} over ${how} tells what the session shows`);
	}

	print(t, names, title) {
		const width = Math.max(...names.map((name) => name.length));
		const line = (name, cells) => t.diagnostic(`${name.padEnd(width)}  ${cells.map((cell) => cell.padEnd(10)).join('')}`.trimEnd());
		t.diagnostic(`${title}; U: UNAUTHENTICATED, P: PERMISSION_DENIED, R: READ_ONLY, !: expected otherwise`);
		line('', principals);
		for (const name of names) line(name, principals.map((who) => [...this.cells.get(`${name} ${who}`) ?? ['-']].join('/')));
	}
}

const nameOf = ({ method, route }) => `${method} ${route}`;

/** All that one transport refuses, then all that it serves. */
async function matrix(server, fixture, how, verdicts) {
	const transport = await transports[how](server, fixture);
	const asks = async (allowed) => {
		for (const who of principals) {
			for (const each of routes) {
				const refused = refusal(who, each.least, each.ofSession);
				// By a socket nobody asks for what anybody may: he does not get as far.
				const expected = how === '/ws' && nobodies.includes(who) ? '401 UNAUTHENTICATED' : refused;
				if (!transport.serves(each) || allowed !== !expected) continue;
				const answer = await transport.ask(who, fixture.tokens[who], request(server, fixture, each, allowed));
				verdicts.add(nameOf(each), who, how, expected ?? each.status, answer);
			}
		}
	};
	await untouched(server, `what was refused over ${how}`, () => asks(false));
	await asks(true);
	transport.close();
	await until('the end of the process', async () => (await server.api.call('GET', '/api/process/p')).process.status !== 'running');
	await startProcess(server);
}

/** Who may only watch types at the terminal all the same; his windows count for nothing. */
async function watcher(server, token) {
	const viewer = await server.client({ sessionId: 's', token }).connect();
	await untouched(server, 'a viewer at the terminal', async () => {
		viewer.control({ type: 'resize', cols: 111, rows: 33 });
		viewer.type('echo abuse > abuse\r');
		await viewer.untilMessage('error', ({ code }) => code === 'READ_ONLY');
	});
	await viewer.close();
}

const secure = { args: ['--tls-cert', cert, '--tls-key', key, '--http2'], timeout: 240_000 };

scenario('every route, by everybody, over every transport', secure, async (server, t) => {
	server.ca = ca;
	server.api = new Api(() => server.base, { token: server.token, ca });
	const described = operations.map(({ method, path: route }) => `${method.toUpperCase()} ${route}`).sort();
	assert.deepEqual(routes.filter(({ undescribed }) => !undescribed).map(nameOf).sort(), described, 'the table has all that the description has');
	const fixture = await prepare(server);
	const verdicts = new Verdicts();
	for (const how of Object.keys(transports)) await matrix(server, fixture, how, verdicts);
	await watcher(server, fixture.tokens.viewer);
	verdicts.print(t, routes.map(nameOf), 'HTTP/1.1, HTTP/2 and /ws, where they differ by "/"');
	assert.deepEqual(verdicts.wrong, []);
});

scenario('every tool of MCP, by everybody', { ...secure, timeout: 120_000 }, async (server, t) => {
	server.ca = ca;
	server.api = new Api(() => server.base, { token: server.token, ca });
	const fixture = await prepare(server);
	const verdicts = new Verdicts();
	const call = async (who, method, params) => {
		const { status, json, text, code } = await http1(server, fixture.tokens[who], {
			method: 'POST', path: '/mcp', headers: mcpHeaders(method, params.name),
			body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: routes.find(({ route }) => route === '/mcp').sent.params._meta } },
		});
		const failure = json?.result?.structuredContent?.error;
		return { status: failure ? 403 : status, code: failure?.code ?? code, text, json };
	};
	const names = async (who) => (await call(who, 'tools/list', {})).json.result.tools.map(({ name }) => name).sort();
	assert.deepEqual(await names('owner'), tools.map(([, name]) => name).sort(), 'the table has all tools');
	for (const who of ['viewer', 'driver', 'other'])
		assert.deepEqual(await names(who), tools.filter(([least]) => !refusal(who, least, false)).map(([, name]) => name).sort(), `what ${who} is offered`);
	const asks = async (allowed) => {
		for (const who of principals) {
			for (const [least, name, sent, may] of tools) {
				const refused = refusal(who, least, name !== 'session_list');
				if (allowed !== !refused) continue;
				const args = JSON.parse(JSON.stringify((allowed && may) || sent).replace('{exec}', fixture.ids.exec));
				const answer = await call(who, 'tools/call', { name, arguments: args });
				// Who may is told whatever it is, but not that he must not.
				const told = /^(401|403 (PERM|READ|UNAUTH))/.test(shown(answer)) ? shown(answer) : 'served';
				verdicts.add(name, who, 'MCP', refused ?? 'served', refused ? answer : { status: told, text: answer.text });
			}
		}
	};
	await untouched(server, 'what was refused by MCP', () => asks(false));
	await asks(true);
	verdicts.print(t, tools.map(([, name]) => name), 'tools of MCP');
	assert.deepEqual(verdicts.wrong, []);
});
