// Bodies as real clients send them: chunked, with Expect, with unsupported encodings; and malformed bodies.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import http from 'node:http';
import { metric, untilMetric } from './lib/control.mjs';
import { ask, Pipe } from './lib/pipe.mjs';
import { scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { together } from './lib/together.mjs';
import { until, within } from './lib/until.mjs';

const shared = together({}, { keep: ['s'] });

const chunksOf = (text, size = text.length) => {
	const pieces = [];
	for (let at = 0; at < text.length; at += size) {
		const piece = text.slice(at, at + size);
		pieces.push(`${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`);
	}
	return `${pieces.join('')}0\r\n\r\n`;
};

const chunkedHead = (server, method, route, options = {}) =>
	ask(server, method, route, { ...options, headers: { 'Transfer-Encoding': 'chunked', ...options.headers } });

const rename = (server, name, size) => chunkedHead(server, 'POST', '/api/session/s/rename') + chunksOf(JSON.stringify({ name }), size);

const nothingHeld = (server) => untilMetric(server, 'body_bytes', 0);

shared('clients that send bodies without a length', async (server) => {
	await server.session({ id: 's' });
	const headers = { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' };
	// undici
	const body = new ReadableStream({
		start(to) {
			for (const piece of ['{"na', 'me":', '"undici"}']) to.enqueue(new TextEncoder().encode(piece));
			to.close();
		},
	});
	const fetched = await fetch(`${server.base}/api/session/s/rename`, { method: 'POST', headers, body, duplex: 'half' });
	assert.equal(fetched.status, 200);
	assert.equal((await fetched.json()).data.name, 'undici');
	// node:http, with trailers
	const answered = await within('an answer', new Promise((resolve, reject) => {
		const request = http.request(`${server.base}/api/session/s/rename`, { method: 'POST', headers: { ...headers, Trailer: 'X-Sum' } }, (answer) => resolve(answer.resume()));
		request.on('error', reject);
		request.write('{"name":');
		request.addTrailers({ 'X-Sum': '1' });
		request.end('"node"}');
	}));
	assert.equal(answered.statusCode, 200);
	assert.equal((await server.api.get('s')).name, 'node');
	// curl also waits for 100 Continue if it does not know the length
	const curl = spawn('curl', ['-q', '-sS', '-X', 'POST', '-H', `Authorization: Bearer ${server.token}`, '-H', 'Expect: 100-continue', '-T', '-', '-w', '%{http_code}', '-o', '/dev/null', `${server.base}/api/session/s/rename`]);
	let text = '';
	curl.stdout.on('data', (data) => { text += data; });
	curl.stdin.write('{"name"');
	curl.stdin.end(':"curl"}');
	await within('the end of curl', new Promise((resolve) => { curl.on('close', resolve); }));
	assert.equal(text, '200');
	assert.equal((await server.api.get('s')).name, 'curl');
	await nothingHeld(server);
});

shared('pipelined requests with chunked bodies', async (server) => {
	await server.session({ id: 's' });
	const text = rename(server, 'one', 3) + rename(server, 'two', 1) + ask(server, 'GET', '/api/session/s') + rename(server, 'three')
		+ chunkedHead(server, 'POST', '/api/session/s/rename').replace('chunked\r\n', 'Chunked\r\n') + '00a;x=y;z="\xe4"\r\n{"name":1}\r\n0\r\nA: b\r\nC: d\r\n\r\n' + ask(server, 'GET', '/healthz');
	const check = (answers) => {
		assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 200, 400, 200]);
		assert.deepEqual(answers.slice(0, 4).map(({ json }) => json.data.name), ['one', 'two', 'two', 'three']);
	};
	check(await new Pipe(server).send(text).take(6));
	// Cut at any byte.
	for (let at = 1; at < text.length; at += times(67, 17)) {
		const pipe = new Pipe(server);
		pipe.socket.write(text.slice(0, at), () => setImmediate(() => pipe.send(text.slice(at))));
		check(await pipe.take(6));
		pipe.socket.destroy();
	}
	const pipe = new Pipe(server);
	for (const byte of Buffer.from(rename(server, 'slowly', 2) + rename(server, 'again', 2), 'latin1')) pipe.socket.write(Buffer.of(byte));
	assert.deepEqual((await pipe.take(2)).map(({ json }) => json.data.name), ['slowly', 'again']);
	await nothingHeld(server);
});

