// Pipelined HTTP/1.1 requests: each gets exactly its own response, in order, however they are split.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import path from 'node:path';
import tls from 'node:tls';
import { ca, secure } from './lib/certificate.mjs';
import { RawClient } from './lib/client.mjs';
import { metric } from './lib/control.mjs';
import { ask, Pipe } from './lib/pipe.mjs';
import { ticks } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { shared } from './lib/together.mjs';
import { pause, until } from './lib/until.mjs';

const rename = (server, name, fill = 0) => ask(server, 'POST', '/api/session/s/rename', { body: JSON.stringify({ name, fill: 'x'.repeat(fill) }) });

/** The server uses almost no CPU time, compared with a busy loop. */
async function idles(server) {
	await until('an idle server', async () => {
		const before = ticks(server.pid);
		await pause(400);
		return ticks(server.pid) - before <= 8; // of 40
	});
	assert.equal((await server.api.as(null).raw('GET', '/healthz')).status, 200);
}

const anonymous = (server, body) => ask(server, 'POST', '/api/auth/login', { body, token: null });

shared('two bodies in one segment, without credentials', async (server) => {
	for (const route of ['/api/auth/login', '/mcp', '/api/session/create', '/nothing', '/']) {
		for (const size of [1, 2, 100, 5000]) {
			const one = ask(server, 'POST', route, { body: 'x'.repeat(size), token: null });
			const pipe = new Pipe(server).send(one + one);
			const [first, second] = await pipe.take(2);
			assert.ok(first.status >= 400 && first.status < 500, `${route}: ${first.status}`);
			assert.equal(second.status, first.status, route);
			assert.ok(first.json.code, route);
			pipe.socket.destroy();
		}
	}
	await idles(server);
});

shared('2 to 50 requests in one segment, in order', async (server) => {
	await server.session({ id: 's' });
	for (const count of [2, 3, 7, 20, 50]) {
		for (const fill of [0, 1, 700]) {
			const pipe = new Pipe(server).send(Array.from({ length: count }, (_, at) => rename(server, `n${count}-${at}`, fill)).join(''));
			const answers = await pipe.take(count);
			assert.deepEqual(answers.map(({ json }) => json.data.name), Array.from({ length: count }, (_, at) => `n${count}-${at}`));
			pipe.socket.destroy();
		}
	}
	await idles(server);
});

shared('every split point of two and of three requests', { timeout: 120_000 }, async (server) => {
	await server.session({ id: 's' });
	const short = (name) => `POST /api/session/s/rename HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\nContent-Length: ${name.length + 11}\r\n\r\n{"name":"${name}"}`;
	for (const texts of [[short('one'), short('two')], [short('one'), ask(server, 'GET', '/healthz'), short('three')]]) {
		const whole = texts.join('');
		const want = texts.map((text) => /"name":"(\w+)"/.exec(text)?.[1]);
		const points = Array.from({ length: whole.length - 1 }, (_, at) => at + 1);
		for (let from = 0; from < points.length; from += 40) {
			await Promise.all(points.slice(from, from + 40).map(async (point) => {
				const pipe = new Pipe(server).send(whole.slice(0, point));
				// Complete requests are answered before the rest is sent.
				const before = texts.reduce(({ length, count }, text) => ({ length: length + text.length, count: count + (length + text.length <= point ? 1 : 0) }), { length: 0, count: 0 }).count;
				await pipe.take(before);
				if (before === 0) await pause(2);
				pipe.send(whole.slice(point));
				const answers = await pipe.take(texts.length);
				assert.deepEqual(answers.map(({ json }) => json?.data?.name), want, `cut at ${point}`);
				pipe.socket.destroy();
			}));
		}
	}
	// One byte at a time.
	const pipe = new Pipe(server);
	for (const byte of short('bytes') + short('wise')) {
		pipe.send(byte);
		await pause(0);
	}
	assert.deepEqual((await pipe.take(2)).map(({ json }) => json.data.name), ['bytes', 'wise']);
	await idles(server);
});

