// Each principal calls every route, tool and method over every transport. What lib/may.mjs does not permit must be
// refused as documented, and must change nothing.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Api } from './lib/api.mjs';
import { Calls, Frames, Http1 } from './lib/transports.mjs';
import { ca, cert, key } from './lib/certificate.mjs';
import { mcpHeaders, methods, unauthenticated, principals, refusal, routes, tools } from './lib/may.mjs';
import { operations } from './lib/openapi.mjs';
import { scenario } from './lib/server.mjs';
import { Table } from './lib/table.mjs';
import { until } from './lib/until.mjs';

const canary = 'matrix-canary';

/** Make sessions, a process and each kind of credentials. Returns the tokens by principal, and the ids of the objects. */
async function prepare(server) {
	const { api } = server;
	writeFileSync(path.join(server.cwd, 'canary'), 'as it was');
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
	for (const id of waiting) await server.session({ id, cwd: server.cwd });
	return { tokens, ids: { link, loginId, exec: exec.id, block: blocks.at(-1).id } };
}

const waiting = ['asks', 'unopened'];

/** Make a program read a password, after the previous prompt was answered; returns the token of the link to answer it. */
async function ask(server, id) {
	const { api } = server;
	if ((await api.call('GET', `/api/session/${id}/state`)).state.status !== 'prompt') await api.input(id, '\r');
	await until('the prompt', async () => (await api.call('GET', `/api/session/${id}/state`)).state.status === 'prompt');
	await api.input(id, 'read -s word\r');
	const { state } = await api.call('POST', `/api/session/${id}/wait`, { until: [{ type: 'input', kind: 'password' }], timeoutMs: 15_000 });
	// The foreground program is looked up a little later.
	await until('the program in the foreground', async () => (await api.call('GET', `/api/session/${id}/state`)).state.foreground);
	return state.humanUrl.split('#link=')[1];
}

/** Make new credentials that may answer a prompt: a login, and a link that is not opened yet. */
async function renewAnswers(server, { tokens, ids }) {
	const { status, headers, json } = await server.api.as(null).raw('POST', '/api/auth/login', { token: await ask(server, 'asks') });
	assert.equal(status, 200);
	tokens.answer = { cookie: headers['set-cookie'][0].split(';')[0], origin: server.base };
	ids.answer = json.link;
	tokens.unopened = await ask(server, 'unopened');
}

/** A route's path as a principal requests it: for an answering login it names the link. */
const pathFor = (principal, { ids }, where) => (principal === 'answer' ? `${where}${where.includes('?') ? '&' : '?'}link=${ids.answer}` : where);

const startProcess = (server) => server.api.call('POST', '/api/process/start', { command: 'echo up; exec sleep 1000', processId: 'p' });

/** The files below a directory, with their contents if `contents` is set. */
function files(directory, contents) {
	return readdirSync(directory, { recursive: true }).sort().map((name) => {
		const whole = path.join(directory, name);
		return contents && statSync(whole).isFile() ? [name, readFileSync(whole, 'utf8')] : name;
	});
}

/** Everything that a refused request might have changed. */
async function stateOf(server) {
	const get = (route) => server.api.call('GET', route).then(({ timestamp, ...rest }) => rest);
	const sessions = {};
	for (const id of (await server.api.list()).data) {
		const of = `/api/session/${id}`;
		// Expired links disappear at some time.
		const links = (await get(`${of}/links`)).links.filter(({ expiresAt }) => Date.parse(expiresAt) > Date.now());
		sessions[id] = [await get(of), await get(`${of}/lease`), links.sort((a, b) => a.id.localeCompare(b.id)), await get(`${of}/exec`), await get(`${of}/typed`), await get(`${of}/blocks`)];
	}
	const { text } = await server.api.raw('GET', '/metrics');
	return {
		sessions, processes: await get('/api/process/list'),
		// A refused request also counts as a use of the login.
		logins: (await get('/api/auth/logins')).logins.map(({ lastUsedAt, ...rest }) => rest),
		places: text.split('\n').filter((line) => /^ringside_quota_had\{kind="(waits|commands|forks|mcp_sessions|streams)"\}/.test(line)),
		files: [files(server.cwd, true), files(server.home, true), files(server.dir, false)],
	};
}

