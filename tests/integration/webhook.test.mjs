// Webhooks: their events, signatures, and secrets.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as certificate from './lib/certificate.mjs';
import { description } from './lib/openapi.mjs';
import { args, fail, Receiver, signature, webhookScenario } from './lib/receiver.mjs';
import { binary, scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const LONG = { timeout: 30_000 };
const KEYS = ['AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'];

const schema = description.components.schemas.WebhookEvent.properties;

scenario('events that need a person are sent and signed, without terminal contents', { start: false }, async (server) => {
	const receiver = await new Receiver().open(), keys = path.join(server.root, 'keys');
	writeFileSync(keys, `whsec_${KEYS[0]}\n${KEYS[1]}\n`);
	const secret = receiver.url('/SECRETPATH?key=SECRETQUERY').replace('://', '://user:SECRETUSER@');
	try {
		await server.start({ args: args([secret], '--webhook-key-file', keys) });
		await server.session({ id: 's' });
		const comes = (kind) => until(() => `${kind}; events so far: ${receiver.kinds('s')}`, () => receiver.events.find(({ type, data }) => type === kind && data.session === 's'), LONG);
		await server.api.input('s', 'read -s WORDSECRET\r');
		const password = await comes('password');
		await server.api.input('s', 'hunter2\r');
		await server.api.input('s', 'read -p QUESTION WORDSECRET\r');
		await comes('line');
		await server.api.input('s', 'hunter3\r');
		await server.api.input('s', 'bash -c "stty -icanon -echo; head -c1 >/dev/null; stty sane"\r');
		await comes('key');
		await server.api.input('s', 'x');
		await until('the prompt', async () => (await server.api.call('GET', '/api/session/s/state')).state.status === 'prompt', LONG);
		const { data: exec } = await server.api.call('POST', '/api/session/s/exec', { command: 'echo OUTPUTSECRET; (exit 7)', queue: true });
		const failed = await comes('failed');
		assert.deepEqual([failed.data.exitCode, failed.data.author, failed.data.clients], [7, 'owner', 0]);
		await server.api.call('POST', '/api/session/s/exec', { command: 'printf "\\a\\033]9;TEXTSECRET\\007"', queue: true });
		await comes('bell');
		const notification = await comes('notification');
		assert.deepEqual([notification.data.exitCode, notification.data.author, notification.data.block], [null, null, null]);
		await server.api.call('POST', '/api/session/s/notify', { text: 'TEXTSECRET', title: 'TITLESECRET' });
		await until('the second notification', () => receiver.kinds('s').filter((kind) => kind === 'notification').length === 2, LONG);
		// Headers and form.
		for (const request of receiver.got) {
			const { id, type, timestamp, data, ...rest } = JSON.parse(request.body);
			assert.deepEqual([rest, Object.keys(data).sort()], [{}, Object.keys(schema.data.properties).sort()]);
			assert.ok(schema.type.enum.includes(type) && new RegExp(schema.id.pattern).test(id), request.body);
			assert.deepEqual([request.method, request.url, request.headers['content-type'], request.headers['webhook-id']], ['POST', '/SECRETPATH?key=SECRETQUERY', 'application/json', id]);
			assert.equal(request.headers.authorization, `Basic ${Buffer.from('user:SECRETUSER').toString('base64')}`);
			assert.match(request.headers['user-agent'], /^ringside\//);
			assert.equal(request.headers['webhook-signature'], KEYS.map((key) => signature(request, key)).join(' '), type);
			assert.ok(Math.abs(request.headers['webhook-timestamp'] * 1000 - request.at) < 30_000 && Date.parse(timestamp) <= request.at + 1000);
			assert.ok(!/SECRET|hunter|QUESTION/.test(request.body), request.body);
			assert.ok(!request.body.includes(server.token));
			assert.ok(data.humanUrl.startsWith(`${server.base}/?s=s`), data.humanUrl);
		}
		assert.equal(receiver.events.length, receiver.got.length, 'each event was sent once');
		assert.ok(password.data.humanUrl.endsWith(`&block=${password.data.block}`));
		assert.equal(exec.exitCode, 7);
		// The address is secret.
		assert.ok(!/SECRET/.test(readFileSync(`/proc/${server.pid}/cmdline`, 'latin1')));
		assert.ok(!/SECRET/.test((await server.api.raw('GET', '/metrics')).text));
		receiver.misbehave = (request, count, response) => response.writeHead(404).end() && true;
		await fail(server);
		await until('a refusal in the log', () => /module=webhook .*refused an event.* to=http:\/\/127\.0\.0\.1:\d+ error="HTTP status 404"/.test(server.stderr), LONG);
		assert.ok(!/SECRET/.test(server.stderr + server.stdout));
	} finally {
		await receiver.close();
	}
});

webhookScenario('a killed server: the next one sends pending events, and no others again', [undefined], async (server, receiver) => {
	await fail(server);
	await server.api.input('s', 'read -s WORD\r');
	await until('both events', () => receiver.kinds('s').join() === 'failed,password', LONG);
	const { url } = receiver.got[0];
	await server.kill('SIGKILL');
	await server.start({ args: args([receiver.url()]) });
	await until('the second password event', () => receiver.kinds('s').join() === 'failed,password,password', LONG);
	assert.equal(url, '/hook');
	assert.ok(receiver.events[2].data.humanUrl.startsWith(server.base), 'its address works');
	assert.notEqual(receiver.events[1].id, receiver.events[2].id);
	await server.api.input('s', 'x\r');
	await fail(server);
	await until('the next event', () => receiver.kinds('s').join() === 'failed,password,password,failed', LONG);
});

scenario('over TLS the certificate must be valid', { start: false, env: { SSL_CERT_FILE: certificate.cert } }, async (server) => {
	const receiver = await new Receiver({ certificate }).open();
	try {
		await server.start({ args: args([receiver.url()]) });
		await server.session({ id: 's' });
		await fail(server);
		await until('an event', () => receiver.events.length === 1, LONG);
		await server.kill('SIGTERM');
		server.options.env = {};
		await server.start();
		await fail(server);
		await until('a failure', () => /module=webhook msg="delivery failed, retrying" to=https\S+ error="[^"]*certificate/.test(server.stderr), LONG);
		assert.equal(receiver.got.length, 1);
	} finally {
		await receiver.close();
	}
});

scenario('invalid options, and options in the config file', { start: false, mayHaveDied: true }, async (server) => {
	const keys = path.join(server.root, 'keys');
	writeFileSync(keys, 'short\n');
	const SECRET = 'SECRETURL';
	for (const [words, why] of [
		[['--webhook', SECRET], /--webhook: must be an https or http URL/],
		[args(Array(9).fill(`http://127.0.0.1/${SECRET}`)), /--webhook: is given more than 8 times/],
		[['--webhook', `http://127.0.0.1/${SECRET}`, '--webhook-key-file', keys], /--webhook-key-file: must have/],
		[['--webhook', `http://127.0.0.1/${SECRET}`, '--webhook-key-file', '/nonexistent'], /--webhook-key-file: No such file/],
	]) {
		const { stderr, status } = spawnSync(binary, ['serve', '--listen', '127.0.0.1:0', '--runtime-dir', server.dir, ...words], { encoding: 'utf8', timeout: 30_000 });
		assert.ok([1, 2].includes(status), `${words}: ${status} ${stderr}`);
		assert.match(stderr, why);
		assert.ok(!stderr.includes(SECRET), stderr);
	}
	const receiver = await new Receiver().open(), config = path.join(server.root, 'config');
	try {
		writeFileSync(keys, `${KEYS[0]}\n`);
		writeFileSync(config, `[serve]\nwebhook = ${receiver.url('/one')}\nwebhook = ${receiver.url('/two')}\nwebhook-key-file = ${keys}\n`, { mode: 0o600 });
		server.options.env = { RINGSIDE_CONFIG: config };
		await server.start();
		await server.session({ id: 's' });
		await fail(server);
		await until('both events', () => receiver.got.length === 2, LONG);
		assert.deepEqual(receiver.got.map(({ url }) => url).sort(), ['/one', '/two']);
		for (const request of receiver.got) assert.equal(request.headers['webhook-signature'], signature(request, KEYS[0]));
		assert.equal(JSON.parse(receiver.got[0].body).id, JSON.parse(receiver.got[1].body).id);
	} finally {
		await receiver.close();
	}
});
