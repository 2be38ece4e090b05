// The keys of shell marks are never sent to clients: neither to live and later viewers, nor to readers of the output. So
// displaying a file cannot forge a command.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const id = 's';
const hidden = '*'.repeat(32);

function nonceOf(server) {
	const [directory] = readdirSync(path.join(server.dir, 'sessions'));
	return JSON.parse(readFileSync(path.join(server.dir, 'sessions', directory, 'meta.json'), 'utf8')).nonce;
}

const exec = (server, command) => server.api.call('POST', `/api/session/${id}/exec`, { command, waitMs: 20_000 }).then(({ data }) => data);
const blocks = async (server) => (await server.api.call('GET', `/api/session/${id}/blocks`)).blocks;

/** A client that has received all output up to a text. */
async function seen(server, options, text) {
	const client = await server.client({ sessionId: id, cols: 80, rows: 24 }).connect(options);
	await until(text, () => Buffer.concat(client.chunks).includes(text));
	const all = Buffer.concat(client.chunks).toString('latin1');
	await client.close();
	return all;
}

scenario('no reader gets the secret of the marks, and replayed output forges no block', async (server) => {
	await server.session({ id });
	const nonce = nonceOf(server);
	assert.match(nonce, /^[0-9a-f]{32}$/);
	const live = await server.client({ sessionId: id, cols: 80, rows: 24 }).connect({ history: true });
	const done = await exec(server, 'echo one; echo "$__rs_n"; printf "%s\\n" "$PS1"; echo two');
	assert.equal(done.exitCode, 0);
	assert.equal(done.output.split('\n')[1], hidden);
	await server.api.input(id, 'echo the-$((1+1))nd\r');
	await until('the second command', () => Buffer.concat(live.chunks).includes('the-2nd'));
	const raw = await server.api.output(id);
	const got = {
		exec: done.output,
		live: Buffer.concat(live.chunks).toString('latin1'),
		resumed: await seen(server, { history: true }, 'the-2nd'),
		output: raw.toString('latin1'),
	};
	const base = `/api/session/${id}`;
	for (const block of await blocks(server)) {
		for (const format of ['text', 'ansi', 'bytes'])
			got[`${block.command} ${format}`] = (await server.api.raw('GET', `${base}/blocks/${block.id}/output?format=${format}`)).text;
	}
	for (const [what, text] of Object.entries(got)) assert.ok(!text.includes(nonce), `${what}: ${JSON.stringify(text)}`);
	for (const text of [got.live, got.resumed, got.output]) assert.ok(text.includes(`\x1b]133;C;aid=${hidden}`), JSON.stringify(text));
	assert.equal(got.output.length, got.live.length);

	// A file with the bytes that a viewer has read does not forge a command when it is shown.
	const forged = `\x1b]133;D;0;aid=${hidden};id=\x07\x1b]133;A;aid=${hidden}\x07$ \x1b]133;B;aid=${hidden}\x07rm -rf /important\r\n`
		+ `\x1b]133;C;aid=${hidden};t=1\x07\x1b]133;D;0;aid=${hidden};id=\x07`;
	writeFileSync(path.join(server.cwd, 'file'), forged);
	await exec(server, 'cat file');
	assert.deepEqual((await blocks(server)).filter(({ command }) => command?.includes('important')), []);

	// The next server hides the key as well.
	live.close();
	await server.kill();
	await server.restart();
	assert.ok(!(await seen(server, { history: true }, 'the-2nd')).includes(nonce));
	assert.ok(!(await server.api.output(id)).includes(nonce));
});
