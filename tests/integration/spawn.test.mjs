// What a session's processes inherit, and that none survives its session.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { cmdline, isAlive, processesNaming, status } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const masks = (text) => Object.fromEntries([...text.matchAll(/^(Sig(?:Ign|Blk|Cgt)):\s+(\w+)$/gm)]
	.map(([, name, mask]) => [name, BigInt(`0x${mask}`)]));
const none = 0n;

scenario('a child has default signal dispositions and an empty mask, however the server was started', {
	prefix: ['env', '--ignore-signal=HUP,PIPE,QUIT,USR2', '--block-signal=USR1,WINCH,ALRM'],
}, async (server) => {
	await server.session({ id: 'sig' });
	assert.deepEqual(masks(await server.run('sig', 'cat /proc/self/status')),
		{ SigBlk: none, SigIgn: none, SigCgt: none });
	assert.equal(await server.run('sig', 'yes | head -1; echo ${PIPESTATUS[0]}'), 'y\n141\n');
	await server.api.resize('sig', 99, 33);
	assert.equal(await server.run('sig', 'echo $COLUMNS'), '99\n', 'bash did not see the resize');
});

scenario('no descriptor leaks into a session', {
	prefix: ['bash', '-c', 'exec 7</etc/passwd 11>/dev/null; exec "$@"', 'bash'],
}, async (server) => {
	await server.session({ id: 'one' });
	await server.client({ sessionId: 'one' }).connect();
	await server.session({ id: 'two' });
	await server.session({ id: 'fd' });
	const listing = await server.run('fd', 'ls -l /proc/self/fd');
	const fds = [...listing.matchAll(/ (\d+) -> (\S+)/g)].map(([, fd, target]) => [Number(fd), target]);
	assert.deepEqual(fds.map(([fd]) => fd), [0, 1, 2, 3], listing);
	for (const [, target] of fds.slice(0, 3)) assert.match(target, /^\/dev\/pts\/\d+$/);
	assert.match(fds[3][1], /^\/proc\/\d+\/fd$/);
});

shared('the controlling terminal has the right size, and job control works', async (server) => {
	const { pid } = await server.session({ id: 'tty', cols: 97, rows: 29 });
	assert.equal(await server.run('tty', 'stty size'), '29 97\n');
	const tty = await server.run('tty', 'tty');
	assert.match(tty, /^\/dev\/pts\/\d+\n$/);
	assert.equal(await server.run('tty', 'readlink /dev/fd/0; echo x > /dev/tty; echo $?'), `${tty}x\n0\n`);
	assert.equal((await server.run('tty', 'ps -o tty= -p $$')).trim(), tty.trim().replace('/dev/', ''));
	const ids = (await server.run('tty', 'ps -o pid=,pgid=,sid= -p $$')).trim().split(/\s+/).map(Number);
	assert.deepEqual(ids, [pid, pid, pid], 'the shell does not lead its session');
	const jobs = await server.run('tty', 'sleep 100 & jobs; kill %1; wait %1; echo $?');
	assert.match(jobs, /\[1\]\+?\s+Running\s+sleep 100 &/);
	assert.match(jobs, /143/);
	const { offset } = await server.api.get('tty');
	await server.api.input('tty', 'sleep 100\r');
	await until('the sleep in the foreground',
		() => processesNaming(server.root).some((each) => cmdline(each) === 'sleep 100'));
	await server.api.input('tty', '\x1a');
	await server.outputMatches('tty', /\[1\]\+\s+Stopped\s+sleep 100/, offset);
	assert.match(await server.run('tty', 'kill %1; wait %1 2>/dev/null; echo over'), /over/);
});

