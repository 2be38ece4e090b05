// Terminal sockets that pass through another node: what a slow client costs, and input of a client that leaves.
import assert from 'node:assert/strict';
import { fleetTest } from './lib/fleet.mjs';
import { until } from './lib/until.mjs';

const FLOOD = 30 << 20; // bytes

fleetTest('a client that does not read gets a snapshot instead of the backlog', { nodes: 2 }, async ({ a, b }) => {
	await a.api.create({ id: 's', node: 'b' });
	await a.shellReady('s');
	const slow = a.client({ sessionId: 's', keepLog: false });
	slow.sink = () => {};
	await slow.connect();
	slow.stall();
	const { received } = slow;
	const { offset } = await b.api.get('s');
	await b.api.input('s', `head -c ${FLOOD / 4 * 3} /dev/zero | base64 -w 120; echo d""one\r`);
	await until('the end of the output', async () => (await b.api.get('s')).offset > offset + FLOOD && /done\n/.test((await b.api.raw('GET', '/api/session/s/screen?format=text')).text));
	slow.unstall();
	await until('the slow client', async () => slow.offset === (await b.api.get('s')).offset);
	slow.check();
	const skipped = slow.gaps.reduce((sum, gap) => sum + gap.skipped, 0);
	assert.ok(skipped > FLOOD / 2, `${skipped} bytes were skipped`);
	assert.ok(slow.received - received < FLOOD / 2, `${slow.received - received} bytes came`);
	assert.ok(slow.snapshots.length > 1);
});

fleetTest('input of a client that leaves at once is typed', { nodes: 2 }, async ({ a, b }) => {
	await a.api.create({ id: 's', node: 'b' });
	await a.shellReady('s');
	const client = a.client({ sessionId: 's' });
	for (const word of ['first', 'second', 'third']) {
		await client.connect();
		client.type(`echo "<${word}"">"\r`);
		await client.close();
		await b.outputMatches('s', new RegExp(`<${word}>`));
	}
	// A session that ends closes its clients with the same code at any node.
	await client.connect();
	await b.api.delete('s');
	await client.untilClosed();
	assert.equal(client.closed.code, 4410);
});
