// The published Sandbox client, unmodified, pointed at our server.
import { authorize, bundle } from './bundle.mjs';

export { authorize };
export const sdk = await bundle('export * from "@cloudflare/sandbox";\nexport { SandboxAddon } from "@cloudflare/sandbox/xterm";');

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

/** Parse a stream of events with the client's parser. */
export async function eventsOf(stream) {
	const events = [];
	for await (const event of sdk.parseSSEStream(stream)) events.push(event);
	return events;
}

/** The texts of one kind of event, joined. */
export const joined = (events, type) => events.filter((event) => event.type === type)
	.map(({ data }) => data).join('');
