// A browser gets a page that explains the error, and a program gets JSON, however early the error is found.
import assert from 'node:assert/strict';
import tls from 'node:tls';
import { Api } from './lib/api.mjs';
import { socketOf } from './lib/cli.mjs';
import { RawClient } from './lib/client.mjs';
import { metric } from './lib/control.mjs';
import { secure } from './lib/certificate.mjs';
import { scenario } from './lib/server.mjs';
import { shared } from './lib/together.mjs';
import { until, within } from './lib/until.mjs';

const html = 'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** The end of a response, if it is complete. */
const body = ({ text }) => {
	const at = text.indexOf('\r\n\r\n');
	const length = Number(/^content-length: (\d+)\r$/im.exec(text)?.[1] ?? NaN);
	return at >= 0 && text.length >= at + 4 + length ? text.slice(at + 4, at + 4 + length) : undefined;
};

/** Send bytes; returns the first response: status, head and body. */
async function ask(server, bytes, what) {
	const raw = new RawClient(server).send(Buffer.from(bytes, 'latin1'));
	await until(`a response: ${what}`, () => body(raw) !== undefined || raw.closed);
	raw.terminate();
	return { status: await raw.status(), head: raw.text.split('\r\n\r\n')[0], body: body(raw) ?? '' };
}

/** The code of a page, which must be one. */
function codeOfPage(answer, what) {
	assert.match(answer.head, /^content-type: text\/html; charset=utf-8\r?$/im, `${what}: ${answer.head}`);
	assert.match(answer.head, /^content-security-policy: default-src 'none';/im, what);
	assert.match(answer.head, /^x-content-type-options: nosniff\r?$/im, what);
	assert.match(answer.body, /^<!doctype html>.*<h1>[^<]+<\/h1>/, what);
	return /<small>\d+ ([A-Z_]+)<\/small>/.exec(answer.body)?.[1];
}

function codeOfJson(answer, what) {
	assert.match(answer.head, /^content-type: application\/json\r?$/im, `${what}: ${answer.head}`);
	return JSON.parse(answer.body).code;
}

/** Heads as functions of their Accept lines, which come first or last: [status, code, head]. */
const cases = (server) => {
	const host = `Host: ${server.host}\r\n`;
	const get = (headers = '', target = '/', version = 'HTTP/1.1') => (first, last) => `GET ${target} ${version}\r\n${first}${host}${headers}${last}\r\n`;
	const hostile = '<script>alert(1)</script>';
	return {
		'a target that is too long': [413, 'REQUEST_TOO_LARGE', get('', `/${'x'.repeat(200_000)}`)],
		'a target of 8 KiB': [413, 'REQUEST_TOO_LARGE', get('', `/${'x'.repeat(8192)}`)],
		'headers that are too large': [413, 'REQUEST_TOO_LARGE', get(`Cookie: a=${'x'.repeat(20_000)}\r\n`)],
		'many large headers': [413, 'REQUEST_TOO_LARGE', get(`X: ${'x'.repeat(600)}\r\n`.repeat(30))],
		'too many headers': [413, 'REQUEST_TOO_LARGE', get('x: y\r\n'.repeat(100))],
		'too many parameters': [413, 'REQUEST_TOO_LARGE', get('', `/?${'x=y&'.repeat(100)}`)],
		'a header without a colon': [400, 'VALIDATION_FAILED', get(`${hostile}\r\n`)],
		'a control character': [400, 'VALIDATION_FAILED', get('X: \x01\r\n')],
		'a folded line': [400, 'VALIDATION_FAILED', get('X: y\r\n z\r\n')],
		'empty lines before': [400, 'VALIDATION_FAILED', (first, last) => `\r\n\r\n${get('X: \x01\r\n')(first, last)}`],
		'empty lines before a target that is too long': [413, 'REQUEST_TOO_LARGE', (first, last) => `\r\n\r\n${get('', `/${'x'.repeat(20_000)}`)(first, last)}`],
		'a target with spaces': [400, 'VALIDATION_FAILED', get('', `/a b ${hostile}`)],
		'another version': [400, 'VALIDATION_FAILED', get('', '/', 'HTTP/3.0')],
		'an invalid encoding': [400, 'VALIDATION_FAILED', get('', '/%zz')],
		'an invalid Content-Length': [400, 'VALIDATION_FAILED', get(`Content-Length: ${hostile}\r\n`)],
		'two hosts': [400, 'VALIDATION_FAILED', get('Host: x\r\n')],
		'an unknown coding': [501, 'NOT_IMPLEMENTED', get('Transfer-Encoding: gzip, chunked\r\n')],
		'an Expect': [417, 'EXPECTATION_FAILED', get('Expect: 200-ok\r\n')],
		'another host': [403, 'HOST_NOT_ALLOWED', (first, last) => `GET / HTTP/1.1\r\n${first}Host: ${hostile}\r\n${last}\r\n`],
		'no host': [403, 'HOST_NOT_ALLOWED', (first, last) => `GET / HTTP/1.1\r\n${first}X: y\r\n${last}\r\n`],
		'an unknown method': [405, 'METHOD_NOT_ALLOWED', (first, last) => `BREW / HTTP/1.1\r\n${first}${host}${last}\r\n`],
		'an unknown path': [404, 'UNKNOWN_ERROR', get('', `/${encodeURIComponent(hostile)}`)],
		'an API without credentials': [401, 'UNAUTHENTICATED', get('', '/api/session/list')],
		'an API with a wrong token': [401, 'UNAUTHENTICATED', get('Authorization: Bearer x\r\n', '/api/session/list')],
		'a preview that does not exist': [404, 'INVALID_TOKEN', (first, last) => `GET / HTTP/1.1\r\n${first}Host: 8080-a-abcdefghijklmnop.localhost:${server.port}\r\n${last}\r\n`],
	};
};

