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
		client?.on('bytes', (bytes) => this.terminal.write(bytes));
		client?.on('snapshot', ({ data, cols: width, rows: height }) => {
			this.#resize(width, height);
			this.terminal.write('', () => { this.restoring = true; });
			this.terminal.write(data, () => { this.restoring = false; });
		});
		client?.on('message', ({ type, cols: width, rows: height }) => {
			if (type === 'resize' || type === 'sync') this.#resize(width, height);
		});
	}

	/** In order: earlier output is parsed first. */
	#resize(cols, rows) {
		this.terminal.write('', () => this.terminal.resize(cols, rows));
	}

	/** Resolves when everything received so far was parsed and answered. */
	parsed() {
		return new Promise((resolve) => { this.terminal.write('', resolve); });
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
	await emulator.parsed();
	return emulator.replies;
}
