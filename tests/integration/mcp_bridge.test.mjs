// Unsolicited messages of the server through `ringside mcp`.
import assert from 'node:assert/strict';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { connect, overBridge } from './lib/mcp.mjs';
import { scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

/** A client by `ringside mcp`: {client, use, messages}; messages: messages so far. */
async function bridged(server, name = 'bridged') {
	const connection = await connect(server, name, { transport: overBridge(server) });
	const messages = [];
	connection.client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => messages.push(params.data));
	return { ...connection, messages };
}

const left = async ({ use }, status) => {
	const { exec_id: id } = await use('exec', { command: `sleep 0.4; (exit ${status})`, yield_ms: 0 });
	return `${id} has ended: exit code ${status}`;
};

scenario('ringside mcp passes on messages of the server, also of the next one', async (server) => {
	const [a, b] = [await bridged(server), await bridged(server, 'other')];
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
