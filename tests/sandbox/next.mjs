// The Sandbox class of the preview of its next release, as it is published: a Durable Object whose container is a server of ours.
import { authorize, bundle } from './bundle.mjs';

export const next = await bundle('export * from "sandbox-next";\nexport { SandboxAddon } from "sandbox-next/xterm";');

/** A socket as Workers hand it out with an answer; a refusal as one. */
function upgraded(url) {
	return new Promise((resolve, reject) => {
		const socket = new WebSocket(url);
		socket.binaryType = 'arraybuffer';
		socket.accept = () => socket.resume();
		socket.on('unexpected-response', (request, answer) => {
			answer.resume();
			resolve({ status: answer.statusCode, statusText: answer.statusMessage, headers: new Headers(), webSocket: null });
		});
		socket.addEventListener('open', () => {
			socket.pause();
			resolve({ status: 101, headers: new Headers(), webSocket: socket });
		});
		socket.addEventListener('error', (event) => reject(new Error(event.message)));
	});
}

/** The state that a Durable Object has, in memory, with a container behind each port. */
function stateFor(server, name) {
	const map = new Map();
	const storage = {
		get: async (key) => map.get(key),
		put: async (key, value) => { map.set(key, value); },
		delete: async (key) => map.delete(key),
		list: async ({ prefix = '' } = {}) => new Map([...map].filter(([key]) => key.startsWith(prefix))),
		setAlarm: async () => {},
		getAlarm: async () => null,
		deleteAlarm: async () => {},
		sync: async () => {},
		transaction: (body) => body(storage),
		kv: { get: (key) => map.get(key), put: (key, value) => { map.set(key, value); }, delete: (key) => map.delete(key) },
		sql: { exec: () => [] },
	};
	return {
		id: { toString: () => name, name },
		storage,
		container: {
			running: true,
			monitor: () => new Promise(() => {}),
			getTcpPort: () => ({
				fetch(request) {
					const { pathname, search } = new URL(request.url);
					return upgraded(`${server.base.replace(/^http/, 'ws')}${pathname}${search}`);
				},
			}),
		},
		blockConcurrencyWhile(body) {
			return Promise.resolve().then(body);
		},
		waitUntil() {},
	};
}

/** What getSandbox() takes: the binding of a namespace, with one object for each name. */
export function nextNamespace(server, env = {}) {
	authorize(server);
	const objects = new Map();
	class Local extends next.Sandbox {
		sleepAfter = '1h';

		async getState() {
			return { status: 'healthy', lastChange: 0 };
		}

		async applyOutboundInterception() {}
	}
	return {
		idFromName: (name) => name,
		get(name) {
			if (!objects.has(name)) objects.set(name, new Local(stateFor(server, name), env));
			return objects.get(name);
		},
	};
}
