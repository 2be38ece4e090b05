// tmux, or `ringside tmux`, as programs use it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { environment } from './cli.mjs';
import { binary, scenario } from './server.mjs';
import { Patience } from './until.mjs';

const deadline = 45_000;

export class Tmux {
	/** options: label (-L; default: none), real (tmux itself), env. */
	constructor(server, { label, real = false, env = {} } = {}) {
		this.command = real ? ['tmux', '-f', '/dev/null'] : [binary, 'tmux'];
		if (label) this.command.push('-L', label);
		this.options = { cwd: server.cwd, env: { ...environment(server), TERM: 'xterm', SHELL: '/bin/bash', TMUX_TMPDIR: server.root, ...env } };
	}

	/** Resolves with {status, stdout, stderr}. A command that does not end is killed and fails, so that the error names it. */
	run(args, input) {
		return new Promise((resolve, reject) => {
			const [command, ...first] = this.command;
			const child = spawn(command, [...first, ...args], { ...this.options, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] });
			const patience = new Patience(deadline);
			const late = setInterval(() => {
				if (!patience.over) return;
				clearInterval(late);
				child.kill('SIGKILL');
				for (const name of ['stdin', 'stdout', 'stderr']) child[name]?.destroy();
				reject(new Error(`${command} ${args.join(' ').slice(0, 200)} has not ended within ${deadline / 1000} s`));
			}, 1000);
			const texts = { stdout: '', stderr: '' };
			for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => { texts[name] += text; });
			child.on('error', (error) => {
				clearInterval(late);
				reject(error);
			});
			child.on('close', (status) => {
				clearInterval(late);
				resolve({ status, ...texts });
			});
			child.stdin?.on('error', () => {}); // a command may end before it has read everything
			child.stdin?.end(input);
		});
	}

	/** The output of a command that must succeed, without the final newline. */
	async good(args, input) {
		const { status, stdout, stderr } = await this.run(args, input);
		assert.equal(status, 0, `${args.join(' ').slice(0, 200)}: ${stderr}`);
		return stdout.replace(/\n$/, '');
	}
}

/** Several commands for one call. */
export const chain = (...commands) => commands.flatMap((command, i) => (i > 0 ? [';', ...command] : command));

/** A test with our tmux, which is removed afterwards. */
export function withTmux(name, body) {
	scenario(name, async (server) => {
		const tmux = new Tmux(server);
		try {
			await body(tmux, server);
		} finally {
			await tmux.run(['kill-server']);
		}
	});
}