shared('errors of heads: pages for browsers, JSON for programs', async (server) => {
	for (const [name, [status, code, head]] of Object.entries(cases(server))) {
		for (const [place, first, last] of [['first', `${html}\r\n`, ''], ['last', '', `${html}\r\n`], ['in capitals', `${html.toUpperCase()}\r\n`, '']]) {
			const what = `${name}, Accept ${place}`;
			const answer = await ask(server, head(first, last), what);
			assert.equal(answer.status, status, `${what}: ${answer.head}`);
			assert.equal(codeOfPage(answer, what), code, what);
			assert.ok(!answer.body.includes('<script'), `${what} repeats what was sent`);
		}
		for (const [what, line] of [['no Accept', ''], ['Accept: */*', 'Accept: */*\r\n'], ['Accept: application/json', 'Accept: application/json\r\n'], ['text/html elsewhere', 'X-Accept: text/html\r\nX: y, accept: text/html\r\n']]) {
			const answer = await ask(server, head(line, ''), `${name}, ${what}`);
			assert.deepEqual([answer.status, codeOfJson(answer, `${name}, ${what}`)], [status, code], `${name}, ${what}`);
		}
	}
});

shared('a head that never ends is answered', async (server) => {
	for (const bytes of [`GET /${'x'.repeat(300_000)}`, `GET / HTTP/1.1\r\n${'X: y\r\n'.repeat(50_000)}`, `GET / HTTP/1.1\r\nX: ${'\r\n\taccept: text/html'.repeat(20_000)}`]) {
		const answer = await ask(server, bytes, bytes.slice(0, 30));
		assert.deepEqual([answer.status, codeOfJson(answer)], [413, 'REQUEST_TOO_LARGE']);
	}
	// In pieces, so that no read has the whole line of Accept.
	const raw = new RawClient(server).send(`GET /${'x'.repeat(9000)} HTTP/1.1\r\nHost: ${server.host}\r\n`);
	for (const piece of html.match(/[^]{1,7}/g)) {
		raw.send(piece);
		await new Promise((resolve) => { setImmediate(resolve); });
	}
	raw.send('\r\n\r\n');
	await until('a page', () => raw.text.endsWith('</html>\n'));
	raw.terminate();
});

shared('the path of a WebSocket asks for the upgrade', async (server) => {
	const get = (target, more = '', method = 'GET') => `${method} ${target} HTTP/1.1\r\nHost: ${server.host}\r\n${more}\r\n`;
	for (const target of ['/ws', '/ws/pty?sessionId=s', '/api/ws', '/ws/mux', '/rpc?x=<script>']) {
		const program = await ask(server, get(target), target);
		assert.deepEqual([program.status, codeOfJson(program, target)], [426, 'UPGRADE_REQUIRED'], target);
		assert.match(program.head, /^HTTP\/1\.1 426 Upgrade Required\r?$/m);
		assert.match(program.head, /^upgrade: websocket\r?$/im);
		assert.match(program.head, /^connection: upgrade\r?$/im);
		const browser = await ask(server, get(target, `${html}\r\n`), target);
		assert.deepEqual([browser.status, codeOfPage(browser, target)], [426, 'UPGRADE_REQUIRED'], target);
		const closing = await ask(server, get(target, 'Connection: close\r\n'), target);
		assert.match(closing.head, /^connection: upgrade, close\r?$/im);
		assert.equal((await ask(server, get(target, 'Upgrade: h2c\r\nConnection: upgrade\r\n'), target)).status, 426, target);
		for (const [method, more] of [['POST', 'Content-Length: 2\r\n\r\n{}'], ['PUT', 'Upgrade: websocket\r\nConnection: upgrade\r\n']]) {
			const other = await ask(server, get(target, more, method), target);
			assert.equal(other.status, 405, target);
			assert.match(other.head, /^allow: GET\r?$/im, target);
		}
	}
	for (const target of ['/ws/', '/ws/other', '/wsx', '/rpc/', '/WS'])
		assert.equal((await ask(server, get(target, `${html}\r\n`), target)).status, 404, target);
	// The connection is kept.
	const raw = new RawClient(server).send(get('/ws') + get('/healthz'));
	await until('both responses', () => raw.text.endsWith('ok\n'));
	raw.terminate();
});

