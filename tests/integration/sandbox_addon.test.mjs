// The published client's terminal addon, on a headless terminal: it does not use our extensions.
import assert from 'node:assert/strict';
import xterm from '@xterm/headless';
import { authorize, sdk } from '../sandbox/sdk.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

/** A terminal with the addon, attached to a session. */
class Viewer {
	constructor(server, sessionId, { cols = 80, rows = 24 } = {}) {
		authorize(server);
		globalThis.location = { protocol: 'http:', host: server.host };
		this.states = [];
		this.errors = [];
		this.terminal = new xterm.Terminal({ cols, rows, scrollback: 5000, allowProposedApi: true });
		this.terminal.focus = () => {};
		this.addon = new sdk.SandboxAddon({
			getWebSocketUrl: ({ sandboxId, sessionId: id, origin }) => `${origin}/ws/pty?sandboxId=${sandboxId}&sessionId=${id}`,
			onStateChange: (state, error) => {
				this.states.push(state);
				if (error) this.errors.push(error);
			},
		});
		this.terminal.loadAddon(this.addon);
		this.addon.connect({ sandboxId: 'box', sessionId });
		server.clients.add(this);
	}

	/** All lines of the scrollback and the screen. */
	get lines() {
		const { active } = this.terminal.buffer;
		return Array.from({ length: active.length }, (_, row) => active.getLine(row).translateToString(true));
	}

	get text() {
		return this.lines.join('\n').trimEnd();
	}

	connected() {
		return until(() => `connection: ${this.states} ${this.errors}`, () => this.addon.state === 'connected');
	}

	shows(pattern) {
		return until(() => `${pattern} in ${JSON.stringify(this.text)}`, () => pattern.exec(this.text));
	}

	type(text) {
		this.terminal.input(text);
	}

	terminate() {
		this.addon.dispose();
	}
}

shared('the addon shows output, types and resizes', async (server) => {
	await server.session({ id: 's' });
	const viewer = new Viewer(server, 's', { cols: 100, rows: 30 });
	await viewer.connected();
	assert.deepEqual(viewer.states, ['connecting', 'connected']);
	viewer.type('echo typed-$((40 + 2))\r');
	await viewer.shows(/^typed-42$/m);
	viewer.type('stty size\r');
	await viewer.shows(/^30 100$/m);
	viewer.terminal.resize(70, 20);
	await until('the new size', async () => {
		const { cols, rows } = await server.api.get('s');
		return cols === 70 && rows === 20;
	});
	viewer.type('stty size\r');
	await viewer.shows(/^20 70$/m);
	assert.deepEqual(viewer.errors, []);
});

shared('a later viewer gets the existing screen, and both show the same', async (server) => {
	await server.session({ id: 's' });
	const first = new Viewer(server, 's');
	await first.connected();
	first.type('seq -f "line-%g" 1 100; printf "\\033[1;31mred\\033[m\\n"\r');
	await first.shows(/^red$/m);
	const second = new Viewer(server, 's');
	await second.connected();
	await second.shows(/^red$/m);
	for (const viewer of [first, second])
		assert.deepEqual(viewer.lines.filter((line) => /^line-\d+$/.test(line)),
			Array.from({ length: 100 }, (_, i) => `line-${i + 1}`));
	second.type('echo from-the-second\r');
	await first.shows(/^from-the-second$/m);
	await until('the same screen', () => first.text === second.text);
});

shared('the addon reconnects after kill -9: nothing is lost or duplicated', async (server) => {
	await server.session({ id: 's' });
	const viewer = new Viewer(server, 's');
	await viewer.connected();
	viewer.type('for i in $(seq 1 400); do echo "line-$i"; sleep 0.01; done; echo all-of-them\r');
	await viewer.shows(/^line-50$/m);
	await server.kill('SIGKILL');
	await until('the loss of the connection', () => viewer.addon.state === 'disconnected');
	await server.start();
	await viewer.connected();
	await viewer.shows(/^all-of-them$/m);
	assert.deepEqual(viewer.lines.filter((line) => /^line-\d+$/.test(line)),
		Array.from({ length: 400 }, (_, i) => `line-${i + 1}`));
	viewer.type('echo still-$((1 + 1))\r');
	await viewer.shows(/^still-2$/m);
});

shared('the end of the shell is reported', async (server) => {
	await server.session({ id: 's' });
	const viewer = new Viewer(server, 's');
	await viewer.connected();
	viewer.type('exit 3\r');
	await until(() => `the end in ${viewer.errors}`, () => viewer.errors.some(({ message }) => /exited with code 3/.test(message)));
});
