// The published clients of the Model Context Protocol: of the revisions with sessions and of the one without, over HTTP and by
// `ringside mcp`.
import assert from 'node:assert/strict';
import path from 'node:path';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { binary } from './server.mjs';

const http = (server, token = server.token) => [new URL('/mcp', server.base), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }];

/** How to start `ringside mcp`. */
export const bridge = (server) => ({ command: binary, args: ['mcp'], env: { ...process.env, RINGSIDE_SOCKET: path.join(server.dir, 'ringside.sock') } });

export const overHttp = (server, token) => new StreamableHTTPClientTransport(...http(server, token));
export const overBridge = (server) => new StdioClientTransport(bridge(server));
export const modernHttp = (server, token) => new ModernHttp(...http(server, token));
export const modernBridge = (server) => new ModernStdio(bridge(server));

/** Connect: {client, transport, call, use, fail}; use() is a call that must succeed, fail() one that must not, and returns the error. */
async function connected(server, client, transport, ...schema) {
	await client.connect(transport);
	server.clients.add({ terminate: () => client.close() });
	const call = (name, args = {}) => client.callTool({ name, arguments: args }, ...schema, { timeout: 60_000 });
	const result = async (failed, tool, args) => {
		const { content, structuredContent, isError } = await call(tool, args);
		assert.equal(Boolean(isError), failed, `${tool}: ${content[0].text}`);
		return { ...(failed ? structuredContent.error : structuredContent), contentText: content.map(({ text }) => text).join('\n') };
	};
	return { client, transport, call, use: (...asked) => result(false, ...asked), fail: (...asked) => result(true, ...asked) };
}

/** A client of the revisions with sessions. */
export const connect = (server, name, { transport = overHttp(server), capabilities = {} } = {}) =>
	connected(server, new Client({ name, version: '1' }, { capabilities }), transport, undefined);

/** A client of the revision without sessions; mode: how it negotiates the revision. */
export const connectModern = (server, name, { transport = modernHttp(server), capabilities = {}, mode = { pin: '2026-07-28' } } = {}) =>
	connected(server, new ModernClient({ name, version: '1' }, { capabilities, versionNegotiation: { mode } }), transport);
