// The API description matches the error codes, the messages and close codes of sockets, and the real responses.
// tests/unit/ws/api/test_routes.c compares it with the table of routes.
import assert from 'node:assert/strict';
import http from 'node:http';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assertError } from './lib/api.mjs';
import { readText } from './lib/server.mjs';
import { shared } from './lib/together.mjs';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
const source = (name) => readText(path.join(root, name));
const document = JSON.parse(source('ws/api/openapi.json'));
const methods = ['get', 'post', 'put', 'delete'];

/** All operations: {method, path, operation}. */
const operations = Object.entries(document.paths).flatMap(([route, item]) =>
	Object.entries(item).map(([method, operation]) => ({ method, path: route, operation })));

function resolve(reference) {
	assert.match(reference, /^#\//);
	return reference.slice(2).split('/').reduce((node, key) => {
		assert.ok(node && Object.hasOwn(node, key), `${reference} leads nowhere`);
		return node[key];
	}, document);
}

const followed = (node) => (node.$ref ? resolve(node.$ref) : node);

/** Every object in the document. */
function visit(node, body, where = '#') {
	if (node === null || typeof node !== 'object') return;
	if (!Array.isArray(node)) body(node, where);
	for (const [key, value] of Object.entries(node)) visit(value, body, `${where}/${key}`);
}

/** Compares a value with a schema, both ways: a list of differences. */
function mismatches(value, schema, where = '') {
	const s = followed(schema);
	const found = [];
	const wrong = (text) => found.push(`${where || 'the answer'}: ${text}: ${JSON.stringify(value)?.slice(0, 200)}`);
	if (s.oneOf) {
		if (!s.oneOf.some((each) => mismatches(value, each, where).length === 0)) wrong('fits none of oneOf');
		return found;
	}
	if (s.allOf) {
		const properties = Object.assign({}, ...s.allOf.map((each) => followed(each).properties));
		const required = s.allOf.flatMap((each) => followed(each).required ?? []);
		return mismatches(value, { type: 'object', properties, required }, where);
	}
	if ('const' in s && value !== s.const) wrong(`is not ${s.const}`);
	if (s.enum && !s.enum.includes(value)) wrong(`is none of ${s.enum}`);
	const is = {
		string: typeof value === 'string', integer: Number.isInteger(value), number: typeof value === 'number',
		boolean: typeof value === 'boolean', null: value === null, array: Array.isArray(value),
		object: typeof value === 'object' && value !== null && !Array.isArray(value),
	};
	if (s.type && ![s.type].flat().some((type) => is[type])) wrong(`is no ${s.type}`);
	if (s.pattern && is.string && !new RegExp(s.pattern).test(value)) wrong(`does not match ${s.pattern}`);
	if (is.array && s.items) value.forEach((each, i) => found.push(...mismatches(each, s.items, `${where}[${i}]`)));
	if (is.object) {
		for (const name of s.required ?? []) if (!Object.hasOwn(value, name)) wrong(`has no ${name}`);
		for (const [name, each] of Object.entries(value)) {
			if (s.properties && Object.hasOwn(s.properties, name)) found.push(...mismatches(each, s.properties[name], `${where}.${name}`));
			else if (s.properties && !s.additionalProperties) wrong(`has ${name}, which is not described`);
		}
	}
	return found;
}

/** Assert that a response's JSON matches the description. */
function assertFits(answer, method, route) {
	const { responses } = document.paths[route][method];
	const response = followed(responses[answer.status] ?? responses.default);
	const { schema } = response.content['application/json'];
	assert.deepEqual(mismatches(answer.json, schema), [], `${method} ${route}: ${answer.status}`);
}

test('the document is OpenAPI 3.1, by simple checks', () => {
	assert.match(document.openapi, /^3\.1\.\d+$/);
	assert.ok(document.info.title && document.info.version);
	const tags = document.tags.map(({ name }) => name);
	assert.equal(new Set(tags).size, tags.length);
	const ids = operations.map(({ operation }) => operation.operationId);
	assert.deepEqual(ids.filter((id, i) => ids.indexOf(id) !== i), [], 'ids of operations are unique');
	for (const { method, path: route, operation } of operations) {
		const where = `${method} ${route}`;
		assert.ok(methods.includes(method), where);
		assert.match(route, /^\/[^?#]*$/, where);
		assert.ok(operation.operationId && operation.summary, where);
		assert.ok(operation.tags.length > 0 && operation.tags.every((tag) => tags.includes(tag)), where);
		assert.ok(['public', 'viewer', 'driver', 'trusted', 'owner'].includes(operation['x-role']), where);
		const parameters = (operation.parameters ?? []).map(followed);
		for (const each of parameters) {
			assert.ok(each.name && ['path', 'query', 'header'].includes(each.in) && each.schema, `${where}: ${each.name}`);
			if (each.in === 'path') assert.equal(each.required, true, `${where}: ${each.name}`);
		}
		assert.deepEqual(parameters.filter((each) => each.in === 'path').map(({ name }) => name),
			[...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name), `${where}: its parameters are those of the path`);
		const keys = parameters.map((each) => `${each.in} ${each.name}`);
		assert.equal(new Set(keys).size, keys.length, where);
		if (operation.requestBody) assert.ok(Object.keys(operation.requestBody.content).length > 0, where);
		if (method === 'get' || method === 'delete') assert.equal(operation.requestBody, undefined, where);
		assert.ok(operation.responses.default, where);
		for (const [status, response] of Object.entries(operation.responses)) {
			assert.match(status, /^([1-5]\d\d|default)$/, where);
			assert.equal(typeof (response.description ?? followed(response).description), 'string', `${where}: ${status}`);
		}
	}
	const types = ['string', 'integer', 'number', 'boolean', 'null', 'array', 'object'];
	visit(document, (node, where) => {
		if (typeof node.$ref === 'string') assert.ok(resolve(node.$ref), where);
		if (!/schema|items|properties\/\w+$/.test(where) || where.endsWith('/properties')) return;
		for (const type of [node.type ?? []].flat()) if (typeof type === 'string') assert.ok(types.includes(type), `${where}: ${type}`);
		if (Array.isArray(node.required) && node.properties)
			for (const name of node.required) assert.ok(Object.hasOwn(node.properties, name), `${where}: ${name} is required, but not described`);
	});
});

test('exactly the existing error codes are described', () => {
	const table = Object.fromEntries([...source('ws/error.c').matchAll(/\{"([A-Z_]+)", (\d+)\}/g)]
		.map(([, code, status]) => [code, Number(status)]));
	assert.ok(Object.keys(table).length > 20, 'the codes were found');
	const described = document['x-error-codes'];
	assert.deepEqual(Object.keys(table).filter((code) => !described[code]), [], 'not described');
	assert.deepEqual(Object.keys(described).filter((code) => !table[code]), [], 'described, but not in ws/error.c');
	assert.deepEqual(Object.keys(described).sort(), [...document.components.schemas.Error.properties.code.enum].sort());
	const readme = source('ws/README.md');
	for (const [code, { status, meaning }] of Object.entries(described)) {
		assert.equal(status, table[code], code);
		assert.ok(meaning.length > 10, code);
		assert.ok(readme.includes(`\`${code}\``), `ws/README.md lists ${code}`);
	}
	const sources = readdirSync(path.join(root, 'ws'), { recursive: true }).filter((name) => /\.c$/.test(name));
	assert.ok(sources.some((name) => /^api\/\w+\.c$/.test(name)), 'handlers were found');
	for (const file of sources)
		for (const [, code] of source(`ws/${file}`).matchAll(/\b(?:reply_error|error_json)\(\s*(?:\w+,\s*)?"([A-Z_]+)"/g))
			assert.ok(table[code], `${code} of ${file} is not in ws/error.c`);
	for (const { method, path: route, operation } of operations)
		for (const [status, { description }] of Object.entries(operation.responses))
			for (const [, code] of (description ?? '').matchAll(/`([A-Z]+_[A-Z_]+)`/g))
				assert.equal(String(table[code]), status, `${method} ${route}: ${code}`);
});

/** The first groups of all matches in a file. */
const named = (file, pattern) => {
	const found = [...source(file).matchAll(pattern)].map(([, name]) => name);
	assert.ok(found.length > 3, `matches were found in ${file}`);
	return found;
};

const socketsTag = document.tags.find(({ name }) => name === 'sockets');

test('messages of the terminal socket are described', () => {
	const readme = source('ws/README.md').split('## The terminal socket')[1];
	const texts = { 'ws/README.md': readme, 'ws/api/openapi.json': socketsTag['x-terminal-socket'] };
	const types = new Set([
		...named('ws/socket/terminal_send.c', /"type",\s*(?:json_string\()?"(\w+)"/g),
		...named('ws/socket/message.c', /strcmp\(\w+, "(\w+)"\) == 0/g),
	]);
	for (const [name, text] of Object.entries(texts))
		assert.deepEqual([...types].filter((type) => !new RegExp(`\`${type}\\b`).test(text)), [], `missing in ${name}`);
});

test('close codes are described, and the page and the command line handle ours', () => {
	const codes = named('ws/socket/frames.h', /CLOSE_\w+ = (\d+)/g).filter((code) => code !== '1000');
	const texts = {
		'ws/README.md': source('ws/README.md').split('## Streams, and the control socket')[1],
		'ws/api/openapi.json': socketsTag['x-terminal-socket'] + socketsTag['x-control-socket'],
	};
	for (const [name, text] of Object.entries(texts))
		assert.deepEqual(codes.filter((code) => !text.includes(code)), [], `missing in ${name}`);
	for (const file of ['web/src/net/wire.ts', 'ws/client/attach/socket.c'])
		assert.deepEqual(codes.filter((code) => code >= '4000' && !source(file).includes(code)), [], `missing in ${file}`);
});

test('the MCP tools are in the table of tools', () => {
	const readme = source('ws/README.md');
	const tools = JSON.parse(source('ws/mcp/tools.json')).map(({ name }) => name);
	assert.deepEqual(tools.filter((name) => !readme.includes(`\`${name}\``)), []);
});

/** The status of a response, which may be an endless stream, and its JSON if it ends. */
function ask(server, method, route, body) {
	return new Promise((done, reject) => {
		const payload = body === undefined ? undefined : JSON.stringify(body);
		const outgoing = http.request(`${server.base}${route}`, {
			method,
			agent: false,
			headers: {
				Authorization: `Bearer ${server.token}`,
				...(payload === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(payload) }),
			},
		}, (incoming) => {
			const streams = /event-stream/.test(incoming.headers['content-type']);
			let text = '';
			const finish = () => {
				outgoing.destroy();
				done({ status: incoming.statusCode, streams, json: /json/.test(incoming.headers['content-type']) && text ? JSON.parse(text) : undefined });
			};
			if (streams) {
				finish();
				return;
			}
			incoming.setEncoding('utf8').on('data', (data) => { text += data; }).on('end', finish);
		});
		outgoing.on('error', reject);
		outgoing.end(payload);
	});
}

shared('every operation is served, with a documented response', async (server) => {
	for (const { method, path: route, operation } of operations) {
		const where = `${method} ${route}`;
		const answer = await ask(server, method.toUpperCase(), route.replace(/\{\w+\}/g, 'missing'),
			operation.requestBody ? {} : undefined);
		assert.ok(!['UNKNOWN_ERROR', 'METHOD_NOT_ALLOWED'].includes(answer.json?.code), `${where}: ${JSON.stringify(answer.json)}`);
		if (answer.streams) assert.ok(operation.responses[200].content['text/event-stream'], `${where} streams`);
		if (operation['x-role'] !== 'public') {
			const unauthenticated = await server.api.as(null).raw(method.toUpperCase(), route.replace(/\{\w+\}/g, 'missing'), operation.requestBody ? {} : undefined);
			assertError(unauthenticated, 401, 'UNAUTHENTICATED', where);
		}
		if (operation['x-protocol']) continue; // it has its own errors
		if (answer.status >= 400) {
			assert.deepEqual(mismatches(answer.json, document.components.schemas.Error), [], where);
			assert.ok(operation.responses[answer.status], `${where}: ${answer.status} ${answer.json.code} is not described`);
			assert.ok(operation.responses[answer.status].description.includes(`\`${answer.json.code}\``),
				`${where}: ${answer.json.code} is not described`);
		}
		assert.notEqual(answer.status, 501, where);
	}
	for (const route of Object.keys(document.paths))
		for (const method of methods.filter((each) => !document.paths[route][each])) {
			const answer = await ask(server, method.toUpperCase(), route.replace(/\{\w+\}/g, 'missing'));
			assert.ok([404, 405].includes(answer.status), `${method} ${route} is not described, but responds with ${answer.status}`);
		}
	await server.api.refused(404, 'UNKNOWN_ERROR', 'GET', '/api/nothing');
});

shared('the document is served, with the version of the program', async (server) => {
	const answer = await server.api.raw('GET', '/api/openapi.json');
	assert.equal(answer.status, 200);
	assert.match(answer.headers['content-type'], /^application\/json/);
	const { version } = await server.api.call('GET', '/api/version');
	assert.equal(answer.json.info.version, version);
	assert.deepEqual(answer.json, { ...document, info: { ...document.info, version } });
});

/** Send requests [method, route, query, body]; each response must be as described. */
async function check(server, calls, names) {
	for (const [method, route, query = '', body] of calls) {
		const target = route.replace(/\{(\w+)\}/g, (_, name) => names[name]) + query;
		const answer = await server.api.raw(method.toUpperCase(), target, body);
		assert.ok(answer.status < 500 || route === '/api/session/delete', `${method} ${target}: ${answer.text}`);
		assertFits(answer, method, route);
	}
}

shared('responses about sessions are as described', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	await server.run('s', 'printf "\\033[1;4:3;31mred\\033[m \\033[38;2;1;2;3mrgb\\033[m\\n"');
	const { link } = await server.api.link('s', 'viewer', 60_000);
	await check(server, [
		['get', '/api/ping'],
		['get', '/api/version'],
		['get', '/api/commands'],
		['get', '/api/auth/whoami'],
		['post', '/api/auth/login', '', { token: server.token }],
		['post', '/api/auth/login', '', { token: 'wrong' }],
		['get', '/api/session/list'],
		['get', '/api/session/{id}'],
		['get', '/api/session/{id}/state'],
		['post', '/api/session/{id}/wait', '', { until: [{ type: 'prompt' }], timeoutMs: 10_000 }],
		['post', '/api/session/{id}/wait', '', { until: [{ type: 'match', pattern: 'rgb' }], from: 0, timeoutMs: 0 }],
		['post', '/api/session/{id}/wait', '', { until: [{ type: 'match', pattern: 'rgb', on: 'screen' }], timeoutMs: 0 }],
		['post', '/api/session/{id}/wait', '', { until: [{ type: 'exit' }], timeoutMs: 0 }],
		['post', '/api/session/{id}/wait', '', { until: [] }],
		['get', '/api/session/{id}/screen', '?cells=1'],
		['get', '/api/session/{id}/screen', '?wrap=join'],
		['get', '/api/session/{id}/screen', '?format=nothing'],
		['get', '/api/session/{id}/scrollback'],
		['get', '/api/session/{id}/scrollback', '?from=1000000'],
		['get', '/api/session/{id}/search', '?q=red'],
		['get', '/api/session/{id}/links'],
		['post', '/api/session/{id}/links', '', { role: 'driver' }],
		['delete', '/api/session/{id}/links/{link}'],
		['post', '/api/session/{id}/rename', '', { name: 'Ess' }],
		['post', '/api/session/{id}/resize', '', { cols: 90, rows: 20 }],
		['post', '/api/session/{id}/size', '', { policy: 'latest' }],
		['post', '/api/session/{id}/signal', '', { signal: 'INT' }],
		['post', '/api/session/{id}/input', '', { data: ':\r' }],
		['post', '/api/session/{id}/keys', '', { text: ':', keys: ['Enter'] }],
		['post', '/api/session/{id}/keys', '', { keys: ['Entr'] }],
		['get', '/api/session/{id}/typed'],
		['post', '/api/session/{id}/lease', '', { owner: 'a test' }],
		['post', '/api/session/{id}/lease', '', {}],
		['post', '/api/session/{id}/keys', '', { text: ':' }],
		['get', '/api/session/{id}/lease'],
		['delete', '/api/session/{id}/lease'],
		['get', '/api/session/{id}/lease'],
		['post', '/api/session/open', '', { id: 's' }],
		['post', '/api/session/create', '', { id: 't' }],
		['post', '/api/session/create', '', { id: 's' }],
		['post', '/api/session/delete', '', { sessionId: 't' }],
		['post', '/api/session/delete', '', { sessionId: 'missing' }],
	], { id: 's', link: link.id });
});

shared('responses about commands and processes are as described', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	const { data } = await server.api.call('POST', '/api/session/s/exec', { command: 'echo by id', label: 'a test' });
	await check(server, [
		['post', '/api/session/{id}/exec', '', { command: 'echo hello; cd /', streams: 'pipes' }],
		['post', '/api/session/{id}/exec', '', { command: 'echo hello; echo err >&2', streams: 'terminals' }],
		['post', '/api/session/{id}/exec', '', { command: 'sleep 30', yieldMs: 1 }],
		['post', '/api/session/{id}/exec', '', { command: 'true' }],
		['get', '/api/session/{id}/exec'],
		['get', '/api/session/{id}/exec/{exec}'],
		['post', '/api/session/{id}/exec/{exec}/cancel', '', {}],
		['get', '/api/session/{id}/exec/{exec}', '?waitMs=1'],
		['post', '/api/execute', '', { command: 'echo hello', sessionId: '__DISABLE_SESSION__' }],
		['post', '/api/run', '', { command: 'echo hello; (exit 3)', stdin: 'x' }],
		['post', '/api/run', '', { command: 'kill -9 $$' }],
		['post', '/api/run', '', { command: 'sleep 30', timeoutMs: 1 }],
		['post', '/api/run', '', { command: 'true', cwd: '/nonexistent' }],
		['post', '/api/process/start', '', { command: 'echo hello', processId: 's' }],
		['post', '/api/process/{id}/wait', '', { for: 'exit' }],
		['post', '/api/process/{id}/wait', '', { for: 'log', pattern: 'ell' }],
		['post', '/api/process/{id}/wait', '', {}],
		['get', '/api/process/list'],
		['get', '/api/process/{id}'],
		['get', '/api/process/{id}/logs'],
		['get', '/api/process/{id}/output'],
		['get', '/api/process/{id}/output', '?stream=stdout'],
		['get', '/api/process/{id}/output', '?encoding=base64'],
		['delete', '/api/process/{id}'],
		['delete', '/api/process/kill-all'],
		['delete', '/api/process/{id}', '?remove=1'],
		['get', '/api/process/{id}'],
	], { id: 's', exec: data.id });
});