shared('a handshake of TLS on a port without it is refused at once', async (server) => {
	const socket = tls.connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
	const error = await within('the refusal', new Promise((resolve) => { socket.on('error', resolve); }), 5000);
	assert.match(error.message, /wrong version number/i);
	// Empty lines may come first, but nothing else.
	for (const bytes of ['\x16\x03\x01', '\0', '\xff\r\n', ' GET', '\r\n\r\n\r\n'])
		assert.deepEqual(codeOfJson(await ask(server, bytes, JSON.stringify(bytes))), 'VALIDATION_FAILED', JSON.stringify(bytes));
});

shared('requests from an address with too many failures are answered with 429', async (server) => {
	for (const target of ['/none', '/ws']) {
		const limited = await until('the limit', async () => {
			const raw = new RawClient(server).send(`GET ${target} HTTP/1.1\r\nHost: ${server.host}\r\n${html}\r\n\r\n`.repeat(100));
			await until('the responses', () => raw.closed || raw.text.split('</html>\n').length > 100);
			raw.terminate();
			return raw.text.includes('HTTP/1.1 429') && raw.text.slice(raw.text.indexOf('HTTP/1.1 429'));
		}, { interval: 1 });
		const [head, ...rest] = limited.split('\r\n\r\n');
		assert.equal(codeOfPage({ head, body: rest.join('') }, 'too many failures'), 'TOO_MANY_ATTEMPTS');
		assert.match(head, /^retry-after: 1\r?$/im);
		assert.match(head, /^connection: close\r?$/im, target);
		assert.doesNotMatch(head, /^upgrade:/im, target);
	}
});

scenario('requests that come too slowly are answered with 408', { args: ['--header-timeout', '1'] }, async (server) => {
	const host = `Host: ${server.host}\r\n`;
	const login = `POST /api/auth/login HTTP/1.1\r\n${host}Content-Length: 10\r\n`;
	const start = `GET / HTTP/1.1\r\n${host}X: `;
	// Of a full buffer only the last line is kept, here an empty one.
	const full = `${start}${'y'.repeat(8192 - start.length - 2)}\r\n`;
	const slow = { 'a head': `GET / HTTP/1.1\r\n${host}`, 'a target': 'GET /', 'a head of 8 KiB': full, 'a body': login, 'a body in chunks': login.replace('Content-Length: 10', 'Transfer-Encoding: chunked') };
	await Promise.all(Object.entries(slow).map(async ([name, bytes]) => {
		const [end, half] = !bytes.startsWith('POST') ? ['', 'X: '] : bytes.includes('chunked') ? ['\r\n5\r\n{', ''] : ['\r\n{', ''];
		const program = await ask(server, bytes + end, name);
		assert.deepEqual([program.status, codeOfJson(program, name)], [408, 'REQUEST_TIMEOUT'], name);
		assert.match(program.head, /^connection: close\r?$/im);
		if (name === 'a target' || bytes === full) return;
		const browser = await ask(server, `${bytes}${html}\r\n${half}${end}`, name);
		assert.deepEqual([browser.status, codeOfPage(browser, name)], [408, 'REQUEST_TIMEOUT'], name);
	}));
	// Connections that were opened in advance are closed without a response, which would be taken for that of a request.
	const timeouts = await metric(server, 'header_timeouts_total');
	const unused = ['', '\r\n'].map((bytes) => new RawClient(server).send(bytes));
	for (const raw of unused) await raw.untilClosed();
	assert.deepEqual(unused.map(({ text }) => text), ['', '']);
	assert.equal(await metric(server, 'header_timeouts_total'), timeouts + 2);
	const kept = new RawClient(server).send(`GET /healthz HTTP/1.1\r\n${host}\r\nGET /`);
	await kept.untilClosed();
	assert.match(kept.text, /^HTTP\/1\.1 200 [^]*ok\nHTTP\/1\.1 408 /);
});

