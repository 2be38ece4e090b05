// `ringside attach --prefix`: scrolling and searching in the history while the session goes on.
import assert from 'node:assert/strict';
import { attached, withScreen } from './lib/cli.mjs';
import { scenario } from './lib/server.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

async function attach(server, screen, id) {
	await screen.line(`clear; ringside attach --prefix C-b ${id}; echo status=$?`);
	await attached(server, id);
	await screen.line('echo at=$RINGSIDE_SESSION');
	await screen.shows(new RegExp(`^at=${id}$`, 'm'));
}

const shown = async (screen) => (await screen.text()).split('\n');
/** Wait until this is the top line. */
const top = (screen, wanted) => until(`${wanted} at the top`, async () => (await shown(screen))[0] === wanted);

shared('scrolling: lines, pages, both ends, and back to the running session', async (server) => {
	await server.session({ id: 'anna' });
	await withScreen(server, { cols: 80, rows: 20 }, async (screen) => {
		await attach(server, screen, 'anna');
		await screen.line('PS1=; clear; for i in {1..300}; do echo "line $i"; done');
		await screen.shows(/^line 300$/m);
		await screen.type('', 'C-b', '[');
		await screen.shows(/ lines \d+-\d+ of \d+; .*q goes back/);
		await screen.type('', 'PageUp');
		await top(screen, 'line 265');
		await screen.type('kk');
		await top(screen, 'line 263');
		await screen.type('', 'C-b'); // a key without a command here
		await top(screen, 'line 245');
		await screen.type('g');
		await screen.shows(/ lines 1-19 of/);
		await screen.type('G');
		await screen.shows(/^line 300$/m);
		await screen.type('kkkkkkkkkkkkkkkkkkkkkkkkkk'); // in one write
		await top(screen, 'line 257');
		// Output that comes meanwhile does not move the view, and is there afterwards.
		await server.api.input('anna', 'for i in {301..350}; do echo "line $i"; done\r');
		await server.outputMatches('anna', /line 350\r/, 0);
		await screen.type('j');
		await top(screen, 'line 258');
		await screen.shows(/ lines \d+-\d+ of 3\d\d/);
		await screen.type('q');
		await screen.shows(/^line 350$/m);
		const all = await screen.text('-S', '-');
		for (let i = 250; i <= 350; i += 1) assert.match(all, new RegExp(`^line ${i}$`, 'm'), 'nothing is lost');
		await screen.line('echo back=$RINGSIDE_SESSION');
		await screen.shows(/^back=anna$/m);
		await screen.type('', 'C-b', '[');
		await screen.shows(/q goes back/);
		await screen.type('', 'C-\\');
		await screen.shows(/\[anna: detached\]\nstatus=0/);
	});
});

shared('searching, colours, other widths, and no server', async (server) => {
	await server.session({ id: 'anna' });
	await withScreen(server, { cols: 80, rows: 20 }, async (screen) => {
		await attach(server, screen, 'anna');
		await screen.line("PS1=; clear; for i in {1..100}; do printf '\\e[31mrow %d\\e[m n\\u00e4del\\n' $i; echo hay; done");
		await screen.shows(/^row 100 n\u00e4del$/m);
		await screen.type('', 'C-b', '/');
		await screen.shows(/^search: _/m);
		await screen.type('RoW 7x');
		await screen.type('', 'BSpace', 'Enter');
		await screen.shows(/match 1 of 11;/);
		await screen.shows(/^row 79 n\u00e4del$/m);
		assert.match(await screen.text('-e'), /\x1b\[38;5;1mrow 80/, 'colours are there');
		await screen.type('n');
		await screen.shows(/match 2 of 11;/);
		await screen.type('/n\u00e4d\u00e4');
		await screen.shows(/^search: n\u00e4d\u00e4_/m);
		await screen.type('', 'BSpace');
		await screen.type('el\r');
		await screen.shows(/match \d+ of 100;/);
		await screen.type('/nowhere\x1b');
		await screen.shows(/match \d+ of 100;/); // cancelled
		await screen.type('/a%&b?\r');
		await screen.shows(/no line matches; q goes back/);
		await screen.type('/\x1b[2J\r\x1b[A'); // neither the prompt nor the view treats the sequence as input
		await screen.shows(/q goes back/);
		// Another width wraps lines differently.
		await screen.type('/row 50\r');
		await screen.shows(/^row 50 n\u00e4del$/m);
		for (const [cols, rows] of [[5, 3], [1, 1], [40, 30], [80, 20]]) await screen.tmux('resize-window', '-x', `${cols}`, '-y', `${rows}`);
		await screen.shows(/q goes back/);
		await server.kill('SIGKILL');
		await screen.type('g');
		await screen.shows(/the server does not answer; q goes back/);
		await server.start();
		await screen.type('g');
		await screen.shows(/ lines 1-19 of/);
		await screen.type('q');
		await attached(server, 'anna');
		await screen.line('echo back=$RINGSIDE_SESSION');
		await screen.shows(/^back=anna$/m);
		await screen.type('', 'C-b', '[');
		await screen.shows(/q goes back/);
		await server.api.delete('anna');
		await screen.shows(/\[anna: was deleted\]\nstatus=3/);
	});
});

scenario('scrolling during a flood: dropped lines disappear, and keys act at once', { args: ['--scrollback', '200'] }, async (server) => {
	await server.session({ id: 'anna' });
	await withScreen(server, { cols: 80, rows: 20 }, async (screen) => {
		await attach(server, screen, 'anna');
		await screen.line('for ((i = 0; ; i++)); do echo "tick $i"; done');
		await screen.shows(/^tick \d{3,}$/m);
		await screen.type('', 'C-b', '[');
		await screen.shows(/ lines \d+-\d+ of 220;/);
		const first = async () => 1 + Number(/^tick (\d+)$/m.exec(await screen.text())?.[1]);
		for (const key of ['g', 'j', 'G', 'k', 'b', '/tick 1\r', 'n', 'N', 'g']) {
			const before = await until('a page', first);
			await screen.type(key);
			if (key === 'g') await screen.shows(/ lines 1-19 of 220/);
			if (key === 'G') await until('a newer page', async () => await first() > before);
		}
		await screen.type('q');
		await screen.type('', 'C-c');
		await screen.line('echo back=$RINGSIDE_SESSION');
		await screen.shows(/^back=anna$/m);
	});
});