/** Remove the files that permitted requests have made. */
const forget = (server) => rmSync(path.join(server.cwd, 'abuse'), { recursive: true, force: true });

/** Whether the session's activity is final: it is determined only after a moment of silence. */
const isActivityFinal = ({ activity }) => activity && ((activity.certain && activity.status !== 'running') || Date.now() - Date.parse(activity.since) > 3000);

/** Run body, which must change nothing. Input and signals would show before a fence that is typed behind it. */
async function assertUnchanged(server, what, body) {
	let before;
	let after;
	// Earlier work must be over: files being written, commands that end, sessions that are not listed any more.
	await until('rest', async () => {
		forget(server);
		after = before;
		before = await stateOf(server);
		return isDeepStrictEqual(before, after) && !before.files[2].some((name) => /^sessions\/[^/]*\/ending$/.test(name))
			&& Object.values(before.sessions).every(([{ data }]) => isActivityFinal(data));
	});
	await body();
	await until('the earlier state', async () => isDeepStrictEqual(after = await stateOf(server), before), { timeout: 2000 })
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

/** The request of a row, by a principal that may or may not make it. */
function request(server, fixture, principal, each, may) {
	const { method, route, sent, query, headers, stream, socket } = each;
	const session = principal === 'answer' ? 'asks' : 's';
	const ids = { id: route.includes('/process/') ? 'p' : session, ...fixture.ids, ...(may ? each.may?.ids : {}) };
	const body = (may ? each.may?.body : undefined) ?? sent;
	return {
		method, path: pathFor(principal, fixture, fill(route, ids) + (query ? `?${query}` : '')), headers, stream, socket,
		body: body && JSON.parse(JSON.stringify(body).replace('{owner}', server.token)),
	};
}

const transports = {
	'HTTP/1.1': async (server) => {
		const client = new Http1(server);
		return { ask: (principal, token, asked) => client.ask(token, asked), serves: () => true, close: () => client.close() };
	},
	'/ws': async (server, fixture) => {
		const open = {};
		for (const principal of principals) open[principal] = await Frames.open(server, fixture.tokens[principal], pathFor(principal, fixture, '/ws'));
		return {
			ask: (principal, token, asked) => open[principal].ask(asked), serves: ({ socket, route }) => !socket && route !== '/',
			close: () => Object.values(open).forEach((each) => each.close()),
		};
	},
};

const shown = ({ status, code }) => (status >= 400 && code ? `${status} ${code}` : `${status}`);
const short = (got) => `${got}`.replace('UNAUTHENTICATED', 'U').replace('PERMISSION_DENIED', 'P').replace('READ_ONLY', 'R').replace(/ [A-Z_]{2,}$/, '');

/** A row for each request, a column for each principal. */
class Verdicts extends Table {
	constructor(t, title) {
		super(t, { title: `${title}; expected: got, U: UNAUTHENTICATED, P: PERMISSION_DENIED, R: READ_ONLY, !: wrong`, columns: principals, shorten: short });
	}

	judge(name, principal, how, expected, answer) {
		// An expected status is right with any code.
		const got = [expected].flat().find((each) => each === answer.status || each === shown(answer)) ?? shown(answer);
		this.add(name, expected, got, { column: principal, how });
		// The response must show nothing of a session that the principal may not see, with any status.
		if ([...unauthenticated, 'other', 'answer'].includes(principal) && answer.text.includes(canary)) this.fail(`${name} by ${principal} over ${how} shows the session's output`);
	}
}

const nameOf = ({ method, route }) => `${method} ${route}`;

/** The refusal of principals that cannot open the socket, or use the one route, at all; or undefined. */
const refusedRoute = (principal) => (unauthenticated.includes(principal) ? '401 UNAUTHENTICATED' : principal === 'answer' ? '403 PERMISSION_DENIED' : undefined);
const isSession = (each) => each.ofSession || each.sent?.sessionId === 's';
/** Whether the request would end the credentials of later requests, or consume a link. */
const consumesCredentials = (principal, { ends, route }) => (principal === 'answer' && ends) || (principal === 'unopened' && /\/(pty|terminal)(\?|$)/.test(route));

/** First the requests that are refused over a transport, then those that are served. */
async function matrix(server, fixture, how, verdicts, { rows = routes, trusted } = {}) {
	await renewAnswers(server, fixture);
	const transport = await transports[how](server, fixture);
	const sendAll = async (allowed) => {
		for (const principal of principals) {
			for (const each of rows) {
				const refused = refusal(principal, each.least, { about: each, names: isSession(each), trusted });
				// Without credentials no socket opens, so not even public routes are reachable over it.
				const expected = (how === '/ws' && refusedRoute(principal)) || refused;
				if (!transport.serves(each) || allowed !== !expected || consumesCredentials(principal, each)) continue;
				const answer = await transport.ask(principal, fixture.tokens[principal], request(server, fixture, principal, each, allowed));
				verdicts.judge(nameOf(each), principal, how, expected ?? each.status, answer);
			}
		}
	};
	await assertUnchanged(server, `what was refused over ${how}`, () => sendAll(false));
	await sendAll(true);
	transport.close();
}

/** Make again what the rows of the matrix have ended. */
async function restart(server) {
	await until('the end of the process', async () => (await server.api.call('GET', '/api/process/p')).process.status !== 'running');
	await startProcess(server);
}

/** A viewer types into the terminal: nothing arrives, and the size of its window does not count. */
async function watcher(server, token) {
	const viewer = await server.client({ sessionId: 's', token }).connect();
	await assertUnchanged(server, 'a viewer at the terminal', async () => {
		viewer.control({ type: 'resize', cols: 111, rows: 33 });
		viewer.type('echo abuse > abuse\r');
		await viewer.untilMessage('error', ({ code }) => code === 'READ_ONLY');
	});
	await viewer.close();
}

const secure = { args: ['--tls-cert', cert, '--tls-key', key], timeout: 400_000 };
const trusting = { ...secure, args: [...secure.args, '--drivers-may-all'] };

/** Uses persistent connections: this server is never killed. */
class KeptApi extends Api {
	raw(method, route, body, options) {
		return super.raw(method, route, body, { agent: this.agent, ...options });
	}
}

/** Collect all requests and principals. */
function begin(server) {
	server.ca = ca;
	server.api = new KeptApi(() => server.base, { token: server.token, ca });
	server.api.agent = new https.Agent({ keepAlive: true });
	return prepare(server);
}

/** Whether only owners and trusted drivers may do it. */
const needsTrust = (least) => ['trusted', 'owner'].includes(least);

/** The answer, or "served" if it is not a refusal for missing rights. */
const served = (answer) => (/^(401|403 (PERM|READ|UNAUTH))/.test(shown(answer)) ? answer : { status: 'served', text: answer.text });

/** Calls tools over MCP: first those that are refused, then those that are served. */
async function askTools(server, t, fixture, { trusted, listed }) {
	await renewAnswers(server, fixture);
	const verdicts = new Verdicts(t, `tools of MCP${trusted ? ' with --drivers-may-all' : ''}`);
	const { _meta: meta } = routes.find(({ route }) => route === '/mcp').sent.params;
	const client = new Http1(server);
	const call = async (principal, method, params) => {
		const { status, json, text, code } = await client.ask(fixture.tokens[principal], {
			method: 'POST', path: pathFor(principal, fixture, '/mcp'), headers: mcpHeaders(method, params.name),
			body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...meta, 'io.modelcontextprotocol/clientInfo': { name: 'codex', version: '1' } } } },
		});
		const failure = json?.result?.structuredContent?.error;
		return { status: failure ? 403 : status, code: failure?.code ?? code, text, json };
	};
	// Codex lists every tool.
	const names = async (principal) => (await call(principal, 'tools/list', {})).json.result.tools.map(({ name }) => name).sort();
	for (const principal of ['owner', 'viewer', 'driver', 'other'])
		assert.deepEqual(await names(principal), tools.filter(([least]) => !refusal(principal, least, { trusted })).map(([, name]) => name).sort(), `what ${principal} is offered`);
	const sendAll = async (allowed) => {
		for (const principal of principals) {
			for (const [least, name, sent, may] of listed) {
				const refused = refusedRoute(principal) ?? refusal(principal, least, { names: name !== 'session_list', trusted });
				if (allowed !== !refused) continue;
				const args = JSON.parse(JSON.stringify((allowed && may) || sent).replace('{exec}', fixture.ids.exec));
				const answer = await call(principal, 'tools/call', { name, arguments: args });
				verdicts.judge(name, principal, 'MCP', refused ?? 'served', refused ? answer : served(answer));
			}
		}
	};
	await assertUnchanged(server, 'refusals of MCP', () => sendAll(false));
	await sendAll(true);
	client.close();
	verdicts.done();
}

