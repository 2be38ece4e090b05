// The focus (mode 1004): a session has one state for all its terminals, and the program gets its changes.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { scenario } from './lib/server.mjs';
import { stays, until } from './lib/until.mjs';
import { settled, watch, witness, assertShows } from './lib/watcher.mjs';

const IN = '\x1b[I';
const OUT = '\x1b[O';

/* Logs its input. On "+" and "-" it sets and resets the mode, on "=" it sets it again; "q" ends it. */
const listener = String.raw`use strict; $| = 1; system("stty raw -echo"); print "<listening>";
open my $out, ">", "heard"; $out->autoflush;
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
	const heard = () => (existsSync(path.join(server.cwd, 'heard')) ? readFileSync(path.join(server.cwd, 'heard'), 'latin1') : '');
	return {
		heard,
		/** Exactly this has been typed, and nothing more comes. */
		async hears(expected) {
			await until(() => `${JSON.stringify(expected)}: the input is ${JSON.stringify(heard())}`, () => heard().length >= expected.length);
			assert.equal(JSON.stringify(heard()), JSON.stringify(expected));
			await stays('only that input', () => heard() === expected, 150);
		},
		async turn(key) {
			const { offset } = await server.api.get('s');
			await server.api.input('s', key);
			await server.outputMatches('s', key === '-' ? /<off>/ : /<on>/, offset);
		},
	};
}

/** The server has processed everything that the clients have sent. */
const taken = (...clients) => Promise.all(clients.map(async (client) => {
	const t = Math.random();
	client.control({ type: 'ping', t });
	await client.untilMessage('pong', (pong) => pong.t === t);
}));

scenario('without the mode no focus report is typed', async (server) => {
	await server.session({ id: 's', cols: 80, rows: 24 });
	const program = await listen(server);
	const one = await server.client({ sessionId: 's', cols: 80, rows: 24 }).connect();
	const two = await server.client({ sessionId: 's', cols: 100, rows: 30 }).connect();
	for (const report of [IN, OUT, IN, IN]) {
		one.type(report);
		two.type(report);
	}
	await taken(one, two);
	await program.hears('');
	// A report is not typing: size and presence do not change.
	const { clients, sizeBy } = one.messages.filter(({ type }) => type === 'presence').at(-1);
	assert.deepEqual(clients.map(({ typedAt }) => typedAt), [null, null]);
	assert.equal(sizeBy, one.attached.clientId);
	assert.equal((await server.api.get('s')).cols, 80);
	assert.ok(![...one.messages, ...two.messages].some(({ type }) => type === 'error'));
});

scenario('a session has the focus while a client has it', async (server) => {
	const { api } = server;
	await server.session({ id: 's', cols: 80, rows: 24 });
	const program = await listen(server);
	const { token } = await api.link('s', 'viewer', 60_000);
	const one = await server.client({ sessionId: 's' }).connect();
	const two = await server.client({ sessionId: 's' }).connect();
	const viewer = await server.client({ sessionId: 's', token }).connect();
	await program.turn('+');
	let heard = '+';
	const says = async (client, report, passed) => {
		client.type(report);
		await taken(client);
		heard += passed ? report : '';
		await program.hears(heard);
	};
	await says(viewer, IN, false);
	await says(one, OUT, false);
	await says(one, IN, true);
	await says(one, IN, false);
	await says(two, IN, false);
	await says(one, OUT, false);
	await says(viewer, OUT, false);
	await says(two, OUT, true);
	await says(two, OUT, false);
	await says(two, IN, true);

	// A client that disconnects loses its focus.
	const three = await server.client({ sessionId: 's' }).connect();
	await says(three, IN, false);
	two.terminate();
	await until('three clients', async () => (await api.get('s')).clients === 3);
	await program.hears(heard);
	await three.close();
	heard += OUT;
	await program.hears(heard);
	viewer.terminate();
	one.terminate();
	await until('no client', async () => (await api.get('s')).clients === 0);
	await program.hears(heard);
	const four = await server.client({ sessionId: 's' }).connect();
	await says(four, IN, true);
});

scenario('only a separate focus report counts; other bytes are typed unchanged', async (server) => {
	await server.session({ id: 's', cols: 80, rows: 24 });
	const program = await listen(server);
	const client = await server.client({ sessionId: 's' }).connect();
	const odd = [`a${IN}`, `${OUT}b`, `${IN}${OUT}`, '\x1b[', 'I', '\x1b', '[O', `${IN}${IN}`, '\x1bOI', '\x1b[i'];
	let heard = '';
	for (const on of [false, true]) {
		if (on) {
			await program.turn('+');
			heard += '+';
		}
		for (const each of odd) client.type(each);
		heard += odd.join('');
		await program.hears(heard);
	}
	// Input over the API is always typed.
	await server.api.input('s', IN);
	await program.hears(heard + IN);
});

scenario('a program that sets the mode again gets a new report', async (server) => {
	await server.session({ id: 's', cols: 80, rows: 24 });
	const program = await listen(server);
	const one = await server.client({ sessionId: 's' }).connect();
	const two = await server.client({ sessionId: 's' }).connect();
	await program.turn('+');
	// Terminals report their focus at once, as xterm.js does.
	one.type(IN);
	two.type(OUT);
	await taken(one, two);
	await program.hears(`+${IN}`);
	await program.turn('-');
	one.type(OUT);
	await taken(one);
	await program.hears(`+${IN}-`);
	await program.turn('+');
	one.type(OUT);
	two.type(IN);
	await taken(one, two);
	await program.hears(`+${IN}-+${IN}`);
	// The mode was set already: the state is known.
	await program.turn('=');
	one.type(OUT);
	two.type(IN);
	await taken(one, two);
	await program.hears(`+${IN}-+${IN}=`);
	two.type(OUT);
	await program.hears(`+${IN}-+${IN}=${OUT}`);
});

scenario('the mode is restored for new clients, and after a crash', async (server) => {
	await server.session({ id: 's', cols: 80, rows: 24 });
	const truth = await witness(server, 's');
	const program = await listen(server);
	await program.turn('+');
	const late = await watch(server, 's');
	await settled(server, 's', truth, late);
	assert.ok(late.reference.core.coreService.decPrivateModes.sendFocus, 'the mode is lost');
	assertShows(late, truth, 'before');
	late.client.type(IN);
	await program.hears(`+${IN}`);
	await server.kill('SIGKILL');
	await server.start();
	await late.client.connect();
	await program.hears(`+${IN}`);
	const newcomer = await watch(server, 's');
	assert.ok(newcomer.reference.core.coreService.decPrivateModes.sendFocus, 'the mode is lost');
	newcomer.client.type(IN);
	await program.hears(`+${IN}${IN}`);
	late.client.type(IN);
	await taken(late.client);
	newcomer.client.type(OUT);
	await taken(newcomer.client);
	await program.hears(`+${IN}${IN}`);
	late.client.type(OUT);
	await program.hears(`+${IN}${IN}${OUT}`);
	await server.api.input('s', 'q');
	await server.outputMatches('s', /left\r\n/);
});
