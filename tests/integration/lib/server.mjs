// The real server, in a new runtime directory, monitored until its end.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, lchownSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Api, keeping } from './api.mjs';
import { TerminalClient } from './client.mjs';
import { asUser, openBinary, ordinaryUser } from './other_user.mjs';
import { cmdline, kill, processesNaming } from './proc.mjs';
import { slowness, until, within } from './until.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
export const binaries = path.resolve(process.env.RINGSIDE_BIN
	?? path.join(here, '../../../build'));
export const binary = path.join(binaries, 'ringside');

const sanitizerReport = /ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error: |Assertion .* failed/;
const kept = 4 << 20;
/** Whether everything that servers start is in a sandbox (--isolate). */
export const inSandboxes = process.env.RINGSIDE_ISOLATED === '1';
const noSandboxes = inSandboxes && (await import('./sandboxes.mjs')).noSandboxes; // looking for them starts a program
const alive = new Set();

/** Give a directory and its contents to a user. */
function chownTree(place, uid) {
	for (const entry of readdirSync(place, { recursive: true })) lchownSync(path.join(place, entry), uid, uid);
	lchownSync(place, uid, uid);
}

export class Server {
	/**
	 * options: args (more arguments), listen (array, default one free loopback port), env (merged over a small fixed one),
	 * prefix (command to run it under, must exec), cwd, dir, ca (a certificate that its clients trust), ordinary (root runs
	 * it as another user, which gets the test's files: a server of root cannot make sandboxes).
	 */
	constructor(options = {}) {
		this.options = options;
		this.root = mkdtempSync(path.join(os.tmpdir(), 'rs-'));
		this.dir = options.dir ?? path.join(this.root, 'run');
		this.home = path.join(this.root, 'home');
		this.cwd = options.cwd ?? path.join(this.root, 'start');
		mkdirSync(this.home);
		mkdirSync(this.cwd, { recursive: true });
		this.startup();
		this.stderr = '';
		this.stdout = '';
		this.urls = [];
		this.token = undefined;
		this.exit = undefined;
		this.child = undefined;
		this.clients = new Set();
		this.api = new Api(() => this.base, { token: () => this.token, ca: options.ca });
		this.ca = options.ca;
		alive.add(this);
	}

	/** Write the startup file of bash. */
	startup(text = "PS1='\\$ '\nunset HISTFILE\n") {
		writeFileSync(path.join(this.home, '.bashrc'), text);
	}

	/** Start or restart it, with the same runtime directory and, by default, the same port. */
	async start({ args, listen, wait = true } = {}) {
		assert.ok(!this.child, 'the server is running');
		if (args) this.options.args = args;
		const listeners = listen ?? (this.port ? [`127.0.0.1:${this.port}`]
			: this.options.listen ?? ['127.0.0.1:0']);
		const ordinary = (inSandboxes || this.options.ordinary) && process.getuid() === 0;
		if (ordinary) chownTree(this.root, ordinaryUser);
		const command = [
			...this.options.prefix ?? [], ...(ordinary ? [...asUser(ordinaryUser), openBinary()] : [this.options.binary ?? binary]), 'serve',
			...listeners.flatMap((listener) => ['--listen', listener]),
			'--runtime-dir', this.dir,
			...(inSandboxes ? ['--isolate=home', '--share-net', '--bind', this.root] : []),
			...this.options.args ?? [],
		];
		const child = spawn(command[0], command.slice(1), {
			cwd: this.cwd,
			stdio: ['ignore', 'pipe', 'pipe'],
			env: {
				PATH: process.env.PATH,
				HOME: this.home,
				USER: process.env.USER ?? 'root',
				LANG: 'C.UTF-8',
				...Object.fromEntries(Object.entries(process.env)
					.filter(([name]) => /^([A-Z]+SAN_OPTIONS|LD_LIBRARY_PATH|LLVM_PROFILE_FILE|GCOV_PREFIX\w*)$/.test(name))),
				...this.options.env,
				RINGSIDE_TEST_ROOT: this.root,
			},
		});
		this.child = child;
		this.exit = undefined;
		this.urls = [];
		this.listening = listeners.length;
		let line = '';
		child.stdout.setEncoding('utf8').on('data', (text) => {
			this.stdout += text;
			line += text;
			const lines = line.split('\n');
			line = lines.pop();
			for (const whole of lines) {
				const found = /^Ringside is at (\S+)(?: \(the token is (?:in (.+)|that of \$RINGSIDE_TOKEN)\))?$/.exec(whole);
				if (!found) continue;
				this.urls.push(found[1]);
				if (found[2]) this.tokenFile = found[2];
			}
		});
		child.stderr.setEncoding('utf8').on('data', (text) => {
			this.stderr += text;
			if (this.stderr.length > kept * 2) this.stderr = this.stderr.slice(-kept);
		});
		this.ended = new Promise((resolve) => {
			const finish = (code, signal) => {
				if (this.child === child) this.child = undefined;
				this.exit = { code, signal };
				resolve(this.exit);
			};
			child.on('error', (error) => {
				this.stderr += `${error}\n`;
				finish(null, 'ENOENT');
			});
			child.on('close', finish);
		});
		if (wait) await this.ready();
		return this;
	}

