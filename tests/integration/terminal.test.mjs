// The terminal socket: order of messages, resume, sharing, sizes, ends.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Refused, sha256 } from './lib/client.mjs';
import { scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { stays, until } from './lib/until.mjs';

const exits = times(2, 20, 'RINGSIDE_TEST_EXITS');
const types = (client) => client.log.map(({ type }) => type);
const refusedWith = (status) => (error) => error instanceof Refused && error.status === status;

async function quiet(server, id) {
	return until(`the end of the output of ${id}`, async () => {
		const { offset } = await server.api.get(id);
		await new Promise((resolve) => setTimeout(resolve, 60));
		const later = await server.api.get(id);
		return later.offset === offset && later;
	});
}

shared('attach: attached, snapshot, sync, ready, live; resume from the first byte: attached, sync, history, ready, live', async (server) => {
	const { api } = server;
	await server.session({ id: 's', name: 'Session', cols: 80, rows: 24 });
	await server.run('s', 'echo before');
	const session = await quiet(server, 's');
	const client = await server.client({ sessionId: 's', cols: 90, rows: 30, name: 'Ada' }).connect();
	const [attached, snapshot, sync] = client.log;
	assert.equal(attached.type, 'attached');
	assert.equal(attached.sessionId, 's');
	assert.equal(attached.epoch, session.epoch);
	assert.equal(attached.role, 'owner');
	assert.equal(attached.name, 'Session');
	assert.equal(attached.state, 'running');
	assert.equal(attached.oldest, 0);
	assert.ok(attached.offset >= session.offset);
	assert.ok(attached.cols > 0 && attached.rows > 0);
	assert.ok(['string', 'number'].includes(typeof attached.clientId));
	assert.deepEqual([attached.scrollback, attached.unicode, attached.sizePolicy], [10_000, 'wcwidth', 'latest']);
	assert.deepEqual([snapshot.type, snapshot.reason, snapshot.skipped], ['snapshot', 'attach', undefined]);
	assert.ok(snapshot.offset >= session.offset, 'the snapshot is older than the session');
	assert.equal(sync.type, 'sync');
	assert.equal(sync.offset, snapshot.offset);
	assert.match(client.snapshots[0].data.toString(), /^\x18\x1bc[^]*before/);
	const ready = types(client).indexOf('ready');
	for (const type of types(client).slice(3, ready)) assert.ok(['bytes', 'resize'].includes(type), type);

	client.type('echo li""ve\r');
	await client.untilText('live\r\n');
	assert.ok(types(client).lastIndexOf('bytes') > ready);
	const { offset } = await quiet(server, 's');
	await client.untilOffset(offset);
	assert.deepEqual(client.bytes, await api.output('s', snapshot.offset));

	// From the first byte.
	{
		const session = await quiet(server, 's');
		const client = await server.client({ sessionId: 's', cols: 90, rows: 30, name: 'Ada' }).connect({ history: true });
		const [attached, sync] = client.log;
		assert.deepEqual([attached.type, attached.epoch], ['attached', session.epoch]);
		assert.deepEqual({ ...sync, at: 0 }, { type: 'sync', offset: 0, cols: 80, rows: 24, at: 0 });
		const ready = types(client).indexOf('ready');
		for (const type of types(client).slice(2, ready)) assert.ok(['bytes', 'resize'].includes(type), type);
		const history = client.log.slice(0, ready).filter(({ type }) => type === 'bytes')
			.reduce((sum, { length }) => sum + length, 0);
		assert.ok(history >= session.offset, `history of ${history} bytes instead of ${session.offset}`);
		assert.match(client.text, /before\r\n/);

		client.type('echo la""ter\r');
		await client.untilText('later\r\n');
		assert.ok(types(client).lastIndexOf('bytes') > ready);
		const { offset } = await quiet(server, 's');
		await client.untilOffset(offset);
		assert.deepEqual(client.bytes, await api.output('s'));
		assert.deepEqual(client.snapshots, []);
	}
});

shared('attach to a missing session: created for the owner, 404 for a resume, 400 for an invalid request; a delete closes with 4410', async (server) => {
	const client = await server.client({ sessionId: 'fresh', cols: 71, rows: 19 }).connect();
	const session = await server.api.get('fresh');
	assert.ok(client.since <= session.offset); // earlier output of its shell is in the snapshot
	assert.equal(client.snapshots.length, 1);
	assert.deepEqual([session.cols, session.rows, session.clients], [71, 19, 1]);
	client.type('echo fre""sh\r');
	await client.untilText('fresh\r\n');
	await assert.rejects(server.client({ sessionId: 'none' }).connect({ resume: { epoch: client.epoch, offset: 0 } }), refusedWith(404));
	assert.deepEqual((await server.api.list()).data, ['fresh']);
	await assert.rejects(server.client({ sessionId: '.x' }).connect(), refusedWith(400));
	const odd = await server.client({ sessionId: 'fresh', cols: 0, rows: 10 }).connect();
	const { cols, rows } = await server.api.get('fresh');
	assert.deepEqual([cols, rows], [71, 19]);
	odd.terminate();
	const { link, token } = await server.api.link('fresh', 'driver', 60_000);
	await server.api.delete('fresh');
	await assert.rejects(server.client({ sessionId: 'fresh', token, link: link.id }).connect(),
		(error) => error instanceof Refused && [401, 403, 404].includes(error.status));
	assert.deepEqual((await server.api.list()).data, []);

	// Deleted, or replaced after its end.
	{
		await server.session({ id: 's' });
		const [one, two] = [server.client({ sessionId: 's' }), server.client({ sessionId: 's' })];
		await one.connect();
		await two.connect();
		two.stall();
		await server.api.delete('s');
		assert.equal((await one.untilClosed()).code, 4410);
		two.unstall();
		assert.equal((await two.untilClosed()).code, 4410);
		await assert.rejects(one.connect(), refusedWith(404));

		await server.session({ id: 's' });
		const third = await server.client({ sessionId: 's' }).connect();
		third.type('exit\r');
		await third.untilMessage('exit');
		await server.api.create({ id: 's' });
		assert.equal((await third.untilClosed()).code, 4410);
	}
});

shared('resume at every kind of offset gives exactly the bytes from there, and misses nothing; at an invalid one it starts anew', async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	await server.run('s', "printf '\\033[1;31mred\\033[0m \\xe7\\x95\\x8c\\xf0\\x9f\\x8e\\xaa\\n'");
	const { offset: head, epoch } = await quiet(server, 's');
	const whole = await api.output('s');
	assert.equal(whole.length, head);
	// Each offset in the output, and some after it.
	const begin = whole.lastIndexOf('\x1b[1;31mred');
	const end = whole.indexOf('\n', begin) + 1;
	assert.ok(begin > 0 && end > begin + 20);
	for (let offset = begin - 2; offset <= head; offset += offset < end ? 1 : Math.min(7, Math.max(1, head - offset))) {
		const client = await server.client({ sessionId: 's' }).connect({ resume: { epoch, offset } });
		const sync = client.messages.find(({ type }) => type === 'sync');
		assert.equal(sync.offset, offset);
		assert.ok(!sync.skipped, 'nothing was skipped');
		await client.untilOffset(head);
		assert.equal(client.bytes.toString('latin1'), whole.subarray(offset).toString('latin1'), `from ${offset}`);
		client.terminate();
	}

	// With another epoch, or beyond the head.
	{
		const { offset: head, epoch } = await quiet(server, 's');
		const other = epoch.replace(/^./, (digit) => (digit === '1' ? '2' : '1'));
		for (const resume of [{ epoch: other, offset: 0 }, { epoch: other, offset: 5 }, { epoch: other, offset: head }, { epoch, offset: head + 1 },
			{ epoch, offset: 2 ** 52 }]) {
			const client = await server.client({ sessionId: 's' }).connect({ resume });
			assert.equal(client.attached.epoch, epoch);
			assert.equal(client.snapshots.length, 1, JSON.stringify(resume));
			const [{ reason, offset, skipped }] = client.snapshots;
			assert.deepEqual([reason, offset, skipped], ['attach', head, undefined], JSON.stringify(resume));
			assert.equal(client.since, head);
			client.terminate();
		}
		const client = await server.client({ sessionId: 's' }).connect({ resume: { epoch: other, offset: 5 } });
		client.type('echo af""ter\r');
		await client.untilText('after\r\n');
		const { offset } = await quiet(server, 's');
		await client.untilOffset(offset);
		assert.deepEqual(client.bytes, await api.output('s', head));
	}
});

