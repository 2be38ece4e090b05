// The command line, in scripts and at a terminal.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { binary } from './server.mjs';
import { slowness, until } from './until.mjs';

export const socketOf = (server) => path.join(server.dir, 'ringside.sock');

export const environment = (server, more = {}) => ({
	PATH: process.env.PATH,
	HOME: server.home,
	LANG: 'C.UTF-8',
	TERM: 'xterm-256color',
	RINGSIDE_SOCKET: socketOf(server),
	...Object.fromEntries(Object.entries(process.env).filter(([name]) => /^[A-Z]+SAN_OPTIONS$/.test(name))),
	...more,
});

/** Run `ringside ARGS`. Resolves with {code, signal, stdout (text), bytes, stderr}; options: input, env, cwd, uid, and started(child). */
export function cli(server, args, { input, env, cwd, uid, started } = {}) {
	return new Promise((resolve, reject) => {
		const child = spawn(binary, args, {
			env: environment(server, env),
			cwd: cwd ?? server.cwd,
			stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
			...(uid === undefined ? {} : { uid, gid: uid }),
			timeout: 30_000 * slowness,
		});
		const out = [];
		let stderr = '';
		child.stdout.on('data', (bytes) => out.push(bytes));
		child.stderr.setEncoding('utf8').on('data', (text) => { stderr += text; });
		child.on('error', reject);
		child.on('close', (code, signal) => {
			const bytes = Buffer.concat(out);
			resolve({ code, signal, bytes, stdout: bytes.toString('utf8'), stderr });
		});
		child.stdin?.on('error', () => {}); // a command may end before it has read everything
		child.stdin?.end(input);
		started?.(child, () => Buffer.concat(out).toString('utf8'));
	});
}

/** The same for a command that succeeds; resolves with its output. */
export async function good(server, args, options) {
	const result = await cli(server, args, options);
	assert.equal(result.code, 0, `${args.join(' ')}: ${result.stderr}`);
	return result.stdout;
}

/** Wait until exactly this number of clients is attached to a session. */
export const attached = (server, id, count = 1) => until(`${count} attached to ${id}`, async () => (await server.api.get(id)).clients === count);

/** A terminal emulator (tmux) with a shell that has `ringside` on its PATH. */
export class Screen {
	constructor(server, { cols = 80, rows = 24, env } = {}) {
		this.server = server;
		this.env = environment(server, env);
		this.root = mkdtempSync(path.join(os.tmpdir(), 'rs-tmux-'));
		this.cols = cols;
		this.rows = rows;
	}

	tmux(...args) {
		return new Promise((resolve, reject) => {
			execFile('tmux', ['-S', path.join(this.root, 'socket'), '-f', '/dev/null', ...args], {
				env: { ...this.env, PATH: `${path.dirname(binary)}:${this.env.PATH}` },
			}, (error, stdout, stderr) => {
				if (error) reject(new Error(`tmux ${args.join(' ')}: ${stderr || error.message}`));
				else resolve(stdout);
			});
		});
	}

	async open() {
		await this.tmux('new-session', '-d', '-x', String(this.cols), '-y', String(this.rows),
			'env', 'PS1=outer> ', 'bash', '--norc', '--noprofile');
		await this.tmux('set-option', '-g', 'status', 'off');
		await this.tmux('resize-window', '-x', String(this.cols), '-y', String(this.rows));
		await this.shows(/^outer>/m);
		return this;
	}

	async close() {
		await this.tmux('kill-server').catch(() => {});
		rmSync(this.root, { recursive: true, force: true });
	}

	/** Type text, then keys by tmux's names. */
	async type(text, ...keys) {
		if (text) await this.tmux('send-keys', '-l', text);
		if (keys.length > 0) await this.tmux('send-keys', ...keys);
	}

	line(text) {
		return this.type(text, 'Enter');
	}

	/** Its text; options of capture-pane, such as -e (styles) or -S - (with the history). */
	text(...options) {
		return this.tmux('capture-pane', '-p', ...options);
	}

	async flags(...names) {
		const text = await this.tmux('display-message', '-p', names.map((name) => `#{${name}}`).join(' '));
		return text.trim();
	}

	/** Leave `ringside attach`, which the shell runs before `echo status=$?`. */
	async detach() {
		await this.type('', 'C-\\');
		await this.shows(/\[\w+: detached\]\n(.*\n)*status=0/);
	}

	async shows(pattern, ...options) {
		let text = '';
		return until(() => `${pattern} on the terminal, which shows\n${text}`, async () => {
			text = await this.text(...options);
			return pattern.exec(text);
		});
	}
}

/** Run body with a screen, and close it afterwards. */
export async function withScreen(server, options, body) {
	const screen = new Screen(server, options);
	try {
		await screen.open();
		return await body(screen);
	} finally {
		await screen.close();
	}
}
