// Runs the published clients unmodified in Node: each is bundled at run time, and its WebSockets carry our tokens.
import { mkdtempSync, rmSync } from 'node:fs';
import { webcrypto } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import esbuild from 'esbuild';
import WebSocket from 'ws';

const here = path.dirname(fileURLToPath(import.meta.url));

/** Tokens by host, because the client's WebSocket, like a browser's, cannot set headers. */
const tokens = new Map();
/** Open sockets by host. */
const sockets = new Map();

class AuthorizedWebSocket extends WebSocket {
	constructor(url, protocols) {
		const { host } = new URL(url), token = tokens.get(host);
		super(url, protocols ?? [], { headers: token ? { Authorization: `Bearer ${token}` } : {} });
		sockets.get(host)?.add(this);
	}
}
globalThis.WebSocket = AuthorizedWebSocket;
globalThis.crypto ??= webcrypto;

/** Stubs of the modules that Node does not have. */
const workers = {
	name: 'workers',
	setup(build) {
		build.onResolve({ filter: /^cloudflare:workers$/ }, () => ({ path: path.join(here, 'workers.mjs') }));
	},
};

/** Bundle and import a module of these contents. */
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

/** Let sockets to this server carry its token; they are closed with its clients. */
export function authorize(server) {
	const opened = new Set();
	tokens.set(server.host, server.token);
	sockets.set(server.host, opened);
	server.clients.add({ terminate: () => opened.forEach((socket) => socket.terminate()) });
}