shared('bodies of no byte, of one byte, and larger than every buffer', async (server) => {
	await server.session({ id: 's' });
	const sizes = [0, 1, 1023, 1024, 8191, 8192, 8193, 32_767, 32_768, 40_000, 65_536, 300_000, (1 << 20) - 100];
	const pipe = new Pipe(server).send(sizes.map((size, at) => rename(server, `size${at}`, size)).join('')).send(ask(server, 'GET', '/healthz'));
	const answers = await pipe.take(sizes.length + 1);
	assert.deepEqual(answers.slice(0, -1).map(({ json }) => json.data.name), sizes.map((_, at) => `size${at}`));
	assert.equal(answers.at(-1).text, 'ok\n');
	// Content-Length: 0, and no length.
	const empty = new Pipe(server).send(ask(server, 'POST', '/api/auth/logout', { body: '' }) + ask(server, 'POST', '/api/auth/logout') + ask(server, 'GET', '/healthz'));
	assert.deepEqual((await empty.take(3)).map(({ status }) => status < 500), [true, true, true]);
	assert.equal(empty.answers[2].text, 'ok\n');
	// A body that is too large is refused, and the bytes after it are not a request.
	const large = new Pipe(server).send(rename(server, 'no', 2 << 20)).send(rename(server, 'smuggled'));
	assert.equal((await large.take(1))[0].status, 413);
	await large.end();
	assert.equal(large.answers.length, 1);
	assert.equal((await server.api.get('s')).name, `size${sizes.length - 1}`);
	await idles(server);
});

shared('immediate, late and streamed responses, mixed', async (server) => {
	await server.session({ id: 's' });
	const run = (text) => ask(server, 'POST', '/api/run', { body: JSON.stringify({ command: `sleep 0.3; echo ${text}` }) });
	const exec = (text) => ask(server, 'POST', '/api/session/s/exec', { body: JSON.stringify({ command: `sleep 0.2; echo ${text}`, wait: true }) });
	const stream = (text) => ask(server, 'POST', '/api/execute/stream', { body: JSON.stringify({ command: `sleep 0.2; echo ${text}` }) });
	const texts = [run('a1'), ask(server, 'GET', '/healthz'), exec('a2'), rename(server, 'a3'), stream('a4'), ask(server, 'HEAD', '/healthz'), run('a5'), rename(server, 'a6')];
	const pipe = new Pipe(server);
	pipe.methods[5] = 'HEAD';
	pipe.send(texts.join(''));
	// Meanwhile other requests are served, and the server is idle.
	await pause(100);
	await idles(server);
	const answers = await pipe.take(texts.length);
	assert.deepEqual(answers.map(({ status }) => status), Array(texts.length).fill(200), JSON.stringify(answers));
	assert.match(answers[0].text, /a1/);
	assert.equal(answers[1].text, 'ok\n');
	assert.equal(answers[3].json.data.name, 'a3');
	assert.match(answers[4].text, /a4/);
	assert.match(answers[4].headers['content-type'], /event-stream/);
	assert.equal(answers[5].text, '');
	assert.match(answers[6].text, /a5/);
	assert.equal(answers[7].json.data.name, 'a6');
	await idles(server);
});

shared('with and without keep-alive, and HTTP/1.0', async (server) => {
	await server.session({ id: 's' });
	const cases = [
		[{}, '1.1', true], [{ Connection: 'close' }, '1.1', false], [{ Connection: 'keep-alive' }, '1.1', true], [{ Connection: 'Close, te' }, '1.1', false],
		[{}, '1.0', false], [{ Connection: 'keep-alive' }, '1.0', true], [{ Connection: 'close' }, '1.0', false],
	];
	for (const [headers, version, stays] of cases) {
		for (const method of ['GET', 'POST']) {
			const one = (name) => ask(server, method, method === 'GET' ? '/healthz' : '/api/session/s/rename', { headers, version, body: method === 'GET' ? undefined : JSON.stringify({ name }) });
			const pipe = new Pipe(server).send(one('first') + one('second'));
			if (stays) {
				await pipe.take(2);
				assert.equal(pipe.closed, false);
				if (version === '1.0') assert.match(pipe.answers[0].headers.connection, /keep-alive/i);
			} else {
				await pipe.take(1);
				await pipe.end();
				assert.equal(pipe.answers.length, 1, `${JSON.stringify(headers)} ${version}`);
				assert.match(pipe.answers[0].headers.connection, /close/i);
			}
			pipe.socket.destroy();
		}
	}
	// HTTP/1.0 has no chunks: a stream ends with the connection.
	const pipe = new Pipe(server).send(ask(server, 'POST', '/api/execute/stream', { version: '1.0', body: JSON.stringify({ command: 'echo ol""d' }) }));
	await pipe.end();
	assert.equal(pipe.answers[0].headers['transfer-encoding'], undefined);
	assert.match(pipe.answers[0].text, /old/);
	await idles(server);
});