	async ready() {
		const ended = this.ended.then(({ code, signal }) => {
			throw new Error(`the server ended (${code ?? signal}) before it was ready`);
		});
		ended.catch(() => {});
		await Promise.race([
			until('the URL on standard output', () => !this.child || this.urls.length >= this.listening, { interval: 2 }),
			ended,
		]);
		const address = this.urls.find((each) => !each.startsWith('unix:'));
		if (address) {
			const url = new URL(address);
			// The server may have another file system.
			const place = this.tokenFile && existsSync(this.tokenFile) ? '' : `/proc/${this.pid}/root`;
			if (this.tokenFile) [this.token] = readFileSync(place + this.tokenFile, 'utf8').split(/\r?\n/, 1);
			else if (this.options.env?.RINGSIDE_TOKEN) this.token = this.options.env.RINGSIDE_TOKEN;
			this.port = Number(url.port);
			this.base = url.origin;
			this.host = url.host;
		}
	}

	get pid() {
		return this.child?.pid;
	}

	get url() {
		return this.urls[0];
	}

	/** The address with the token, as it is printed on a terminal. */
	get loginUrl() {
		return `${this.url}#token=${this.token}`;
	}

	/** Send a signal and, if it ends the server, wait for the end. */
	async kill(signal = 'SIGKILL', { wait = !['SIGSTOP', 'SIGCONT', 'SIGHUP', 'SIGUSR1'].includes(signal) } = {}) {
		const { child, ended } = this;
		assert.ok(child, 'the server is not running');
		child.kill(signal);
		return wait ? within(`the end after ${signal}`, ended) : undefined;
	}

	async restart(options) {
		if (this.child) await this.kill('SIGKILL');
		return this.start(options);
	}

	/** A terminal client that is closed with the server. */
	client(options) {
		const client = new TerminalClient({ server: this, ...options });
		this.clients.add(client);
		return client;
	}

	/** Open a session (get-or-create) and wait until its shell reads. */
	async session(fields) {
		const { data } = await this.api.open(fields);
		await this.shellReady(data.id);
		return data;
	}

	async shellReady(id) {
		const mark = `awake${Math.floor(Math.random() * 1e9)}`;
		const { offset } = await this.api.get(id);
		await this.api.input(id, `echo ${mark.slice(0, 5)}''${mark.slice(5)}\r`);
		await this.outputMatches(id, new RegExp(mark), offset);
		await this.untilPrompt(id);
	}

	/** Wait for the prompt: output of a command comes a moment before it. */
	untilPrompt(id) {
		return keeping(this.base, (agent) => until(`the prompt of ${id}`, async () =>
			(await this.api.call('GET', `/api/session/${id}/state`, undefined, { agent })).state.status === 'prompt', { interval: 5 }));
	}

	/** Wait until the session's output from `from` on matches; resolves with the match. */
	async outputMatches(id, pattern, from = 0, options) {
		let bytes = Buffer.alloc(0);
		let text = '';
		return keeping(this.base, (agent) => until(() => `${pattern} in the output of ${id}, which is ${JSON.stringify(text.slice(-2000))}`, async () => {
			const answer = await this.api.raw('GET', `/api/session/${id}/output?from=${from + bytes.length}`, undefined, { agent });
			if (answer.status === 416) {
				[from, bytes] = [answer.json.context.oldest, Buffer.alloc(0)]; // the ring has dropped that
				return undefined;
			}
			assert.equal(answer.status, 200, answer.text);
			bytes = Buffer.concat([bytes, answer.body]);
			text = bytes.toString('utf8');
			return pattern.exec(text);
		}, options));
	}

	/** Type a command and return its output, which is between two marks. */
	async run(id, command, options) {
		const mark = `m${Math.floor(Math.random() * 1e9)}`;
		const { offset } = await this.api.get(id);
		await this.api.input(id, `echo ${mark}'<'; ${command}; echo ${mark}'>'\r`);
		const found = await this.outputMatches(id,
			new RegExp(`${mark}<\\r\\n([^]*?)${mark}>\\r\\n`), offset, options);
		await this.untilPrompt(id);
		return found[1].replaceAll('\r\n', '\n');
	}

	report() {
		const tail = this.stderr.length > 32_768 ? `…${this.stderr.slice(-32_768)}` : this.stderr;
		return `--- server: ${this.child ? `runs as ${this.pid}` : `ended ${JSON.stringify(this.exit)}`}`
			+ `\n--- its standard output:\n${this.stdout.slice(-4096)}`
			+ `--- its standard error:\n${tail}--- end\n`;
	}

	/** The state of its processes, with stack traces of ours. */
	stacks() {
		const { stdout, error } = spawnSync('python3', [path.join(here, '../../hang.py'), binaries, ...this.leftovers().map(String)], { encoding: 'utf8' });
		return error ? `${error}\n` : stdout;
	}

