// `ringside attach` in a real terminal emulator: what it shows and restores.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { attached, cli, environment, withScreen } from './lib/cli.mjs';
import { kill, processesNaming, cmdline } from './lib/proc.mjs';
import { binary } from './lib/server.mjs';
import { shared } from './lib/together.mjs';
import { stays, until } from './lib/until.mjs';

async function attach(server, screen, id, ...options) {
	const before = (await server.api.get(id)).clients;
	await screen.line(`clear; echo kept; ringside attach ${options.join(' ')} ${id}; echo status=$?`);
	await attached(server, id, before + 1);
}

const client = (server) => processesNaming(server.root).find((pid) => /ringside attach/.test(cmdline(pid))
	&& !/bash|tmux/.test(cmdline(pid)));

shared('colours, typing, the size of the window, and the restored terminal', async (server) => {
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
		await screen.detach();
		assert.match(await screen.text('-S', '-'), /^kept/m, 'earlier output is in the scrollback');
		await screen.line(`stty -a > ${modes}.2; echo compared`);
		await screen.shows(/^compared/m);
		assert.equal(readFileSync(`${modes}.2`, 'utf8'), readFileSync(`${modes}.1`, 'utf8'));
	});
	await attached(server, 'box', 0);
});

shared('the existing screen is drawn once, with the scrollback', async (server) => {
	await server.session({ id: 'box' });
	await cli(server, ['exec', 'box', 'printf "line%d\\n" {1..100}']);
	await withScreen(server, { cols: 100, rows: 30 }, async (screen) => {
		await attach(server, screen, 'box');
		await screen.shows(/^line100$/m);
		const all = await screen.text('-S', '-');
		for (const i of [1, 50, 99])
			assert.equal(all.split('\n').filter((line) => line === `line${i}`).length, 1, `line${i}`);
		await screen.detach();
		await attach(server, screen, 'box');
		await screen.shows(/^line100$/m);
		await screen.detach();
	});
});

shared('all modes that a session has set are reset again', async (server) => {
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
		await screen.detach();
		assert.equal(await screen.flags(...names), before);
		// A second attach sets them again.
		await attach(server, screen, 'box');
		await until('the modes again', async () => (await screen.flags('alternate_on', 'mouse_any_flag', 'cursor_flag')) === '1 1 0');
		// They are also reset by a signal and by a crash.
		for (const [signal, status] of [['SIGTERM', 143], ['SIGHUP', 129], ['SIGSEGV', 139]]) {
			kill(client(server), signal);
			await screen.shows(new RegExp(`status=${status}`));
			assert.equal(await screen.flags(...names), before, signal);
			await attach(server, screen, 'box');
			await until('the modes again', async () => (await screen.flags('alternate_on', 'mouse_any_flag')) === '1 1');
		}
		await screen.detach();
	});
});

shared('input typed before the session is ready reaches it once, in order', async (server) => {
	await server.session({ id: 'box' });
	await withScreen(server, {}, async (screen) => {
		kill(server.pid, 'SIGSTOP');
		await screen.line('ringside attach box; echo status=$?');
		await until('a client', () => client(server));
		// readline reads both: with `read`, bash would wait for the newline of a return that was typed while the
		// terminal was raw.
		await screen.line('x+=e""arly; echo "<$x>"');
		await screen.line('x+=-se""cond; echo "<$x>"');
		kill(server.pid, 'SIGCONT');
		await screen.shows(/^<early>\n(.*\n)*<early-second>$/m);
		await screen.detach();
	});
});

shared('it reconnects when the server is back', async (server) => {
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
		assert.doesNotMatch(await screen.text(), /lost/, 'input without a server is lost');
		// The same in a program on the alternate screen.
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
		await screen.detach();
		await server.start();
	});
});

shared('keys: it uses only the detach key', async (server) => {
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
		// A terminal's replies while the screen is drawn are dropped.
		await attach(server, screen, 'box');
		await screen.type('', 'C-c');
		await screen.line('printf "\\033[?1004h"; cat -v');
		await screen.shows(/cat -v\n/);
		await screen.detach();
		const { offset } = await server.api.get('box');
		await attach(server, screen, 'box');
		await screen.line('only this');
		await server.outputMatches('box', /only this/, offset);
		assert.doesNotMatch(await server.api.text('box', offset), /\^\[/);
		await screen.type('', 'C-c');
		await screen.detach();
	});
});

