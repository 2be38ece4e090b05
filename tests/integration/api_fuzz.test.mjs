// Hostile values for each route and field of the API description, over HTTP, the control socket and MCP. Each gets a
// response; each error has the documented form and a code that the route documents; the server survives.
//
// SEED repeats the requests, RINGSIDE_SOAK=1 sends many (tests/soak).
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import net from 'node:net';
import { assertError } from './lib/api.mjs';
import { ControlClient } from './lib/control.mjs';
import { Hostile, VALUES } from './lib/hostile_api.mjs';
import { description, documented } from './lib/openapi.mjs';
import { seed } from './lib/oracle.mjs';
import { rssAnon } from './lib/proc.mjs';
import { sanitized } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { together } from './lib/together.mjs';
import { until } from './lib/until.mjs';
import { Random } from '../lib/grammar.mjs';

/** Requests of each route, frames of each, and tool calls. They cost less without sanitizers, and memory is measured then. */
const many = times(sanitized() ? 8 : 30, 400);
const frames = times(3, 400);
const calls = times(300, 20_000);
const abandonAfter = 200;
const known = Object.keys(description['x-error-codes']);

/* Codes that any route may answer with: the route or the request is invalid. */
const transport = {
	UNKNOWN_ERROR: 404, METHOD_NOT_ALLOWED: 405, REQUEST_TOO_LARGE: 413, VALIDATION_FAILED: 400, OPERATION_INTERRUPTED: 409,
};

/** Send bytes; resolves with {status, type, text}, or undefined if no response comes in time and mayWait is set. */
function exchange(server, bytes, mayWait) {
	return new Promise((resolve, reject) => {
		const socket = net.connect(server.port, '127.0.0.1');
		let data = Buffer.alloc(0);
		const timer = setTimeout(() => done(undefined), mayWait ? abandonAfter : 60_000);
		const done = (answer) => {
			clearTimeout(timer);
			socket.destroy();
			resolve(answer);
		};
		const parsed = (ended) => {
			const end = data.indexOf('\r\n\r\n');
			if (end < 0) return ended ? { status: 0, text: data.toString('latin1') } : undefined;
			const head = data.toString('latin1', 0, end);
			const status = Number(/^HTTP\/1\.[01] (\d+)/.exec(head)?.[1]);
			const type = /^content-type: *(.*)$/im.exec(head)?.[1];
			const length = /^content-length: *(\d+)/im.exec(head)?.[1];
			if (/event-stream/.test(type)) return { status, type, text: '' };
			if (length === undefined && !ended && !/^transfer-encoding: *chunked/im.test(head)) return undefined;
			const body = data.subarray(end + 4);
			if (length === undefined && !ended && !body.toString('latin1').endsWith('0\r\n\r\n')) return undefined;
			if (length !== undefined && body.length < Number(length) && !ended) return undefined;
			return { status, type, text: body.toString('utf8'), chunked: length === undefined };
		};
		socket.on('error', (error) => (data.length ? done(parsed(true)) : error.code === 'EPIPE' || error.code === 'ECONNRESET' ? done({ status: 0, text: error.code }) : reject(error)));
		socket.on('data', (chunk) => {
			data = Buffer.concat([data, chunk]);
			const answer = parsed(false);
			if (answer) done(answer);
		});
		socket.on('close', () => done(parsed(true)));
		socket.write(bytes);
	});
}

function http({ method, path, body }, server) {
	const head = `${method} ${path} HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\nConnection: close\r\n`
		+ `${body ? `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n` : ''}\r\n`;
	return Buffer.concat([Buffer.from(head, 'latin1'), body ?? Buffer.alloc(0)]);
}

/** Assert that an error is documented and complete enough for programs. */
function assertDocumented(answer, { method, route, hostilePath }, about) {
	let json;
	try {
		json = JSON.parse(answer.text);
	} catch {
		assert.fail(`${about()}: an error is not JSON: ${answer.status} ${answer.type} ${JSON.stringify(answer.text.slice(0, 300))}`);
	}
	if (answer.type) assert.match(answer.type, /^application\/json/, about());
	assertError({ ...answer, json }, answer.status, undefined, about());
	assert.ok(known.includes(json.code), about());
	const here = documented(method.toLowerCase(), route, answer.status);
	const summary = `${about()}: ${answer.status} ${answer.text.slice(0, 300)}`;
	if (answer.status >= 500) assert.ok(here.includes(json.code), `undocumented: ${summary}`);
	if (!hostilePath) assert.ok(here.includes(json.code) || transport[json.code] === answer.status, `undocumented: ${summary}`);
	if (json.code === 'INTERNAL_ERROR') assert.equal(json.context.originalError, 'Session not found', summary);
}

