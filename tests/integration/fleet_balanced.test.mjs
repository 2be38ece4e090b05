// A fleet behind HAProxy, whose nodes, registry and balancer are killed under load, one at a time. RINGSIDE_SOAK=1: more often.
import assert from 'node:assert/strict';
import { TerminalClient } from './lib/client.mjs';
import { fleetTest } from './lib/fleet.mjs';
import { long, times } from './lib/soak.mjs';
import { until } from './lib/until.mjs';

const rounds = times(2, 20);
const patience = long ? 1_800_000 : 120_000;

fleetTest('ids through the balancer, with any node as its first', { args: ['--max-sessions', '1000'] }, async (fleet) => {
	const balancer = await fleet.balance();
	const ids = Array.from({ length: times(60, 300) }, (_, i) => `id${i}`);
	const won = new Map(ids.map((id) => [id, 0]));
	await Promise.all(Array.from({ length: 20 }, async (_, client) => {
		for (let i = 0; i < ids.length; i++) {
			const id = ids[(i + client * 3) % ids.length];
			const { status, text } = await balancer.api.raw('POST', '/api/session/create', { id, argv: ['sleep', '600'] });
			assert.ok([200, 409].includes(status), text);
			won.set(id, won.get(id) + (status === 200));
		}
	}));
	assert.deepEqual([...won.values()], ids.map(() => 1));
	assert.equal((await balancer.api.list()).data.length, ids.length);
});

/** Clients that follow sessions by the balancer, while commands print numbers. */
class Load {
	constructor(fleet) {
		this.fleet = fleet;
		this.clients = [];
		this.sent = new Map();
	}

	async begin() {
		for (const { name } of this.fleet.nodes) {
			const id = `s-${name}`;
			await this.fleet.balancer.api.create({ id, node: name });
			await this.fleet.nodes.find((node) => node.name === name).shellReady(id);
			this.sent.set(id, 0);
			const client = new TerminalClient({ server: this.fleet.balancer, sessionId: id, client: `client-${id}` });
			await client.connect({ history: true });
			await client.close();
			this.clients.push(client);
			this.fleet.balancer.clients.add(client);
			client.follow().catch((error) => { this.failure ??= error; });
		}
	}

	/** Run a command in each session that has a living node; every number is printed once, or the command was refused. */
	async work(except) {
		await Promise.all([...this.sent].filter(([id]) => id !== `s-${except}`).map(async ([id, count]) => {
			const next = count + 1;
			await until(`command ${next} of ${id}`, async () => {
				const answer = await this.fleet.balancer.api.raw('POST', `/api/session/${id}/exec`, { command: `echo number $((${next}))`, key: `${id}-${next}` }).catch(() => undefined);
				if (!answer || answer.status >= 429) return false;
				assert.equal(answer.status, 200, answer.text);
				assert.equal(answer.json.data.output, `number ${next}\n`);
				return true;
			}, { interval: 50 });
			this.sent.set(id, next);
		}));
	}

	/** Every client has each byte of its session. */
	async check() {
		if (this.failure) throw this.failure;
		for (const client of this.clients) {
			await until(`the end of ${client.sessionId}`, async () => {
				client.check();
				const whole = await this.fleet.balancer.api.output(client.sessionId).catch(() => undefined);
				return whole && client.bytes.equals(whole.subarray(0, client.bytes.length)) && client.bytes.length === whole.length;
			}, { interval: 50 });
			const numbers = [...client.text.matchAll(/number (\d+)\r\n/g)].map(([, n]) => Number(n));
			assert.deepEqual(numbers, Array.from({ length: this.sent.get(client.sessionId) }, (_, i) => i + 1), client.sessionId);
		}
	}
}

const states = async (node) => (await node.api.list()).sessions.map(({ id, state }) => `${id} ${state}`).sort().join(', ');

fleetTest('nodes, the registry and the balancer are killed in turns', { timeout: patience }, async (fleet) => {
	const { nodes, nats } = fleet;
	const balancer = await fleet.balance();
	const load = new Load(fleet);
	await load.begin();
	await load.work();
	for (let round = 0; round < rounds; round++) {
		const victim = nodes[round % nodes.length];
		const survivor = nodes[(round + 1) % nodes.length];
		let working = load.work(victim.name);
		await victim.kill('SIGKILL');
		await working;
		await load.work(victim.name);
		await until('the lost session in the list', async () => (await states(survivor)).includes(`s-${victim.name} unreachable`));
		await victim.start();
		await until('its return', async () => !(await states(survivor)).includes('unreachable'));
		await load.work();

		working = load.work();
		await nats.kill();
		await working;
		await load.work();
		await nats.start();
		await until('the registry', async () => (await Promise.all(nodes.map((node) => node.api.call('GET', '/api/nodes')))).every(({ registry }) => registry.connected));

		working = load.work();
		await balancer.kill();
		await balancer.start();
		await working;
		await load.work();
		await load.check();
	}
	await until('all sessions in the list', async () => await states(nodes[0]) === 's-a running, s-b running, s-c running', { timeout: 5000 });
});
