// A client with a real terminal emulator, connected as in a page: the emulator's replies to queries are typed, except during
// a snapshot.
import xterm from '@xterm/headless';

export class Emulator {
	constructor(client, { cols = 80, rows = 24, answers = true } = {}) {
		this.client = client;
		this.replies = '';
		this.terminal = new xterm.Terminal({ cols, rows, allowProposedApi: true, scrollback: 10_000 });
		this.restoring = false;
		this.terminal.onData((data) => {
			if (this.restoring) return;
			this.replies += data;
			if (answers && client?.socket?.readyState === 1) client.type(data);
		});
		client?.on('bytes', (bytes) => this.#write(bytes));
		client?.on('snapshot', ({ data, cols: width, rows: height }) => {
			this.#resize(width, height);
			this.#then(() => { this.restoring = true; });
			this.#write(data);
			this.#then(() => { this.restoring = false; });
		});
		client?.on('message', ({ type, cols: width, rows: height }) => {
			if (type === 'resize' || type === 'sync') this.#resize(width, height);
		});
	}

	/* One after the other: xterm.js parses all that has been written before it resizes. */
	#done = Promise.resolve();

	#then(run) {
		this.#done = this.#done.then(run);
	}

	#write(bytes) {
		this.#then(() => new Promise((resolve) => { this.terminal.write(bytes, resolve); }));
	}

	#resize(cols, rows) {
		this.#then(() => this.terminal.resize(cols, rows));
	}

	/** Resolves when everything received so far was parsed and answered. */
	parsed() {
		return this.#done;
	}

	get text() {
		const { active } = this.terminal.buffer;
		return Array.from({ length: active.length }, (_, row) => active.getLine(row).translateToString(true)).join('\n');
	}
}

/** A lone terminal's replies to these bytes. */
export async function answersTo(bytes, size) {
	const emulator = new Emulator(undefined, size);
	await new Promise((resolve) => { emulator.terminal.write(bytes, resolve); });
	return emulator.replies;
}
