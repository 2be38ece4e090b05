// Lossless readers get every byte of more output than all buffers hold, on every path.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream, readdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import WebSocket from 'ws';
import { environment } from './lib/cli.mjs';
import { binary, sanitized, slowness } from './lib/server.mjs';
import { isAlive, rssAnon } from './lib/proc.mjs';
import { times } from './lib/soak.mjs';
import { together } from './lib/together.mjs';
import { until, within } from './lib/until.mjs';

/** Per path; RINGSIDE_LOSSLESS_MB=1024 is the long form. */
const megabytes = times(1, 128, 'RINGSIDE_LOSSLESS_MB'); // the ring holds a quarter of that
const long = megabytes > 12;
const MiB = 1 << 20;
const timeout = 60_000 * slowness + megabytes * 3000;
const small = together({ args: ['--ring-size', '256K', '--process-ring', '256K'] });

/** Counts and hashes bytes. */
class Sum {
	constructor() {
		this.hash = createHash('sha256');
		this.length = 0;
	}

	add(bytes) {
		this.hash.update(bytes);
		this.length += bytes.length;
		return this;
	}

	get digest() {
		return this.hash.copy().digest('hex');
	}
}

async function sumOf(stream) {
	const sum = new Sum();
	for await (const chunk of stream) sum.add(chunk);
	return sum;
}

const same = (got, want, what) => {
	assert.equal(got.length, want.length, `${what}: ${got.length} of ${want.length} bytes`);
	assert.equal(got.digest, want.digest, `${what}: different bytes`);
};

/** Files for commands to print: any bytes (including CR LF), and lines of text with characters of two and three bytes. */
async function sources(server, size = megabytes * MiB) {
	const files = {};
	for (const [kind, block] of [['bytes', randomBytes(MiB)], ['text', Buffer.from(`${'größer – ab '.repeat(5)}\n`.repeat(MiB / 80 | 0))]]) {
		const name = path.join(server.root, kind);
		const sum = new Sum();
		const terminal = new Sum(); // as a terminal shows it
		const shown = Buffer.from(block.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
		const file = createWriteStream(name);
		for (let written = 0; written < size; written += block.length) {
			sum.add(block);
			terminal.add(shown);
			if (!file.write(block)) await once(file, 'drain');
		}
		file.end();
		await once(file, 'finish');
		files[kind] = { name, sum, terminal };
	}
	return files;
}

/** Run `ringside ARGS` and hash its output as it comes: {code, sum, stderr}. */
async function command(server, args, { input, started, gate } = {}) {
	const child = spawn(binary, args, {
		env: environment(server), cwd: server.cwd, stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
	});
	let stderr = '';
	child.stderr.setEncoding('utf8').on('data', (text) => { stderr += text; });
	const closed = once(child, 'close');
	input?.pipe(child.stdin);
	started?.(child);
	await gate?.();
	const sum = await sumOf(child.stdout);
	const [code] = await within('the end of the command', closed, timeout);
	return { code, sum, stderr };
}

/** The events of an HTTP stream. */
async function* events(server, method, target, body) {
	const payload = body === undefined ? undefined : JSON.stringify(body);
	const request = http.request(`${server.base}${target}`, {
		agent: false,
		method,
		headers: {
			Authorization: `Bearer ${server.token}`,
			...(payload === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(payload) }),
		},
	});
	request.end(payload);
	const [response] = await once(request, 'response');
	assert.equal(response.statusCode, 200);
	let pending = '';
	try {
		for await (const text of response.setEncoding('utf8')) {
			const blocks = (pending + text).split('\n\n');
			pending = blocks.pop();
			for (const block of blocks) if (block.startsWith('data: ')) yield JSON.parse(block.slice(6));
		}
	} finally {
		request.destroy();
	}
}

/** Hash the output of a stream: {sum, last (event)}. */
async function follow(stream, names = ['output', 'stdout'], encoding = 'base64') {
	const sum = new Sum();
	let last;
	for await (const event of stream) {
		assert.notEqual(event.type, 'truncated', JSON.stringify(event));
		if (names.includes(event.type)) sum.add(Buffer.from(event.data, encoding));
		else last = event;
	}
	return { sum, last };
}

