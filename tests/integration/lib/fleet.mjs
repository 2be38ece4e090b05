// A fleet: a real nats-server, and servers that are its nodes.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { Api } from './api.mjs';
import { freePort } from './port.mjs';
import { Server, skipReason } from './server.mjs';
import { until, within } from './until.mjs';

/** nats-server with JetStream. It keeps its port and its files from start to start. */
export class Nats {
	constructor() {
		this.dir = mkdtempSync(path.join(os.tmpdir(), 'rs-nats-'));
		this.port = -1;
	}

	async start() {
		const child = spawn('nats-server', ['-js', '-a', '127.0.0.1', '-p', String(this.port), '-sd', this.dir, '--ports_file_dir', this.dir], { stdio: 'ignore' });
		this.child = child;
		this.ended = new Promise((resolve) => { child.on('close', resolve).on('error', resolve); });
		const file = path.join(this.dir, `nats-server_${child.pid}.ports`);
		this.port = await until('the port of nats-server', () => {
			try {
				return Number(/127\.0\.0\.1:(\d+)/.exec(readFileSync(file, 'utf8'))?.[1]);
			} catch {
				return undefined;
			}
		});
		return this;
	}

	get url() {
		return `nats://127.0.0.1:${this.port}`;
	}

	signal(name) {
		this.child.kill(name);
	}

	async kill() {
		this.child.kill('SIGKILL');
		await this.ended;
	}

	async close() {
		await this.kill();
		rmSync(this.dir, { recursive: true, force: true });
	}
}

/** HAProxy, which sends connections to the nodes in turns. It keeps its port from start to start. */
export class Balancer {
	constructor(nodes) {
		this.nodes = nodes;
		this.dir = mkdtempSync(path.join(os.tmpdir(), 'rs-haproxy-'));
		this.clients = new Set();
		this.api = new Api(() => this.base, { token: () => nodes[0].token });
	}

	async start() {
		this.port ??= await freePort();
		this.base = `http://127.0.0.1:${this.port}`;
		const file = path.join(this.dir, 'haproxy.cfg');
		writeFileSync(file, [
			'global', ' maxconn 2000',
			'defaults', ' mode http', ' timeout connect 1s', ' timeout client 1m', ' timeout server 1m', ' timeout tunnel 1h',
			' option redispatch', ' retries 3', ' retry-on conn-failure',
			'frontend clients', ` bind 127.0.0.1:${this.port}`, ' default_backend nodes',
			'backend nodes', ' balance roundrobin', ' option httpchk GET /readyz',
			...this.nodes.map(({ name, port }) => ` server ${name} 127.0.0.1:${port} check inter 200ms fall 1 rise 1`), '',
		].join('\n'));
		this.child = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
		this.ended = new Promise((resolve) => { this.child.on('close', resolve).on('error', resolve); });
		await until('HAProxy', () => this.api.raw('GET', '/healthz').then(({ status }) => status === 200, () => false));
		return this;
	}

	get token() {
		return this.nodes[0].token;
	}

	async kill() {
		this.child.kill('SIGKILL');
		await this.ended;
	}

	async close() {
		for (const client of this.clients) client.terminate();
		if (this.child) await this.kill();
		rmSync(this.dir, { recursive: true, force: true });
	}
}

/** Nodes a, b, c …: each a Server. options: nodes (their number), args (of all), ca (the certificate of all). */
export class Fleet {
	constructor({ nodes = 3, args = [], ca } = {}) {
		this.nats = new Nats();
		this.names = [...'abcdefgh'].slice(0, nodes);
		this.args = args;
		this.ca = ca;
	}

	async start() {
		await this.nats.start();
		this.nodes = this.names.map((name) => this.node(name));
		await Promise.all(this.nodes.map((node) => node.start()));
		[this.a, this.b, this.c] = this.nodes;
		await this.untilAlive(this.names.length);
		return this;
	}

	/** A balancer before the nodes, which run. */
	async balance() {
		this.balancer = new Balancer(this.nodes);
		return this.balancer.start();
	}

	/** A node that is not started. */
	node(name, args = []) {
		const node = new Server({ ca: this.ca, args: ['--cluster', this.nats.url, '--node', name, ...this.args, ...args] });
		node.name = name;
		return node;
	}

	/** Wait until each running node knows that so many live. */
	untilAlive(count) {
		return Promise.all(this.nodes.filter(({ child }) => child).map((node) => until(`${count} living nodes`, async () => {
			const { nodes } = await node.api.call('GET', '/api/nodes');
			return nodes.filter(({ state }) => state === 'alive').length === count;
		})));
	}

	/** End all sessions and processes. */
	async clear(running) {
		await until('the registry at all nodes', async () => (await Promise.all(running.map((node) => node.api.call('GET', '/api/nodes'))))
			.every(({ registry, nodes }) => registry.connected && nodes.filter(({ state }) => state === 'alive').length === running.length));
		for (const node of running) {
			for (const id of (await node.api.call('GET', `/api/session/list?node=${node.name}`)).data) await node.api.delete(id);
			for (const { id } of (await node.api.call('GET', `/api/process/list?node=${node.name}`)).processes) await node.api.raw('DELETE', `/api/process/${id}?remove=true&graceMs=0`);
		}
	}

	async cleanup({ graceful }) {
		const problems = [];
		const attempt = async (what) => {
			try {
				await what;
			} catch (error) {
				problems.push(error);
			}
		};
		await attempt(this.balancer?.close());
		const running = (this.nodes ?? []).filter(({ child }) => child);
		if (graceful) await attempt(this.clear(running));
		for (const node of this.nodes ?? []) await attempt(node.cleanup({ graceful: graceful && running.includes(node), mayHaveDied: true }));
		await this.nats.close();
		if (problems.length > 0) throw problems[0];
	}
}

/** A test with a fleet. options: those of Fleet, and timeout. */
export function fleetTest(name, options, body) {
	if (typeof options === 'function') [options, body] = [{}, options];
	const { timeout = 50_000, skip = false, ...rest } = options;
	test(name, { skip: skip || skipReason() }, async () => {
		const fleet = new Fleet(rest);
		let failure;
		try {
			await fleet.start();
			await within(`end of the test "${name}"`, body(fleet), timeout);
		} catch (error) {
			failure = error;
		}
		try {
			await fleet.cleanup({ graceful: !failure });
		} catch (error) {
			failure ??= error;
		}
		if (!failure) return;
		for (const node of fleet.nodes ?? []) console.error(node.report());
		throw failure;
	});
}