shared('a read-only client', async (server) => {
	await server.session({ id: 'box', cols: 60, rows: 10 });
	await withScreen(server, {}, async (screen) => {
		await attach(server, screen, 'box', '--read-only');
		await screen.line('echo not for me');
		await cli(server, ['exec', 'box', 'echo seen']);
		await screen.shows(/^seen$/m);
		assert.doesNotMatch(await server.api.text('box', 0), /not for me/);
		assert.equal((await server.api.get('box')).cols, 60);
		await screen.detach();
	});
});

shared('the end of the session and of its shell, and stopping', async (server) => {
	await server.session({ id: 'one' });
	await server.session({ id: 'two' });
	await withScreen(server, {}, async (screen) => {
		await attach(server, screen, 'one');
		await screen.line('exit 7');
		await screen.shows(/\[one: ended with status 7\]\nstatus=0/);
		await screen.line('clear; ringside attach one; echo again=$?');
		await screen.shows(/exit\n(.*\n)*\[one: ended with status 7\]\nagain=0/);
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
	const unknown = await cli(server, ['attach', 'missing']);
	assert.equal(unknown.code, 125);
	assert.match(unknown.stderr, /SESSION_NOT_FOUND/);
	assert.equal((await server.api.list()).data.includes('missing'), false, 'no session is created');
	const pipe = await cli(server, ['attach', 'one']);
	assert.equal(pipe.code, 125);
	assert.match(pipe.stderr, /must be a terminal/);
});

shared('new --attach; attach without a name uses the latest session', async (server) => {
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

/** A terminal of which the test controls every byte: output of `ringside attach` and replies. */
class Terminal {
	constructor(server, options = [], { answer = () => '' } = {}) {
		this.server = server;
		this.shown = '';
		this.replies = '';
		const command = `stty cols 80 rows 24; exec ${binary} attach ${options.join(' ')} box`;
		this.child = spawn('script', ['-qfec', command, '/dev/null'], { env: environment(server), stdio: ['pipe', 'pipe', 'inherit'] });
		this.ended = new Promise((resolve) => { this.child.on('close', resolve); });
		this.child.stdin.on('error', () => {});
		this.child.stdout.setEncoding('latin1').on('data', (text) => {
			this.shown += text;
			const replies = answer(text, this);
			this.replies += replies;
			if (replies) this.child.stdin.write(replies, 'latin1');
		});
	}

	shows(pattern) {
		return until(() => `${pattern} in ${JSON.stringify(this.shown)}`, () => pattern.exec(this.shown));
	}

	async detach() {
		this.child.stdin.write('\x1c');
		await this.ended;
	}
}

const elsewhere = {
	'OSC 52': '\\033]52;c;aGVsbG8=\\a', 'OSC 52, ST': '\\033]52;;aGVsbG8=\\033\\\\', 'OSC 52, C1': '\\302\\23552;p;aGVsbG8=\\302\\234',
	'OSC 52, in tmux': '\\033Ptmux;\\033\\033]52;c;aGVsbG8=\\a\\033\\\\', 'a notification': '\\033]9;aGVsbG8=\\a', 'a file': '\\033]1337;File=name=eA==:aGVsbG8=\\a',
	'the window': '\\033[8;10;10t', printing: '\\033[5i', 'a locked keyboard': '\\033[2h',
};

shared("a program in the session reaches the terminal's screen, but nothing beyond it", async (server) => {
	await server.session({ id: 'box' });
	const everything = Object.values(elsewhere).join('-');
	for (const [options, allowed] of [[[], 0], [['--clipboard'], 4]]) {
		const terminal = new Terminal(server, options);
		await terminal.shows(/\x1b\[5n/); // the screen has been drawn
		terminal.shown = '';
		const { offset } = await server.api.get('box');
		await server.api.input('box', `printf 'be''gin${everything}e''nd\\n'\r`);
		await terminal.shows(/begin[^]*end\r\n/);
		// In two pieces, and from a terminal that was disconnected meanwhile.
		await server.api.input('box', 'printf "tw""o\\033]52;c;aG"; sleep 0.1; printf "VsbG8=\\athr""ee"\r');
		await terminal.shows(/two[^]*three/);
		const got = /begin[^]*three/.exec(terminal.shown)[0];
		assert.equal(got.match(/\x1b\]52;[cp]?;aGVsbG8=\x1b\\/g)?.length ?? 0, allowed && allowed + 1, JSON.stringify(got));
		assert.equal(got.match(/aGVsbG8=/g)?.length ?? 0, allowed && allowed + 1);
		assert.doesNotMatch(got, /\x1b\[8;|\x1b\[5i|\x1b\[2h|\x1bP|\x1b\]1337|\x1b\]9/);
		assert.match((await server.api.text('box', offset)), /\x1b\]52;c;aGVsbG8=/, 'it was printed');
		await terminal.detach();
		await attached(server, 'box', 0);
	}
});

/** Replies of terminals: kitty, xterm, iTerm2, and ones that accept bytes as C1 controls or skip broken sequences. */
const answers = [[/\x1b\[[>=]?0?c/, '\x1b[?62;c'], [/\x1b\[5n/, '\x1b[0n'], [/\x1b\[\??6n/, '\x1b[7;7R'], [/\x1b\[\??\d+\$p/, '\x1b[?1;2$y'],
	[/\x1b\[>0?q/, '\x1bP>|kitty(1)\x1b\\'], [/\x1b\[\?u/, '\x1b[?0u'], [/\x1b\[(?:14|18|21)t/, '\x1b[8;24;80t'], [/\x1b\[\?2048h/, '\x1b[48;24;80;1;1t'],
	[/\x1b\](?:1[0-2]|4;1);\?/, '\x1b]11;rgb:0/0/0\x1b\\'], [/\x1b\]52;c;\?/, '\x1b]52;c;cm0K\x1b\\'], [/\x1b\]5522;/, '\x1b]5522;x\x1b\\'],
	[/\x1b\]99;/, '\x1b]99;i=1:p=?;\x1b\\'], [/\x1b\]1337;Report/, '\x1b]1337;ReportCellSize=1;1\x1b\\'], [/\x1b_G/, '\x1b_Gi=31;OK\x1b\\'],
	[/\x1bP[$+]q/, '\x1bP1$r0m\x1b\\'], [/\x1bZ/, '\x1b[?62;c'], [/\x05/, 'answerback'], [/\x9b6n|\x1b\[\xc3\xa96n/, '\x1b[7;7R']];
const answer = (text) => answers.map(([pattern, replies]) => replies.repeat(text.split(pattern).length - 1)).join('');
const asked = '\x1b[c \x1b[>c \x1b[5n \x1b[6n \x1b[?6n \x1b[?1$p \x1b[>q \x1b[?u \x1b[18t \x1b[21t \x1b[?2048h \x1b]11;?\x07 \x1b]4;1;?\x1b\\'
	+ ' \x1b]52;c;?\x07 \x1b]5522;type=read\x07 \x1b]99;i=1:p=?;\x07 \x1b]1337;ReportCellSize\x07 \x1b_Gi=31,a=q;AAAA\x1b\\ \x1bP$qm\x1b\\'
	+ ' \x1bP+q544e\x1b\\ \x1bZ \x05 \x9b6n \xc2\x9b6n \x1b[\xc3\xa96n \xc2\x9a \x1bPtmux;\x1b\x1b[6n\x1b\\';

shared('a terminal that replies to every query types nothing: live, redrawn or resumed', async (server) => {
	await server.session({ id: 'box' });
	assert.ok(answer(asked).length > 150, 'this terminal never replies, so the test proves nothing');
	writeFileSync(path.join(server.cwd, 'asked'), Buffer.from(asked, 'latin1'));
	// The program consumes the server's replies.
	writeFileSync(path.join(server.cwd, 'ask'), `stty raw -echo; printf 'be''gin'; cat asked; perl -e 'for (;;) { my $r = ""; vec($r, 0, 1) = 1; last unless select($r, undef, undef, 0.5) > 0; sysread(STDIN, my $b, 65536) }'; stty sane; echo 'e''nd'\n`);
	const quiet = async (terminal, how) => {
		// attach itself asks once, after it has drawn.
		assert.equal(JSON.stringify(terminal.replies.replaceAll('\x1b[0n', '')), '""', how);
		assert.ok(terminal.replies.length / 4 <= terminal.shown.split('\x1b[5n').length - 1);
		assert.equal(await server.run('box', 'read -t 0.5 -n 1 x; echo "[$x]"'), '[]\n', how);
	};
	const live = new Terminal(server, [], { answer });
	await live.shows(/\x1b\[5n/);
	await server.api.input('box', '. ./ask\r');
	await live.shows(/begin[^]*end\r/);
	await quiet(live, 'live');
	await live.detach();
	const again = new Terminal(server, [], { answer });
	await again.shows(/begin[^]*end[^]*\x1b\[5n/);
	await quiet(again, 'drawn again');
	await server.restart();
	await attached(server, 'box');
	await server.run('box', 'cat asked; sleep 0.3; read -t 0.1 -n 1000 x; echo');
	await quiet(again, 'after another server');
	await again.detach();
});
