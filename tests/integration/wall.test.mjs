// `ringside wall` in a real terminal emulator: many sessions at once, those that need input first, and only text.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { cli, withScreen } from './lib/cli.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const leave = async (screen) => {
	await screen.type('q');
	await screen.shows(/^status=0/m);
};

const line = (server, id, text) => server.api.input(id, `${text}\r`);

const sizeOf = async (server, id) => (({ cols, rows }) => [cols, rows])(await server.api.get(id));

/** The ids in the order of their tiles. */
const order = async (screen, ids) => {
	const text = await screen.text();
	return ids.filter((id) => text.includes(` ${id} -`) || text.includes(`>${id} -`))
		.sort((a, b) => text.search(new RegExp(`[ >]${a} -`)) - text.search(new RegExp(`[ >]${b} -`)));
};

shared('sessions are shown live, those that need input first, and keep their sizes', async (server) => {
	const before = path.join(server.root, 'before');
	for (const id of ['anna', 'berta', 'carl']) await server.session({ id, cols: 70, rows: 20 });
	await withScreen(server, { cols: 120, rows: 40 }, async (screen) => {
		await screen.line(`clear; echo kept; stty -a > ${before}; ringside wall; echo status=$?`);
		await screen.shows(/anna - at its prompt.*berta - at its prompt/s);
		await line(server, 'berta', 'echo li""ve');
		await screen.shows(/live/);
		assert.deepEqual(await order(screen, ['anna', 'berta', 'carl']), ['anna', 'berta', 'carl']);
		await line(server, 'carl', 'read -p "na""me? " x');
		await screen.shows(/carl - .*waits for input/);
		await screen.shows(/name\?/);
		await until('the waiting session in the first tile', async () => (await order(screen, ['anna', 'berta', 'carl']))[0] === 'carl');
		await screen.shows(/3 sessions, 1 needs attention/);
		await line(server, 'carl', 'x');
		await until('the usual order', async () => (await order(screen, ['anna', 'berta', 'carl']))[0] === 'anna');
		await line(server, 'berta', 'printf "\\a"');
		await screen.shows(/berta \*/);
		await screen.tmux('resize-window', '-x', '61', '-y', '30');
		await screen.shows(/arrows choose, Enter attaches\n*$/);
		await screen.tmux('resize-window', '-x', '120', '-y', '40');
		await screen.shows(/q leaves/);
		assert.equal(await screen.flags('alternate_on', 'cursor_flag', 'wrap_flag'), '1 0 0');
		await leave(screen);
		assert.equal(await screen.flags('alternate_on', 'cursor_flag', 'wrap_flag'), '0 1 1');
		assert.match(await screen.text(), /^kept/m, 'the earlier screen is restored');
		await screen.line(`stty -a | diff ${before} - && echo sa""me`);
		await screen.shows(/^same$/m);
		for (const id of ['anna', 'berta', 'carl']) {
			assert.deepEqual(await sizeOf(server, id), [70, 20]);
			assert.equal((await server.api.get(id)).clients, 0);
		}
	});
});

shared('arrows select, Enter attaches, and detaching returns', async (server) => {
	for (const id of ['anna', 'berta']) await server.session({ id });
	await withScreen(server, { cols: 110, rows: 30 }, async (screen) => {
		await screen.line('clear; ringside wall; echo status=$?');
		await screen.shows(/>anna - at its prompt/);
		await screen.type('', 'Right');
		await screen.shows(/>berta/);
		await screen.type('', 'Left', 'Left');
		await screen.shows(/>anna/);
		await screen.type('', 'Right', 'Enter');
		await until('the attached client', async () => (await server.api.get('berta')).clients === 1);
		await screen.line('echo here=$RINGSIDE_SESSION; tput cols');
		await screen.shows(/^here=berta\n110$/m);
		await screen.type('', 'C-\\');
		await screen.shows(/>berta - at its prompt/);
		await screen.shows(/here=berta/);
		assert.equal(await screen.flags('alternate_on', 'cursor_flag'), '1 0');
		// Again, until the session ends while it is attached.
		await screen.type('', 'Enter');
		await until('the attached client', async () => (await server.api.get('berta')).clients === 1);
		await screen.line('exit 3');
		await screen.shows(/berta - ended: 3/);
		await leave(screen);
		assert.match(await screen.text(), /\[berta: ended with status 3\]/);
	});
});