shared('Expect: 100-continue', async (server) => {
	await server.session({ id: 's' });
	const head = (length, extra = {}, token = server.token) => ask(server, 'POST', '/api/session/s/rename', { token, headers: { 'Content-Length': length, Expect: '100-continue', ...extra } });
	const pipe = new Pipe(server);
	for (let at = 0; at < 3; at += 1) {
		const body = JSON.stringify({ name: `expected${at}` });
		pipe.send(head(body.length));
		await until('100 Continue', () => pipe.informed === at + 1);
		assert.equal(pipe.answers.length, at);
		pipe.send(body);
		assert.equal((await pipe.take(at + 1)).at(-1).json.data.name, `expected${at}`);
	}
	// A client that does not wait needs no 100 Continue.
	const body = JSON.stringify({ name: 'eager' });
	const eager = new Pipe(server).send(head(body.length) + body + ask(server, 'GET', '/healthz'));
	assert.equal((await eager.take(2))[0].json.data.name, 'eager');
	assert.equal(eager.informed, 0);
	// A refused head gets its final response at once.
	for (const [refused, status] of [[head(3 << 20), 413], [head(300 << 20), 413], [head(10, { Origin: 'https://evil.example' }), 403], [head(10, { 'Transfer-Encoding': 'chunked' }), 400]]) {
		const each = new Pipe(server).send(refused);
		assert.equal((await each.take(1))[0].status, status);
		assert.equal(each.informed, 0);
		await each.end();
	}
	// HTTP/1.0 has no 100 Continue.
	const old = new Pipe(server).send(ask(server, 'POST', '/api/session/s/rename', { version: '1.0', headers: { 'Content-Length': 14, Expect: '100-continue' } }));
	await pause(50);
	assert.equal(old.bytes.length, 0);
	old.send('{"name":"old"}');
	await old.take(1);
	assert.equal(old.informed, 0);
	await idles(server);
});

shared('clients that disconnect halfway', async (server) => {
	await server.session({ id: 's' });
	const slow = ask(server, 'POST', '/api/run', { body: JSON.stringify({ command: 'sleep 20' }) });
	const texts = [rename(server, 'left') + rename(server, 'half', 5000).slice(0, 900), slow + rename(server, 'never'), anonymous(server, 'x').repeat(30),
		ask(server, 'GET', '/api/session/s/stream') + slow, rename(server, 'x', 500_000).slice(0, 300_000), 'POST', ask(server, 'GET', '/healthz').repeat(50)];
	for (let round = 0; round < 5; round += 1) {
		// A client that closes its writing side and waits has not disconnected.
		const ways = (text) => (/^POST \/api\/run/.test(text) ? [0, 1] : [0, 1, 2]);
		const pipes = texts.flatMap((text) => ways(text).map((how) => {
			const pipe = new Pipe(server);
			pipe.socket.write(text, () => setTimeout(() => (how === 0 ? pipe.socket.destroy() : how === 1 ? pipe.socket.resetAndDestroy() : pipe.socket.end()), round * 3));
			return pipe;
		}));
		await until('the end of all connections', () => pipes.every(({ closed }) => closed));
	}
	await idles(server);
	await until('the end of all connections', async () => await metric(server, 'http1_connections') <= 2);
	// Requests after an unanswered one were not carried out.
	assert.notEqual((await server.api.get('s')).name, 'never');
	// A client that closes only its writing side gets the responses.
	const half = new Pipe(server);
	half.socket.allowHalfOpen = true;
	half.socket.end(rename(server, 'said1') + rename(server, 'said2') + ask(server, 'GET', '/healthz'));
	assert.equal((await half.take(3))[1].json.data.name, 'said2');
});

