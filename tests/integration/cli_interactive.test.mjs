// `ringside exec -it` in a real terminal emulator: the session has the keyboard and the size, and the terminal is restored.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { cli, withScreen } from './lib/cli.mjs';
import { cmdline, kill, processesNaming } from './lib/proc.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const client = (server) => processesNaming(server.root).find((pid) => /ringside exec/.test(cmdline(pid)) && !/bash|tmux/.test(cmdline(pid)));
const runs = (server, name) => until(`${name} in the session`, async () =>
	(await server.api.call('GET', '/api/session/box/state')).state.foreground?.name === name);

shared('exec -it: typing, the size, its status, the restored terminal', async (server) => {
	await server.session({ id: 'box' });
	await withScreen(server, { cols: 70, rows: 18 }, async (screen) => {
		const modes = path.join(server.root, 'modes');
		await screen.line(`stty -a > ${modes}.1; ringside exec -it box 'stty size; read -p "name? " x; echo "<$x>"; (exit 7)'; echo status=$?`);
		await screen.shows(/^18 70$/m);
		await screen.shows(/^name\?/m);
		await screen.line('Ada');
		await screen.shows(/^<Ada>\n(.*\n)*status=7/m);
		// The program gets the keys, including Ctrl-C, and the size of the window.
		await screen.line('clear; ringside exec -it box "cat; echo end"; echo status=$?');
		await runs(server, 'cat');
		await screen.tmux('resize-window', '-x', '60', '-y', '16');
		await until('the new size', async () => (await server.api.get('box')).cols === 60);
		await screen.line('typed');
		await screen.shows(/^typed\ntyped$/m);
		await screen.type('', 'C-c');
		await screen.shows(/status=\d+/);
		// The detach key leaves it, and it says so.
		await screen.line('clear; ringside exec -it box "sleep 1000"; echo status=$?');
		await runs(server, 'sleep');
		await screen.type('', 'C-\\');
		await screen.shows(/the command runs on, as exec_\w+/);
		await screen.shows(/status=0/);
		await cli(server, ['kill', '-s', 'INT', 'box']);
		await cli(server, ['wait', '--prompt', 'box']);
		// The terminal is restored after a signal.
		for (const signal of ['SIGTERM', 'SIGSEGV']) {
			await screen.line('clear; ringside exec -it box "sleep 1000"; echo status=$?');
			await runs(server, 'sleep');
			kill(client(server), signal);
			await screen.shows(/status=1\d\d/);
			await cli(server, ['kill', '-s', 'INT', 'box']);
			await cli(server, ['wait', '--prompt', 'box']);
		}
		await screen.line(`clear; stty -a > ${modes}.2; echo compared`);
		await screen.shows(/^compared/m);
		const modesOf = (n) => readFileSync(`${modes}.${n}`, 'utf8').replace(/rows \d+; columns \d+;/, '');
		assert.equal(modesOf(2), modesOf(1));
		// Without a terminal, or without a session.
		for (const args of [['-it', 'box', 'true'], ['-ti', '--pipes', 'box', 'true'], ['-it', 'none', 'true'], ['-it', '-d', 'box', 'true']])
			assert.equal((await cli(server, ['exec', ...args])).code, 125, args.join(' '));
		assert.equal((await cli(server, ['exec', 'box', 'echo', '-it'])).stdout, '-it\n', 'options after the command belong to it');
	});
});

