// Tests with a server that trusts lib/certificate.mjs, and a store of archives.
import assert from 'node:assert/strict';
import path from 'node:path';
import * as certificate from './certificate.mjs';
import { Store } from './store.mjs';
import { together } from './together.mjs';

const trusting = together({ env: { SSL_CERT_FILE: certificate.cert } });
export const SIGNATURE = 'X-Amz-Signature=5ec7e7';

/** A test with a store; misbehave: see lib/store.mjs. */
export function stored(name, misbehave, body) {
	trusting(name, async (server) => {
		const store = await new Store({ certificate, misbehave }).open();
		try {
			await body(server, store);
			assert.ok(!(server.stderr + server.stdout).includes('5ec7e7'), 'a signed URL is in the log');
		} finally {
			await store.close();
		}
	});
}

export const archiveOf = (server) => path.join(server.cwd, '.ringside-backups', 'a.sqsh');

/** A response for misbehave(), which returns the result. */
export function answer(response, status, body = '', headers = {}) {
	response.writeHead(status, { 'Content-Length': Buffer.byteLength(body), ...headers });
	response.end(body);
	return true;
}
