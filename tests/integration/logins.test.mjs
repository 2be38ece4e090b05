// Logging out is effective: the server keeps each login and ends it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { readFileSync } from 'node:fs';
import { binary, scenario } from './lib/server.mjs';
import { shared } from './lib/together.mjs';
import { request } from './lib/api.mjs';

const own = (server) => ({ headers: { Origin: server.base } });

async function logIn(server, token = server.token) {
	const answer = await server.api.as(null).raw('POST', '/api/auth/login', { token },
		{ headers: { Origin: server.base, 'User-Agent': 'Firefox/99' } });
	assert.equal(answer.status, 200, answer.text);
	return answer.headers['set-cookie'][0].split(';')[0];
}

const browser = (server, cookie) => server.api.as(null, { Cookie: cookie });
const refused = (server, cookie) => browser(server, cookie).refused(401, 'UNAUTHENTICATED', 'GET', '/api/session/list');

shared('logins are listed, and revoked one by one or all at once', async (server) => {
	await server.session({ id: 's' });
	const { token, link } = await server.api.link('s', 'viewer');
	const first = await logIn(server);
	const second = await logIn(server);
	await logIn(server, token);
	const { logins } = await browser(server, first).call('GET', '/api/auth/logins');
	assert.deepEqual(logins.map(({ role, link: of }) => [role, of]).sort(), [['owner', null], ['owner', null], ['viewer', link.id]]);
	const [mine] = logins.filter(({ current }) => current);
	assert.deepEqual([mine.peer, mine.userAgent], ['127.0.0.1', 'Firefox/99']);
	assert.ok(Date.parse(mine.createdAt) <= Date.parse(mine.lastUsedAt));
	await server.api.as(token).refused(403, 'PERMISSION_DENIED', 'GET', '/api/auth/logins');
	await server.api.as(token).refused(403, 'PERMISSION_DENIED', 'DELETE', '/api/auth/logins');
	const ringside = (...args) => {
		const { status, stdout, stderr } = spawnSync(binary, ['logins', '--socket', path.join(server.dir, 'ringside.sock'), ...args], { encoding: 'utf8' });
		return { status, stdout, stderr };
	};
	const listed = ringside('--json');
	assert.equal(listed.status, 0, listed.stderr);
	const there = spawnSync('env', ['TZ=JST-9', binary, 'logins', '--socket', path.join(server.dir, 'ringside.sock')], { encoding: 'utf8' });
	const local = new Date(Date.parse(mine.createdAt) + 9 * 3_600_000).toISOString().slice(0, 16).replace('T', ' ');
	assert.ok(there.stdout.includes(`since ${local}  used `), there.stdout + there.stderr);
	assert.equal(ringside('revoke', mine.id).status, 0);
	await refused(server, first);
	await browser(server, second).call('GET', '/api/session/list');
	assert.notEqual(ringside('revoke', mine.id).status, 0);
	assert.notEqual(ringside('revoke').status, 0);
	assert.equal(ringside('revoke', '--all').status, 0);
	await refused(server, second);
	assert.deepEqual((await server.api.call('GET', '/api/auth/logins')).logins, []);
});

shared('a copy of a cookie is invalid after logging out, also after a restart', async (server) => {
	await server.session({ id: 's' });
	const cookie = await logIn(server);
	const other = await logIn(server);
	const open = await server.client({ sessionId: 's', token: null, headers: { Cookie: cookie }, origin: server.base }).connect();
	const copy = browser(server, cookie);
	await copy.call('GET', '/api/session/list');
	await copy.call('POST', '/api/auth/logout', {}, own(server));
	assert.equal((await open.untilClosed()).code, 4401);
	await refused(server, cookie);
	await server.restart();
	await refused(server, cookie);
	await browser(server, other).call('GET', '/api/session/list');
});

for (const [proxy, cases] of [
	['127.0.0.1', [[{ 'X-Forwarded-Proto': 'https' }, true], [{ Forwarded: 'for=192.0.2.1;proto=https' }, true], [{ 'X-Forwarded-Proto': 'http' }, false]]],
	['192.0.2.1', [[{ 'X-Forwarded-Proto': 'https' }, false]]],
])
	scenario(`the cookie is for TLS alone if the trusted proxy ${proxy} says so`, { args: ['--trust-proxy', proxy] }, async (server) => {
		for (const [headers, secure] of cases) {
			const answer = await server.api.as(null).raw('POST', '/api/auth/login', { token: server.token },
				{ headers: { Origin: server.base, ...headers } });
			const [set] = answer.headers['set-cookie'];
			assert.deepEqual([/; Secure/.test(set), set.startsWith('__Host-')], [secure, secure], set);
			await server.api.as(null, { Cookie: set.split(';')[0], ...headers }).call('GET', '/api/session/list');
		}
	});

shared('output that is not a terminal gets the path of the token, not the token', async (server) => {
	const token = readFileSync(path.join(server.dir, 'token'), 'utf8').trim();
	assert.ok(!server.stdout.includes(token) && !server.stderr.includes(token));
	assert.match(server.stdout, new RegExp(`the token is in ${server.dir}/token`));
	assert.equal((await request(server.base, { path: '/api/auth/whoami', headers: { Authorization: `Bearer ${token}` } })).status, 200);
	assert.equal((await request(server.base, { path: `/api/auth/whoami?token=${token}` })).status, 401, 'it does not count in an address');
});