scenario('resume before the ring: a snapshot that says how much was skipped', { args: ['--ring-size', '64K'] }, async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	const client = await server.client({ sessionId: 's' }).connect({ history: true });
	await client.close();
	const asked = client.offset;
	await server.api.input('s', 'seq 1 60000; echo ov""er\r');
	await server.outputMatches('s', /\nover\r\n/);
	const { offset: head } = await quiet(server, 's');
	await client.connect();
	assert.deepEqual(client.snapshots.map(({ reason, offset, skipped }) => [reason, offset, skipped]), [['attach', head, head - asked]]);
	assert.equal(client.gaps.length, 1);
	const [gap] = client.gaps;
	assert.deepEqual([gap.from, gap.to, gap.skipped], [asked, head, head - asked]);
	assert.match(client.snapshots[0].data.toString(), /59998\r\n59999\r\n60000\r\nover\r\n/);
	client.type('echo af""ter\r');
	await client.untilText('after\r\n');
	const { offset } = await quiet(server, 's');
	await client.untilOffset(offset);
	assert.deepEqual(client.bytes, await api.output('s', gap.to));

	// Bytes that are still in the ring are sent as before.
	const { oldest, epoch } = await api.get('s');
	const from = oldest + 200;
	const near = await server.client({ sessionId: 's' }).connect({ resume: { epoch, offset: from } });
	await near.untilOffset(offset);
	assert.deepEqual([near.snapshots, near.gaps], [[], []]);
	assert.deepEqual(near.bytes, await api.output('s', from));
});

