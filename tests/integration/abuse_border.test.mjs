// Upgrades with each kind of credentials and from each kind of page, and guessed tokens.
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { logIn } from './lib/api.mjs';
import { RawClient } from './lib/client.mjs';
import { metric } from './lib/control.mjs';
import { rssAnon } from './lib/proc.mjs';
import { sanitized } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { Table } from './lib/table.mjs';
import { together } from './lib/together.mjs';
import { until, within } from './lib/until.mjs';

const MIB = 1 << 20;
const shared = together({ args: ['--allow-origin', 'https://app.example'] });

const counts = new Map();
/** Try a handshake. Each comes from another loopback address, so that the limiter of wrong tokens does not count them together. */
async function handshake(server, target, headers) {
	const number = (counts.get(server) ?? 0) + 1;
	counts.set(server, number);
	const lines = Object.entries({
		Host: server.host, Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==', ...headers,
	}).map(([name, value]) => `${name}: ${value}\r\n`);
	const socket = net.connect({ host: '127.0.0.1', port: server.port, localAddress: `127.79.${number >> 3 >> 8}.${(number >> 3) & 255}` });
	let text = '';
	const answer = new Promise((resolve, reject) => {
		socket.on('data', (data) => {
			text += data.toString('latin1');
			if (text.includes('\r\n')) resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]));
		}).on('error', reject).on('close', () => resolve(0));
	});
	socket.write(`GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
	try {
		return await within(`answer to a handshake at ${target}`, answer);
	} finally {
		socket.destroy();
	}
}

shared('handshakes: each kind of credentials, from each kind of page', { timeout: 90_000 }, async (server, t) => {
	const { api } = server;
	await server.session({ id: 's' });
	const earlier = (await api.link('s', 'driver')).token;
	await api.delete('s');
	await server.session({ id: 's' });
	await server.session({ id: 'other' });
	const expired = (await api.link('s', 'driver', 1000)).token;
	const revoked = await api.link('s', 'driver');
	await api.call('DELETE', `/api/session/s/links/${revoked.link.id}`);
	const driver = await api.link('s', 'driver');
	const bearer = (token) => ({ Authorization: `Bearer ${token}` });
	const out = await logIn(server, server.token);
	await api.as(null, { Cookie: out, Origin: server.base }).call('POST', '/api/auth/logout', {});
	// Credentials of a handshake: expected status at /ws and at /ws/pty, and whether they are a cookie.
	const kinds = {
		'no credentials': [{}, 401, 401], 'a wrong token': [bearer('x'.repeat(40)), 401, 401], 'an expired link': [bearer(expired), 401, 401],
		'a revoked link': [bearer(revoked.token), 401, 401], 'a link of an earlier epoch': [bearer(earlier), 401, 401],
		'another scheme': [{ Authorization: `Basic ${Buffer.from(`x:${server.token}`).toString('base64')}` }, 401, 401],
		'an ended login': [{ Cookie: out }, 401, 401, true],
		'a link of another session': [bearer((await api.link('other', 'driver')).token), 101, 403],
		'a viewer': [bearer((await api.link('s', 'viewer')).token), 101, 101], 'a driver': [bearer(driver.token), 101, 101], 'the owner': [bearer(server.token), 101, 101],
		'the owner\'s cookie': [{ Cookie: await logIn(server, server.token) }, 101, 101, true],
		'a driver\'s cookie': [{ Cookie: await logIn(server, driver.token) }, 101, 101, true, `link=${driver.link.id}`],
	};
	const port = server.port === 65_535 ? 1 : server.port + 1;
	// Origins of a handshake, and whether a token and a cookie count there: [token, cookie].
	const places = {
		'no page': [{}, true, false], 'our page': [{ Origin: server.base, 'Sec-Fetch-Site': 'same-origin' }, true, true],
		'our page, without an origin': [{ 'Sec-Fetch-Site': 'same-origin' }, true, true],
		'an allowed page': [{ Origin: 'https://app.example', 'Sec-Fetch-Site': 'cross-site' }, true, false],
		'another site': [{ Origin: 'https://evil.example' }, false, false], 'no origin': [{ Origin: 'null' }, false, false],
		'another port': [{ Origin: `http://127.0.0.1:${port}`, 'Sec-Fetch-Site': 'same-site' }, false, false],
		'another scheme': [{ Origin: `https://${server.host}` }, false, false], 'a similar name': [{ Origin: `${server.base}.evil.example` }, false, false],
		'another site, without an origin': [{ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'websocket' }, false, false],
		'another host': [{ Host: 'evil.example' }, false, false], 'another host and its page': [{ Host: 'evil.example', Origin: 'http://evil.example' }, false, false],
	};
	await until('the end of a link', async () => await handshake(server, '/ws', bearer(expired)) === 401, { interval: 100 });
	const table = new Table(t);
	for (const [kind, [headers, control, terminal, cookie, query]] of Object.entries(kinds)) {
		for (const [place, [more, good, goodForCookies]] of Object.entries(places)) {
			const right = cookie ? goodForCookies : good;
			for (const [target, expected] of [['/ws', control], ['/ws/pty?sessionId=s', terminal]]) {
				const where = query ? `${target}${target.includes('?') ? '&' : '?'}${query}` : target;
				// Either of the two reasons for a refusal may come first.
				const refused = expected === 401 ? [401, 403] : 403;
				table.add(`${kind}, ${place}, ${target}`, right ? expected : refused, await handshake(server, where, { ...headers, ...more }));
			}
		}
	}
	assert.deepEqual((await api.list()).data.sort(), ['other', 's']);
	await until('no terminal socket is left', async () => /^ringside_quota_had\{kind="terminals"\} 0$/m.test((await api.raw('GET', '/metrics')).text));
	table.done();
});