shared('delete kills the whole tree: jobs, daemons, processes that ignore signals or are stopped', async (server) => {
	const mark = 900_000 + Math.floor(Math.random() * 90_000);
	const ours = () => processesNaming(`${mark}.`).filter((pid) => /^sleep \d/.test(cmdline(pid)));
	await server.session({ id: 'other' });
	await server.run('other', `sleep ${mark}.99 & true`);
	await server.session({ id: 'tree', cols: 500 });
	const commands = [
		`sleep ${mark}.01 &`,
		`setsid nohup sleep ${mark}.02 >/dev/null 2>&1 &`,
		`(setsid sh -c "sleep ${mark}.03 & sleep ${mark}.04 & exit" >/dev/null 2>&1 &)`,
		`perl -MPOSIX -e 'fork and exit; POSIX::setsid(); fork and exit; exec "sleep", "${mark}.05"'`,
		`(trap "" HUP INT TERM QUIT; exec setsid sleep ${mark}.06) &`,
		`sh -c 'kill -STOP $$; exec sleep ${mark}.07' &`,
		`env -i setsid sh -c 'exec sleep ${mark}.08' </dev/null >/dev/null 2>&1 &`,
	];
	for (const command of commands) await server.run('tree', `${command}${command.endsWith('&') ? '' : ';'} true`);
	const stopped = () => processesNaming(server.root).filter((pid) => status(pid).State?.startsWith('T'));
	await until('all processes', () => ours().length === 8 && stopped().length === 1);
	const [sleeper] = stopped();
	const shells = new Set(processesNaming(server.root));
	await server.api.delete('tree');
	await until(() => `the end of the tree: ${ours().map(cmdline)}`, () => ours().length === 1 && !isAlive(sleeper),
		{ timeout: 8000 });
	assert.match(cmdline(ours()[0]), /\.99$/, 'a process of another session was killed');
	assert.equal(await server.run('other', 'jobs | wc -l'), '1\n');
	const left = processesNaming(server.root);
	assert.ok(left.every((pid) => shells.has(pid)));
	assert.equal(left.length, 5, `not just server, guard, holder, shell and sleep: ${left.map(cmdline)}`);
});

// Trees that fork all the time, in perl so that a generation is as short as possible.
const restless = {
	'a process that forks and ends': 'while (1) { fork and POSIX::_exit(0) }',
	'a process that changes its kernel session each time': 'while (1) { fork and POSIX::_exit(0); POSIX::setsid() }',
	'parents that stay, each in its own kernel session': 'for (1..1500) { if (fork) { sleep 1 while 1 } POSIX::setsid() } sleep 1 while 1',
	'a process that restarts its children': 'while (1) { for (1..20) { if (!fork) { POSIX::setsid(); sleep 1 while 1 } } 1 while wait > 0 }',
	'two processes that restart each other': `
		sub guard {
			my $other = shift;
			POSIX::setsid();
			while (1) {
				while (kill 0, $other) { waitpid -1, POSIX::WNOHANG; select undef, undef, undef, 0.001 }
				my $pid = fork;
				$other = $pid || getppid;
			}
		}
		my $pid = fork;
		guard($pid || getppid)`,
};
restless['one that has a daemon which forks'] = `if (!fork) { POSIX::setsid(); ${restless['a process that forks and ends']} } sleep 1 while 1`;

async function deleteRestless(server, command) {
	await server.session({ id: 'forks', cols: 500 });
	const { pid } = await server.api.get('forks');
	await server.api.input('forks', `${command}\r`);
	await until('a few processes', () => processesNaming(server.root).length > 4);
	// The response is accurate when it comes: no wait is needed.
	await server.api.delete('forks');
	// The holder may end meanwhile.
	const left = processesNaming(server.root).map(cmdline).filter((each) => each && !/ringside/.test(each));
	assert.deepEqual(left, []);
	assert.ok(!isAlive(pid));
	await until('the end of the holder', () => processesNaming(server.root).length === 1);
}

shared('delete of a tree that forks all the time: chains of shells', async (server) => {
	await deleteRestless(server, "sh -c 'f() { (sleep 0.02; f & ) & }; f; f; f' & true");
});

for (const [name, text] of Object.entries(restless)) {
	shared(`delete of a tree that forks all the time: ${name}`, async (server) => {
		const script = path.join(server.home, 'restless.pl');
		writeFileSync(script, `use POSIX; $SIG{$_} = 'IGNORE' for qw(HUP INT TERM); fork; fork;\n${text}\n`);
		await deleteRestless(server, `perl ${script} & true`);
	});
}

scenario('sessions work with long ids and a long runtime directory', async (server) => {
	const id = `${'long-id.'.repeat(15)}12345678`;
	assert.equal(id.length, 128);
	await server.session({ id });
	assert.equal(await server.run(id, 'echo fine'), 'fine\n');
	await server.kill('SIGKILL');
	server.dir = path.join(server.dir, '..', 'run');
	await server.start();
	assert.equal(await server.run(id, 'echo again'), 'again\n');
});