/** Names of the methods in a table of ws/rpc. */
const methodsIn = (file) => {
	const text = readFileSync(new URL(`../../ws/rpc/${file}`, import.meta.url), 'utf8');
	return [...new Set([...text.matchAll(/^\t(?:\{|REFUSED\()"(\w+)", "(\w+)"(?:, METHOD_(?!NULL|NOTHING)|\))/gm)].map(([, space, name]) => `${space}.${name}`))].sort();
};

/** Calls the methods of one main object: first those that are refused, then those that are served. */
async function askMain(server, fixture, verdicts, listed, { trusted } = {}) {
	await renewAnswers(server, fixture);
	const open = {};
	for (const principal of principals) open[principal] = await Calls.open(server, fixture.tokens[principal], { path: pathFor(principal, fixture, '/rpc') });
	const sendAll = async (allowed) => {
		for (const principal of principals) {
			for (const [least, name, sent, may] of listed) {
				const args = ((allowed && may) || sent).map((each) => (typeof each === 'function' ? each() : each));
				const names = args.some((each) => each === 's' || each?.sessionId === 's');
				const refused = refusedRoute(principal) ?? refusal(principal, least, { names, trusted });
				if (allowed !== !refused) continue;
				const answer = await open[principal].ask(name, args);
				verdicts.judge(name, principal, '/rpc', refused ?? 'served', refused ? answer : served(answer));
			}
		}
	};
	await assertUnchanged(server, 'what was refused by /rpc', () => sendAll(false));
	await sendAll(true);
	for (const each of Object.values(open)) each.close();
}

async function askMethods(server, t, fixture, { trusted, fits = () => true } = {}) {
	const verdicts = new Verdicts(t, trusted ? 'methods of /rpc, with --drivers-may-all' : 'methods of /rpc');
	await askMain(server, fixture, verdicts, methods.filter(([least]) => fits(least)), { trusted });
	verdicts.done();
}

scenario('every principal: each route over each transport, each MCP tool, each method of /rpc', secure, async (server, t) => {
	const described = operations.map(({ method, path: route }) => `${method.toUpperCase()} ${route}`).sort();
	assert.deepEqual(routes.filter(({ undescribed }) => !undescribed).map(nameOf).sort(), described, 'the table has every route of the API description');
	const nameOfMethod = ([, name]) => name;
	assert.deepEqual(methods.map(nameOfMethod).sort(), methodsIn('methods.c'), 'the table has every method');
	const fixture = await begin(server);
	const verdicts = new Verdicts(t, 'HTTP/1.1 and /ws, where they differ by "/"');
	for (const how of Object.keys(transports)) {
		await matrix(server, fixture, how, verdicts);
		await restart(server);
	}
	await watcher(server, fixture.tokens.viewer);
	verdicts.done();
	await askTools(server, t, fixture, { listed: tools });
	await askMethods(server, t, fixture);
});

scenario('trusted drivers: routes, MCP tools, methods of /rpc', trusting, async (server, t) => {
	const fixture = await begin(server);
	const verdicts = new Verdicts(t, 'with --drivers-may-all');
	const rows = routes.filter(({ least }) => least === 'driver' || needsTrust(least));
	await matrix(server, fixture, 'HTTP/1.1', verdicts, { rows, trusted: true });
	await restart(server);
	verdicts.done();
	await askTools(server, t, fixture, { listed: tools.filter(([least]) => needsTrust(least)), trusted: true });
	await askMethods(server, t, fixture, { fits: needsTrust, trusted: true });
});
