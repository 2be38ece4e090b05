// Programs of the shell's own user can read the keys of marks and records, and write forged ones. The server detects that: a
// command's result is true or is marked as suspect; a forged result is never reported as exact.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cli } from './lib/cli.mjs';
import { connect } from './lib/mcp.mjs';
import { inEach, pidOf, shells } from './lib/shells.mjs';
import { long, times } from './lib/soak.mjs';
import { together } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const shared = together({}, { keep: shells });

/** In seconds; an ordinary run leaves processor time to other processes. */
const moment = times(0.001, 0);

/*
 * forge.pl CLAIMS SECONDS STATUS [COUNT]: read the holder's script and the nonce, make the claims that the letters name,
 * sleep and exit. COUNT: do so for each of the next COUNT commands, as fast as possible, but with a short pause between two
 * polls.
 */
const forge = String.raw`
use strict;
use POSIX ();
use Fcntl;
use Time::HiRes 'sleep';
my ($claims, $seconds, $status, $count) = @ARGV;
sub slurp { open(my $f, '<', $_[0]) or return ''; local $/; <$f> // '' }
sub say_to { sysopen(my $f, $_[0], O_RDWR | O_NOCTTY) or die "$_[0]: $!"; syswrite $f, $_[1] }
my $shell = $ENV{SHELL_PID};
my ($holder) = slurp("/proc/$shell/stat") =~ /\) \S (\d+)/;
my ($init) = slurp("/proc/$shell/cmdline") =~ m{(/[^'\0]+/init\.\w+)};
my ($zdotdir) = slurp("/proc/$shell/environ") =~ /(?:^|\0)ZDOTDIR=([^\0]+)/;
my ($nonce) = slurp($init // "$zdotdir/.zshenv") =~ /__rs_n(?:=| | != |-\} != )(\w{32})/;
die 'no nonce' unless $nonce;
my $tty = readlink "/proc/$shell/fd/0";
$SIG{TTOU} = 'IGNORE';
sub claim {
	my ($id) = @_;
	my %do = (
		m => sub { say_to($tty, "\e]133;D;0;aid=$nonce;id=$id\a") },
		g => sub { say_to($tty, "\e]133;D;0;aid=$nonce;id=$id;q=0123456789abcdef\a") },
		h => sub { say_to($tty, "\e]133;D;0;aid=$nonce;id=\a") },
		b => sub { say_to($tty, "\e]133;A;aid=$nonce\a\\$ \e]133;B;aid=$nonce\a") },
		c => sub { say_to($tty, "\e]133;C;aid=$nonce;id=$id\a") },
		C => sub { say_to("/proc/$holder/fd/7", join("\x1f", 'C', $nonce, $id, 0) . "\x1e") },
		r => sub { say_to("/proc/$holder/fd/7", join("\x1f", 'D', $nonce, $id, 0, 0, '/') . "\x1e") },
		R => sub { say_to("/proc/$holder/fd/7", join("\x1f", 'D', $nonce, "$id;q=0123456789abcdef", 0, 0, '/') . "\x1e") },
		p => sub { say_to("/proc/$holder/fd/7", join("\x1f", 'P', $nonce, 0, $id, '/', 0, '') . "\x1e") },
		P => sub { say_to("/proc/$holder/fd/7", join("\x1f", 'P', $nonce, 0, '', '/', 0, '') . "\x1e") },
		x => sub { say_to("/proc/$holder/fd/7", join("\x1f", 'X', $nonce, 0, $id, '') . "\x1e") },
		X => sub { say_to("/proc/$holder/fd/7", join("\x1f", 'X', $nonce, 0, '', '') . "\x1e") },
		t => sub { sysopen(my $f, $tty, O_RDWR | O_NOCTTY); POSIX::tcsetpgrp(fileno $f, $shell) },
		k => sub { system "stty raw -echo <$tty" },
	);
	$do{$_}->() for split //, $claims;
}
sub has_bytes { my $set = ''; vec($set, fileno($_[0]), 1) = 1; return select($set, undef, undef, 0.05) > 0 }
sub typed { slurp("/proc/$holder/fd/5") =~ /"id":"(\w+)"/ ? $1 : '' }
if ($claims eq 'take-record') { # out of the FIFO, and put another in
	sysopen(my $f, "/proc/$holder/fd/7", O_RDWR | O_NONBLOCK) or die;
	open(my $ready, '>', 'ready');
	while (!-e 'stop') {
		next unless has_bytes($f);
		my $n = sysread $f, my $text, 4096;
		$text =~ s/^(D\x1f\w+\x1f[^\x1f]+\x1f)\d+/\${1}0/ and syswrite $f, $text if $n;
	}
} elsif ($claims eq 'take-keys') {
	sysopen(my $f, $tty, O_RDWR | O_NONBLOCK | O_NOCTTY) or die;
	open(my $ready, '>', 'ready');
	while (!-e 'stop') { has_bytes($f) and sysread $f, my $text, 4096 }
} elsif ($count) {
	my $last = typed();
	open(my $ready, '>', 'ready');
	while ($count && !-e 'stop') {
		my $id = typed();
		if ($id eq $last) { sleep ${moment}; next }
		claim($last = $id) for 1 .. 3;
		$count--;
	}
} else {
	sleep 0.1; # on a busy machine the shell is not waiting yet
	claim(typed());
	sleep $seconds;
}
unlink 'ready';
exit $status;
`;