const upgrades = {
	h2c: { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AAMAAABkAAQCAAAAAAIAAAAA' },
	'h2c in capitals': { Connection: 'upgrade', Upgrade: 'H2C', 'HTTP2-Settings': 'AAMAAABkAAQCAAAAAAIAAAAA' },
	h2: { Connection: 'Upgrade', Upgrade: 'h2' },
	'an unknown protocol': { Connection: 'Upgrade', Upgrade: 'foo' },
	'a long protocol': { Connection: 'Upgrade', Upgrade: 'x'.repeat(3000) },
	TLS: { Connection: 'Upgrade', Upgrade: 'TLS/1.2' },
	'an empty protocol': { Connection: 'Upgrade', Upgrade: '' },
	'several, h2c first': { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c, websocket', 'HTTP2-Settings': 'AAMAAABkAAQCAAAAAAIAAAAA' },
	'several, h2c last': { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'foo, h2c', 'HTTP2-Settings': 'AAMAAABkAAQCAAAAAAIAAAAA' },
};
// The preface of an HTTP/2 client, and an empty SETTINGS frame.
const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])]);

shared('upgrades to unsupported protocols, over TCP and the unix socket', async (server, t) => {
	await server.session({ id: 's' });
	const table = new Table(t);
	const own = path.join(server.dir, 'ringside.sock');
	for (const [place, options] of [['TCP', {}], ['ringside.sock', { port: own, host: undefined }]]) {
		for (const [name, headers] of Object.entries(upgrades)) {
			for (const target of ['/', '/api/session/list', '/ws', '/ws/pty?sessionId=s']) {
				for (const authenticated of [false, true]) {
					const raw = new RawClient(server, options);
					raw.upgrade(target, { Authorization: authenticated ? `Bearer ${server.token}` : undefined, 'Sec-WebSocket-Key': undefined, 'Sec-WebSocket-Version': undefined, ...headers });
					const status = await raw.status();
					raw.send(preface);
					await until('what follows', () => raw.closed || /\r\n\r\n[^]*HTTP\/1\.1 4\d\d/.test(raw.text));
					// Either the request is served without its upgrade, or it is refused; the preface is then only a
					// bad request.
					table.add(`${name} at ${target}${authenticated ? ' of the owner' : ''}, ${place}`, 'refused', status !== 101 && status < 500 && !raw.data.includes(Buffer.from([0, 0, 0, 4])) ? 'refused' : `${status}: ${raw.text.slice(0, 80)}`);
					raw.terminate();
				}
			}
		}
		const prior = new RawClient(server, options).send(preface);
		const status = await prior.status();
		await prior.untilClosed();
		table.add(`HTTP/2 without asking, ${place}`, 400, status);
	}
	assert.equal((await server.api.get('s')).state, 'running');
	table.done();
});

