// `ringside attach --status`: the session drawn from the server's screens, with a status line below.
import assert from 'node:assert/strict';
import { attached, withScreen } from './lib/cli.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const COLS = 90, ROWS = 20;
const sized = (server, id, rows) => until(`${rows} rows of ${id}`, async () => (await server.api.get(id)).rows === rows);
const lastRow = async (screen) => (await screen.text()).split('\n')[ROWS - 1];
const lastRowShows = (screen, pattern) => until(`${pattern} in the last row`, async () => pattern.test(await lastRow(screen)));

async function attach(server, screen, id, ...options) {
	await screen.line(`clear; ringside attach --prefix C-b ${options.join(' ')} ${id}; echo status=$?`);
	await attached(server, id);
}

shared('a status line: input arrives exactly once, across switches, another session and a killed server', async (server) => {
	for (const id of ['anna', 'berta']) await server.session({ id });
	await withScreen(server, { cols: COLS, rows: ROWS }, async (screen) => {
		await attach(server, screen, 'anna', '--status');
		await sized(server, 'anna', ROWS - 1);
		await lastRowShows(screen, /^ anna .*\d\d:\d\d ?$/);
		await screen.line('printf "\\e[1;31mr""ed\\e[m \u6f22x\\n"; cat -v');
		await screen.shows(/^red \u6f22x$/m);
		assert.match(await screen.text('-e'), /\x1b\[1m\x1b\[38;5;1mred|\x1b\[1;31mred|\x1b\[1m\x1b\[31mred/);
		await lastRowShows(screen, /^ anna \| cat/);
		await screen.type('one\rtwo\r\x02tthree\r');
		await sized(server, 'anna', ROWS);
		await screen.shows(/^three$/m);
		await screen.type('\x02tfour\r');
		await sized(server, 'anna', ROWS - 1);
		await lastRowShows(screen, /^ anna /);
		await screen.type('', 'C-d');
		await screen.line('seq 30; echo e""nd');
		await screen.shows(/^end$/m);
		await screen.type('', 'C-b', 't');
		await sized(server, 'anna', ROWS);
		await screen.line('echo b""ytes');
		await screen.shows(/^bytes$/m);
		// Output printed while the screen was drawn is in the terminal's scrollback.
		await screen.shows(/^1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n/m, '-S', '-');
		await screen.type('', 'C-b', 't');
		await lastRowShows(screen, /^ anna /);
		await screen.type('', 'C-b', 'n');
		await attached(server, 'berta');
		await sized(server, 'berta', ROWS - 1);
		await lastRowShows(screen, /^ berta /);
		await server.kill('SIGKILL');
		await lastRowShows(screen, /the server is away; .*C-\\/);
		await server.start();
		await attached(server, 'berta');
		await until('the server again', async () => !/away/.test(await lastRow(screen)));
		await screen.line('echo a""gain');
		await screen.shows(/^again$/m);
		await screen.tmux('resize-window', '-x', '60', '-y', '12');
		await sized(server, 'berta', 11);
		await screen.tmux('resize-window', '-x', String(COLS), '-y', String(ROWS));
		await sized(server, 'berta', ROWS - 1);
		await screen.type('', 'C-b', '?');
		await screen.shows(/t {6}switch the status line/);
		await screen.type(' ');
		await lastRowShows(screen, /^ berta /);
		await screen.type('', 'C-\\');
		await screen.shows(/\[berta: detached\]\nstatus=0/);
		assert.equal(await screen.flags('alternate_on', 'mouse_any_flag'), '0 0');
		const typed = await server.api.text('anna', 0);
		for (const word of ['one', 'two', 'three', 'four'])
			assert.equal(typed.split(new RegExp(`^${word}\\r?$`, 'm')).length, 3, `${word} is echoed, and comes back, once: ${JSON.stringify(typed)}`);
	});
});

shared('a status line: modes, a flood, a drain, and read-only clients', async (server) => {
	await server.session({ id: 'anna' });
	await server.session({ id: 'berta' });
	await withScreen(server, { cols: COLS, rows: ROWS }, async (screen) => {
		await attach(server, screen, 'anna', '--status');
		await lastRowShows(screen, /^ anna /);
		await screen.line(`printf '\\e[?1000h\\e[?1006h\\e[?1h\\e[?2004h\\e[?25l\\e]2;evil\\e\\\\'; yes`);
		await until('the modes', async () => await screen.flags('mouse_standard_flag', 'mouse_sgr_flag', 'keypad_cursor_flag', 'cursor_flag') === '1 1 1 0');
		await screen.type('', 'C-c');
		await screen.line(`printf '\\e[?1000l\\e[?1006l\\e[?1l\\e[?25h'; echo qu""iet`);
		await screen.shows(/^quiet$/m);
		await until('the modes', async () => await screen.flags('mouse_standard_flag', 'keypad_cursor_flag', 'cursor_flag') === '0 0 1');
		await screen.type('', 'C-\\');
		await screen.shows(/\[anna: detached\]/);
		await attach(server, screen, 'berta', '--status', '--read-only');
		await lastRowShows(screen, /^ berta /);
		const { rows } = await server.api.get('berta');
		assert.notEqual(rows, ROWS - 1, 'a viewer sends no size');
		await screen.line('nothing');
		await server.api.call('POST', '/api/drain');
		await lastRowShows(screen, /^ berta \| the server is being drained/);
		assert.doesNotMatch(await server.api.text('berta', 0), /nothing/);
		await screen.type('', 'C-\\');
		await screen.shows(/\[berta: detached\]/);
	});
});
