// What the published clients need to run in Node, unmodified: each is bundled at run time, and its sockets carry our tokens.
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
/** And the sockets there. */
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

/** Lets sockets to this server carry its token; they end with its clients. */
export function authorize(server) {
	const opened = new Set();
	tokens.set(server.host, server.token);
	sockets.set(server.host, opened);
	server.clients.add({ terminate: () => opened.forEach((socket) => socket.terminate()) });
}