/** Remove an archive that the request has made in the workspace. */
function remove(answer) {
	if (answer.archivePath) rmSync(answer.archivePath, { force: true });
}

/** Collect failures, so that all of them are reported. */
function collect(wrong, check) {
	try {
		check();
	} catch (error) {
		wrong.push(error.message);
	}
}

function assertNoFailures(wrong) {
	assert.equal(wrong.length, 0, `${wrong.length} wrong answers, of which the first are\n${wrong.slice(0, Number(process.env.WRONG ?? 20)).join('\n')}`);
}

/** Make what the requests need, and remove what they have made. */
async function refresh(server) {
	const { api } = server;
	for (const { id, state } of (await api.list()).sessions) if (id !== 's' || state === 'exited') await api.delete(id);
	await api.open({ id: 's', cwd: server.cwd });
	await api.raw('DELETE', '/api/session/s/lease');
	for (const { id } of (await api.call('GET', '/api/process/list')).processes) await api.raw('DELETE', `/api/process/${id}?remove=true&graceMs=0`);
	await api.call('POST', '/api/process/start', { command: 'cat', processId: 'p', stdin: 'pipe' });
	await until('a running shell', async () => (await api.get('s')).state === 'running');
}

/** The shell responds too, and nothing is left at its prompt. */
async function assertAlive(server) {
	await refresh(server);
	await server.session({ id: 'after' });
	assert.equal(await server.run('after', 'echo $((6*7))'), '42\n');
}

async function prepared(server) {
	await server.session({ id: 's', cwd: server.cwd });
	const { data } = await server.api.call('POST', '/api/session/s/exec', { command: 'echo done' });
	const { blocks } = await server.api.call('GET', '/api/session/s/blocks');
	const { link } = await server.api.link('s', 'viewer');
	await refresh(server);
	console.log(`# SEED=${seed}`);
	return new Hostile(new Random(seed), { id: 's', exec: data.id, block: blocks[0].id, link: link.id });
}

const shared = together({ args: ['--max-sessions', '12', '--max-processes', '16', '--ring-size', '256K', '--process-ring', '64K', '--kept-processes', '16'] });
const timeout = times(100_000, 1_800_000);

shared('over HTTP', { timeout, memory: true }, async (server) => {
	const hostile = await prepared(server);
	const tally = {};
	const wrong = [];
	let count = 0;
	let base;
	const { pid } = server;
	for (const plan of [...hostile.requests(many)]) {
		const request = plan.path.includes('/process/') ? { ...plan, path: plan.path.replace('/process/s', '/process/p') } : plan;
		const about = () => `SEED=${seed}, request ${count}: ${request.method} ${request.path.slice(0, 300)} ${String(request.body ?? '').slice(0, 500)}`;
		const answer = await exchange(server, http(request, server), request.mayWait);
		assert.equal(server.pid, pid, `${about()}: the server has ended`);
		count += 1;
		if (count === 100) base = rssAnon(server.pid);
		tally[answer?.status ?? 'abandoned'] = (tally[answer?.status ?? 'abandoned'] ?? 0) + 1;
		collect(wrong, () => {
			assert.ok(answer || request.mayWait, `${about()}: no answer`);
			if (!answer) return;
			assert.notEqual(answer.status, 0, `${about()}: invalid response ${JSON.stringify(answer.text)}`);
			if (answer.status >= 400 && request.route !== '/mcp') assertDocumented(answer, request, about);
			else if (/json/.test(answer.type) && !answer.chunked) remove(JSON.parse(answer.text));
		});
		if (count % 60 === 0) await refresh(server);
	}
	console.log(`# ${count} requests: ${JSON.stringify(tally)}`);
	assertNoFailures(wrong);
	await assertAlive(server);
	if (!sanitized()) assert.ok(rssAnon(server.pid) - base < 24 << 20, `RssAnon grew from ${base} to ${rssAnon(server.pid)}`);
});