	leftovers() {
		return processesNaming(this.root);
	}

	/** Returns how many there were. */
	killLeftovers() {
		const left = this.leftovers();
		for (const pid of left) kill(pid);
		return left.length;
	}

	/** End everything; throws if the server failed or processes are left. */
	async cleanup({ graceful = true, mayHaveDied = false } = {}) {
		const problems = [];
		try {
			for (const client of this.clients) client.terminate();
			if (this.child && graceful) {
				this.child.kill('SIGCONT');
				try {
					for (const id of (await this.api.list()).data) await this.api.delete(id);
				} catch (error) {
					problems.push(`the sessions could not be deleted: ${error.message}`);
				}
				try {
					const { processes } = await this.api.call('GET', '/api/process/list');
					await Promise.all(processes.map(({ id }) => this.api.raw(
						'DELETE', `/api/process/${id}?remove=true&graceMs=0`)));
				} catch (error) {
					problems.push(`the processes could not be removed: ${error.message}`);
				}
				try {
					const { code, signal } = await this.kill('SIGTERM');
					if (code !== 0) problems.push(`the server ended with ${code ?? signal} after SIGTERM`);
				} catch (error) {
					problems.push(error.message);
				}
				try {
					await until('the end of all processes', () => this.leftovers().length === 0, { timeout: 8000 });
				} catch {
					problems.push(`left behind: ${this.leftovers()
						.map((pid) => `${pid} (${cmdline(pid)})`).join(', ')}`);
				}
			} else if (!this.child && graceful && !mayHaveDied) {
				problems.push(`the server is gone: ${JSON.stringify(this.exit)}`);
			}
			if (sanitizerReport.test(this.stderr)) problems.push('a sanitizer reported an error');
		} finally {
			if (this.child) {
				this.child.kill('SIGKILL');
				await this.ended;
			}
			await until('the end of killed processes', () => this.killLeftovers() === 0, { timeout: 5000 })
				.catch((error) => problems.push(error.message));
			alive.delete(this);
			rmSync(this.root, { recursive: true, force: true, maxRetries: 3 });
		}
		assert.deepEqual(problems, [], problems.join('\n'));
	}
}

// If the test runner terminates this file, no servers and holders may be left.
function abandon(signal) {
	for (const server of alive) {
		writeSync(2, server.report());
		server.child?.kill('SIGKILL');
		server.killLeftovers();
		rmSync(server.root, { recursive: true, force: true });
	}
	process.exit(signal === 'SIGINT' ? 130 : 143);
}
process.on('SIGTERM', abandon);
process.on('SIGINT', abandon);

// A failed test may leave a listener or a timer open, which would keep this process alive until the suite's time limit.
const ENDED_MS = 120_000; // after the last test; hooks that end servers take part of it
let endsInTime = false;

/** End this process with an error if it still runs a while after its last test. Call it where tests are defined. */
export function endInTime() {
	if (endsInTime) return;
	endsInTime = true;
	after(() => {
		setTimeout(() => {
			writeSync(2, `left open: ${process.getActiveResourcesInfo().join(', ')}\n`);
			process.exit(1);
		}, ENDED_MS).unref();
	});
}

/** Why tests are skipped in this run, or false; see scenario(). */
export const skipReason = ({ memory = false, pids = false } = {}) => (process.env.RINGSIDE_TEST_MEMORY && !memory && 'it does not measure memory')
	|| noSandboxes || (inSandboxes && pids && 'pids differ in a sandbox');

/**
 * A test with a new server. options: those of Server, and timeout (ms), skip, start (false: the body starts it), mayHaveDied
 * (the server may have ended), pids (the test uses pids that processes print), memory (the test measures memory, which is
 * only accurate in a release build, where ./test runs only these).
 */
export function scenario(name, options, body) {
	endInTime();
	if (typeof options === 'function') [options, body] = [{}, options];
	const { timeout = 50_000, skip = false, start = true, mayHaveDied = false, memory, pids, ...rest } = options;
	test(name, { skip: skip || skipReason({ memory, pids }) }, async (t) => {
		if (!existsSync(binary)) throw new Error(`${binary} does not exist (set RINGSIDE_BIN)`);
		const server = new Server(rest);
		let failure;
		try {
			if (start) await server.start();
			await within(`end of the test "${name}"`, body(server, t), timeout);
		} catch (error) {
			failure = error;
		}
		const unhappy = failure ? server.report() + (failure.late ? server.stacks() : '') : '';
		try {
			await server.cleanup({ graceful: !failure, mayHaveDied });
		} catch (error) {
			console.error(unhappy || server.report());
			throw failure ?? error;
		}
		if (failure) {
			console.error(unhappy);
			throw failure;
		}
	});
}

export const readText = (file) => readFileSync(file, 'utf8');
/** Whether the server runs with sanitizers, which keep freed memory: then its size says nothing. */
export const sanitized = () => readFileSync(binary).includes('__asan_init');
export { slowness };
