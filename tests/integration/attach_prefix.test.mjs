// `ringside attach --prefix`: commands of the prefix key, and switching to another session.
import assert from 'node:assert/strict';
import { attached, cli, withScreen } from './lib/cli.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

let asked = 0;
const at = async (screen, id) => {
	asked += 1; // earlier output on the screen does not count
	await screen.line(`echo now${asked}=$RINGSIDE_SESSION`);
	await screen.shows(new RegExp(`^now${asked}=${id}$`, 'm'));
};

async function attach(server, screen, id, ...options) {
	await screen.line(`clear; ringside attach --prefix C-b ${options.join(' ')} ${id}; echo status=$?`);
	await attached(server, id);
	await at(screen, id);
}

shared('prefix commands: next, previous, detach, a literal prefix, and unknown keys', async (server) => {
	for (const id of ['anna', 'berta']) await server.session({ id });
	await withScreen(server, { cols: 90, rows: 20 }, async (screen) => {
		await attach(server, screen, 'anna');
		await screen.type('', 'C-b', 'n');
		await attached(server, 'berta');
		await at(screen, 'berta');
		await attached(server, 'anna', 0);
		assert.deepEqual((({ cols, rows }) => [cols, rows])(await server.api.get('berta')), [90, 20]);
		await screen.type('', 'C-b', 'p');
		await at(screen, 'anna');
		await screen.shows(/^now1=anna$/m); // the earlier screen is restored
		// Input goes to the session that was shown when it was typed, even in one write.
		await screen.type('echo f""irst\r\x02necho s""econd\r');
		await server.outputMatches('anna', /first\r\n/, 0);
		await server.outputMatches('berta', /second\r\n/, 0);
		assert.doesNotMatch(await server.api.text('berta', 0), /f""irst/);
		assert.doesNotMatch(await server.api.text('anna', 0), /s""econd/);
		// It reconnects to this session, not to the first.
		await server.restart();
		await attached(server, 'berta');
		await at(screen, 'berta');
		await screen.line('echo r""eads; cat -v');
		await screen.shows(/^reads$/m);
		await screen.type('', 'C-b', 'C-b', 'C-b', 'y', 'C-b', 'Up', 'z', 'Enter');
		await screen.shows(/^\^Bz$/m);
		await screen.type('', 'C-c', 'C-b', 'd');
		await screen.shows(/\[berta: detached\]\nstatus=0/);
	});
	assert.match((await cli(server, ['attach', '--prefix=C-\\', 'anna'])).stderr, /the same key/);
});

shared('a list of sessions, help, a new session, and ending one; no output is lost', async (server) => {
	await server.session({ id: 'anna' });
	await server.session({ id: 'berta', name: 'b\u6f22ig' });
	await withScreen(server, { cols: 90, rows: 20 }, async (screen) => {
		await attach(server, screen, 'anna');
		await screen.line('for i in {1..60}; do echo tick$i; sleep 0.03; done');
		await screen.shows(/^tick5$/m);
		await screen.type('', 'C-b', '?');
		await screen.shows(/Keys behind C-b:[^]*any key goes back/);
		await server.outputMatches('anna', /tick60\r/, 0);
		assert.doesNotMatch(await screen.text(), /tick60/);
		await screen.tmux('resize-window', '-x', '60', '-y', '3');
		await screen.shows(/any key goes back/);
		await screen.tmux('resize-window', '-x', '90', '-y', '20');
		await until('the size', async () => (await server.api.get('anna')).rows === 20);
		await screen.type(' ');
		await screen.shows(/^tick60$/m);
		const all = await screen.text('-S', '-');
		for (let i = 1; i <= 60; i += 1) assert.match(all, new RegExp(`^tick${i}$`, 'm'), 'output that came meanwhile is in the scrollback');
		await at(screen, 'anna');
		await attached(server, 'anna');
		await screen.type('', 'C-b', 's');
		await screen.shows(/> anna.*\n.*berta \(b\u6f22ig\)/);
		await screen.type('', 'Down', 'Enter');
		await at(screen, 'berta');
		// The server dies while an overlay is shown.
		await screen.type('', 'C-b', 's');
		await screen.shows(/> berta/);
		await server.kill('SIGKILL');
		await server.start();
		await screen.type('', 'q');
		await attached(server, 'berta');
		await at(screen, 'berta');
		await screen.type('', 'C-b', 'x');
		await screen.shows(/end session berta.*\(y\/n\)/);
		await screen.type('n');
		await at(screen, 'berta');
		await screen.type('', 'C-b', 'x');
		await screen.shows(/end session berta/);
		await screen.type('y');
		await screen.shows(/\[berta: was deleted\]\nstatus=3/);
		await attach(server, screen, 'anna', '--on-end', 'next');
		await screen.type('', 'C-b', 'c');
		const id = await until('a new session', async () => (await server.api.list()).data.find((each) => each !== 'anna'));
		await attached(server, id);
		await attached(server, 'anna', 0);
		await at(screen, id);
		await screen.line('exit');
		await attached(server, 'anna');
		await at(screen, 'anna');
		await screen.line('exit 4');
		await screen.shows(/\[anna: ended with status 4\]\nstatus=0/);
	});
});
