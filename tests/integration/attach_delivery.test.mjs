// `ringside attach` over connections that break: input arrives exactly once.
import assert from 'node:assert/strict';
import net from 'node:net';
import { attached, withScreen } from './lib/cli.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

/** A relay to the server that can drop the bytes of one direction and be cut. */
async function openWay(server) {
	const pairs = new Set(), lost = { up: 0, down: 0 }, loses = { up: false, down: false };
	const pass = (from, to, way) => from.on('data', (bytes) => {
		if (loses[way]) lost[way] += bytes.length;
		else to.write(bytes);
	}).on('error', () => {}).on('close', () => to.destroy());
	const way = net.createServer((near) => {
		const far = net.connect(server.port, '127.0.0.1');
		pairs.add(near);
		pass(near, far, 'up');
		pass(far, near, 'down');
	});
	await new Promise((resolve) => { way.listen(0, '127.0.0.1', resolve); });
	const cut = () => {
		for (const near of pairs) near.destroy();
		pairs.clear();
	};
	return { port: way.address().port, lost, loses, cut, close: () => (cut(), way.close()) };
}

shared('input that a broken connection has lost arrives exactly once', async (server) => {
	await server.session({ id: 'box' });
	const way = await openWay(server);
	await withScreen(server, {}, async (screen) => {
		await screen.line(`clear; ringside attach 'http://127.0.0.1:${way.port}/?s=box#token=${server.token}'; echo status=$?`);
		await attached(server, 'box');
		await screen.line('cat -v');
		await screen.shows(/^# cat -v$/m);
		way.loses.up = true;
		await screen.type('unsent\rbehind it\r');
		await until('the input in flight', () => way.lost.up > 0);
		way.loses.up = false;
		way.cut();
		await screen.shows(/^behind it\nunsent\nbehind it$|^unsent\nbehind it\nunsent\nbehind it$/m);
		way.loses.down = true;
		await screen.type('unheard\r');
		await until('the output', async () => /unheard[^]*unheard/.test(await server.api.text('box', 0)));
		way.loses.down = false;
		way.cut();
		await screen.line('last');
		await screen.shows(/^last\nlast$/m);
		const text = await server.api.text('box', 0);
		for (const word of ['unsent', 'behind it', 'unheard', 'last'])
			assert.equal(text.split(word).length - 1, 2, `${word} is echoed, and comes back: ${JSON.stringify(text)}`);
		await screen.detach();
	});
	way.close();
});

shared('input for a deleted session is not typed into a new session of the same id', async (server) => {
	await server.session({ id: 'box' });
	const way = await openWay(server);
	await withScreen(server, {}, async (screen) => {
		await screen.line(`clear; ringside attach 'http://127.0.0.1:${way.port}/?s=box#token=${server.token}'; echo status=$?`);
		await attached(server, 'box');
		await screen.line('cat -v');
		await screen.shows(/^# cat -v$/m);
		way.loses.up = way.loses.down = true;
		await screen.type('meant for the first\r');
		await until('the input in flight', () => way.lost.up > 0);
		await server.api.delete('box');
		await server.session({ id: 'box' });
		way.loses.up = way.loses.down = false;
		way.cut();
		await screen.shows(/^status=[1-9]/m);
		assert.doesNotMatch(await server.run('box', 'fc -l | cat'), /meant/);
		assert.doesNotMatch(await server.api.text('box', 0), /meant for/);
	});
	way.close();
});