shared('run -it: its own session, which leaves nothing', async (server) => {
	const made = async () => (await server.api.call('GET', '/api/session/list')).sessions.filter(({ id }) => id.startsWith('run-'));
	const none = () => until('the end of the session', async () => (await made()).length === 0);
	const inFront = (name) => until(`${name} in front`, async () => {
		const [session] = await made();
		return session && (await server.api.call('GET', `/api/session/${session.id}/state`)).state.foreground?.name === name && session;
	});
	/** The foreground program has the terminal, and the local terminal is raw. */
	const hasKeys = async (screen, name) => {
		const session = await inFront(name);
		const tty = await screen.flags('pane_tty');
		await until('a raw terminal', () => execFileSync('stty', ['-a', '-F', tty], { encoding: 'utf8' }).includes('-isig'));
		return session;
	};
	const running = () => processesNaming(server.root).find((pid) => /ringside\0run/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')));
	await withScreen(server, { cols: 70, rows: 18 }, async (screen) => {
		const modes = path.join(server.root, 'modes');
		await screen.line(`stty -a > ${modes}.1; cd /usr; ringside run -it --env X=y 'stty size; tty -s && echo tty; read -p "name? " x </dev/tty; echo "<$x$X>"; pwd; (exit 7)'; echo status=$?`);
		await screen.shows(/^18 70\ntty$/m);
		await screen.shows(/^name\?/m);
		await screen.line('Ada');
		await screen.shows(/^<Aday>\n\/usr\nstatus=7/m);
		await none();
		await screen.line('clear; ringside run -it "kill -KILL \\$\\$"; echo status=$?');
		await screen.shows(/status=137/);
		// The program gets the keys and the size of the window.
		await screen.line('clear; ringside run -it "trap \'stty size\' WINCH; while :; do sleep 0.1; done"; echo status=$?');
		await hasKeys(screen, 'bash');
		await screen.tmux('resize-window', '-x', '60', '-y', '16');
		await screen.shows(/^16 60$/m);
		await screen.type('', 'C-c');
		await screen.shows(/status=130/);
		await none();
		// Output is shown unchanged, also on the alternate screen.
		await screen.line('clear; ringside run -it "printf \'\\033[?1049h\\033[5;3Hin the middle\'; read -n 1"; echo status=$?');
		await screen.shows(/^ {2}in the middle$/m);
		assert.equal(await screen.flags('alternate_on'), '1');
		await screen.type('x');
		await screen.shows(/status=0/);
		assert.equal(await screen.flags('alternate_on'), '0');
		// It survives a killed server.
		await screen.line('clear; ringside run -it "read x; echo got \\$x"; echo status=$?');
		await until('the attached session', async () => (await made())[0] && (await server.api.get((await made())[0].id)).clients === 1);
		await server.restart();
		await until('the attached session', async () => (await server.api.get((await made())[0].id)).clients === 1);
		await screen.line('word');
		await screen.shows(/^got word\nstatus=0/m);
		// The detach key leaves it: the command goes on, and the message names its session.
		await screen.line('clear; ringside run -it sleep 1000; echo status=$?');
		const { id } = await hasKeys(screen, 'sleep');
		await screen.type('', 'C-\\');
		await until('the message', async () => (await screen.text('-J')).includes(`the command runs on, in session ${id};`));
		await screen.shows(/status=0/);
		assert.equal((await cli(server, ['kill', id])).code, 0);
		await none();
		// Each signal ends it, and the terminal is restored.
		for (const [signal, status] of [['SIGTERM', 143], ['SIGHUP', 129]]) {
			await screen.line('clear; ringside run -it sleep 1000; echo status=$?');
			await inFront('sleep');
			kill(running(), signal);
			await screen.shows(new RegExp(`status=${status}`));
			await none();
		}
		await screen.line('clear; ringside run -it -t 0.3 sleep 1000; echo status=$?');
		await screen.shows(/status=124/);
		await none();
		await screen.line(`clear; stty -a > ${modes}.2; echo compared`);
		await screen.shows(/^compared/m);
		const modesOf = (n) => readFileSync(`${modes}.${n}`, 'utf8').replace(/rows \d+; columns \d+;/, '');
		assert.equal(modesOf(2), modesOf(1));
		// Closing the terminal ends it.
		await screen.line('clear; ringside run -it sleep 1000');
		await inFront('sleep');
	});
	await none();
	for (const [args, why] of [[['-it', 'true'], /must be a terminal/], [['-it', '--pipes', 'true'], /cannot be used with/], [['-it', '--json', 'true'], /cannot be used with/], [['-ti', '-i', 'true'], /cannot be used with/]]) {
		const { code, stderr } = await cli(server, ['run', ...args]);
		assert.equal(code, 125);
		assert.match(stderr, why);
	}
	assert.equal((await cli(server, ['run', 'echo', '-it'])).stdout, '-it\n', 'options after the command belong to it');
});