shared('a request is refused by its head, before any byte of the body', async (server) => {
	await server.session({ id: 's' });
	await server.session({ id: 't' });
	const viewer = (await server.api.link('t', 'viewer')).token;
	const refused = {
		'no credentials': [{ token: null }, '/api/session/s/rename', 401], 'wrong credentials': [{ token: 'x'.repeat(30) }, '/api/session/s/rename', 401],
		'no route': [{}, '/api/nothing', 404], 'another method': [{}, '/api/session/list', 405], 'no session': [{}, '/api/session/none/rename', 404],
		'another host': [{ host: 'evil.example' }, '/api/session/s/rename', 403],
		'an encoding': [{ headers: { 'Content-Encoding': 'gzip' } }, '/api/session/s/rename', 415, 'UNSUPPORTED_MEDIA_TYPE'],
		'two encodings': [{ headers: { 'Content-Encoding': 'identity, br' } }, '/api/session/s/rename', 415],
		'an expectation': [{ headers: { Expect: 'miracles' } }, '/api/session/s/rename', 417, 'EXPECTATION_FAILED'],
		'two expectations': [{ headers: { Expect: '100-continue, more' } }, '/api/session/s/rename', 417],
		'an encoding, without credentials': [{ token: null, headers: { 'Content-Encoding': 'gzip' } }, '/api/session/s/rename', 401],
		'a length as well': [{ headers: { 'Content-Length': 3 } }, '/api/session/s/rename', 400], 'HTTP/1.0': [{ version: '1.0' }, '/api/session/s/rename', 400],
		'gzip in chunks': [{ headers: { 'Transfer-Encoding': 'gzip, chunked' } }, '/api/session/s/rename', 501, 'NOT_IMPLEMENTED'],
		'a viewer': [{ token: viewer }, '/api/session/t/input', 403, 'READ_ONLY'],
	};
	for (const expects of [{}, { Expect: '100-continue' }]) {
		for (const [name, [options, route, status, code]] of Object.entries(refused)) {
			const pipe = new Pipe(server).send(chunkedHead(server, 'POST', route, { ...options, headers: { ...expects, ...options.headers } }));
			const [answer] = await pipe.take(1);
			assert.equal(answer.status, status, name);
			assert.equal(pipe.informed, 0, name);
			if (code) assert.equal(answer.json.code, code, name);
			await pipe.end();
		}
	}
	const expected = await new Pipe(server).send(ask(server, 'GET', '/api/ping', { headers: { Expect: 'miracles' } })).take(1);
	assert.equal(expected[0].status, 417);
	const encoded = await new Pipe(server).send(ask(server, 'POST', '/api/session/s/rename', { body: '{"name":"x"}', headers: { 'Content-Encoding': 'gzip' } })).take(1);
	assert.equal(encoded[0].headers['accept-encoding'], 'identity');
	assert.equal(encoded[0].status, 415);
	const plain = await new Pipe(server).send(ask(server, 'POST', '/api/session/s/rename', { body: '{"name":"x"}', headers: { 'Content-Encoding': 'identity' } })).take(1);
	assert.equal(plain[0].status, 200);
	assert.equal(await metric(server, 'body_bytes'), 0);
});

shared('100 Continue is sent once the head is admitted', async (server) => {
	await server.session({ id: 's' });
	const pipe = new Pipe(server).send(chunkedHead(server, 'POST', '/api/session/s/rename', { headers: { Expect: '100-continue' } }));
	await until('100 Continue', () => pipe.informed === 1);
	assert.equal(pipe.answers.length, 0);
	pipe.send(chunksOf('{"name":"allowed"}') + ask(server, 'GET', '/healthz'));
	assert.equal((await pipe.take(2))[0].json.data.name, 'allowed');
	assert.equal(pipe.informed, 1);
});

shared('malformed chunks', async (server) => {
	await server.session({ id: 's' });
	const hidden = ask(server, 'POST', '/api/session/s/rename', { body: '{"name":"smuggled"}' });
	const good = '8\r\n{"name":\r\n';
	const wrong = {
		'LF alone after the size': ['8\n{"name":\r\n', 400], 'a size beyond 64 bits': ['10000000000000008\r\n', 413], 'the largest size': ['ffffffffffffffff\r\n', undefined],
		'less than the size': ['9\r\n{"name":\r\n0\r\n\r\n', 400], 'trailers without an end': [`${good}0\r\n${'A: b\r\n'.repeat(3000)}`, 413],
	};
	for (const [name, [text, status]] of Object.entries(wrong)) {
		const pipe = new Pipe(server).send(Buffer.from(chunkedHead(server, 'POST', '/api/session/s/rename') + text + hidden, 'latin1'));
		if (status === undefined) {
			// More bytes follow, until the limit is exceeded.
			pipe.send('x'.repeat(2 << 20));
		}
		const [answer] = await pipe.take(1);
		assert.equal(answer.status, status ?? 413, name);
		await pipe.end();
		assert.equal(pipe.answers.length, 1, name);
	}
	assert.notEqual((await server.api.get('s')).name, 'smuggled');
	await nothingHeld(server);
});

