// Ports for tests.
import net from 'node:net';

/** A port on which no process listens. */
export const freePort = () => new Promise((resolve) => {
	const listener = net.createServer().listen(0, '127.0.0.1', () => {
		const { port } = listener.address();
		listener.close(() => resolve(port));
	});
});