shared('fifty sessions are paged', async (server) => {
	const ids = Array.from({ length: 50 }, (_, i) => `s${String(i).padStart(2, '0')}`);
	for (let i = 0; i < ids.length; i += 10)
		await Promise.all(ids.slice(i, i + 10).map((id) => server.api.open({ id, argv: ['sh', '-c', `echo I am ${id}; exec cat`] })));
	await withScreen(server, { cols: 100, rows: 31 }, async (screen) => {
		await screen.line('clear; ringside wall; echo status=$?');
		await screen.shows(/50 sessions.*page 1 of 4;/);
		await screen.shows(/>s00 - /);
		await screen.shows(/I am s00.*I am s01.*I am s02/);
		await screen.shows(/I am s14/);
		await screen.type('', 'PageDown', 'PageDown', 'PageDown');
		await screen.shows(/page 4 of 4;/);
		await screen.shows(/>s45 - .*s46/);
		await screen.shows(/I am s49/);
		await screen.type('', 'End');
		await screen.shows(/>s49/);
		await screen.type('', 'Home');
		await screen.shows(/>s00.*page 1 of 4;/s);
		await screen.shows(/I am s00.*I am s01/);
		await leave(screen);
	});
});

shared('output of programs is text: with colours, but without control sequences', async (server) => {
	await server.session({ id: 'box', cols: 60, rows: 10 });
	await server.session({ id: 'other', name: 'caf\u00e9', cols: 60, rows: 10 });
	const raw = path.join(server.root, 'raw');
	await withScreen(server, { cols: 120, rows: 20 }, async (screen) => {
		await screen.tmux('pipe-pane', `cat > ${raw}`);
		await screen.line('clear; ringside wall; echo status=$?');
		await screen.shows(/box - at its prompt/);
		const hostile = '\\033]0;ti\\177tle\\007\\033]52;c;c2VjcmV0\\007\\033[5n\\033P+q\\033\\\\\\033[?1003h\\033[?1049l\\302\\233c'
			+ '\\342\\200\\256rtl\\342\\200\\213\\033[31mred\\033[m 漢字 e\\314\\201 \\033[999Cend\\n';
		await line(server, 'box', `clear; printf '${hostile}'; sleep 1000`);
		await screen.shows(/\x1b\[(31|38;5;1)mred/, '-e');
		await screen.shows(/漢字 e\u0301/);
		await leave(screen);
		const text = await until('all output', () => {
			const all = readFileSync(raw, 'utf8');
			return all.includes('status=0') ? all : undefined;
		});
		const wall = text.slice(text.indexOf('\x1b[?1049h'), text.indexOf('\x1b[?1049l'));
		assert.ok(wall.includes('red') && wall.includes('(caf\u00e9)'));
		const known = /\x1b\[(\d+;\d+H|[\d;]*m|2J|\?1049h|\?25l|\?7l|\?2026[hl])/g;
		const rest = wall.replace(known, '');
		assert.doesNotMatch(rest, /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u206f]/);
		assert.ok(!wall.includes('secret') && !wall.includes('c2VjcmV0'));
	});
});

shared('it survives the server, and follows new and deleted sessions', async (server) => {
	await server.session({ id: 'anna' });
	await withScreen(server, { cols: 100, rows: 24 }, async (screen) => {
		await screen.line('clear; ringside wall; echo status=$?');
		await screen.shows(/>anna - at its prompt/);
		await server.kill('SIGKILL');
		await screen.shows(/the server is away/);
		await server.start();
		await screen.shows(/1 session, /);
		await server.session({ id: 'new' });
		await screen.shows(/new - at its prompt/);
		await line(server, 'anna', 'echo st""ill');
		await screen.shows(/still/);
		await cli(server, ['kill', 'anna']);
		await screen.shows(/>new - at its prompt/);
		await cli(server, ['kill', 'new']);
		await screen.shows(/there are no sessions/);
		await leave(screen);
	});
});

shared("with a link it shows the link's session", async (server) => {
	await server.session({ id: 'mine' });
	await server.session({ id: 'other' });
	const { stdout } = await cli(server, ['share', 'mine', '--json']);
	await withScreen(server, { cols: 100, rows: 24, env: { RINGSIDE_TOKEN: JSON.parse(stdout).token } }, async (screen) => {
		await screen.line(`clear; ringside wall --url ${server.base}; echo status=$?`);
		await screen.shows(/>mine - .*1 session, /s);
		assert.doesNotMatch(await screen.text(), /other/);
		await leave(screen);
		await screen.line(`clear; RINGSIDE_TOKEN=nonsense ringside wall --url ${server.base}; echo status=$?`);
		await screen.shows(/denied access to its sessions\nstatus=125/);
		await screen.line('clear; ringside wall < /dev/null; echo status=$?');
		await screen.shows(/must be a terminal\nstatus=125/);
	});
});