shared('over the control socket', { timeout }, async (server) => {
	const hostile = await prepared(server);
	const tally = {};
	const wrong = [];
	let count = 0;
	let client = await new ControlClient(server).connect();
	for (const request of hostile.requests(frames)) {
		const about = () => `SEED=${seed}, frame ${count}: ${frame.toString('latin1').slice(0, 800)}`;
		const id = `f${count += 1}`;
		const frame = Buffer.concat([Buffer.from(`{"type":"request","id":"${id}","method":"${request.method}","path":${JSON.stringify(request.path)}`),
			...(request.body ? [Buffer.from(',"body":'), request.body.length ? request.body : Buffer.from('""')] : []), Buffer.from('}')]);
		if (client.closed || !client.socket) client = await new ControlClient(server).connect();
		const before = client.frames.length;
		client.socket.send(frame, { binary: false });
		const answered = () => client.frames.slice(before).find((each) => (each.id === id && each.type !== 'stream') || (each.type === 'error' && each.id === undefined));
		const streams = () => client.frames.slice(before).some((each) => each.id === id && each.type === 'stream');
		const waited = Date.now();
		const answer = await until(() => `answer to ${about()}`, () => answered() || streams() && 'stream' || client.closed && 'closed'
			|| request.mayWait && Date.now() - waited > abandonAfter && 'abandoned', { interval: 1 });
		const status = typeof answer === 'string' ? answer : answer.status;
		tally[status] = (tally[status] ?? 0) + 1;
		collect(wrong, () => {
			if (answer === 'closed') assert.ok([1007, 1009, 1008].includes(client.closed.code), `${about()}: closed with ${JSON.stringify(client.closed)}`);
			if (answer.type === 'error') assert.ok(known.includes(answer.code) && answer.message && answer.status < 500, `${about()}: ${JSON.stringify(answer)}`);
			else if (answer.status >= 400 && request.route !== '/mcp') assertDocumented({ status: answer.status, text: JSON.stringify(answer.body) }, request, about);
			else if (answer.body) remove(answer.body);
		});
		if (answer === 'abandoned' || answer === 'stream') client.cancel(id);
		if (count % 60 === 0) {
			client.terminate();
			client = await new ControlClient(server).connect();
			await refresh(server);
		}
	}
	console.log(`# ${count} frames: ${JSON.stringify(tally)}`);
	assertNoFailures(wrong);
	await assertAlive(server);
});

shared('over MCP', { timeout }, async (server) => {
	const hostile = await prepared(server);
	const { random } = hostile;
	const version = '2025-11-25';
	const post = (body, headers = {}) => exchange(server, Buffer.concat([Buffer.from(`POST /mcp HTTP/1.1\r\nHost: ${server.host}\r\n`
		+ `Authorization: Bearer ${server.token}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n`
		+ `${Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n`), body]), true);
	const begin = async () => {
		const { headers } = await server.api.raw('POST', '/mcp', { jsonrpc: '2.0', id: 0, method: 'initialize',
			params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 'fuzz', version: '1' } } },
		{ headers: { Accept: 'application/json, text/event-stream' } });
		const session = { 'Mcp-Session-Id': headers['mcp-session-id'], 'MCP-Protocol-Version': version };
		await post(Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}'), session);
		return session;
	};
	const session = await begin();
	const { json } = await server.api.raw('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
		{ headers: { Accept: 'application/json, text/event-stream', ...session } });
	const { tools } = json.result;
	assert.ok(tools.length >= 10);
	const tally = {};
	const wrong = [];
	for (let count = 0; count < calls; count += 1) {
		const { name, inputSchema } = random.pick(tools);
		const names = Object.keys(inputSchema.properties ?? {});
		const wrong = new Set(Array.from({ length: 1 + random.below(2) }, () => random.pick([...names, 'unknown'])));
		const chosen = names.filter((each) => inputSchema.required?.includes(each) || random.below(4) === 0);
		const args = random.below(10) === 0 ? random.pick(VALUES) : hostile.object([...new Set([...chosen, ...wrong])], wrong);
		const body = random.below(12) === 0
			? Buffer.concat([Buffer.from(`{"jsonrpc":"2.0","id":${count},"method":`), random.pick(VALUES), Buffer.from(',"params":'), args, Buffer.from('}')])
			: Buffer.concat([Buffer.from(`{"jsonrpc":"2.0","id":${random.below(20) ? count : random.pick(['null', '-1', '1.5', '1e400', '"a\\u0000"', '{}'])},"method":"tools/call","params":{"name":"${name}","arguments":`), args, Buffer.from('}}')]);
		const about = () => `SEED=${seed}, message ${count}: ${body.toString('latin1').slice(0, 800)}`;
		const answer = await post(body, session);
		const status = answer?.status ?? 'abandoned';
		tally[status] = (tally[status] ?? 0) + 1;
		collect(wrong, () => {
			if (!answer) return;
			assert.ok(status >= 200 && status < 500, `${about()}: ${status} ${answer.text.slice(0, 300)}`);
			if (!/json/.test(answer.type) || answer.chunked) return;
			const got = JSON.parse(answer.text);
			assert.equal(got.jsonrpc, '2.0', about());
			assert.ok('result' in got || Number.isInteger(got.error.code), about());
			const error = got.result?.isError && got.result.structuredContent?.error;
			if (error) assert.ok(known.includes(error.code) && error.code !== 'INTERNAL_ERROR', `${about()}: ${JSON.stringify(error)}`);
		});
		if (count % 60 === 59) await refresh(server);
	}
	console.log(`# messages: ${JSON.stringify(tally)}`);
	assertNoFailures(wrong);
	await assertAlive(server);
});