shared('a client that does not read delays only itself', async (server) => {
	await server.session({ id: 's' });
	await server.api.input('s', 'head -c 900000 /dev/zero | tr "\\0" x; echo e""nd\r');
	await server.outputMatches('s', /end\r\n/);
	const pipe = new Pipe(server);
	pipe.socket.pause();
	const count = 20;
	pipe.send(ask(server, 'GET', '/api/session/s/output?from=0').repeat(count));
	await pause(200);
	await idles(server);
	pipe.socket.resume();
	const answers = await pipe.take(count, { timeout: 30_000 });
	const sums = new Set(answers.map(({ text }) => createHash('sha256').update(text).digest('hex')));
	assert.equal(sums.size, 1);
	assert.ok(answers[0].text.length > 900_000);
});

scenario('over TLS', secure, async (server) => {
	await server.session({ id: 's' });
	const texts = Array.from({ length: 50 }, (_, at) => (at % 3 === 0 ? ask(server, 'GET', '/healthz') : rename(server, `tls${at}`, at * 900)));
	const pipe = new Pipe(server, { secure: true }).send(texts.join(''));
	(await pipe.take(50)).forEach(({ json, text }, at) => (at % 3 === 0 ? assert.equal(text, 'ok\n') : assert.equal(json.data.name, `tls${at}`)));
	// Each byte in its own record.
	const bytes = new Pipe(server, { secure: true });
	for (const byte of rename(server, 'b') + rename(server, 'c')) {
		bytes.send(byte);
		await pause(0);
	}
	assert.deepEqual((await bytes.take(2)).map(({ json }) => json.data.name), ['b', 'c']);
	const large = new Pipe(server, { secure: true });
	large.socket.pause();
	large.send(Array.from({ length: 5 }, (_, at) => rename(server, `large${at}`, 900_000)).join(''));
	await idles(server);
	large.socket.resume();
	assert.deepEqual((await large.take(5)).map(({ json }) => json.data.name), [0, 1, 2, 3, 4].map((at) => `large${at}`));
	// A WebSocket on a connection that has served requests.
	const client = await server.client({ sessionId: 's' }).connect();
	client.type('echo be""low\r');
	await client.untilText('below\r\n');
	await idles(server);
});

shared('a WebSocket behind requests, and frames behind its handshake', async (server) => {
	await server.session({ id: 's' });
	const raw = new RawClient(server);
	const upgrade = `GET /ws/pty?sessionId=s HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n`
		+ 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
	const typed = Buffer.from('echo be""hind\r');
	const frame = Buffer.concat([Buffer.from([0x82, 0x80 | typed.length, 0, 0, 0, 0]), typed]);
	raw.send(Buffer.concat([Buffer.from(rename(server, 'before') + ask(server, 'GET', '/healthz') + upgrade), frame]));
	await until('the upgrade', () => /101 Switching/.test(raw.text));
	assert.ok(raw.text.indexOf('"before"') < raw.text.indexOf('ok\n') && raw.text.indexOf('ok\n') < raw.text.indexOf('101 Switching'), raw.text);
	await server.outputMatches('s', /behind\r\n/);
	raw.terminate();
	await idles(server);
});