shared('two clients see the same and both type; input arrives complete and in order, even if another client does not read', async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	const one = await server.client({ sessionId: 's' }).connect();
	const two = await server.client({ sessionId: 's' }).connect();
	assert.equal((await api.get('s')).clients, 2);
	assert.notEqual(one.attached.clientId, two.attached.clientId);
	one.type('x=fro""m-one\r');
	await until('the first line', async () => /m-one\r\n/.test(two.text));
	two.type('echo [$x-two]\r');
	await one.untilText('[from-one-two]\r\n');
	await two.untilText('[from-one-two]\r\n');
	const { offset } = await quiet(server, 's');
	await Promise.all([one.untilOffset(offset), two.untilOffset(offset)]);
	assert.deepEqual(one.bytes, two.bytes);
	one.socket.send('{"type":"nothing-known","x":1}');
	one.terminate();
	await until('one client', async () => (await api.get('s')).clients === 1);
	two.type('echo al""one\r');
	await two.untilText('alone\r\n');

	// A program that does not read: the input arrives later, and delays nothing else.
	{
		await server.session({ id: 'other' });
		const go = path.join(server.root, 'go');
		const bytes = randomBytes(200_000);
		const client = await server.client({ sessionId: 's' }).connect();
		client.type(`stty raw -echo; echo rea''dy; until [ -e ${go} ]; do sleep 0.1; done; head -c 200000 | sha256sum; stty sane\r`);
		await client.untilText('ready');
		client.type(bytes.subarray(0, 100_000));
		for (let at = 100_000; at < bytes.length; at += 10_000) client.type(bytes.subarray(at, at + 10_000));
		client.control({ type: 'ping', t: 'after' });
		await client.untilMessage('pong', ({ t }) => t === 'after');
		assert.equal(await server.run('other', 'echo $((6*7))'), '42\n', 'another session was blocked');
		assert.equal((await api.get('s')).state, 'running');
		writeFileSync(go, '');
		await client.untilText(createHash('sha256').update(bytes).digest('hex'), { timeout: 30_000 });
		assert.ok(existsSync(go));
		client.type('echo su""re\r');
		await client.untilText('sure\r\n');
	}

	// A message of one megabyte is accepted; a larger one closes with 1009.
	{
		const client = await server.client({ sessionId: 's' }).connect();
		client.type("stty raw -echo; echo rea''dy; head -c 1048576 | sha256sum; stty sane\r");
		await client.untilText('ready');
		const bytes = randomBytes(1 << 20);
		client.type(bytes);
		await client.untilText(sha256(bytes), { timeout: 30_000 });
		client.type(Buffer.alloc((1 << 20) + 1, 0x78));
		assert.equal((await client.untilClosed()).code, 1009);
		await client.connect();
		assert.deepEqual(client.gaps, []);
		client.type('\x03\recho a""fter\r');
		await client.untilText('after\r\n');
		assert.ok(!client.text.includes('xxxxxxxxxxxx'), 'a refused message reached the shell');
	}
});