/** Connections beyond a limit: a few get a response. */
async function beyondLimit(server, more) {
	const get = (accept = '') => `GET / HTTP/1.1\r\nHost: ${server.host}\r\n${accept}\r\n`;
	const program = await ask(server, get(), 'a program');
	assert.deepEqual([program.status, codeOfJson(program)], [503, 'SERVER_BUSY']);
	const browser = await ask(server, get(`${html}\r\n`), 'a browser');
	assert.deepEqual([browser.status, codeOfPage(browser)], [503, 'SERVER_BUSY']);
	assert.match(browser.head, /^retry-after: \d+\r?$/im);
	assert.match(browser.head, /^connection: close\r?$/im);
	const invalid = await ask(server, get('X\r\n'), 'an invalid request');
	assert.deepEqual([invalid.status, codeOfJson(invalid)], [503, 'SERVER_BUSY']);
	const upgrade = new RawClient(server).upgrade('/ws/pty?sessionId=s');
	assert.equal(await upgrade.status(), 503);
	upgrade.terminate();
	// Silent ones do not stay.
	const silent = Array.from({ length: 40 }, () => new RawClient(server));
	await until('the end of silent connections', () => silent.every(({ closed }) => closed));
	assert.ok(silent.every(({ text }) => text === ''));
	for (const each of more) each.terminate();
	await until('a free connection', async () => (await ask(server, get(), 'a page')).status === 200);
}

/** A metric, over the command line's socket, which accepts a few connections beyond the limit. */
async function ownerMetric(server, name) {
	const { text } = await new Api(() => 'http://localhost', { socketPath: socketOf(server) }).raw('GET', '/metrics');
	return Number(new RegExp(`^ringside_${name} (\\d+)$`, 'm').exec(text)[1]);
}

scenario('connections beyond the limit are answered with 503', { args: ['--max-connections', '8'] }, async (server) => {
	await server.session({ id: 's' });
	const ping = `GET /api/ping HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`;
	const held = Array.from({ length: 8 }, () => new RawClient(server).send(ping));
	await until('the limit', () => held.every(({ text }) => text.includes('200 OK')));
	await beyondLimit(server, held);
	assert.ok(await ownerMetric(server, 'connections_refused_total') >= 44);
});

scenario('connections beyond the limit of an address are answered with 503', { args: ['--max-connections', '64'] }, async (server) => {
	await server.session({ id: 's' });
	await until('no connection', async () => await ownerMetric(server, 'strangers') === 0);
	const held = Array.from({ length: 32 }, () => new RawClient(server).send('GET'));
	await until('the limit', async () => await ownerMetric(server, 'strangers') === 32);
	await beyondLimit(server, held);
	assert.ok(await ownerMetric(server, 'strangers_refused_total') >= 44);
});

scenario('plain HTTP on a port of TLS is answered with TLS_REQUIRED', secure, async (server) => {
	const get = (host, accept = '') => `GET /x HTTP/1.1\r\n${accept}Host: ${host}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`;
	const program = await ask(server, get(server.host), 'a program');
	assert.deepEqual([program.status, codeOfJson(program)], [400, 'TLS_REQUIRED']);
	const browser = await ask(server, get(server.host, `${html}\r\n`), 'a browser');
	assert.deepEqual([browser.status, codeOfPage(browser)], [400, 'TLS_REQUIRED']);
	assert.ok(browser.body.includes(`<a href="https://${server.host}/">`), browser.body);
	for (const host of ['evil.example', '"><script>', `x@${server.host}`, `${server.host}\r\nHost: evil.example`]) {
		const page = await ask(server, get(host, `${html}\r\n`), host);
		assert.deepEqual([page.status, codeOfPage(page)], [400, 'TLS_REQUIRED'], host);
		assert.ok(!/href|evil|<script/.test(page.body), page.body);
	}
	for (const bytes of [`GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`, 'GET / HTTP/1.1\r\nX\r\n\r\n', 'POST /api/auth/login HTTP/1.1\r\nContent-Length: 3\r\n\r\n{}\n'])
		assert.equal(codeOfJson(await ask(server, bytes, bytes.slice(0, 30))), 'TLS_REQUIRED');
	const upgrade = new RawClient(server).upgrade('/ws');
	assert.equal(await upgrade.status(), 400);
	upgrade.terminate();
	// What is neither gets an alert.
	const noise = new RawClient(server).send(Buffer.from([0x80, 0x2e, 1, 3, 1, 0, 0, 0]));
	noise.socket.end();
	await noise.untilClosed();
	assert.match(noise.text, /^\x15\x03/);
});