scenario('a half-closed client gets a late response, and a disconnected one frees its slot', { start: false }, async (server) => {
	const socketPath = path.join(server.root, 'half.sock');
	server.options.listen = ['127.0.0.1:0', `unix:${socketPath}`];
	await server.start();
	await server.session({ id: 's' });
	const run = (command, version) => ask(server, 'POST', '/api/run', { version, body: JSON.stringify({ command }) });
	for (const how of [{}, { socketPath }]) {
		for (const version of ['1.0', '1.1']) {
			const half = new Pipe(server, how);
			half.socket.allowHalfOpen = true;
			half.socket.end(run('sleep 0.5; echo la""te', version));
			assert.match((await half.take(1))[0].text, /late/, version);
			await half.end();
			// More pipelined requests, and a stream.
			const more = new Pipe(server, how);
			more.socket.allowHalfOpen = true;
			more.socket.end(version === '1.0' ? ask(server, 'POST', '/api/execute/stream', { version, body: JSON.stringify({ command: 'sleep 0.5; echo str""eam' }) })
				: run('sleep 0.3; echo fi""rst') + ask(server, 'POST', '/api/execute/stream', { body: JSON.stringify({ command: 'sleep 0.5; echo str""eam' }) }));
			await more.end();
			assert.match(more.answers.at(-1).text, /stream/, version);
			assert.equal(more.answers.length, version === '1.0' ? 1 : 2);
		}
		// These run for minutes, unless the server notices that the client is gone.
		const gone = Array.from({ length: 5 }, () => new Pipe(server, how).send(run('sleep 300')));
		await until('five runs', async () => await metric(server, 'http1_connections') >= 6);
		await pause(200);
		for (const each of gone) each.socket.destroy();
		await until('the end of their connections', async () => await metric(server, 'http1_connections') <= 2);
	}
	await idles(server);
});

shared('invalid empty lines, and lengths of bodies that are not sent', async (server) => {
	const pipe = new Pipe(server).send(`\0\0${ask(server, 'GET', '/healthz')}`);
	assert.equal((await pipe.take(1))[0].status, 400);
	await pipe.end();
	const page = await server.api.as(null).raw('GET', '/');
	const etag = page.headers.get?.('etag') ?? page.headers.etag;
	const same = new Pipe(server).send(ask(server, 'GET', '/', { headers: { 'If-None-Match': etag } }) + ask(server, 'GET', '/healthz'));
	const [unchanged, healthy] = await same.take(2);
	assert.equal(unchanged.status, 304);
	assert.equal(unchanged.headers['content-length'], undefined);
	assert.equal(healthy.text, 'ok\n');
});