const exec = async (server, session, command, fields = {}) => (await server.api.call('POST', `/api/session/${session}/exec`, { command, queue: true, ...fields })).data;
const blocks = async (server, session) => (await server.api.call('GET', `/api/session/${session}/blocks?limit=1000`)).blocks;
const recordOf = async (server, session, { id }) => (await server.api.call('GET', `/api/session/${session}/exec/${id}`)).data;
const forger = (shell, claims, more = '') => `SHELL_PID=${pidOf[shell]} perl forge.pl ${claims} ${more || '0.5 7'}`;
const exit = (status) => `sh -c 'exit ${status}'`;

/** A session of this shell, in its own directory; sessions with the shell's name are kept from test to test. */
async function start(server, shell, id = shell) {
	const cwd = path.join(server.home, id);
	mkdirSync(cwd, { recursive: true });
	writeFileSync(path.join(cwd, 'forge.pl'), forge);
	await server.session({ id, shell, cwd });
	return cwd;
}

/** The claim was not reported: the status is the true one, and the result is suspect. */
function noticed(e, about, status = 7) {
	const what = `${about}: ${JSON.stringify(e)}`;
	assert.equal(e.state ?? 'done', 'done', what);
	assert.equal(e.suspect, true, what);
	assert.equal(e.exitCode, status, what);
	assert.notEqual(e.outputExact, true, what);
}

const never = (e, about) => assert.ok(e.suspect || e.exitCode === 7 || e.exitCode === null, `${about}: ${JSON.stringify(e)}`);

shared('a command that claims to have ended, in every way', { timeout: 120_000 }, (server) => inEach(async (shell) => {
	await start(server, shell);
	for (const claims of long ? ['r', 'm', 'mr', 'gR', 'mrp', 'mrbp', 'p', 'x', 'X', 'tmrbp', 'mrtkbp'] : ['mr', 'gR', 'X', 'mrtkbp']) {
		const e = await exec(server, shell, forger(shell, claims));
		noticed(e, `${shell}: ${claims}`);
		assert.ok(e.durationMs >= 500, claims);
		const block = (await blocks(server, shell)).find(({ execId }) => execId === e.id);
		assert.deepEqual([block.exitCode, block.suspect, block.outputExact, block.end], [7, true, false, e.range.end], `${shell}: ${claims}`);
		await exec(server, shell, 'stty sane');
	}
	// It starts only once: output before another start mark belongs to it.
	const e = await exec(server, shell, `echo before; ${forger(shell, 'cC')}`, { timeoutMs: 20_000 });
	noticed(e, `${shell}: a second beginning`);
	assert.match(e.output, /^before\n/);
	// The next command is not affected.
	const after = await exec(server, shell, `echo honest; ${exit(3)}`);
	assert.deepEqual([after.exitCode, after.suspect, after.outputExact, after.output], [3, false, true, 'honest\n'], shell);
}));

shared('the same with pipes, streams, MCP and the command line', (server) => inEach(async (shell) => {
	await start(server, shell);
	const execute = async (command) => JSON.parse((await server.api.raw('POST', '/api/execute', { command, sessionId: shell })).text);
	const { execId, ...executed } = await execute(forger(shell, 'mr'));
	noticed(executed, '/api/execute');
	assert.equal(executed.success, false);
	const { text } = await server.api.raw('POST', '/api/execute/stream', { command: forger(shell, 'mr'), sessionId: shell });
	noticed(JSON.parse(text.trim().split('\n').filter((line) => line.startsWith('data: ')).at(-1).slice(6)), '/api/execute/stream');
	noticed(await recordOf(server, shell, { id: execId }), 'read later');
	const honest = await execute('true');
	assert.deepEqual([honest.success, 'suspect' in honest], [true, false]);
	const { client, call } = await connect(server, 'sdk');
	const { structuredContent, content } = await call('exec', { session_id: shell, command: forger(shell, 'mr') });
	await client.close();
	assert.deepEqual([structuredContent.exit_code, structuredContent.suspect, structuredContent.output_exact], [7, true, false]);
	assert.match(content[0].text, /^exit code 7.*forge/);
	const { code, stderr } = await cli(server, ['exec', shell, forger(shell, 'mr')]);
	assert.equal(code, 125);
	assert.match(stderr, /status 7.*forge/);
}));

