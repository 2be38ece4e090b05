// A client with a terminal whose contents are compared: what the page would show, with all attributes. It is fed
// synchronously and never replies; emulator.mjs does.
import assert from 'node:assert/strict';
import { difference, Reference, restorable } from '../../lib/screen.mjs';
import { until } from './until.mjs';

export class Watcher {
	constructor(client) {
		this.client = client;
		client.on('message', (message) => this.#message(message));
		client.on('bytes', (bytes) => this.reference.feed(bytes));
		client.on('snapshot', ({ data, cols, rows }) => {
			this.reference.resize(cols, rows);
			const { replies } = this.reference;
			this.reference.feed(data);
			assert.equal(this.reference.replies, replies, 'a snapshot causes replies');
		});
	}

	#message({ type, cols, rows, scrollback }) {
		if (type === 'attached') this.reference ??= new Reference(cols, rows, scrollback);
		else if (type === 'resize' || type === 'sync') this.reference.resize(cols, rows);
	}

	dump() {
		return this.reference.dump();
	}

	/** The text on the screen, one line per row. */
	get text() {
		const { active } = this.reference.terminal.buffer;
		return Array.from({ length: active.length - active.baseY },
			(_, row) => active.getLine(active.baseY + row).translateToString(true)).join('\n');
	}
}

/** A client that ignores messages: it shows all bytes as they come, on a screen of this size. */
export class PlainWatcher {
	constructor(client, cols, rows, scrollback) {
		this.client = client;
		this.reference = new Reference(cols, rows, scrollback);
		for (const event of ['piece', 'bytes']) client.on(event, (bytes) => this.reference.feed(bytes));
	}

	dump() {
		return this.reference.dump();
	}
}

/** A client that shows the session from its first byte: the reference for all others. */
export async function witness(server, sessionId) {
	const watcher = new Watcher(server.client({ sessionId, lag: 1e12, name: 'witness', sink: () => {} }));
	await watcher.client.connect({ history: true });
	return watcher;
}

/** A client that shows an attach. */
export async function watch(server, sessionId, options) {
	const watcher = new Watcher(server.client({ sessionId, ...options }));
	await watcher.client.connect();
	return watcher;
}

/** Wait until there is no output for a moment and all watchers have everything. Returns the session. */
export async function settled(server, sessionId, ...watchers) {
	return until(() => `rest in ${sessionId}; they are at ${watchers.map(({ client }) => client.offset)}`, async () => {
		const { offset } = await server.api.get(sessionId);
		await new Promise((resolve) => setTimeout(resolve, 50));
		const session = await server.api.get(sessionId);
		watchers.forEach(({ client }) => client.check());
		return session.offset === offset && watchers.every(({ client }) => client.offset === offset && !client.snapshot && !client.unsynced) && session;
	}, { timeout: 30_000 });
}

/** The dump with at most this many lines of scrollback. */
export function limited(dump, lines) {
	const [, base] = / base (\d+) /.exec(dump[0]);
	const first = dump.findIndex((line) => /^P\+? /.test(line));
	const drop = Math.max(0, Number(base) - lines);
	return [dump[0].replace(/ base \d+ /, ` base ${Number(base) - drop} `), ...dump.slice(1, first), ...dump.slice(first + drop)];
}

/** Assert that a terminal shows the same as the witness, up to a number of lines of scrollback. saved: whether the saved cursor counts. */
export function assertShows(watcher, truth, where, { lines = Infinity, saved = true } = {}) {
	const counts = (line) => saved || !/^[PA] saved /.test(line);
	const found = difference(restorable(watcher.dump().filter(counts)), restorable(limited(truth.dump(), lines).filter(counts)));
	if (found) {
		assert.fail(`${typeof where === 'function' ? where() : where}: line ${found.line} of the dump\n`
			+ `  it shows  ${JSON.stringify(found.ours)}\n  and not   ${JSON.stringify(found.theirs)}`);
	}
}
