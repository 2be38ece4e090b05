// The published Sandbox client, unmodified: bundled for Node at run time, and told where our server is.
import { mkdtempSync, rmSync } from 'node:fs';
import { webcrypto } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import esbuild from 'esbuild';
import WebSocket from 'ws';

const here = path.dirname(fileURLToPath(import.meta.url));

/** Credentials by host: the client's WebSocket has no place for headers, as a browser's has none. */
const tokens = new Map();

class AuthorizedWebSocket extends WebSocket {
	constructor(url, protocols) {
		const token = tokens.get(new URL(url).host);
		super(url, protocols ?? [], { headers: token ? { Authorization: `Bearer ${token}` } : {} });
	}
}
globalThis.WebSocket = AuthorizedWebSocket;
globalThis.crypto ??= webcrypto;

/** The modules that Node does not have. */
const workers = {
	name: 'workers',
	setup(build) {
		build.onResolve({ filter: /^cloudflare:workers$/ }, () => ({ path: path.join(here, 'workers.mjs') }));
	},
};

/** A module of these contents, with all that it imports. */
export async function bundle(contents) {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'rs-sdk-'));
	try {
		const outfile = path.join(folder, 'sdk.mjs');
		await esbuild.build({
			stdin: { contents, resolveDir: here },
			bundle: true,
			format: 'esm',
			platform: 'node',
			target: 'node18',
			outfile,
			logLevel: 'error',
			plugins: [workers],
		});
		return await import(pathToFileURL(outfile).href);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

export const sdk = await bundle('export * from "@cloudflare/sandbox";\nexport { SandboxAddon } from "@cloudflare/sandbox/xterm";');

/** Lets sockets to this server carry its token. */
export function authorize(server) {
	tokens.set(server.host, server.token);
}

/** The client of a server with its token, over each transport. */
export const transports = {
	HTTP: (server) => new sdk.SandboxClient({
		baseUrl: server.base,
		retryTimeoutMs: 0,
		defaultHeaders: { Authorization: `Bearer ${server.token}` },
	}),
	WebSocket(server) {
		authorize(server);
		return new sdk.SandboxClient({
			baseUrl: server.base,
			transportMode: 'websocket',
			wsUrl: `${server.base.replace(/^http/, 'ws')}/ws`,
			retryTimeoutMs: 0,
		});
	},
};

/** Counts the requests that go out over HTTP while `body` runs: whoever retries is found out. */
export async function countingFetches(body) {
	const real = globalThis.fetch;
	let count = 0;
	globalThis.fetch = (...args) => {
		count++;
		return real(...args);
	};
	try {
		await body();
	} finally {
		globalThis.fetch = real;
	}
	return count;
}

/** What the client's parser makes of a stream of events. */
export async function eventsOf(stream) {
	const events = [];
	for await (const event of sdk.parseSSEStream(stream)) events.push(event);
	return events;
}

/** The texts of one kind of event, joined. */
export const joined = (events, type) => events.filter((event) => event.type === type)
	.map(({ data }) => data).join('');