/** Send a request on a new connection, from localAddress, with a token; resolves with the status. */
function ask(server, localAddress, token) {
	return within('an answer', new Promise((resolve, reject) => {
		http.get({ host: '127.0.0.1', port: server.port, localAddress, agent: false, path: '/api/session/list', headers: { Authorization: `Bearer ${token}` } },
			(response) => response.resume().on('end', () => resolve(response.statusCode)).on('error', reject)).on('error', reject);
	}));
}

shared('thousands of wrong tokens from one address', { timeout: 120_000, memory: true }, async (server, t) => {
	await server.session({ id: 's' });
	const { token } = server;
	const link = (await server.api.link('s', 'driver')).token;
	const kinds = [(n) => `${n}`.padStart(43, 'x'), (n) => token.slice(0, n % token.length), (n) => `${token}${n}`, () => token.toUpperCase(),
		(n) => `${link.slice(0, -1 - (n % 40))}`, (n) => link.replace(/\.[^.]+$/, `.${'A'.repeat(43)}${n}`)];
	const wrong = (n) => kinds[n % kinds.length](n) || 'x';
	assert.ok(Array.from({ length: 1000 }, (_, n) => wrong(n)).every((each) => each !== token && each !== link));
	const address = '127.80.0.1';
	const client = await server.client({ sessionId: 's' }).connect();
	const began = performance.now();
	const tally = {};
	let served = 0;
	let memory;
	const limited = await metric(server, 'auth_limited_total');
	const [total, each] = [times(sanitized() ? 1000 : 5000, 5000), 25]; // cheap without sanitizers, and memory is measured then
	for (let at = 0; at < total; at += each) {
		// The right token is accepted meanwhile, also from that address.
		const [owner, ...statuses] = await Promise.all([token, ...Array.from({ length: each }, (_, n) => wrong(at + n))].map((one) => ask(server, address, one)));
		for (const status of statuses) tally[status] = (tally[status] ?? 0) + 1;
		served += owner === 200 ? 1 : 0;
		if (at === total / 5) memory = rssAnon(server.pid);
		if (at % (total / 5) === 0) {
			client.type(`echo ec""ho-${at}\r`);
			await client.untilText(`echo-${at}\r\n`);
		}
	}
	const turns = 10 + Math.ceil((performance.now() - began) / 6000) + 1;
	const grown = rssAnon(server.pid) - memory;
	t.diagnostic(`answers ${JSON.stringify(tally)}, the owner ${served} of ${total / each} times, memory +${(grown / MIB).toFixed(1)} MiB, ${Math.round(performance.now() - began)} ms`);
	assert.deepEqual(Object.keys(tally).sort(), ['401', '429']);
	assert.equal(tally[401] + tally[429], total);
	assert.ok(tally[401] <= turns, `${tally[401]} tokens were checked, ${turns} are allowed`);
	assert.equal(served, total / each);
	assert.equal(await metric(server, 'auth_limited_total') - limited, tally[429]);
	assert.deepEqual([await ask(server, '127.80.0.2', 'x'.repeat(43)), await ask(server, '127.80.0.2', token)], [401, 200], 'another address has its own limit');
	assert.ok(!server.stderr.includes(token), 'the token is in the log');
	if (!sanitized()) assert.ok(grown < 2 * MIB, `memory has grown by ${grown}`);
});
