// Unsolicited messages of the server through `ringside mcp`.
import assert from 'node:assert/strict';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { binary, scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

/** The published client by `ringside mcp`: {client, use, messages}; messages: messages so far. */
async function bridge(server, name = 'bridged') {
	const client = new Client({ name, version: '1' });
	const messages = [];
	client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => messages.push(params.data));
	await client.connect(new StdioClientTransport({ command: binary, args: ['mcp'], env: { ...process.env, RINGSIDE_SOCKET: path.join(server.dir, 'ringside.sock') } }));
	server.clients.add({ terminate: () => client.close() });
	const use = async (tool, args = {}) => {
		const { content, structuredContent, isError } = await client.callTool({ name: tool, arguments: args }, undefined, { timeout: 60_000 });
		assert.ok(!isError, `${tool}: ${content[0].text}`);
		return structuredContent;
	};
	return { client, use, messages };
}

const left = async ({ use }, status) => {
	const { exec_id: id } = await use('exec', { command: `sleep 0.4; (exit ${status})`, yield_ms: 0 });
	return `${id} has ended: exit code ${status}`;
};

scenario('ringside mcp passes on messages of the server, also of the next one', async (server) => {
	const [a, b] = [await bridge(server), await bridge(server, 'other')];
	const first = await left(a, 3);
	await until('the message about the end', () => a.messages.includes(first));
	await server.restart();
	await a.use('session_list');
	const second = await left(a, 4);
	await until('the message of the next server', () => a.messages.includes(second));
	await server.kill();
	await server.start();
	const third = await left(a, 5);
	await until('the message of the third server', () => a.messages.includes(third));
	assert.deepEqual([a.messages.length, b.messages.length], [3, 0], 'once, and only to the client that has left the command running');
	const { pid } = a.client.transport;
	await a.client.close();
	await until('the end of the process', () => { try { process.kill(pid, 0); return false; } catch { return true; } });
});
