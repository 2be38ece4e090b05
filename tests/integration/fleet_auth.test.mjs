// Credentials in a fleet: every node accepts them, and they end everywhere.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { assertError, logIn } from './lib/api.mjs';
import { fleetTest } from './lib/fleet.mjs';
import { Mux } from './lib/mux.mjs';
import { EventStream } from './lib/sse.mjs';
import { until } from './lib/until.mjs';

/** Calls of a node with a cookie, as its page makes them. */
const withCookie = (node, cookie) => node.api.as(null, { Cookie: cookie, Origin: node.base });

fleetTest('links work at every node, for their session alone', async ({ a, b, c }) => {
	await Promise.all([a.api.create({ id: 's', node: 'b' }), a.api.create({ id: 'other', node: 'c' })]);
	await a.shellReady('s');
	const viewer = await c.api.link('s', 'viewer');
	const driver = await a.api.link('s', 'driver');
	for (const node of [a, b, c]) {
		const watches = node.api.as(viewer.token);
		assert.equal((await watches.call('GET', '/api/session/s')).data.id, 's');
		assert.deepEqual((await watches.call('GET', '/api/session/list')).data, ['s']);
		assert.equal((await watches.call('GET', '/api/auth/whoami')).role, 'viewer');
		assertError(await watches.raw('POST', '/api/session/s/input', { data: 'x' }), 403, 'READ_ONLY');
		for (const path of ['/api/session/other', '/api/session/nowhere']) assertError(await watches.raw('GET', path), 403, 'PERMISSION_DENIED');
		for (const path of ['/api/nodes', '/api/process/list', '/metrics', '/api/nodes?node=c', '/api/auth/logins']) assertError(await watches.raw('GET', path), 403, 'PERMISSION_DENIED');
		assertError(await watches.raw('POST', '/api/session/create', { id: 'made' }), 403, 'PERMISSION_DENIED');
		assertError(await watches.raw('GET', `/proxy/${b.port}/`), 403, 'PERMISSION_DENIED');
		assertError(await watches.raw('GET', '/proxy/8080/?node=a'), 403, 'PERMISSION_DENIED');
		await node.api.as(driver.token).call('POST', '/api/session/s/input', { data: `echo ${node.name}""x\r` });
		await node.outputMatches('s', new RegExp(`${node.name}x\r`));
	}
	const terminal = a.client({ sessionId: 's', token: viewer.token });
	await terminal.connect();
	const foreign = a.client({ sessionId: 'other', token: viewer.token });
	await foreign.connect().catch(() => {});
	await foreign.untilClosed();
	assert.equal(foreign.closed.code, 1008);
	const mux = await new Mux(c, { token: viewer.token }).connect();
	const channel = c.client({ sessionId: 's', mux, token: viewer.token });
	await channel.connect();

	const cookie = await logIn(a, viewer.token);
	const [, id] = /ringside-[0-9a-f]{8}-([0-9a-f]{32})/.exec(cookie);
	for (const node of [a, b, c]) {
		assert.equal((await withCookie(node, cookie).call('GET', `/api/session/s?link=${id}`)).data.id, 's');
		assertError(await withCookie(node, cookie).raw('GET', `/api/session/other?link=${id}`), 403, 'PERMISSION_DENIED');
		assertError(await withCookie(node, cookie.slice(0, -1) + (cookie.endsWith('0') ? '1' : '0')).raw('GET', `/api/session/s?link=${id}`), 401, 'UNAUTHENTICATED');
	}

	// Revoked at one node, ended at all.
	const stream = new EventStream(c, '/api/session/s/stream', { token: viewer.token });
	await until('the stream', () => stream.status === 200);
	await c.api.call('DELETE', `/api/session/s/links/${id}`);
	for (const node of [a, b, c]) {
		assert.equal((await node.api.as(viewer.token).raw('GET', '/api/session/s')).status, 401);
		assert.equal((await withCookie(node, cookie).raw('GET', `/api/session/s?link=${id}`)).status, 401);
	}
	await terminal.untilClosed();
	assert.equal(terminal.closed.code, 4401);
	await stream.until('its last event', ({ code }) => code === 'ACCESS_ENDED');
	await until('its end', () => stream.closed);
});

fleetTest('a login of the owner is good at every node, and ends at all', async ({ a, b, c, nats }) => {
	assert.equal(a.token, b.token);
	await a.api.create({ id: 's', node: 'b' });
	const cookie = await logIn(a);
	for (const node of [a, b, c]) {
		assert.equal((await withCookie(node, cookie).call('GET', '/api/session/s')).data.id, 's');
		assertError(await node.api.as(null, { Cookie: cookie, Origin: 'http://evil.example' }).raw('POST', '/api/session/create', {}), 403, 'ORIGIN_NOT_ALLOWED');
		assert.equal((await node.api.as(null, { Cookie: `${cookie.slice(0, -1)}${cookie.endsWith('0') ? '1' : '0'}` }).raw('GET', '/api/session/s')).status, 401);
	}
	const [name, value] = cookie.split('=');
	const [login, node, expires, signature] = value.split(':');
	for (const forged of [`${login}:b:${expires}:${signature}`, `${login}:${node}:${Number(expires) + 1}:${signature}`, login, `${login}:${node}:${expires}:`]) {
		assert.equal((await withCookie(c, `${name}=${forged}`).raw('GET', '/api/session/s')).status, 401, forged);
	}
	assert.equal((await c.api.call('GET', '/api/auth/logins')).logins.length, 1);

	// Out at another node than in.
	const stream = new EventStream(c, '/api/session/s/stream', { token: null, headers: { Cookie: cookie, Origin: c.base } });
	await until('the stream', () => stream.status === 200);
	await withCookie(b, cookie).call('POST', '/api/auth/logout', {});
	for (const each of [b, a, c]) await until(`the end at ${each.name}`, async () => (await withCookie(each, cookie).raw('GET', '/api/session/s')).status === 401);
	await stream.until('its last event', ({ code }) => code === 'ACCESS_ENDED');
	await until('an empty ledger', async () => (await c.api.call('GET', '/api/auth/logins')).logins.length === 0);

	// Ended while another node was away.
	const second = await logIn(a);
	await c.kill('SIGKILL');
	await withCookie(a, second).call('POST', '/api/auth/logout', {});
	await c.start();
	await until('the end at c', async () => (await withCookie(c, second).raw('GET', '/api/session/s')).status === 401);
	assert.ok(nats);
});

fleetTest('requests between nodes are signed', async (fleet) => {
	const { a, b } = fleet;
	await a.api.create({ id: 's', node: 'b' });
	const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
	const sign = (key, claims, alg = 'HS256') => {
		const text = `${encode({ alg, typ: 'JWT' })}.${encode(claims)}`;
		return `${text}.${alg === 'none' ? '' : createHmac('sha256', key).update(text).digest('base64url')}`;
	};
	const exp = Math.floor(Date.now() / 1000) + 60;
	const jti = '1//0/0000000000000000/b/127.0.0.1';
	for (const token of [sign('', { kind: 'link', jti, exp }), sign('x', { kind: 'link', jti, exp }), sign('', { kind: 'link', jti, exp }, 'none')]) {
		assertError(await b.api.as(token).raw('GET', '/api/session/s'), 401, 'UNAUTHENTICATED');
	}
	// No secret is in any log, of the nodes or in their addresses.
	const { secret } = JSON.parse(readFileSync(`${a.dir}/node.json`, 'utf8'));
	assert.equal(secret.length, 64);
	for (const node of fleet.nodes) for (const word of [secret, a.token]) assert.ok(!node.stderr.includes(word));
});
