// Webhooks whose receivers are slow, dying, hanging or redirecting: events are sent again within limits, and do not delay others.
import assert from 'node:assert/strict';
import net from 'node:net';
import { args, fail, Receiver, webhookMetric, webhookScenario } from './lib/receiver.mjs';
import { scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const LONG = { timeout: 30_000 };

webhookScenario('undelivered events are sent again, in order and with the same id', [
	(request, count, response) => count === 1 && response.writeHead(500).end() && true,
	(request, count) => count === 1 && request.socket.destroy() && true,
], async (server, failing, dying) => {
	await fail(server);
	await until('the first tries', () => failing.got.length > 0 && dying.got.length > 0, LONG);
	await fail(server);
	for (const receiver of [failing, dying]) {
		await until('both events', () => receiver.events.length === 2 && receiver.got.length === 3, LONG);
		const ids = receiver.got.map(({ body }) => JSON.parse(body).id);
		assert.equal(ids[0], ids[1]);
		assert.ok(receiver.got[1].at - receiver.got[0].at >= 900);
	}
	assert.deepEqual(failing.events, dying.events);
	await until('the counters', async () => await webhookMetric(server, 'events_arrived_total') === 4, LONG);
	assert.deepEqual([await webhookMetric(server, 'tries_total'), await webhookMetric(server, 'tries_failed_total'), await webhookMetric(server, 'events_waiting')], [6, 2, 0]);
	assert.match(server.stderr, /module=webhook msg="delivery failed, retrying" to=\S+ error="HTTP status 500"/);
	await until('both log lines', () => server.stderr.match(/module=webhook msg="answers again"/g)?.length === 2, LONG);
	assert.equal(server.stderr.match(/delivery failed, retrying/g).length, 2, 'a failing receiver is logged once');
});

webhookScenario('Retry-After is respected, redirects are not followed, and 410 stops deliveries', [
	(request, count, response) => count === 1 && response.writeHead(429, { 'Retry-After': '2' }).end() && true,
	(request, count, response) => response.writeHead(307, { Location: '/elsewhere' }).end() && true,
	(request, count, response) => response.writeHead(410).end() && true,
], async (server, busy, elsewhere, enough) => {
	await fail(server);
	await until('the first events', () => busy.got.length === 1 && elsewhere.got.length === 1 && enough.got.length === 1, LONG);
	await fail(server);
	await until('the next events', () => busy.got.length === 3 && elsewhere.got.length === 2, LONG);
	assert.ok(busy.got[1].at - busy.got[0].at >= 1900);
	assert.deepEqual(elsewhere.got.map(({ url }) => url), ['/hook', '/hook']);
	assert.equal(enough.got.length, 1);
	await until('the counters', async () => await webhookMetric(server, 'events_given_up_total') === 2 && await webhookMetric(server, 'events_arrived_total') === 2, LONG);
	assert.deepEqual([await webhookMetric(server, 'events_dropped_total'), await webhookMetric(server, 'events_waiting')], [2, 0]);
});

scenario('a receiver that never responds, or is down, delays no other', { start: false }, async (server) => {
	const silent = net.createServer({ pauseOnConnect: true }, (socket) => socket.on('error', () => {})), sockets = new Set();
	silent.on('connection', (socket) => sockets.add(socket));
	await new Promise((resolve) => { silent.listen(0, '127.0.0.1', resolve); });
	const good = await new Receiver().open(), slow = await new Receiver({ misbehave: (request, count, response) => {
		response.writeHead(200);
		const drip = setInterval(() => response.write('x'.repeat(20_000)), 20);
		return response.on('close', () => clearInterval(drip)) && true;
	} }).open(), dead = await new Receiver().open();
	await dead.close();
	try {
		await server.start({ args: args([`http://127.0.0.1:${silent.address().port}/`, slow.url(), dead.url(), good.url()], '--webhook-wait', '1') });
		await server.session({ id: 's' });
		for (let n = 0; n < 20; n++) await fail(server);
		await until('all events', () => good.kinds('s').length === 20, LONG);
		assert.equal(good.most, 1, 'one at a time');
		await until('a second try after the timeout', () => sockets.size > 1, LONG);
		// The status of an endless response counts.
		await until('the events of the slow receiver', () => slow.events.length >= 5, LONG);
		assert.equal(slow.got.length, slow.events.length);
		assert.match(server.stderr, /msg="delivery failed, retrying" to=\S+ error="(Timeout was reached|Couldn't connect to server)"/);
		// When the receiver is up again, it gets the events.
		await dead.open();
		await until('the first waiting event', () => dead.events.length > 0, LONG);
		const began = Date.now();
		await server.kill('SIGTERM');
		assert.ok(Date.now() - began < 20_000);
		assert.match(server.stderr, /module=webhook msg="events were not delivered before the server ended" events=\d+/);
	} finally {
		for (const socket of sockets) socket.destroy();
		silent.close();
		await Promise.all([good.close(), slow.close(), dead.close().catch(() => {})]);
	}
	await server.start({ args: [] });
});