shared('from the background: every later command, and many at once', { timeout: 120_000 }, async (server) => {
	await inEach(async (shell) => {
		await start(server, shell);
		await exec(server, shell, `rm -f stop; ${forger(shell, 'mrbp', '0 0 50')} & :`);
		await until('the forger', async () => (await exec(server, shell, 'rm ready')).exitCode === 0);
		for (let i = 0; i < times(4, 25); i += 1) never(await exec(server, shell, i % 2 ? exit(7) : `sleep 0.05; ${exit(7)}`), `${shell}: racing ${i}`);
		await exec(server, shell, 'touch stop; wait; rm -f stop');
	});
	const names = Array.from({ length: times(3, 20) }, (_, at) => [`t${at}`, shells[at % shells.length]]);
	await Promise.all(names.map(([name, shell]) => start(server, shell, name)));
	const all = await Promise.all(names.map(([name, shell]) => exec(server, name, forger(shell, 'mrp', '1 7'))));
	for (const [at, e] of all.entries()) noticed(e, names[at]);
});

shared('removed records and changed input are detected', { timeout: 120_000 }, (server) => inEach(async (shell) => {
	const cwd = await start(server, shell);
	for (const thief of ['take-record', 'take-keys']) {
		await exec(server, shell, `rm -f ready stop; ${forger(shell, thief, '0 0')} & sh -c 'while [ ! -e ready ]; do sleep 0.01; done'`);
		for (let i = 0; i < times(2, 6); i += 1) never(await exec(server, shell, `sleep 0.05; ${exit(7)}`, { timeoutMs: 2000 }), `${shell}: ${thief} ${i}`);
		writeFileSync(path.join(cwd, 'stop'), '');
		// The thief polls for that file: it may affect one more command.
		if (thief === 'take-record') await until(`the end of ${thief}`, () => !existsSync(path.join(cwd, 'ready')));
		await until(`honest answers of ${shell} again`, async () => (await exec(server, shell, `rm -f stop; ${exit(5)}`, { timeoutMs: 2000 })).exitCode === 5, { timeout: 60_000 });
	}
}));

shared('the next server, after kill -9, trusts claims no more', { timeout: 60_000 }, async (server) => {
	const begin = (command) => inEach(async (shell) => {
		const asked = await exec(server, shell, command(shell), { yieldMs: 0 });
		let now; // on a busy machine it may end before it is read
		await until(() => `beginning of ${JSON.stringify(now)}`, async () => (now = await recordOf(server, shell, asked)).state !== 'queued');
		return { shell, asked };
	});
	const end = ({ shell, asked }) => until('the end of the command', async () => {
		const e = await recordOf(server, shell, asked);
		return e.state === 'done' && e;
	});
	const again = async () => {
		await server.kill();
		await server.restart();
	};
	await inEach((shell) => start(server, shell));
	for (const claims of ['mrbp', 'gR', 'mr'].slice(0, times(1, 3))) {
		const begun = await begin((shell) => forger(shell, claims, '2 7'));
		await again();
		for (const each of begun) noticed(await end(each), `${each.shell}: ${claims}`);
		await again();
		await Promise.all(begun.map(async ({ shell, asked }) => {
			noticed(await recordOf(server, shell, asked), `${shell}: ${claims}, from the log`);
			const honest = await exec(server, shell, exit(4));
			assert.deepEqual([honest.exitCode, honest.suspect, honest.outputExact], [4, false, true], shell);
		}));
	}
	// A command that continues under the next server without claims.
	const begun = await begin(() => `sleep 1; echo out; ${exit(6)}`);
	await again();
	for (const each of begun) {
		const e = await end(each);
		assert.deepEqual([e.exitCode, e.suspect, e.outputExact, e.endedBy], [6, false, true, 'command'], each.shell);
	}
});

// With zsh and fish it also fails now and then on a busy machine, for an unknown reason.
shared('the block of a typed command is marked as suspect', { timeout: 60_000 }, (server) => inEach(async (shell) => {
	await start(server, shell);
	const done = (what, fits) => until(() => `${what} in ${shell}`, async () => (await blocks(server, shell)).find((block) => fits(block.command ?? '') && block.state === 'done'));
	for (const claims of long ? ['h', 'hP', 'hbP', 'thbP', 'hb'] : ['h', 'thbP']) {
		await server.api.input(shell, `${forger(shell, claims, '1 7')}\r`);
		const block = await done(`the block of ${claims}`, (command) => command.includes(` ${claims} `));
		assert.equal(block.suspect, true, `${shell}: ${claims}: ${JSON.stringify(block)}`);
		assert.equal(block.outputExact, false, claims);
		await server.shellReady(shell);
		assert.equal((await blocks(server, shell)).find(({ id: other }) => other === block.id).exitCode, 7, `${shell}: ${claims}`);
	}
	await server.api.input(shell, 'sleep 0.2\r');
	const honest = await done('an honest block', (command) => command === 'sleep 0.2');
	assert.deepEqual([honest.exitCode, honest.suspect, honest.outputExact], [0, false, true], shell);
}, ['bash']));
