// Clients that read are not slow: default options in a flood, and input during the flood.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { sanitized, scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const CLIENTS = 10;
const LINES = sanitized() ? 100_000 : 300_000;
const TRIES = 5;
const CTRL_C_MS = sanitized() ? 1000 : 100;

// Enough output that every client is more than a lag behind at times, with a ring that this process keeps up with.
scenario('ten clients with default options get every byte of a flood', { args: ['--ring-size', '16M'], timeout: 120_000 }, async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	writeFileSync(path.join(server.cwd, 'file'), Array.from({ length: LINES }, (_, at) => `${at} of a flood that has many lines\n`).join(''));
	const clients = [];
	for (let at = 0; at < CLIENTS; at += 1) clients.push(await server.client({ sessionId: 's', sink: () => {}, keepLog: false }).connect());
	// On a busy machine this process does not always read: one flood that all clients get completely is enough.
	const missed = [];
	do {
		const before = clients.map((client) => client.gaps.length);
		await server.run('s', 'cat file', { timeout: 60_000 });
		const { offset } = await api.get('s');
		for (const client of clients) {
			await client.untilOffset(offset, { timeout: 60_000 });
			client.check();
		}
		missed.push(clients.filter((client, at) => client.gaps.length > before[at]).length);
	} while (missed.at(-1) > 0 && missed.length < TRIES);
	console.log(`# clients with gaps: ${missed}`);
	assert.equal(missed.at(-1), 0, `clients with gaps in each of ${missed.length} floods: ${missed}`);
});

scenario('Ctrl-C in a flood takes effect for a client that reads', { timeout: 60_000 }, async (server) => {
	await server.session({ id: 's' });
	let tail = '';
	const sink = (bytes) => { tail = (tail + bytes.toString('latin1')).slice(-20_000); };
	const client = await server.client({ sessionId: 's', sink, keepLog: false }).connect();
	client.type('PS1="pr""ompt> "\r');
	await until('a prompt', () => tail.includes('prompt> '), { interval: 1 });
	const took = [];
	for (let at = 0; at < TRIES; at += 1) {
		const { received } = client;
		client.type('yes "a line of a flood that goes on"\r');
		await until('a flood', () => client.received > received + 5e6);
		tail = '';
		const typed = performance.now();
		client.type('\x03');
		await until('a prompt', () => tail.includes('prompt> '), { interval: 1 });
		took.push(performance.now() - typed);
	}
	console.log(`# Ctrl-C: ${took.map((ms) => Math.round(ms)).join(', ')} ms`);
	assert.ok(Math.min(...took) < CTRL_C_MS, `${took} ms`);
});