shared('a viewer sees output, but its messages do not reach the shell', async (server) => {
	const { api } = server;
	await server.session({ id: 's', cols: 80, rows: 24 });
	const { token, link, path: fragment } = await api.link('s', 'viewer', 60_000);
	assert.equal(fragment, `/#link=${token}`);
	assert.equal(link.role, 'viewer');
	const viewer = await server.client({ sessionId: 's', token, cols: 132, rows: 50, name: 'Vi' }).connect();
	assert.equal(viewer.attached.role, 'viewer');
	const { offset } = await quiet(server, 's');
	viewer.type('touch viewer-was-here\r');
	viewer.control({ type: 'resize', cols: 99, rows: 44 });
	const error = await viewer.untilMessage('error');
	assert.equal(error.code, 'READ_ONLY');
	assert.equal(typeof error.message, 'string');
	await stays('no output', async () => (await api.get('s')).offset === offset);
	const session = await api.get('s');
	assert.deepEqual([session.cols, session.rows], [80, 24], 'a viewer changed the size');
	assert.equal(await server.run('s', 'ls'), '');
	await viewer.untilText(/m\d+>\r\n/);
	assert.ok(!viewer.text.includes('viewer-was-here'));
	assert.ok(viewer.socket, 'the viewer was disconnected');

	const driver = await api.link('s', 'driver', 60_000);
	const typist = await server.client({ sessionId: 's', token: driver.token }).connect();
	assert.equal(typist.attached.role, 'driver');
	typist.type('echo dri""ver\r');
	await viewer.untilText('driver\r\n');
});

shared('resize messages come at their offsets, live and in the history', async (server) => {
	const { api } = server;
	await server.session({ id: 's', cols: 80, rows: 24 });
	const live = await server.client({ sessionId: 's' }).connect({ history: true });
	await server.run('s', "trap 'echo size:$(stty size)' WINCH");
	const sizes = [[100, 30], [60, 20], [61, 21], [132, 43]];
	for (const [cols, rows] of sizes) {
		await api.resize('s', cols, rows);
		await api.input('s', `echo now-$((${cols}+1))\r`);
		await live.untilText(`now-${cols + 1}\r\n`);
	}
	await quiet(server, 's');
	const late = await server.client({ sessionId: 's' }).connect({ history: true });
	for (const client of [live, late]) {
		const resizes = client.log.filter(({ type }) => type === 'resize');
		assert.deepEqual(resizes.map(({ cols, rows }) => [cols, rows]), sizes);
		for (const resize of resizes) {
			assert.equal(resize.at, resize.offset, 'a resize message is not at its offset in the stream');
			assert.ok(resize.by === null || resize.by === undefined, 'the API is not a client');
		}
		for (const [at, [cols]] of sizes.entries()) {
			const { offset } = resizes[at];
			const shown = client.bytes.indexOf(`now-${cols + 1}\r\n`);
			assert.ok(shown + client.since >= offset,
				`output from after the resize at ${offset} is before it, at ${shown}: ${JSON.stringify(client.text)} ${JSON.stringify(client.log)}`);
			if (at > 0) {
				const earlier = client.bytes.indexOf(`now-${sizes[at - 1][0] + 1}\r\n`);
				assert.ok(earlier + client.since < offset, 'output from before the resize is after it');
			}
		}
	}
	assert.deepEqual(late.log.filter(({ type }) => type === 'resize').map(({ offset }) => offset),
		live.log.filter(({ type }) => type === 'resize').map(({ offset }) => offset));
	const first = late.messages.find(({ type }) => type === 'sync');
	assert.deepEqual([first.offset, first.cols, first.rows], [0, 80, 24], 'sync has the geometry at its offset');

	const [{ offset }] = late.log.filter(({ cols, type }) => type === 'resize' && cols === 61);
	const resumed = await server.client({ sessionId: 's' }).connect({ resume: { epoch: late.epoch, offset: offset + 3 } });
	const sync = resumed.messages.find(({ type }) => type === 'sync');
	assert.deepEqual([sync.cols, sync.rows], [61, 21]);
	assert.deepEqual(resumed.log.filter(({ type }) => type === 'resize').map(({ cols }) => cols), [132]);
	const shown = await server.client({ sessionId: 's' }).connect();
	assert.deepEqual([shown.snapshots[0].cols, shown.snapshots[0].rows], [132, 43]);
	assert.ok(!shown.messages.some(({ type }) => type === 'resize'), 'a resize from before the snapshot');
});