scenario('chunked bodies are limited, each and together', { args: ['--header-timeout', '60'] }, async (server) => {
	await server.session({ id: 's' });
	const large = JSON.stringify({ name: 'large' }).padEnd(1 << 20);
	const pipe = new Pipe(server).send(chunkedHead(server, 'POST', '/api/session/s/rename') + chunksOf(large, 60_000));
	assert.equal((await pipe.take(1))[0].json.data.name, 'large');
	const larger = new Pipe(server).send(chunkedHead(server, 'POST', '/api/session/s/rename') + chunksOf(`${large} `, 60_000));
	assert.equal((await larger.take(1))[0].json.code, 'REQUEST_TOO_LARGE');
	const unauthenticated = new Pipe(server).send(chunkedHead(server, 'POST', '/api/auth/login', { token: null }) + chunksOf('x'.repeat(17 << 10), 1000));
	assert.equal((await unauthenticated.take(1))[0].status, 413);
	await nothingHeld(server);
	// Together: each sends half of its limit and waits.
	const many = Array.from({ length: 140 }, () => new Pipe(server).send(`${chunkedHead(server, 'POST', '/api/session/s/rename')}80000\r\n${'x'.repeat(0x7fff0)}`));
	await until('refusals', () => many.some(({ answers }) => answers[0]?.status === 429), { timeout: 20_000 });
	assert.ok(await metric(server, 'body_bytes') <= 64 << 20);
	assert.equal((await server.api.raw('GET', '/healthz')).status, 200);
	for (const each of many) each.socket.destroy();
	await nothingHeld(server);
});

scenario('clients that send too slowly, or never', { args: ['--header-timeout', '1'] }, async (server) => {
	await server.session({ id: 's' });
	const head = (headers) => chunkedHead(server, 'POST', '/api/session/s/rename', { headers });
	const before = await metric(server, 'body_timeouts_total');
	const pipes = [head({ Expect: '100-continue' }), head(), `${head()}8\r\n`, `${head()}0\r\n`, `${head()}0\r\nA: `].map((text) => new Pipe(server).send(text));
	const drip = new Pipe(server).send(head());
	const timer = setInterval(() => drip.socket.write('1\r\nx\r\n'), 20);
	try {
		await until('the end of all connections', () => [...pipes, drip].every(({ closed }) => closed), { timeout: 30_000 });
	} finally {
		clearInterval(timer);
	}
	assert.equal(await metric(server, 'body_timeouts_total') - before, 6);
	await nothingHeld(server);
});

shared('clients that disconnect within a chunk', async (server) => {
	await server.session({ id: 's' });
	for (let at = 0; at < 30; at += 1) {
		const text = rename(server, `left${at}`, 5);
		const pipe = new Pipe(server);
		pipe.socket.write(text.slice(0, text.length - 1 - at), () => [() => pipe.socket.destroy(), () => pipe.socket.resetAndDestroy(), () => pipe.socket.end()][at % 3]());
		await pipe.end();
	}
	assert.doesNotMatch((await server.api.get('s')).name ?? '', /left/);
	await nothingHeld(server);
});

shared('probes accept any Host header, other routes do not', async (server) => {
	const lines = (target, host, method = 'GET') => `${method} ${target} HTTP/1.1\r\n${host === undefined ? '' : `Host: ${host}\r\n`}Connection: close\r\n\r\n`;
	for (const host of [undefined, 'evil.example', 'x'.repeat(200)]) {
		for (const [target, text] of [['/healthz', 'ok\n'], ['/readyz', 'ready\n'], ['/readyz?x=y', 'ready\n']]) {
			const [answer] = await new Pipe(server).send(lines(target, host)).take(1);
			assert.deepEqual([answer.status, answer.text], [200, text], `${target} of ${host}`);
		}
		for (const target of ['/', '/api/ping', '/metrics', '/healthz/', '/readyz/x', '//readyz', '/nothing', '/api/openapi.json']) {
			const [answer] = await new Pipe(server).send(lines(target, host)).take(1);
			assert.deepEqual([answer.status, answer.json.code], [403, 'HOST_NOT_ALLOWED'], `${target} of ${host}`);
		}
		const [posted] = await new Pipe(server).send(lines('/readyz', host, 'POST')).take(1);
		assert.equal(posted.status, 403);
	}
});
