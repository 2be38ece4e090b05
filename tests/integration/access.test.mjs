// Browsers send cookies with requests of any page, so a cookie counts for our own page alone.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { logIn } from './lib/api.mjs';
import { scenario } from './lib/server.mjs';

const app = 'https://app.example';

/** The result of a request with a cookie: its status, and the code of a refusal. */
async function byCookie(server, cookie, method, path, headers, body) {
	const answer = await server.api.as(null, { Cookie: cookie }).raw(method, path, body, { headers });
	return answer.status < 400 ? answer.status : `${answer.status} ${answer.json?.code}`;
}

scenario('a cookie counts for our own page, but not for an allowed origin', { args: ['--allow-origin', app] }, async (server) => {
	const cookie = await logIn(server);
	const own = { Origin: server.base };
	const port = `http://127.0.0.1:${Number(new URL(server.base).port) + 1}`;
	const refused = '403 ORIGIN_NOT_ALLOWED';
	for (const [what, method, path, headers, body, expected] of [
		['our page reads', 'GET', '/api/session/list', { ...own, 'Sec-Fetch-Site': 'same-origin' }, undefined, 200],
		['our page reads, with the headers of a GET in browsers', 'GET', '/api/session/list', { 'Sec-Fetch-Site': 'same-origin' }, undefined, 200],
		['our page creates', 'POST', '/api/session/create', { ...own, 'Sec-Fetch-Site': 'same-origin' }, { id: 'mine' }, 200],
		['our page creates, through a proxy that removes the Origin', 'POST', '/api/session/create', { 'Sec-Fetch-Site': 'same-origin' }, { id: 'stripped' }, 200],
		['a page of another port, through it', 'POST', '/api/session/create', { 'Sec-Fetch-Site': 'same-site' }, { id: 'other' }, refused],
		['no Origin at all', 'POST', '/api/session/create', {}, { id: 'other' }, refused],
		['an allowed page creates', 'POST', '/api/session/create', { Origin: app, 'Sec-Fetch-Site': 'cross-site' }, { id: 'other' }, refused],
		['an allowed page reads', 'GET', '/api/session/list', { Origin: app, 'Sec-Fetch-Site': 'cross-site' }, undefined, refused],
		['a form of an allowed page', 'POST', '/api/execute', { Origin: app, 'Content-Type': 'text/plain' }, '{"command":"id"}', refused],
		['a page of another port', 'POST', '/api/execute', { Origin: port, 'Sec-Fetch-Site': 'same-site' }, { command: 'id' }, refused],
		['a picture of another port', 'GET', '/api/session/list', { 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'no-cors' }, undefined, refused],
		['a picture of another site', 'GET', '/api/session/list', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }, undefined, refused],
		['a link on another site', 'GET', '/', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' }, undefined, 200],
		['a form of our own origin', 'POST', '/api/execute', { ...own, 'Content-Type': 'text/plain' }, '{"command":"id"}', '415 UNSUPPORTED_MEDIA_TYPE'],
		['a form with a similar type', 'POST', '/api/execute', { ...own, 'Content-Type': 'application/jsonp' }, '{"command":"id"}', '415 UNSUPPORTED_MEDIA_TYPE'],
		['a file of our page', 'PUT', `/api/file/${server.root}/own?sessionId=mine`, { ...own, 'Content-Type': 'image/png' }, 'bytes', 200],
		['a file of a page of another port', 'PUT', `/api/file/${server.root}/foreign?sessionId=mine`, { Origin: port, 'Sec-Fetch-Site': 'same-site', 'Content-Type': 'image/png' }, 'bytes', refused],
		['a file from an unknown page', 'PUT', `/api/file/${server.root}/foreign?sessionId=mine`, { 'Content-Type': 'image/png' }, 'bytes', refused],
		['JSON with a charset', 'POST', '/api/session/create', { ...own, 'Content-Type': 'Application/JSON; charset=utf-8' }, '{"id":"charset"}', 200],
	])
		assert.equal(await byCookie(server, cookie, method, path, headers, body), expected, what);
	assert.deepEqual((await server.api.call('GET', '/api/session/list')).data.sort(), ['charset', 'mine', 'stripped']);
	assert.ok(!existsSync(`${server.root}/foreign`));
});

scenario('without authentication, other sites are refused too', { args: ['--no-auth', '--allow-origin', app] }, async (server) => {
	const api = server.api.as(null);
	const status = async (method, headers, body) => (await api.raw(method, '/api/session/list', body, { headers })).status;
	assert.equal(await status('GET', {}), 200, 'a program');
	assert.equal(await status('GET', { 'Sec-Fetch-Site': 'same-origin' }), 200, 'our page');
	assert.equal(await status('GET', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }), 403, 'another site');
	assert.equal(await status('GET', { 'Sec-Fetch-Site': 'cross-site', Origin: app }), 200, 'an allowed origin');
	assert.equal((await api.raw('POST', '/api/session/create', { id: 'x' }, { headers: { 'Sec-Fetch-Site': 'cross-site' } })).status, 403);
});
