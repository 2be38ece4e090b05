// Input of a client arrives exactly once, in order and complete, over any number of connections: receipts, `client` and `typed`.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

/** Types words of six bytes, keeps those without a receipt, and sends them again if they have not arrived. */
class Typist {
	constructor(server, sessionId, client = 'typist-1') {
		this.server = server;
		this.base = 0; // bytes that are known to have arrived
		this.kept = Buffer.alloc(0); // and the bytes after them
		this.next = 0;
		this.options = { sessionId, client };
	}

	async connect() {
		this.client = this.server.client({ ...this.options, typed: this.base });
		this.client.on('message', (message) => {
			if (message.type === 'input') this.arrived(message.taken);
		});
		await this.client.connect();
		const { input } = this.client.attached;
		if (this.kept.length > 0) assert.notEqual(input, null, 'the server does not report the input that has arrived');
		if (this.kept.length > 0) this.arrived(input);
		else this.base = input;
		if (this.kept.length > 0) this.client.type(this.kept);
		return this;
	}

	arrived(taken) {
		assert.ok(taken >= this.base && taken <= this.base + this.kept.length, `${taken} of ${this.base} to ${this.base + this.kept.length}`);
		this.kept = this.kept.subarray(taken - this.base);
		this.base = taken;
	}

	word(count = 1) {
		const text = Buffer.from(words(this.next + count, this.next));
		this.next += count;
		this.kept = Buffer.concat([this.kept, text]);
		if (this.client?.socket) this.client.type(text);
	}

	/** Without a close frame: bytes in flight may arrive or not. */
	drop() {
		this.client.socket?.terminate();
		this.client.socket = undefined;
	}

	settled() {
		return until(() => `receipts for all; ${this.kept.length} bytes wait`, () => this.kept.length === 0);
	}
}

/** A program that logs its input. */
async function record(server, id, reader = 'cat') {
	await server.session({ id, cwd: server.cwd });
	const { offset } = await server.api.get(id);
	const file = path.join(server.cwd, `${id}.typed`);
	await server.api.input(id, `stty raw -echo; printf 'rea%s' dy; ${reader} > ${file}\r`);
	await server.outputMatches(id, /ready/, offset);
	return () => (existsSync(file) ? readFileSync(file, 'latin1') : '');
}

const words = (last, first = 0) =>
	Array.from({ length: last - first }, (_, i) => `${String(first + i + 1).padStart(5, '0')}\n`).join('');

shared('disconnected at every point, every key arrives once', async (server) => {
	const typed = await record(server, 's');
	const typist = await new Typist(server, 's').connect();
	for (let round = 0; round < 24; round += 1) {
		for (let i = 0; i <= round % 5; i += 1) typist.word();
		// Before the server can have read it, at some moment, after the receipt.
		if (round % 3 === 1) await new Promise((resolve) => { setImmediate(resolve); });
		if (round % 3 === 2) await typist.settled();
		typist.drop();
		if (round % 4 === 0) typist.word(); // while disconnected
		await typist.connect();
	}
	await typist.settled();
	await until('the input', () => typed() === words(typist.next));
});

shared('pending input of a client that reconnects does not arrive twice', async (server) => {
	const typed = await record(server, 's');
	const typist = await new Typist(server, 's').connect();
	typist.word();
	await typist.settled();
	const before = typist.client;
	const again = await new Typist(server, 's').connect();
	assert.equal((await before.untilClosed()).code, 4409);
	assert.equal(again.client.attached.input, 6);
	// Only one connection is left; another client has its own keys.
	await until('one client', async () => (await server.api.get('s')).clients === 1);
	const other = await new Typist(server, 's', 'typist-2').connect();
	assert.equal(other.client.attached.input, 0);
	other.word();
	await other.settled();
	assert.equal((await server.api.get('s')).clients, 2);
	await until('the input', () => typed() === words(1) + words(1));
	const old = await server.client({ sessionId: 's' }).connect();
	assert.equal('input' in old.attached, false);
	old.type('x');
	await until('the other word', () => typed().endsWith('x'));
	assert.equal(old.messages.some(({ type }) => type === 'input'), false);
});

shared('a receipt means that the program can read the input, and survives kill -9', { timeout: 120_000 }, async (server) => {
	const typed = await record(server, 's');
	const typist = await new Typist(server, 's').connect();
	let doubtful = 0;
	for (let round = 0; round < 5; round += 1) {
		for (let i = 0; i < 40; i += 1) typist.word();
		if (round % 2 === 1) await typist.settled();
		await server.kill('SIGKILL');
		typist.drop();
		await server.start();
		await typist.connect();
		doubtful += 1;
	}
	await typist.settled();
	await until('the last word', () => typed().endsWith(words(typist.next).slice(-6)));
	const arrived = typed().match(/\d{5}\n/g);
	assert.equal(new Set(arrived).size, arrived.length, 'a word came twice');
	assert.deepEqual([...arrived].sort(), arrived, 'words are out of order');
	// Input that is written at the moment of the kill counts as written: at most one piece per kill.
	assert.ok(typist.next - arrived.length <= doubtful, `${typist.next - arrived.length} words are missing`);
});

shared('input that no program reads has no receipt yet; it is lost first by a kill, and the client is told', { timeout: 60_000 }, async (server) => {
	const typed = await record(server, 's', '{ until [ -e go ]; do sleep 0.1; done; cat; }');
	const typist = await new Typist(server, 's').connect();
	for (let i = 0; i < 200; i += 1) typist.word(200);
	await until('a full terminal', async () => typist.base > 0);
	assert.ok(typist.kept.length > 0, 'no input is pending');
	await server.kill('SIGKILL');
	typist.drop();
	await server.start();
	await typist.connect();
	await server.api.call('POST', '/api/write', { path: path.join(server.cwd, 'go'), content: '' });
	await typist.settled();
	await until('the input', () => typed() === words(40_000));
});

shared('refused input has a receipt as well', async (server) => {
	await server.session({ id: 's' });
	const { lease } = await server.api.call('POST', '/api/session/s/lease', { owner: 'robot', ttlMs: 60_000 });
	const typist = await new Typist(server, 's').connect();
	typist.word();
	await typist.settled();
	assert.ok(typist.client.messages.some(({ type, code }) => type === 'error' && code === 'LEASED'));
	typist.client.control({ type: 'lease', id: lease.id });
	typist.word();
	await typist.settled();
	await server.outputMatches('s', /00002/);
});
