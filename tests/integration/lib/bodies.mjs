// Helpers for the handlers of bodies_driver.c.
import { createHash } from 'node:crypto';
import path from 'node:path';
import { binaries } from './server.mjs';
import { until } from './until.mjs';

/** A server whose handlers only receive and send. */
export const driver = path.join(binaries, 'tests/bodies_driver');

export const sha = (bytes) => createHash('sha256').update(bytes).digest('hex');
export const seen = async (server) => (await server.api.raw('GET', '/test/seen')).json;
export const settled = (server) => until('the end of all requests', async () => (await seen(server)).open === 0);

/** The expected bytes of a download. */
export function given(length) {
	const bytes = Buffer.alloc(length);
	for (let at = 0; at < length; at += 1) bytes[at] = ((at & 0xffff) * 7 + (at >> 16)) & 0xff;
	return bytes;
}
