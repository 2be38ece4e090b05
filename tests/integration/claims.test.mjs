// Programs of the shell's own user know what marks and records are known by, and can write them: that is noticed. A
// command's answer is the true one, or says that it is suspect; what a program made up is never given out as exact.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { cli } from './lib/cli.mjs';
import { scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const id = 's';

/*
 * forge.pl CLAIMS SECONDS STATUS [COUNT]: looks up the holder's script and the nonce, claims what the letters say, sleeps and
 * exits. COUNT: does so for every command that is typed from then on, COUNT of them, as fast as it can.
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
my ($nonce) = slurp((split /\0/, slurp("/proc/$shell/cmdline"))[2]) =~ /__rs_n=(\w+)/;
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
		x => sub { say_to("/proc/$holder/fd/7", join("\x1f", 'X', $nonce, 0, $id) . "\x1e") },
		X => sub { say_to("/proc/$holder/fd/7", join("\x1f", 'X', $nonce, 0, '') . "\x1e") },
		t => sub { sysopen(my $f, $tty, O_RDWR | O_NOCTTY); POSIX::tcsetpgrp(fileno $f, $shell) },
		k => sub { system "stty raw -echo <$tty" },
	);
	$do{$_}->() for split //, $claims;
}
sub typed { slurp("/proc/$holder/fd/5") =~ /"id":"(\w+)"/ ? $1 : '' }
if ($claims eq 'take-record') { # out of the FIFO, and put another in
	sysopen(my $f, "/proc/$holder/fd/7", O_RDWR | O_NONBLOCK) or die;
	open(my $ready, '>', 'ready');
	while (!-e 'stop') {
		my $n = sysread $f, my $text, 4096;
		$text =~ s/^(D\x1f\w+\x1f[^\x1f]+\x1f)\d+/\${1}0/ and syswrite $f, $text if $n;
	}
} elsif ($claims eq 'take-keys') {
	sysopen(my $f, $tty, O_RDWR | O_NONBLOCK | O_NOCTTY) or die;
	open(my $ready, '>', 'ready');
	while (!-e 'stop') { sysread $f, my $text, 4096 }
} elsif ($count) {
	my $last = typed();
	open(my $ready, '>', 'ready');
	while ($count && !-e 'stop') {
		my $id = typed();
		next if $id eq $last;
		claim($last = $id) for 1 .. 3;
		$count--;
	}
} else {
	sleep 0.02;
	claim(typed());
	sleep $seconds;
}
exit $status;
`;

const exec = async (server, command, fields = {}, session = id) => (await server.api.call('POST', `/api/session/${session}/exec`, { command, queue: true, ...fields })).data;
const blocks = async (server, session = id) => (await server.api.call('GET', `/api/session/${session}/blocks`)).blocks;
const forger = (claims, more = '') => `SHELL_PID=$$ perl forge.pl ${claims} ${more || '0.5 7'}`;

async function start(server, options = {}) {
	writeFileSync(path.join(server.cwd, 'forge.pl'), forge);
	await server.session({ id, cwd: server.cwd, ...options });
}

/** What was claimed is not given out: the status is the true one, and it is said. */
function noticed(e, about, status = 7) {
	const what = `${about}: ${JSON.stringify(e)}`;
	assert.equal(e.state ?? 'done', 'done', what);
	assert.equal(e.suspect, true, what);
	assert.equal(e.exitCode, status, what);
	assert.notEqual(e.outputExact, true, what);
}

const never = (e, about) => assert.ok(e.suspect || e.exitCode === 7 || e.exitCode === null, `${about}: ${JSON.stringify(e)}`);

scenario('a command that claims to be over, in every way', { timeout: 120_000 }, async (server) => {
	await start(server);
	for (const claims of ['r', 'm', 'mr', 'gR', 'mrp', 'mrbp', 'p', 'x', 'X', 'tmrbp', 'mrtkbp']) {
		const e = await exec(server, forger(claims));
		noticed(e, claims);
		assert.ok(e.durationMs >= 500, claims);
		const block = (await blocks(server)).find(({ execId }) => execId === e.id);
		assert.deepEqual([block.exitCode, block.suspect, block.outputExact, block.end], [7, true, false, e.range.end], claims);
		await exec(server, 'stty sane');
	}
	// It begins only once: what is printed before another such mark belongs to it.
	const e = await exec(server, `echo before; ${forger('cC')}`, { timeoutMs: 20_000 });
	noticed(e, 'a second beginning');
	assert.match(e.output, /^before\n/);
	// And nothing of that lingers.
	const after = await exec(server, 'echo honest; (exit 3)');
	assert.deepEqual([after.exitCode, after.suspect, after.outputExact, after.output], [3, false, true, 'honest\n']);
});

scenario('the same through pipes, as streams, over MCP and on the command line', async (server) => {
	await start(server);
	const execute = async (command) => JSON.parse((await server.api.raw('POST', '/api/execute', { command, sessionId: id })).text);
	const { execId, ...executed } = await execute(forger('mr'));
	noticed(executed, '/api/execute');
	assert.equal(executed.success, false);
	const { text } = await server.api.raw('POST', '/api/execute/stream', { command: forger('mr'), sessionId: id });
	noticed(JSON.parse(text.trim().split('\n').filter((line) => line.startsWith('data: ')).at(-1).slice(6)), '/api/execute/stream');
	const known = (await server.api.call('GET', `/api/session/${id}/exec/${execId}`)).data;
	noticed(known, 'asked for later');
	const honest = await execute('true');
	assert.deepEqual([honest.success, 'suspect' in honest], [true, false]);
	const client = new Client({ name: 'sdk', version: '1' });
	await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', server.base), { requestInit: { headers: { Authorization: `Bearer ${server.token}` } } }));
	const { structuredContent, content } = await client.callTool({ name: 'exec', arguments: { session_id: id, command: forger('mr') } });
	await client.close();
	assert.deepEqual([structuredContent.exit_code, structuredContent.suspect, structuredContent.output_exact], [7, true, false]);
	assert.match(content[0].text, /^exit code 7.*forge/);
	const { code, stderr } = await cli(server, ['exec', id, forger('mr')]);
	assert.equal(code, 125);
	assert.match(stderr, /status 7.*forge/);
});

scenario('from the background: every command that follows, and twenty at once', { timeout: 120_000 }, async (server) => {
	await start(server);
	const ready = () => until('the forger', async () => (await exec(server, 'rm ready')).exitCode === 0);
	await exec(server, `${forger('mrbp', '0 0 50')} & :`);
	await ready();
	for (let i = 0; i < 25; i += 1) never(await exec(server, i % 2 ? '(exit 7)' : 'sleep 0.05; (exit 7)'), `racing ${i}`);
	await exec(server, 'touch stop; wait; rm -f stop');
	const names = Array.from({ length: 20 }, (_, at) => `t${at}`);
	await Promise.all(names.map((name) => server.session({ id: name, cwd: server.cwd })));
	const all = await Promise.all(names.map((name) => exec(server, forger('mrp', '1 7'), {}, name)));
	for (const [at, e] of all.entries()) noticed(e, names[at]);
});

scenario('who takes records away, or what is typed, is noticed', { timeout: 120_000 }, async (server) => {
	await start(server);
	for (const thief of ['take-record', 'take-keys']) {
		await exec(server, `rm -f ready stop; ${forger(thief, '0 0')} & while [ ! -e ready ]; do sleep 0.01; done`);
		for (let i = 0; i < 6; i += 1) never(await exec(server, 'sleep 0.05; (exit 7)', { timeoutMs: 2000 }), `${thief} ${i}`);
		writeFileSync(path.join(server.cwd, 'stop'), '');
		await until('honest answers again', async () => (await exec(server, 'rm -f stop; (exit 5)', { timeoutMs: 2000 })).exitCode === 5, { timeout: 60_000 });
	}
});

scenario('the next server, after kill -9, believes as little', { timeout: 60_000 }, async (server) => {
	await start(server);
	const begun = (asked) => until('the beginning', async () => (await server.api.call('GET', `/api/session/${id}/exec/${asked.id}`)).data.state === 'running');
	for (const claims of ['mr', 'mrbp', 'gR']) {
		const asked = await exec(server, forger(claims, '2 7'), { yieldMs: 0 });
		await begun(asked);
		await server.kill();
		await server.restart();
		const e = await until('its end', async () => {
			const { data } = await server.api.call('GET', `/api/session/${id}/exec/${asked.id}`);
			return data.state === 'done' && data;
		});
		noticed(e, claims);
		await server.kill();
		await server.restart();
		noticed((await server.api.call('GET', `/api/session/${id}/exec/${asked.id}`)).data, `${claims}, from the log`);
		const honest = await exec(server, '(exit 4)');
		assert.deepEqual([honest.exitCode, honest.suspect, honest.outputExact], [4, false, true]);
	}
	// One that goes on under the next server and says nothing wrong.
	const asked = await exec(server, 'sleep 1; echo out; (exit 6)', { yieldMs: 0 });
	await begun(asked);
	await server.kill();
	await server.restart();
	const e = await until('its end', async () => {
		const { data } = await server.api.call('GET', `/api/session/${id}/exec/${asked.id}`);
		return data.state === 'done' && data;
	});
	assert.deepEqual([e.exitCode, e.suspect, e.outputExact, e.endedBy], [6, false, true, 'command']);
});

scenario('what somebody types has a block that says so', { timeout: 60_000 }, async (server) => {
	await start(server);
	for (const claims of ['h', 'hP', 'hbP', 'thbP', 'hb']) {
		await server.api.input(id, `${forger(claims, '1 7')}\r`);
		const block = await until(`the block of ${claims}`, async () => (await blocks(server)).find(({ command, state }) => command?.includes(` ${claims} `) && state === 'done'));
		assert.equal(block.suspect, true, `${claims}: ${JSON.stringify(block)}`);
		assert.equal(block.outputExact, false, claims);
		await server.shellReady(id);
		assert.equal((await blocks(server)).find(({ id: other }) => other === block.id).exitCode, 7, claims);
	}
	await server.api.input(id, 'sleep 0.2\r');
	const honest = await until('an honest block', async () => (await blocks(server)).find(({ command, state }) => command === 'sleep 0.2' && state === 'done'));
	assert.deepEqual([honest.exitCode, honest.suspect, honest.outputExact], [0, false, true]);
});
