// `ringside attach` in a real terminal emulator: what it shows, what it leaves behind.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { cli, withScreen } from './lib/cli.mjs';
import { kill, processesNaming, cmdline } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { stays, until } from './lib/until.mjs';

const attached = (server, id, count = 1) => until(`${count} attached to ${id}`,
	async () => (await server.api.get(id)).clients === count);

async function attach(server, screen, id, ...options) {
	const before = (await server.api.get(id)).clients;
	await screen.line(`clear; echo kept; ringside attach ${options.join(' ')} ${id}; echo status=$?`);
	await attached(server, id, before + 1);
}

async function detach(screen) {
	await screen.type('', 'C-\\');
	await screen.shows(/\[\w+: detached\]\n(.*\n)*status=0/);
}

const client = (server) => processesNaming(server.root).find((pid) => /ringside attach/.test(cmdline(pid))
	&& !/bash|tmux/.test(cmdline(pid)));

scenario('colours, typing, the size of the window, and the terminal as it was', async (server) => {
	await server.session({ id: 'box' });
	await withScreen(server, { cols: 90, rows: 20 }, async (screen) => {
		const modes = path.join(server.root, 'modes');
		await screen.line(`stty -a > ${modes}.1; echo stored`);
		await screen.shows(/^stored/m);
		await attach(server, screen, 'box');
		await screen.line('printf "\\033[31mr%s\\033[m\\n" ed; stty size');
		await screen.shows(/\x1b\[31mred/, '-e');
		await screen.shows(/^20 90$/m);
		assert.deepEqual((({ cols, rows }) => [cols, rows])(await server.api.get('box')), [90, 20]);
		await screen.tmux('resize-window', '-x', '70', '-y', '15');
		await until('the new size', async () => (await server.api.get('box')).cols === 70);
		await screen.line('stty size');
		await screen.shows(/^15 70$/m);
		await screen.tmux('resize-window', '-x', '90', '-y', '20');
		await until('the old size', async () => (await server.api.get('box')).cols === 90);
		await detach(screen);
		assert.match(await screen.text('-S', '-'), /^kept/m, 'what was there is in the scrollback');
		await screen.line(`stty -a > ${modes}.2; echo compared`);
		await screen.shows(/^compared/m);
		assert.equal(readFileSync(`${modes}.2`, 'utf8'), readFileSync(`${modes}.1`, 'utf8'));
	});
	await attached(server, 'box', 0);
});

scenario('what is there is drawn, with the scrollback, once', async (server) => {
	await server.session({ id: 'box' });
	await cli(server, ['exec', 'box', 'printf "line%d\\n" {1..100}']);
	await withScreen(server, { cols: 100, rows: 30 }, async (screen) => {
		await attach(server, screen, 'box');
		await screen.shows(/^line100$/m);
		const all = await screen.text('-S', '-');
		for (const i of [1, 50, 99])
			assert.equal(all.split('\n').filter((line) => line === `line${i}`).length, 1, `line${i}`);
		await detach(screen);
		await attach(server, screen, 'box');
		await screen.shows(/^line100$/m);
		await detach(screen);
	});
});

scenario('everything that a session has switched on is switched off again', async (server) => {
	await server.session({ id: 'box' });
	await withScreen(server, {}, async (screen) => {
		const names = ['alternate_on', 'mouse_any_flag', 'mouse_button_flag', 'mouse_standard_flag', 'mouse_sgr_flag',
			'keypad_cursor_flag', 'keypad_flag', 'cursor_flag', 'insert_flag', 'wrap_flag', 'origin_flag',
			'scroll_region_upper', 'scroll_region_lower'];
		const before = await screen.flags(...names);
		const on = '\\033[?1049h\\033[?1003h\\033[?1006h\\033[?1h\\033=\\033[?25l\\033[4h\\033[?7l\\033[5;10r\\033[?6h\\033[?2004h';
		await attach(server, screen, 'box');
		await screen.line(`printf '${on}'; sleep 1000`);
		await until('the modes', async () => (await screen.flags('alternate_on', 'mouse_any_flag', 'cursor_flag')) === '1 1 0');
		await detach(screen);
		assert.equal(await screen.flags(...names), before);
		// Who attaches again finds them on.
		await attach(server, screen, 'box');
		await until('the modes again', async () => (await screen.flags('alternate_on', 'mouse_any_flag', 'cursor_flag')) === '1 1 0');
		// So it is when it is told to end, and when it breaks.
		for (const [signal, status] of [['SIGTERM', 143], ['SIGHUP', 129], ['SIGSEGV', 139]]) {
			kill(client(server), signal);
			await screen.shows(new RegExp(`status=${status}`));
			assert.equal(await screen.flags(...names), before, signal);
			await attach(server, screen, 'box');
			await until('the modes again', async () => (await screen.flags('alternate_on', 'mouse_any_flag')) === '1 1');
		}
		await detach(screen);
	});
});

scenario('what is typed before the session is there reaches it, once and in order', async (server) => {
	await server.session({ id: 'box' });
	await withScreen(server, {}, async (screen) => {
		kill(server.pid, 'SIGSTOP');
		await screen.line('ringside attach box; echo status=$?');
		await until('a client', () => client(server));
		await screen.line('echo e""arly; read x');
		await screen.line('second');
		kill(server.pid, 'SIGCONT');
		await screen.shows(/^early$/m);
		await screen.line('echo "<$x>"');
		await screen.shows(/^<second>$/m);
		await detach(screen);
	});
});

scenario('it comes back by itself when the server does', async (server) => {
	await server.session({ id: 'box' });
	await withScreen(server, {}, async (screen) => {
		await attach(server, screen, 'box');
		await screen.line('for i in {1..60}; do echo tick$i; sleep 0.05; done');
		await screen.shows(/^tick10$/m);
		await server.kill('SIGKILL');
		await screen.shows(/the server is away/);
		await screen.type('lost');
		await server.start();
		await attached(server, 'box');
		await screen.shows(/^tick60$/m);
		const shown = await until('a screen without the notice', async () => {
			const text = await screen.text('-S', '-');
			return /away/.test((await screen.text())) ? undefined : text;
		});
		for (let i = 1; i <= 60; i += 1) assert.match(shown, new RegExp(`^tick${i}$`, 'm'), 'no line is missing');
		await screen.line('echo back; echo');
		await screen.shows(/^back$/m);
		assert.doesNotMatch(await screen.text(), /lost/, 'what was typed without a server is lost');
		// Within a program on the alternate screen.
		await screen.line('less /etc/passwd');
		await screen.shows(/^root:/m);
		await server.restart();
		await attached(server, 'box');
		assert.equal(await screen.flags('alternate_on'), '1');
		await screen.shows(/^root:/m);
		await screen.type('q');
		await screen.shows(/^back$/m);
		await server.kill('SIGKILL');
		await screen.shows(/the server is away/);
		await detach(screen);
		await server.start();
	});
});

scenario('keys: nothing of its own, and the detach key in all its forms', async (server) => {
	await server.session({ id: 'box' });
	await withScreen(server, {}, async (screen) => {
		await attach(server, screen, 'box', '--detach-key', 'C-]');
		await screen.line('cat -v');
		await screen.shows(/cat -v\n/);
		await screen.type('', 'C-\\'); // a signal for cat, which the session's terminal sends
		await screen.shows(/Quit/);
		await screen.line('cat -v');
		await screen.type('\x1b[200~pasted\x1b[201~', 'Enter');
		await screen.shows(/pasted/);
		await screen.type('', 'C-]');
		await screen.shows(/status=0/);
		assert.match((await server.api.text('box', 0)), /pasted/);
		// What a terminal says of itself while a screen is drawn goes nowhere.
		await attach(server, screen, 'box');
		await screen.type('', 'C-c');
		await screen.line('printf "\\033[?1004h"; cat -v');
		await screen.shows(/cat -v\n/);
		await detach(screen);
		const { offset } = await server.api.get('box');
		await attach(server, screen, 'box');
		await screen.line('only this');
		await server.outputMatches('box', /only this/, offset);
		assert.doesNotMatch(await server.api.text('box', offset), /\^\[/);
		await screen.type('', 'C-c');
		// As kitty's protocol has C-\.
		await screen.type('\x1b[92;5u');
		await screen.shows(/detached/);
	});
});

scenario('only watching', async (server) => {
	await server.session({ id: 'box', cols: 60, rows: 10 });
	await withScreen(server, {}, async (screen) => {
		await attach(server, screen, 'box', '--read-only');
		await screen.line('echo not for me');
		await cli(server, ['exec', 'box', 'echo seen']);
		await screen.shows(/^seen$/m);
		assert.doesNotMatch(await server.api.text('box', 0), /not for me/);
		assert.equal((await server.api.get('box')).cols, 60);
		await detach(screen);
	});
});

scenario('the end of the session, of its shell, and stops', async (server) => {
	await server.session({ id: 'one' });
	await server.session({ id: 'two' });
	await withScreen(server, {}, async (screen) => {
		await attach(server, screen, 'one');
		await screen.line('exit 7');
		await screen.shows(/\[one: ended with status 7\]\nstatus=0/);
		await screen.line('clear; ringside attach one; echo status=$?');
		await screen.shows(/exit\n(.*\n)*\[one: ended with status 7\]\nstatus=0/);
		await attach(server, screen, 'two');
		kill(client(server), 'SIGTSTP');
		await screen.shows(/Stopped/);
		await screen.line('clear; fg; echo status=$?');
		await screen.line('echo on it goes');
		await screen.shows(/^on it goes$/m);
		await server.api.delete('two');
		await screen.shows(/\[two: was deleted\]\nstatus=3/);
		await screen.line('ringside attach --json one; echo status=$?');
		await screen.shows(/"end":"ended"/);
	});
	const unknown = await cli(server, ['attach', 'nobody']);
	assert.equal(unknown.code, 125);
	assert.match(unknown.stderr, /SESSION_NOT_FOUND/);
	assert.equal((await server.api.list()).data.includes('nobody'), false, 'it is not made');
	const pipe = await cli(server, ['attach', 'one']);
	assert.equal(pipe.code, 125);
	assert.match(pipe.stderr, /must be a terminal/);
});

scenario('new --attach; attach without a name takes the last one', async (server) => {
	await withScreen(server, {}, async (screen) => {
		await screen.line('ringside new --attach made');
		await attached(server, 'made').catch(() => {});
		await screen.line('echo in it; echo');
		await screen.shows(/^in it$/m);
		await screen.type('', 'C-\\');
		await screen.shows(/\[made: detached\]/);
		await screen.line('clear; ringside attach');
		await screen.shows(/^in it$/m);
		await screen.type('', 'C-\\');
		await screen.shows(/\[made: detached\]/);
		await stays('the session', async () => (await server.api.list()).data.includes('made'), 100);
	});
});
