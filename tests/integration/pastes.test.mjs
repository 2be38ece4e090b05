// Bracketed pastes that never end: input of other clients does not become part of them.
import assert from 'node:assert/strict';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const begin = '\x1b[200~';
const end = '\x1b[201~';
const state = async (server) => (await server.api.call('GET', '/api/session/s/state')).state;
const exec = async (server, command) => (await server.api.call('POST', '/api/session/s/exec', { command, queue: true })).data;

async function open(server, fields = {}) {
	const client = server.client({ sessionId: 's', ...fields });
	await client.connect();
	return client;
}

shared('a paste is ended when its client disconnects', async (server) => {
	await server.session({ id: 's' });
	const client = await open(server);
	client.type(`${begin}${'x'.repeat(30_000)}`);
	await until('the paste', async () => (await state(server)).pasting);
	client.terminate();
	await until('the end of the paste', async () => !(await state(server)).pasting);
	await server.api.input('s', '\x15');
	await server.api.input('s', 'echo h""i\r');
	await server.outputMatches('s', /\x07hi\r\n/);
	assert.equal((await exec(server, 'echo there')).output, 'there\n');
});

shared('input of another client does not become part of a paste, and its own client continues it', async (server) => {
	await server.session({ id: 's' });
	const one = await open(server);
	const other = await open(server);
	one.type(`${begin}echo a\necho b\n`);
	await until('the paste', async () => (await state(server)).pasting);
	other.type('\x03');
	await server.outputMatches('s', /\^C/);
	other.type('echo be""hind\r');
	await server.outputMatches('s', /\x07behind\r\n/);
	const { offset } = await server.api.get('s');
	one.type('echo ru""ns\n');
	one.type(`echo late${end}`);
	await server.outputMatches('s', /late/, offset);
	assert.equal((await state(server)).pasting, false);
	assert.doesNotMatch(await server.api.text('s', offset), /\x07runs/);
	one.type('\r');
	await server.outputMatches('s', /\x07runs\r\n/, offset);
	// Requests over the API are distinguished by principal.
	await server.api.input('s', begin);
	await until('the paste', async () => (await state(server)).pasting);
	one.type('echo a""gain\r');
	await server.outputMatches('s', /\x07again\r\n/);
});

shared('a client that reconnects continues its paste', async (server) => {
	await server.session({ id: 's' });
	const client = await open(server, { client: '12345678901234567890123456789012'.slice(0, 32) });
	client.type(`${begin}echo o""ne\n`);
	await until('the paste', async () => (await state(server)).pasting);
	client.terminate();
	await until('the end of the paste', async () => !(await state(server)).pasting);
	const { offset } = await server.api.get('s');
	await client.connect();
	client.type(`echo t""wo\n${end}`);
	await server.outputMatches('s', /t""wo/, offset);
	assert.doesNotMatch(await server.api.text('s'), /\x07one\r\n/);
	client.type('\r');
	await server.outputMatches('s', /\x07one\r\n[^]*\x07two\r\n/);
});

shared('a paste that came while a command ran is ended after the command', async (server) => {
	await server.session({ id: 's' });
	const client = await open(server);
	await server.api.input('s', 'sleep 1\r');
	await until('the start of sleep', async () => (await state(server)).status === 'running');
	client.type(`${begin}echo pas""ted`);
	await until('the paste', async () => (await state(server)).pasting);
	client.terminate();
	await until('the end of the paste', async () => !(await state(server)).pasting);
	await server.api.input('s', '\recho ty""ped\r');
	await server.outputMatches('s', /\x07pasted\r\n[^]*\x07typed\r\n/);
	assert.equal((await exec(server, 'echo there')).output, 'there\n');
});

shared('keys from the client of an interrupted paste end it', async (server) => {
	await server.session({ id: 's' });
	const client = await open(server, { client: 'f'.repeat(32) });
	client.type(`${begin}echo lost`);
	await until('the paste', async () => (await state(server)).pasting);
	client.terminate();
	await until('the end of the paste', async () => !(await state(server)).pasting);
	await client.connect();
	client.type('\x15');
	client.type('echo he""re');
	client.type('\r');
	await server.outputMatches('s', /\x07here\r\n/);
	assert.equal((await state(server)).pasting, false);
});

shared('a server that ends leaves a paste to the next one', async (server) => {
	await server.session({ id: 's' });
	const client = await open(server, { client: 'e'.repeat(32) });
	client.type(`${begin}echo o""ne\n`);
	await until('the paste', async () => (await state(server)).pasting);
	await server.kill('SIGTERM');
	await server.start();
	await client.connect();
	client.type(`echo t""wo${end}`);
	await server.outputMatches('s', /t""wo/);
	assert.doesNotMatch(await server.api.text('s'), /\x07one\r\n/);
	client.type('\r');
	await server.outputMatches('s', /\x07one\r\n[^]*\x07two\r\n/);
});

shared('a paste ends with its shell', async (server) => {
	await server.session({ id: 's', onShellExit: 'respawn' });
	const client = await open(server);
	client.type(`${begin}echo lost`);
	await until('the paste', async () => (await state(server)).pasting);
	const { pid } = await server.api.get('s');
	process.kill(pid, 'SIGKILL');
	await until('the next shell', async () => (await server.api.get('s')).pid !== pid && (await state(server)).status === 'prompt');
	assert.equal((await state(server)).pasting, false);
	await server.api.input('s', 'echo mi""ne\r');
	await server.outputMatches('s', /\x07mine\r\n/);
});
