// The focus (mode 1004): a session has one state for all its terminals, and the program gets its changes.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { shared } from './lib/together.mjs';
import { stays, until } from './lib/until.mjs';
import { settled, watch, witness, assertShows } from './lib/watcher.mjs';

const IN = '\x1b[I';
const OUT = '\x1b[O';

/* Logs its input. On "+" and "-" it sets and resets the mode, on "=" it sets it again; "q" ends it. */
const listener = String.raw`use strict; $| = 1; system("stty raw -echo"); print "<listening>";
open my $out, ">", "logged"; $out->autoflush;
for (;;) {
	sysread(STDIN, my $bytes, 65536) or last;
	print "\e[?1004h<on>" if $bytes =~ /[+=]/;
	print "\e[?1004l<off>" if $bytes =~ /-/;
	print $out $bytes;
	last if $bytes =~ /q/;
}
system("stty sane"); print "\nleft\n";`;

async function listen(server) {
	writeFileSync(path.join(server.cwd, 'listener.pl'), listener);
	await server.api.input('s', 'perl listener.pl\r');
	await server.outputMatches('s', /<listening>/);
	const logged = () => (existsSync(path.join(server.cwd, 'logged')) ? readFileSync(path.join(server.cwd, 'logged'), 'latin1') : '');
	return {
		logged,
		/** Exactly this has been typed, and nothing more comes. */
		async receives(expected) {
			await until(() => `${JSON.stringify(expected)}: the input is ${JSON.stringify(logged())}`, () => logged().length >= expected.length);
			assert.equal(JSON.stringify(logged()), JSON.stringify(expected));
			await stays('only that input', () => logged() === expected, 150);
		},
		async turn(key) {
			const { offset } = await server.api.get('s');
			await server.api.input('s', key);
			await server.outputMatches('s', key === '-' ? /<off>/ : /<on>/, offset);
		},
	};
}

/** The server has processed everything that the clients have sent. */
const processed = (...clients) => Promise.all(clients.map(async (client) => {
	const t = Math.random();
	client.control({ type: 'ping', t });
	await client.untilMessage('pong', (pong) => pong.t === t);
}));

shared('without the mode no focus report is typed', async (server) => {
	await server.session({ id: 's', cols: 80, rows: 24 });
	const program = await listen(server);
	const one = await server.client({ sessionId: 's', cols: 80, rows: 24 }).connect();
	const two = await server.client({ sessionId: 's', cols: 100, rows: 30 }).connect();
	for (const report of [IN, OUT, IN, IN]) {
		one.type(report);
		two.type(report);
	}
	await processed(one, two);
	await program.receives('');
	// A report is not typing: size and presence do not change.
	const { clients, sizeBy } = one.messages.filter(({ type }) => type === 'presence').at(-1);
	assert.deepEqual(clients.map(({ typedAt }) => typedAt), [null, null]);
	assert.equal(sizeBy, one.attached.clientId);
	assert.equal((await server.api.get('s')).cols, 80);
	assert.ok(![...one.messages, ...two.messages].some(({ type }) => type === 'error'));
});

shared('only a separate focus report counts; other bytes are typed unchanged', async (server) => {
	await server.session({ id: 's', cols: 80, rows: 24 });
	const program = await listen(server);
	const client = await server.client({ sessionId: 's' }).connect();
	const odd = [`a${IN}`, `${OUT}b`, `${IN}${OUT}`, '\x1b[', 'I', '\x1b', '[O', `${IN}${IN}`, '\x1bOI', '\x1b[i'];
	let logged = '';
	for (const on of [false, true]) {
		if (on) {
			await program.turn('+');
			logged += '+';
		}
		for (const each of odd) client.type(each);
		logged += odd.join('');
		await program.receives(logged);
	}
	// Input over the API is always typed.
	await server.api.input('s', IN);
	await program.receives(logged + IN);
});

shared('a program that sets the mode again gets a new report', async (server) => {
	await server.session({ id: 's', cols: 80, rows: 24 });
	const program = await listen(server);
	const one = await server.client({ sessionId: 's' }).connect();
	const two = await server.client({ sessionId: 's' }).connect();
	await program.turn('+');
	// Terminals report their focus at once, as xterm.js does.
	one.type(IN);
	two.type(OUT);
	await processed(one, two);
	await program.receives(`+${IN}`);
	await program.turn('-');
	one.type(OUT);
	await processed(one);
	await program.receives(`+${IN}-`);
	await program.turn('+');
	one.type(OUT);
	two.type(IN);
	await processed(one, two);
	await program.receives(`+${IN}-+${IN}`);
	// The mode was set already: the state is known.
	await program.turn('=');
	one.type(OUT);
	two.type(IN);
	await processed(one, two);
	await program.receives(`+${IN}-+${IN}=`);
	two.type(OUT);
	await program.receives(`+${IN}-+${IN}=${OUT}`);
});

shared('the mode is restored for new clients, and after a crash', async (server) => {
	await server.session({ id: 's', cols: 80, rows: 24 });
	const truth = await witness(server, 's');
	const program = await listen(server);
	await program.turn('+');
	const late = await watch(server, 's');
	await settled(server, 's', truth, late);
	assert.ok(late.reference.core.coreService.decPrivateModes.sendFocus, 'the mode is lost');
	assertShows(late, truth, 'before');
	late.client.type(IN);
	await program.receives(`+${IN}`);
	await server.kill('SIGKILL');
	await server.start();
	await late.client.connect();
	await program.receives(`+${IN}`);
	const newcomer = await watch(server, 's');
	assert.ok(newcomer.reference.core.coreService.decPrivateModes.sendFocus, 'the mode is lost');
	newcomer.client.type(IN);
	await program.receives(`+${IN}${IN}`);
	late.client.type(IN);
	await processed(late.client);
	newcomer.client.type(OUT);
	await processed(newcomer.client);
	await program.receives(`+${IN}${IN}`);
	late.client.type(OUT);
	await program.receives(`+${IN}${IN}${OUT}`);
	await server.api.input('s', 'q');
	await server.outputMatches('s', /left\r\n/);
});