/** Memory of the server and its holders in MiB; 0 if the sanitizers keep freed memory, or a process has just ended. */
const memory = (server) => [...new Set([server.pid, ...server.leftovers()])]
	.reduce((all, pid) => all + (isAlive(pid) ? rssAnon(pid) / MiB || 0 : 0), 0);

/** Returns the result of body; samples memory meanwhile, which must not grow. */
async function flat(server, body) {
	const before = memory(server);
	let most = before;
	const sampling = setInterval(() => { most = Math.max(most, memory(server)); }, 500);
	const result = await body().finally(() => clearInterval(sampling));
	const after = memory(server);
	if (long) console.log(`memory: ${before.toFixed(1)} MiB before, ${most.toFixed(1)} at most, ${after.toFixed(1)} after`);
	if (!sanitized()) {
		assert.ok(after < before + 24, `${before.toFixed(1)} MiB have become ${after.toFixed(1)}`);
		// Including the lines of a screen, for any amount of output.
		assert.ok(most < before + 48, `${before.toFixed(1)} MiB have been ${most.toFixed(1)}`);
	}
	return result;
}

/** In the long form: print the duration. */
async function timed(what, body) {
	const began = Date.now();
	const result = await body();
	if (long) console.log(`${what}: ${megabytes} MiB in ${((Date.now() - began) / 1000).toFixed(1)} s`);
	return result;
}

const exec = (server, id, body) => server.api.call('POST', `/api/session/${id}/exec`, { yieldMs: 0, hold: true, queue: true, ...body })
	.then(({ data }) => data.id);
const streamOf = (server, id, name, query = 'format=base64') => events(server, 'GET', `/api/session/${id}/exec/${name}/stream?${query}`);

small('the command line: output, both streams in small pieces, and standard input', { timeout: 8 * timeout }, async (server) => {
	await server.session({ id: 's' });
	const { bytes, text } = await sources(server);
	await flat(server, async () => {
		for (const [args, source] of [
			[['exec', '--pipes', 's', `cat ${bytes.name}`], bytes],
			[['exec', 's', `cat ${text.name}`], text],
			[['exec', '--terminals', 's', `cat ${text.name}`], { sum: text.terminal }],
			[['run', `cat ${bytes.name}`], bytes],
			[['run', '--terminals', `cat ${bytes.name}`], bytes],
		]) {
			const { code, sum, stderr } = await timed(args.slice(0, 2).join(' '), () => command(server, args));
			assert.equal(stderr, '');
			assert.equal(code, 0, args.join(' '));
			same(sum, source.sum, args.join(' '));
		}
	});

	// Both streams, in small pieces.
	const pieces = times(2_000, 40_000);
	const loop = `for ((i = 0; i < ${pieces}; i++)); do echo $i; echo $i >&2; done`;
	const want = new Sum();
	for (let i = 0; i < pieces; i += 1) want.add(Buffer.from(`${i}\n`));
	for (const args of [['exec', '--pipes', 's'], ['run', '--pipes']]) {
		const err = new Sum();
		const { code, sum } = await command(server, [...args, loop], {
			started: (child) => child.stderr.on('data', (piece) => err.add(Buffer.from(piece))),
		});
		assert.equal(code, 0);
		same(sum, want, `${args[0]}: stdout`);
		same(err, want, `${args[0]}: stderr`);
	}
	const { processId } = await server.api.call('POST', '/api/process/start', { command: loop, hold: true });
	const out = { stdout: new Sum(), stderr: new Sum() };
	for await (const event of events(server, 'GET', `/api/process/${processId}/stream`)) {
		assert.notEqual(event.type, 'truncated');
		out[event.type]?.add(Buffer.from(event.data));
	}
	same(out.stdout, want, 'process: stdout');
	same(out.stderr, want, 'process: stderr');

	await flat(server, async () => {
		for (const args of [['exec', '-i', '--pipes', 's', 'cat'], ['run', '-i', 'cat']]) {
			const { code, sum, stderr } = await command(server, args, { input: createReadStream(bytes.name) });
			assert.equal(stderr, '');
			assert.equal(code, 0);
			same(sum, bytes.sum, args.join(' '));
		}
	});
	assert.deepEqual(readdirSync(path.join(server.dir, 'stdin')), [], 'no input is left');
	for (const stdinFrom of ['../meta.json', '0'.repeat(32), 'x', ''])
		for (const route of ['/api/run', '/api/session/s/exec']) await server.api.refused(400, 'VALIDATION_FAILED', 'POST', route, { command: 'cat', stdinFrom });
});