shared('presence lists clients, their names, and the one that typed; ping, acks, unknown and invalid control messages', async (server) => {
	await server.session({ id: 's' });
	const ada = await server.client({ sessionId: 's', cols: 80, rows: 24, name: 'Ada Ä🎪' }).connect();
	const first = await ada.untilMessage('presence');
	assert.equal(first.clients.length, 1);
	const bob = await server.client({ sessionId: 's', cols: 80, rows: 24, name: 'Bob' }).connect();
	const both = await ada.untilMessage('presence', ({ clients }) => clients.length === 2);
	const byId = new Map(both.clients.map((each) => [each.id, each]));
	assert.equal(byId.get(ada.attached.clientId).name, 'Ada Ä🎪');
	assert.equal(byId.get(bob.attached.clientId).name, 'Bob');
	for (const each of both.clients) {
		assert.ok(Number.isInteger(each.color) && each.color >= 0 && each.color <= 7);
		assert.equal(each.role, 'owner');
		assert.equal(each.typedAt, null);
	}
	assert.notEqual(both.clients[0].color, both.clients[1].color);
	assert.equal(both.sizeBy, ada.attached.clientId);
	bob.control({ type: 'name', name: 'Robert' });
	await ada.untilMessage('presence', ({ clients }) => clients.some(({ name }) => name === 'Robert'));
	bob.type('#');
	const typed = await ada.untilMessage('presence', ({ clients }) => clients.some(({ typedAt }) => typedAt));
	const robert = typed.clients.find(({ typedAt }) => typedAt);
	assert.equal(robert.id, bob.attached.clientId);
	assert.ok(Math.abs(Date.parse(robert.typedAt) - Date.now()) < 30_000);
	const seen = ada.messages.length;
	bob.terminate();
	await ada.untilMessage('presence', ({ clients }) => clients.length === 1, { from: seen });
	await server.api.call('POST', '/api/session/s/rename', { name: 'New name' });
	const state = await ada.untilMessage('state', ({ name }) => name === 'New name');
	assert.equal(state.state, 'running');

	const from = ada.messages.length;
	ada.control({ type: 'ping', t: { a: [1, 2] } });
	assert.deepEqual((await ada.untilMessage('pong', () => true, { from })).t, { a: [1, 2] });
	for (const [wrong, message] of [['no json', 'Invalid control message'], [{ type: 'resize', cols: 0, rows: 24 }, 'Invalid dimensions: cols and rows must be positive']]) {
		const before = ada.messages.length;
		ada.control(wrong);
		const error = await ada.untilMessage('error', () => true, { from: before });
		assert.equal(error.message, message);
		assert.equal(typeof error.code, 'string');
	}
	const after = ada.messages.length;
	for (const ignored of ['{"type":"tomorrow"}', '{"type":"ack","offset":5}', '{"type":"ack","bytes":-5}', '{"type":"ack","bytes":5e18}']) ada.control(ignored);
	ada.control({ type: 'ping', t: 'end' });
	await ada.untilMessage('pong', ({ t }) => t === 'end');
	assert.ok(!ada.messages.slice(after).some(({ type }) => type === 'error'));
});

