// The client's Sandbox class outside of Workers: a Durable Object whose container is one of our servers.
import { long } from '../integration/lib/soak.mjs';
import { until } from '../integration/lib/until.mjs';
import { authorize } from './bundle.mjs';
import { sdk, transports } from './sdk.mjs';

/** A Durable Object's state, in memory. */
class FakeState {
	constructor(name) {
		const map = new Map();
		this.id = { toString: () => name, name };
		this.container = {
			running: true,
			monitor: () => new Promise(() => {}),
			getTcpPort: () => { throw new Error('requests go through containerFetch()'); },
		};
		this.storage = {
			get: async (key) => map.get(key),
			put: async (key, value) => { map.set(key, value); },
			delete: async (key) => map.delete(key),
			list: async () => new Map(map),
			setAlarm: async () => {},
			getAlarm: async () => null,
			deleteAlarm: async () => {},
			sync: async () => {},
			transaction: (body) => body(this.storage),
			kv: { get: (key) => map.get(key), put: (key, value) => { map.set(key, value); } },
			sql: { exec: () => [] },
		};
	}

	blockConcurrencyWhile(body) {
		this.blocked = Promise.resolve().then(body);
		return this.blocked;
	}

	waitUntil() {}
}

/** A socket as Workers return it with an answer: no message comes before it is accepted. */
function upgraded(url) {
	return new Promise((resolve, reject) => {
		const socket = new WebSocket(url);
		socket.binaryType = 'arraybuffer';
		socket.accept = () => socket.resume();
		socket.addEventListener('open', () => {
			socket.pause();
			resolve({ status: 101, webSocket: socket });
		});
		socket.addEventListener('error', (event) => reject(new Error(event.message)));
	});
}

function classFor(server) {
	return class LocalSandbox extends sdk.Sandbox {
		sleepAfter = '1h';

		async getState() {
			return { status: 'healthy', lastChange: 0 };
		}

		async startAndWaitForPorts() {}

		async applyOutboundInterception() {}

		async containerFetch(url, init = {}) {
			const { pathname, search } = new URL(url);
			return fetch(`${server.base}${pathname}${search}`, {
				...init,
				headers: { ...init.headers, Authorization: `Bearer ${server.token}` },
			});
		}

		async fetch(request) {
			const { pathname, search } = new URL(request.url);
			return upgraded(`${server.base.replace(/^http/, 'ws')}${pathname}${search}`);
		}
	};
}

/** The binding of a namespace for getSandbox(), with one object for each name. */
export function namespaceOf(server, env = {}) {
	authorize(server);
	const Local = classFor(server);
	const objects = new Map();
	return {
		idFromName: (name) => name,
		get(name) {
			if (!objects.has(name)) objects.set(name, new Local(new FakeState(name), env));
			return objects.get(name);
		},
		/** A Durable Object's requests wait until it has started, and arrive in the order in which they were made. */
		async started(name) {
			const object = objects.get(name);
			await object.ctx.blocked;
			await until('name of the sandbox', () => object.sandboxName === name, { interval: 1 });
		},
		disconnect() {
			for (const each of objects.values()) each.client.disconnect();
		},
	};
}

/** The client of a server over each transport, including the one that only a Sandbox has. */
export const everyTransport = {
	...transports,
	RPC: (server) => namespaceOf(server, { SANDBOX_TRANSPORT: 'rpc' }).get('box').client,
};

/**
 * Call body(client, transport) with a client over each transport. only: the one transport that ./test uses, if all are known to
 * behave alike; ./test --all uses each.
 */
export async function overEach(server, only, body) {
	for (const [transport, make] of Object.entries(everyTransport)) {
		if (only && !long && only !== transport) continue;
		const client = make(server);
		try {
			await body(client, transport);
		} catch (error) {
			throw new Error(`over ${transport}`, { cause: error });
		} finally {
			client.disconnect();
		}
	}
}