small('events over HTTP, and over the control socket', { timeout: 8 * timeout }, async (server) => {
	await server.session({ id: 's' });
	const { bytes, text } = await sources(server);
	const utf8 = [['stdout'], 'utf8'];
	const ran = async (what, source, stream, as = []) => {
		const { sum, last } = await timed(what, async () => follow(await stream(), ...as));
		same(sum, source.sum, what);
		return last;
	};
	await flat(server, async () => {
		let last = await ran('exec', bytes, async () => streamOf(server, 's',
			await exec(server, 's', { command: `cat ${bytes.name}`, streams: 'pipes' })));
		assert.equal(last.lost, 0);
		assert.equal(last.data.exitCode, 0);
		await ran('exec as text', text, async () => streamOf(server, 's',
			await exec(server, 's', { command: `cat ${text.name}`, streams: 'pipes' }), 'format=text'), utf8);
		last = await ran('execute/stream in a session', text,
			() => events(server, 'POST', '/api/execute/stream', { command: `cat ${text.name}`, sessionId: 's' }), utf8);
		assert.equal(last.type, 'complete');
		last = await ran('execute/stream on its own', text,
			() => events(server, 'POST', '/api/execute/stream', { command: `cat ${text.name}` }), utf8);
		assert.equal(last.type, 'complete');
		last = await ran('run', bytes, () => events(server, 'POST', '/api/run', { command: `cat ${bytes.name}`, stream: true, encoding: 'base64' }));
		assert.equal(last.lost, 0);
		last = await ran('process', text, async () => {
			const { processId } = await server.api.call('POST', '/api/process/start', { command: `cat ${text.name}`, hold: true });
			return events(server, 'GET', `/api/process/${processId}/stream`);
		}, utf8);
		assert.equal(last.lost, 0);
	});

	const socket = new WebSocket(`${server.base.replace(/^http/, 'ws')}/ws`, {
		perMessageDeflate: false, headers: { Authorization: `Bearer ${server.token}` },
	});
	server.clients.add(socket);
	await once(socket, 'open');
	const sums = { exec: new Sum(), process: new Sum() };
	const ends = {};
	socket.on('message', (data) => {
		const frame = JSON.parse(data);
		const event = frame.type === 'stream' && frame.data ? JSON.parse(frame.data) : {};
		if (event.type === 'stdout') sums[frame.id].add(Buffer.from(event.data, frame.id === 'exec' ? 'base64' : 'utf8'));
		else if (event.type === 'end' || event.type === 'exit') ends[frame.id] = event;
		else if (frame.type === 'error' || event.type === 'truncated') ends[frame.id] = frame;
	});
	await flat(server, () => timed('exec and process', async () => {
		const name = await exec(server, 's', { command: `cat ${bytes.name}`, streams: 'pipes' });
		const { processId } = await server.api.call('POST', '/api/process/start', { command: `cat ${text.name}`, hold: true });
		socket.send(JSON.stringify({ type: 'request', id: 'exec', method: 'GET', path: `/api/session/s/exec/${name}/stream?format=base64` }));
		socket.send(JSON.stringify({ type: 'request', id: 'process', method: 'GET', path: `/api/process/${processId}/stream` }));
		await until('the end of both', () => ends.exec && ends.process, { timeout });
	}));
	assert.equal(ends.exec.lost, 0, JSON.stringify(ends.exec));
	assert.equal(ends.process.lost, 0, JSON.stringify(ends.process));
	same(sums.exec, bytes.sum, 'exec');
	same(sums.process, text.sum, 'process');
});