shared('exit comes after the last byte, for fast, slow and later clients', { timeout: 120_000 }, async (server) => {
	const { api } = server;
	for (let round = 0; round < exits; round += 1) {
		await server.session({ id: 's' });
		const fast = await server.client({ sessionId: 's', lag: 1e9 }).connect({ history: true });
		const slow = await server.client({ sessionId: 's', lag: 1e9 }).connect({ history: true });
		const shown = await server.client({ sessionId: 's', lag: 0 }).connect();
		for (const client of [slow, shown]) client.stall();
		fast.type('seq 1 200000; exit 7\r');
		await fast.untilMessage('exit', () => true, { timeout: 30_000 });
		const session = await api.get('s');
		assert.equal(session.state, 'exited');
		assert.deepEqual(session.exit, { code: 7, signal: null, reason: 'exited', offset: session.offset });
		for (const client of [slow, shown]) {
			client.unstall();
			await client.untilMessage('exit', () => true, { timeout: 30_000 });
		}
		const whole = await api.output('s');
		assert.match(whole.subarray(-2000).toString(), /199999\r\n200000\r\n/);
		for (const [name, client] of [['fast', fast], ['slow', slow], ['shown', shown]]) {
			const { at, type, ...exit } = client.log.find((each) => each.type === 'exit');
			assert.deepEqual(exit, session.exit, name);
			assert.equal(at, session.offset, `the ${name} client had the exit before the end`);
			assert.equal(type, 'exit');
			assert.ok(client.socket, `the socket of the ${name} client was closed`);
			assert.equal(client.messages.filter((each) => each.type === 'exit').length, 1);
			if (client === shown) {
				assert.equal(sha256(client.bytes), sha256(whole.subarray(client.since)), name);
				continue;
			}
			assert.deepEqual(client.gaps, [], `${name}: the ring is larger than this output`);
			assert.equal(sha256(client.bytes), sha256(whole), name);
		}
		for (const client of [fast, slow, shown]) client.terminate();
		await api.delete('s');
	}

	// Snapshot or history, ready, exit.
	{
		await server.session({ id: 'over' });
		const witness = await server.client({ sessionId: 'over' }).connect({ history: true });
		witness.type('echo last wo""rds; kill -9 $$\r');
		await witness.untilMessage('exit');
		const half = Math.floor(witness.offset / 2);
		await witness.close();
		const { epoch } = witness;
		for (const resume of [false, { epoch, offset: 0 }, { epoch, offset: half }, { epoch, offset: witness.offset }]) {
			const client = await server.client({ sessionId: 'over' }).connect({ resume });
			const exit = await client.untilMessage('exit');
			assert.deepEqual([exit.code, exit.signal, exit.reason, exit.offset], [null, 'KILL', 'signal', witness.offset]);
			assert.equal(client.attached.state, 'exited');
			assert.ok(types(client).indexOf('exit') > types(client).indexOf('ready'));
			const from = resume ? resume.offset : witness.offset;
			assert.equal(client.since, from);
			assert.deepEqual(client.bytes, witness.bytes.subarray(from));
			assert.equal(client.snapshots.length, resume ? 0 : 1);
			if (!resume) assert.match(client.snapshots[0].data.toString(), /last words/);
			client.type('ls\r');
			client.control({ type: 'resize', cols: 50, rows: 10 });
			client.control({ type: 'ping', t: 1 });
			await client.untilMessage('pong');
			assert.equal(client.offset, witness.offset);
			await client.close();
		}
	}
});

shared('SIGTERM of the server closes with 1001', async (server) => {
	await server.session({ id: 's' });
	const client = await server.client({ sessionId: 's' }).connect();
	const { code } = await server.kill('SIGTERM');
	assert.equal(code, 0);
	assert.equal((await client.untilClosed()).code, 1001);
	await server.start();
	await client.connect();
	client.type('echo sti""ll\r');
	await client.untilText('still\r\n');
	assert.deepEqual(client.gaps, []);
});

scenario('a client that does not answer pings is closed, another stays', { args: ['--ping-interval', '1'] }, async (server) => {
	const alive = await server.client({ sessionId: 's', name: 'alive' }).connect();
	const dead = server.client({ sessionId: 's', name: 'dead' });
	dead.mute = true;
	await dead.connect();
	let pings = 0;
	alive.socket.on('ping', () => { pings++; });
	await dead.untilClosed({ timeout: 20_000 });
	await until('more pings to the live client', () => pings >= 5, { timeout: 20_000 });
	assert.equal(alive.closed, undefined);
	await until('one client', async () => (await server.api.get('s')).clients === 1);
	assert.match((await server.api.raw('GET', '/metrics')).text, /^ringside_websocket_timeouts_total 1$/m);
	alive.type('echo al""ive\r');
	await alive.untilText('alive\r\n');
});