scenario('a WebSocket over TLS whose handshake comes in small records', { ...secure, args: [...secure.args, '--header-timeout', '2'] }, async (server) => {
	await server.session({ id: 's' });
	const head = (target, extra = '') => `GET ${target} HTTP/1.1\r\nHost: ${server.host}\r\nCookie: a=${'x'.repeat(3000)}\r\n${extra}Authorization: Bearer ${server.token}\r\n`;
	const upgrade = 'Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
	const typed = Buffer.from('echo re""cords\r');
	const frame = Buffer.concat([Buffer.from([0x82, 0x80 | typed.length, 0, 0, 0, 0]), typed]);
	const connect = async (fragment) => {
		const pipe = { text: '', closed: false, socket: tls.connect({ port: server.port, host: '127.0.0.1', ca, ALPNProtocols: ['http/1.1'] }) };
		server.clients.add({ terminate: () => pipe.socket.destroy() });
		pipe.socket.on('data', (data) => { pipe.text += data.toString('latin1'); });
		pipe.socket.on('error', () => {});
		pipe.socket.on('close', () => { pipe.closed = true; });
		await until('the connection', () => pipe.socket.authorized);
		assert.ok(pipe.socket.setMaxSendFragment(fragment));
		return pipe;
	};
	for (const fragment of [512, 1208, 3000]) {
		// Behind a request, too.
		const pipe = await connect(fragment);
		pipe.socket.write(ask(server, 'GET', '/healthz'));
		await until('the response', () => /ok\n$/.test(pipe.text));
		const { offset } = await server.api.get('s');
		pipe.socket.write(Buffer.concat([Buffer.from(head('/ws/pty?sessionId=s') + upgrade), frame]));
		await until('the upgrade', () => /101 Switching/.test(pipe.text));
		await server.outputMatches('s', /records\r\n/, offset);
		pipe.socket.destroy();
	}
	// On each path of a WebSocket.
	for (const [target, status] of [['/ws', 101], ['/api/ws', 101], ['/rpc', 101], ['/ws/pty?sessionId=s', 101], ['/ws/pty', 400]]) {
		const pipe = await connect(512);
		pipe.socket.write(head(target) + upgrade);
		await until(`a response at ${target}`, () => /^HTTP\/1.1 \d+/.test(pipe.text));
		assert.match(pipe.text, new RegExp(`^HTTP/1.1 ${status} `), target);
		pipe.socket.destroy();
	}
	// Without Upgrade it is a request like any other, at once or in two parts, and the connection serves the next one.
	for (const [target, late] of ['/ws', '/api/ws', '/rpc', '/ws/pty?sessionId=s'].flatMap((each) => [[each, 0], [each, 50]])) {
		const pipe = await connect(512);
		pipe.socket.write(head(target));
		if (late > 0) await pause(late);
		pipe.socket.write(`\r\n${ask(server, 'GET', '/healthz')}`);
		await until(`two responses at ${target}`, () => /ok\n$/.test(pipe.text));
		assert.deepEqual(pipe.text.match(/HTTP\/1.1 \d+/g), ['HTTP/1.1 426', 'HTTP/1.1 200'], target);
		pipe.socket.destroy();
	}
	// An invalid handshake, a refused one, and an incomplete one.
	const invalid = await connect(512);
	invalid.socket.write(head('/ws') + upgrade.replace(/Sec-WebSocket-Key.*\r\n/, ''));
	await until('the close', () => invalid.closed);
	assert.match(invalid.text, /^HTTP\/1.1 400 [^]*Sec-WebSocket-Key is missing/);
	const refused = await connect(512);
	refused.socket.write(head('/ws', 'Origin: https://evil.example\r\n') + upgrade);
	await until('the refusal', () => /^HTTP\/1.1 403/.test(refused.text));
	const half = await connect(512);
	half.socket.write(head('/ws/pty?sessionId=s'));
	await until('the close of the incomplete one', () => half.closed, { timeout: 20_000 });
	await idles(server);
});

scenario('TLS connections count once', { ...secure, args: [...secure.args, '--max-connections', '12'] }, async (server) => {
	const pipes = [];
	for (let at = 0; at < 10; at += 1) {
		pipes.push(new Pipe(server, { secure: true }).send(ask(server, 'GET', '/healthz')));
		assert.equal((await pipes.at(-1).take(1))[0].text, 'ok\n');
	}
	// They are limited too.
	const more = Array.from({ length: 5 }, () => new Pipe(server, { secure: true }).send(ask(server, 'GET', '/healthz')));
	await until('the refusals', () => more.filter(({ closed }) => closed).length >= 3);
	for (const each of [...pipes, ...more]) each.socket.destroy();
	await until('a free slot', async () => {
		const again = new Pipe(server, { secure: true }).send(ask(server, 'GET', '/healthz'));
		await until('a response or the close', () => again.closed || again.answers.length > 0);
		again.socket.destroy();
		return again.answers.length > 0;
	});
});

scenario('the command line has slots when other connections have used up theirs', { args: ['--max-connections', '12'] }, async (server) => {
	const strangers = Array.from({ length: 16 }, () => new Pipe(server).send(ask(server, 'GET', '/healthz', { token: null })));
	await until('all responses and refusals', () => strangers.every(({ closed, answers }) => closed || answers.length > 0));
	assert.ok(strangers.filter(({ closed }) => closed).length >= 4);
	const socketPath = path.join(server.dir, 'ringside.sock');
	const owners = Array.from({ length: 12 }, () => new Pipe(server, { socketPath }).send(ask(server, 'GET', '/api/session/list', { token: null })));
	await until('all responses and refusals', () => owners.every(({ closed, answers }) => closed || answers.length > 0));
	assert.equal(owners.filter(({ answers }) => answers[0]?.status === 200).length, 8);
});