/** An MCP client that calls tools: {use(name, args), close()}. Without sessions, or with its own. */
async function agent(server, { session = false } = {}) {
	const version = session ? '2025-11-25' : '2026-07-28';
	const meta = session ? {} : { _meta: {
		'io.modelcontextprotocol/protocolVersion': version,
		'io.modelcontextprotocol/clientCapabilities': {},
	} };
	const headers = { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': version };
	let ids = 0;
	const send = async (method, params) => {
		const response = await fetch(`${server.base}/mcp`, {
			method: 'POST',
			headers: { ...headers, 'Mcp-Method': method, ...(params.name ? { 'Mcp-Name': params.name } : {}) },
			body: JSON.stringify({ jsonrpc: '2.0', id: (ids += 1), method, params: { ...params, ...meta } }),
		});
		const text = await response.text();
		const json = /event-stream/.test(response.headers.get('content-type'))
			? text.split('\n\n').filter((block) => block.startsWith('data: ')).map((block) => JSON.parse(block.slice(6))).find((each) => 'id' in each)
			: JSON.parse(text);
		return { response, json, text };
	};
	if (session) {
		const { response } = await send('initialize', { protocolVersion: version, capabilities: {}, clientInfo: { name: 'pages', version: '1' } });
		headers['Mcp-Session-Id'] = response.headers.get('mcp-session-id');
	}
	return {
		async use(name, args) {
			const { json, text } = await send('tools/call', { name, arguments: args });
			assert.ok(json?.result && !json.result.isError, `${name}: ${text}`);
			return json.result.structuredContent;
		},
		close: () => fetch(`${server.base}/mcp`, { method: 'DELETE', headers }),
	};
}

/** Start a command that prints only after the response has come: a response is an excerpt that names what it omits. */
let gates = 0;
async function begin(server, client, id, command) {
	const gate = path.join(server.root, `gate${gates += 1}`);
	const begun = await client.use('exec', { session_id: id, command: `until [ -e ${gate} ]; do sleep 0.02; done; ${command}`, yield_ms: 0 });
	writeFileSync(gate, '');
	return begun;
}

/** All pages of a running command, hashed: {sum, last, lost}. between: called after each page. */
async function pages(client, begun, { between, ...more } = {}) {
	const sum = new Sum();
	let last = begun;
	let lost = 0;
	for (let end = false; !end;) {
		sum.add(Buffer.from(last.output));
		lost += last.lost_bytes ?? 0;
		end = last.state === 'done' && !last.truncated;
		await between?.(last);
		if (!end) last = await client.use('exec_read', { exec_id: begun.exec_id, cursor: last.cursor, wait_ms: 20_000, max_output_tokens: 25_000, ...more });
	}
	return { sum, last, lost };
}

small('pages over MCP, with a slow client, and with many at once', { timeout: 5 * timeout }, async (server) => {
	const { text } = await sources(server);
	await flat(server, async () => {
		for (const session of [false, true]) {
			if (long && session) continue;
			const id = `m${session}`;
			await server.session({ id });
			const client = await agent(server, { session });
			const { sum, last, lost } = await timed('pages', async () => pages(client,
				await begin(server, client, id, `cat ${text.name}`)));
			assert.equal(lost, 0);
			same(sum, text.sum, 'pages');
			assert.deepEqual([last.state, last.exit_code, last.lost_in_all], ['done', 0, undefined]);
		}
	});

	await server.session({ id: 's' });
	const thinker = await agent(server);
	// Two portions that each fit into the ring; the second continues into the next command's output.
	const begun = await begin(server, thinker, 's', 'seq 1 30000');
	await until('the end of the command', async () => (await server.api.call('GET', '/api/session/s/exec')).data.at(-1).state === 'done', { timeout });
	const flood = server.api.call('POST', '/api/session/s/exec', { command: 'seq 1 60000', yieldMs: 0 });
	const want = new Sum().add(Buffer.from(Array.from({ length: 30000 }, (_, i) => `${i + 1}\n`).join('')));
	const { sum, lost } = await pages(thinker, begun);
	assert.equal(lost, 0);
	same(sum, want, 'output while it was slow');
	await flood;

	const block = `${'z'.repeat(79)}\n`;
	const every = await Promise.all(Array.from({ length: times(3, 20) }, async (_, i) => {
		await server.session({ id: `t${i}` });
		const client = await agent(server, { session: i % 2 === 0 });
		return pages(client, await begin(server, client, `t${i}`, `for ((i = 0; i < 10; i++)); do printf '%s\\n' ${`${'z'.repeat(79)} `.repeat(1000)}; done`));
	}));
	const one = new Sum().add(Buffer.from(block.repeat(10_000)));
	for (const each of every) {
		assert.equal(each.lost, 0);
		same(each.sum, one, 'one of many');
	}
});

small('a client that stops reading is told its losses, and blocks no program for long', { timeout: 3 * timeout + 150_000 }, async (server) => {
	const { text } = await sources(server, Math.max(2, megabytes) * MiB); // more than what sockets hold
	await server.session({ id: 's' });
	const done = (id) => until('the end of the command', async () => (await server.api.call('GET', `/api/session/${id}/exec`)).data.at(-1).state === 'done', { timeout: 60_000, interval: 250 });
	const client = await agent(server);
	const begun = await begin(server, client, 's', `cat ${text.name}`);
	await done('s'); // within the limit, although no client has read
	const { sum, lost, last } = await pages(client, begun);
	assert.ok(lost > 0);
	assert.deepEqual([last.exit_code, last.lost_in_all], [0, lost], 'reported once, at the end');
	// In the terminal's form: each LF is two bytes in the ring.
	assert.ok(sum.length < text.sum.length && sum.length + lost >= text.sum.length, `${sum.length} and ${lost}`);
	assert.equal(await server.run('s', 'echo alive'), 'alive\n');

	// A client that ends its session blocks no program any more; nor does a viewer.
	const leaving = await agent(server, { session: true });
	await server.session({ id: 'l' });
	await begin(server, leaving, 'l', `cat ${text.name}`);
	assert.equal((await leaving.close()).status, 204);
	await done('l');
	assert.equal((await server.api.call('GET', '/api/session/l/exec')).data.at(-1).exitCode, 0);

	// Its standard output is a pipe that is not read until the command has ended.
	const { data: before } = await server.api.call('GET', '/api/session/s/exec');
	const stopped = await command(server, ['exec', '--pipes', 's', `cat ${text.name}`], {
		gate: () => until('the end of the command', async () => {
			const { data } = await server.api.call('GET', '/api/session/s/exec');
			return data.length > before.length && data.at(-1).state === 'done';
		}, { timeout: 40_000, interval: 250 }),
	});
	assert.equal(stopped.code, 125);
	const gone = Number(/(\d+) bytes of its output are lost/.exec(stopped.stderr)[1]);
	const { length } = stopped.sum;
	assert.ok(gone > 0 && length < text.sum.length && length + gone >= text.sum.length, `${gone} and ${length}`);
	assert.equal(await server.run('s', 'echo alive'), 'alive\n');
});

small('a server that is killed meanwhile', { timeout: 3 * timeout }, async (server) => {
	await server.session({ id: 's' });
	const { bytes, text } = await sources(server);
	for (const [args, source] of [[['exec', '--pipes', 's', `cat ${bytes.name}`], bytes], [['exec', 's', `cat ${text.name}`], text]]) {
		let come = 0;
		const running = command(server, args, { started: (child) => child.stdout.on('data', (piece) => { come += piece.length; }) });
		for (let kills = 1; kills <= times(1, 3); kills += 1) {
			await until('more output', () => come > kills * megabytes * MiB / 4, { timeout });
			await server.restart();
		}
		const { code, sum, stderr } = await running;
		assert.equal(stderr, '');
		assert.equal(code, 0, args.join(' '));
		same(sum, source.sum, args.join(' '));
	}
});
