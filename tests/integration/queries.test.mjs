// The server answers terminal queries of programs: once, correctly, with any number of clients, and never with text that a
// program has sent.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { metric } from './lib/control.mjs';
import { Emulator } from './lib/emulator.mjs';
import { scenario } from './lib/server.mjs';
import { shared } from './lib/together.mjs';
import { pause, until } from './lib/until.mjs';

const latin1 = (text) => Buffer.from(text, 'latin1');

/*
 * Send the files ask-0, ask-1, ... and log the input for each up to the reply to a final query; at the end, log all other
 * input. A file may have parts, which are sent 20 ms apart.
 */
const queryProgram = String.raw`use strict; use Time::HiRes "sleep"; $| = 1;
sub more { my ($wait) = @_; my $r = ""; vec($r, 0, 1) = 1; return "" unless select($r, undef, undef, $wait) > 0; sysread(STDIN, my $bytes, 65536); $bytes }
my @replies;
for (my $i = 0; -e "ask-$i"; $i++) {
	open my $file, "<:raw", "ask-$i"; my $ask = do { local $/; <$file> };
	my @parts = split /\|SPLIT\|/, $ask;
	print shift @parts;
	for my $part (@parts) { sleep 0.02; print $part }
	print "\e[?6n\e[?15n";
	my $replies = "";
	while ($replies !~ /\e\[\?13n/) { my $more = more(10); last if $more eq ""; $replies .= $more }
	push @replies, unpack("H*", $replies);
}
push @replies, unpack("H*", more(0.4));
open my $out, ">", "replies.new"; print $out join("\n", @replies), "\n"; close $out; rename "replies.new", "replies";
`;

/** Returns the replies to each of these queries. */
async function ask(server, id, questions) {
	rmSync(path.join(server.cwd, 'replies'), { force: true });
	questions.forEach((question, at) => writeFileSync(path.join(server.cwd, `ask-${at}`), latin1(question)));
	rmSync(path.join(server.cwd, `ask-${questions.length}`), { force: true });
	writeFileSync(path.join(server.cwd, 'query.pl'), queryProgram);
	const { offset } = await server.api.get(id);
	await server.api.input(id, "stty raw -echo; printf '\\033[2J\\033[3;5H'; perl query.pl; stty sane; printf '\\033c'; echo do''ne\r");
	await server.outputMatches(id, /done\r\n/, offset, { timeout: 30_000 });
	const replies = readFileSync(path.join(server.cwd, 'replies'), 'latin1').trimEnd().split('\n');
	const texts = replies.map((hex) => Buffer.from(hex, 'hex').toString('latin1'));
	if (texts.length === questions.length) texts.push(''); // the last line was empty
	assert.equal(texts.pop(), '', 'there is unexpected input');
	return texts.map((text) => {
		assert.match(text, /\x1b\[\?\d+;\d+R\x1b\[\?13n$/, JSON.stringify(text));
		return text.replace(/\x1b\[\?\d+;\d+R\x1b\[\?13n$/, '');
	});
}

const rgb = /^rgb:([0-9a-f]{4})\/([0-9a-f]{4})\/([0-9a-f]{4})$/;
const colorOf = (number) => new RegExp(`^\x1b\\]${number};${rgb.source.slice(1, -1)}\x1b\\\\$`);

/* Queries and replies, in order: some set state that later ones query. 80 x 24, the cursor at line 3, column 5. */
const exchanges = [
	['DA1', '\x1b[c', '\x1b[?1;2;4c'],
	['DA2', '\x1b[>c', /^\x1b\[>0;\d+;0c$/],
	['DSR', '\x1b[5n', '\x1b[0n'],
	['CPR', '\x1b[6n', '\x1b[3;5R'],
	['DECXCPR', '\x1b[?6n', '\x1b[?3;5R'],
	['DECRQM of a mode that is set', '\x1b[?2004h\x1b[?2004$p\x1b[?2004l', '\x1b[?2004;1$y'],
	['DECRQM, alternate screen', '\x1b[?1049h\x1b[?1049$p\x1b[?1049l\x1b[?1049$p\x1b[3;5H', '\x1b[?1049;1$y\x1b[?1049;2$y'],
	['DECRQSS, pen', '\x1b[1;31m\x1bP$qm\x1b\\\x1b[m', '\x1bP1$r0;1;31m\x1b\\'],
	['XTVERSION', '\x1b[>q', /^\x1bP>\|Ringside[ ()\w.-]*\x1b\\$/],
	['XTGETTCAP, name', '\x1bP+q544e\x1b\\', /^\x1bP1\+r544[eE]=[0-9a-fA-F]+\x1b\\$/],
	['background', '\x1b]11;?\x1b\\', colorOf(11)],
	['a background that was set', '\x1b]11;#010203\x07\x1b]11;?\x07\x1b]111\x07', '\x1b]11;rgb:0101/0202/0303\x1b\\'],
	['characters of the window', '\x1b[18t', '\x1b[8;24;80t'],
	['kitty keyboard, pushed', '\x1b[>5u\x1b[?u\x1b[<u\x1b[?u', '\x1b[?5u\x1b[?0u'],
	['DA1 in C1', '\xc2\x9bc', '\x1b[?1;2;4c'],
	['in pieces', '\x1b|SPLIT|[|SPLIT|6|SPLIT|n', '\x1b[3;5R'],
	['a string in pieces', '\x1b]1|SPLIT|1;|SPLIT|?\x1b|SPLIT|\\', colorOf(11)],
	['cancelled', '\x1b[6\x18\x1b]11;?\x1a\x1bP$qm\x18', ''],
	['no query', 'text \x1b[2m\x1b[m\x1b[3;5H', ''],
];

function check(list, answers, situation) {
	list.forEach(([name, , expected], at) => {
		if (typeof expected === 'string') assert.equal(JSON.stringify(answers[at]), JSON.stringify(expected), `${name}, ${situation}`);
		else assert.match(answers[at], expected, `${name}, ${situation}`);
	});
}

shared('each query gets one reply, with any number of clients', { timeout: 100_000 }, async (server) => {
	await server.session({ id: 's', cols: 80, rows: 24 });
	const questions = exchanges.map(([, question]) => question);
	const alone = await ask(server, 's', questions);
	check(exchanges, alone, 'detached');
	const emulators = [];
	for (let at = 0; at < 4; at += 1) {
		const client = server.client({ sessionId: 's', ...(at === 2 ? { cols: 80, rows: 24 } : {}) });
		emulators.push(new Emulator(client));
		await client.connect();
	}
	emulators[1].client.type('\r');
	assert.deepEqual(await ask(server, 's', questions), alone, 'with four terminals');
	// One client is too slow.
	emulators[3].client.stall();
	assert.deepEqual(await ask(server, 's', questions), alone, 'with a client that does not read');
	emulators[3].client.unstall();
	await Promise.all(emulators.map((emulator) => emulator.parsed()));
	assert.deepEqual(emulators.map(({ replies }) => replies), ['', '', '', ''], 'a terminal got a query');
	const metrics = (await server.api.raw('GET', '/metrics')).text;
	assert.ok(Number(/^ringside_queries_answered_total (\d+)$/m.exec(metrics)[1]) > 3 * exchanges.length);
	assert.match(metrics, /^ringside_replies_lost_total 0$/m);
});

shared('replies about colours are those of the client that typed last, or joined last', async (server) => {
	await server.session({ id: 's', cols: 80, rows: 24 });
	const theme = (foreground, background) => ({ type: 'theme', foreground, background, cursor: '#010203',
		colors: Array.from({ length: 16 }, (_, index) => `#0000${index.toString(16).padStart(2, '0')}`) });
	const questions = ['\x1b]10;?\x07', '\x1b]11;?\x07', '\x1b]4;15;?\x07', '\x1b[?996n'];
	const join = async (colors, options) => {
		const client = server.client({ sessionId: 's', ...options });
		await client.connect();
		if (colors)
			client.control(theme(...colors));
		client.control({ type: 'ping', t: 1 });
		await client.untilMessage('pong');
		return client;
	};
	const dark = await ask(server, 's', questions);
	assert.equal(dark[3], '\x1b[?997;1n');
	const first = await join(['#102030', '#fefefe']);
	const light = ['\x1b]10;rgb:1010/2020/3030\x1b\\', '\x1b]11;rgb:fefe/fefe/fefe\x1b\\', '\x1b]4;15;rgb:0000/0000/0f0f\x1b\\', '\x1b[?997;2n'];
	assert.deepEqual(await ask(server, 's', questions), light);
	await join(['#ffffff', '#000000']);
	assert.equal((await ask(server, 's', questions))[1], '\x1b]11;rgb:0000/0000/0000\x1b\\');
	const { token } = await server.api.call('POST', '/api/session/s/links', { role: 'viewer' });
	await join(['#aaaaaa', '#bbbbbb'], { token });
	await join(null);
	assert.equal((await ask(server, 's', questions))[1], '\x1b]11;rgb:0000/0000/0000\x1b\\', 'without a theme, or watching');
	first.type('\r');
	await server.untilPrompt('s');
	assert.deepEqual(await ask(server, 's', questions), light, 'of the client that typed');
	const idle = await join(['#ffffff', '#000000']);
	idle.type('\x1b[O');
	assert.deepEqual(await ask(server, 's', questions), light, 'neither joining nor losing the focus is typing');

	/* Mode 2031: a program is told of a change. */
	await server.api.input('s', String.raw`stty raw -echo; printf '\033[?2031hset\r\n'; IFS= read -r -d n told; printf '\033[?2031l'; stty sane; printf 'told %q\n' "$told"` + '\r');
	await server.outputMatches('s', /set\r\n/);
	first.control(theme('#ffffff', '#000000'));
	await server.outputMatches('s', /told \$'\\E\[\?997;1'/);
	await server.api.call('POST', '/api/session/s/lease', { owner: 'robot' });
	first.control(theme('#102030', '#fefefe'));
	first.type('x');
	await first.untilMessage('error', ({ code }) => code === 'LEASED');
	await server.api.call('DELETE', '/api/session/s/lease', {});
	assert.equal((await ask(server, 's', questions))[3], '\x1b[?997;1n', 'the session was leased to another client');
	first.control({ ...theme('#ffffff', '#000000'), cursor: 'red' });
	await first.untilMessage('error', ({ code }) => code === 'VALIDATION_FAILED');
});

for (const [when, before] of [['was not read any more', 'SIGSTOP'], ['came when there was no server', 'SIGKILL']]) {
	shared(`a query that ${when} is answered once by the next server`, async (server) => {
		const here = (name) => existsSync(path.join(server.cwd, name));
		await server.session({ id: 's' });
		writeFileSync(path.join(server.cwd, 'ask'), `stty raw -echo; touch ready; until [ -e go ]; do sleep 0.05; done
printf '\\033[6n'; touch asked; IFS= read -r -d R first; printf '\\033[?15n'; IFS= read -r -d n second
stty sane; printf 'replies %q %q end\\r\\n' "$first" "$second"\n`);
		await server.api.input('s', 'bash ./ask\r');
		await until('the start of the program', () => here('ready'));
		await server.kill(before);
		writeFileSync(path.join(server.cwd, 'go'), '');
		await until('the query', () => here('asked'));
		if (before !== 'SIGKILL') await server.kill('SIGKILL');
		await server.start();
		await server.outputMatches('s', /replies \$'\\E\[\d+;\d+' \$'\\E\[\?13' end/, 0, { timeout: 30_000 });
	});
}

shared('no reply comes twice when the server dies repeatedly, and none for an ended program', async (server) => {
	const here = (name) => existsSync(path.join(server.cwd, name));
	await server.session({ id: 's' });
	writeFileSync(path.join(server.cwd, 'ask'), `stty raw -echo; printf '\\033[6n'; IFS= read -r -d R first; touch answered
IFS= read -r -d q rest; stty sane; printf 'replies %q %q end\\r\\n' "$first" "$rest"\n`);
	await server.api.input('s', 'bash ./ask\r');
	await until('the reply', () => here('answered'));
	for (let at = 0; at < 3; at += 1) {
		await server.kill('SIGKILL');
		await server.start();
	}
	await server.api.input('s', 'q');
	await server.outputMatches('s', /replies \$'\\E\[\d+;\d+' '' end/, 0);
	writeFileSync(path.join(server.cwd, 'ask'), `stty raw -echo; touch ready; until [ -e go ]; do sleep 0.05; done; printf '\\033[6n'; stty sane\n`);
	await server.api.input('s', 'bash ./ask; touch gone\r');
	await until('the start of the program', () => here('ready'));
	await server.kill('SIGKILL');
	writeFileSync(path.join(server.cwd, 'go'), '');
	await until('the end of the program', () => here('gone'));
	await server.start();
	const offset = (await server.api.get('s')).offset;
	await server.api.input('s', 'echo o""ver\r');
	await server.outputMatches('s', /over\r\n/, offset);
	assert.doesNotMatch(await server.api.text('s', offset), /;\d+R/, 'nothing was typed into the shell');
});

const CANARY = 'canary';

shared('text that a program has sent is never typed', async (server) => {
	await server.session({ id: 's', cols: 80, rows: 24 });
	const hex = Buffer.from(CANARY).toString('hex');
	const hostile = [
		`\x1b]0;${CANARY}\r\x07\x1b[21t`, `\x1b]2;${CANARY}\x1b\\\x1b[20t\x1b[21t`, `\x1b]1;${CANARY}\x07\x1b[20t`,
		`\x1b[22;0t\x1b]0;${CANARY}\x07\x1b[23;0t\x1b[21t`, `\x1b]l${CANARY}\x1b\\\x1b[21t`,
		`\x1bP$q${CANARY}\x1b\\`, `\x1bP$q"p${CANARY}\x1b\\`, `\x1bP+q${hex}\x1b\\`, `\x1bP+q544e;${hex}\x1b\\`, `\x1bP+q${CANARY}\x1b\\`,
		`\x1b]4;${CANARY};?\x07`, `\x1b]4;1;?;${CANARY}\x07`, `\x1b]10;${CANARY}\x07\x1b]10;?\x07`, `\x1b]11;?${CANARY}\x07`,
		`\x1b]52;c;${Buffer.from(CANARY).toString('base64')}\x07\x1b]52;c;?\x07`, `\x1b]52;${CANARY};?\x07`,
		`\x1b]7;file://host/${CANARY}\x07`, `\x1b]50;?\x07`, `\x1b]50;${CANARY}\x07\x1b]50;?\x07`, `\x1b]777;notify;${CANARY};?\x07`,
		`\x1b]99;i=${CANARY}:p=?;\x1b\\`, `\x1b]1337;ReportVariable=${CANARY}\x07`, `\x1b]1337;RequestAttributes\x07`,
		`\x1b_Gi=1,a=q,s=1,v=1;${CANARY}\x1b\\`, `\x1b_${CANARY}\x1b\\`, `\x1b^${CANARY}\x1b\\`, `\x1bX${CANARY}\x1b\\`,
		`${CANARY}\x1b[1;1;1;1;24;80*y`, `${CANARY}\x1b[1;1;1;24;80#|`, '\x1b[?1$w', '\x1b[1$w', '\x1b[2$w', '\x1b[1$u', '\x1b[2;2$u',
		'\x1b[?62n', '\x1b[?63;1n', '\x1b[?75n', '\x1b[?85n', '\x05', `\x1bP1;1|17/${hex}\x1b\\`, '\x1b[&x', "\x1b['|", "\x1b[1'|",
		'\x1b[?1;1;0S', '\x1b[?2;1;0S', '\x1b[5i', '\x1b[?5i', '\x1b[0i',
	];
	const replies = await ask(server, 's', hostile);
	for (const [at, answer] of replies.entries()) {
		const question = JSON.stringify(hostile[at]);
		assert.ok(!answer.includes(CANARY) && !answer.toLowerCase().includes(hex), `${question} is answered with ${JSON.stringify(answer)}`);
		assert.ok(!/[\r\n\t\x03\x04\x7f]/.test(answer), `${question} types a key: ${JSON.stringify(answer)}`);
		// Only complete sequences.
		assert.equal(answer.replaceAll(/\x1b\[[ -?]*[@-~]|\x1b[\]P][ -~]*\x1b\\/g, ''), '', question);
	}
	assert.equal(replies[0], '\x1b]l\x1b\\', 'the title is reported');
	assert.ok(!replies[14].includes(Buffer.from(CANARY).toString('base64')), 'the clipboard can be read');
	assert.match(replies[14], /^(\x1b\]52;c;\x1b\\)?$/);
});

scenario('the clipboard cannot be read, even if programs may set it', { args: ['--clipboard'] }, async (server) => {
	await server.session({ id: 's', cols: 80, rows: 24 });
	const base64 = Buffer.from(CANARY).toString('base64');
	const [replies] = await ask(server, 's', [`\x1b]52;c;${base64}\x07\x1b]52;c;?\x07\x1b]52;p;?\x1b\\\x1b]52;;?\x07`]);
	assert.equal(replies.replaceAll('\x1b]52;c;\x1b\\', ''), '');
});

shared('a terminal that echoes replies does not answer itself', { timeout: 80_000 }, async (server) => {
	const { api } = server;
	await server.session({ id: 's', cols: 80, rows: 24 });
	// With -echoctl input is echoed unchanged: a reply that is also a query would never end.
	const all = exchanges.map(([, question]) => question.replaceAll('|SPLIT|', ''));
	all.push('\x1bZ', '\x1b[=c', '\x1b[4$p', '\x1bP$qr\x1b\\', '\x1bP$q q\x1b\\', '\x1b]4;1;?\x07', '\x1b]10;?;?;?\x07', '\x1b[14t', '\x1b[16t', '\x1b[?u', '\x1b[?996n');
	all.push('\x1b[?53n', '\x1b[?55n', '\x1b[?25n', '\x1b[?26n', '\x1b[x', '\x1b[1x', '\x1b[11t', '\x1b[13t', '\x1b[15t', '\x1b[19t', '\x1b[20t', '\x1b[21t', '\x1b[?4m', '\x1b]52;c;?\x07');
	writeFileSync(path.join(server.cwd, 'all'), latin1(all.join('')));
	writeFileSync(path.join(server.cwd, 'echo.sh'), 'stty -icanon -isig -echoctl echo min 0 time 0; cat all; touch asked; until [ -e stop ]; do sleep 0.02; done; perl -e \'1 while sysread(STDIN, $b, 65536)\'; stty sane; printf "\\033c\\nover\\n"\n');
	await api.input('s', 'bash echo.sh\r');
	await until('all queries', () => existsSync(path.join(server.cwd, 'asked')));
	// A terminal that answers itself never becomes silent.
	await until('silence', async () => {
		const { offset } = await api.get('s');
		await pause(400);
		return (await api.get('s')).offset === offset;
	});
	writeFileSync(path.join(server.cwd, 'stop'), '');
	await server.outputMatches('s', /over\r\n/);
	await server.shellReady('s');
});

/*
 * Reads all replies. The cursor position tells which of its own queries a reply belongs to; earlier queries have been
 * answered by then. Replies to its first queries may be lost.
 */
const replyReader = String.raw`$| = 1; my $replies = "";
for (my $n = 1; ; $n++) {
	my $column = 1 + $n % 70; print "\e[9;", $column, "H\e[6n";
	for (;;) { my $r = ""; vec($r, 0, 1) = 1; last unless select($r, undef, undef, 2) > 0; sysread(STDIN, my $b, 65536); $replies = substr($replies . $b, -100) if length $b; last if $replies =~ /\e\[9;@{[$column]}R\z/ }
	exit if $replies =~ /\e\[9;@{[$column]}R\z/;
}`;

shared('a file full of queries blocks neither the session nor the server', { timeout: 80_000 }, async (server) => {
	const { api } = server;
	await server.session({ id: 's', cols: 80, rows: 24 });
	await server.session({ id: 'other', cols: 80, rows: 24 });
	const lost = () => metric(server, 'replies_lost_total');
	const answered = () => metric(server, 'queries_answered_total');
	const before = await lost();
	const begun = await answered();
	writeFileSync(path.join(server.cwd, 'many'), '\x1b[c\x1b[>q\x1b]11;?\x07'.repeat(100_000));
	writeFileSync(path.join(server.cwd, 'reply.pl'), replyReader);
	await api.input('s', 'stty raw -echo; cat many; touch shown; until [ -e go ]; do sleep 0.02; done; perl reply.pl; stty sane; printf "\\nover\\n"\r');
	await until('the whole file', () => existsSync(path.join(server.cwd, 'shown')),
		{ timeout: 30_000, progress: async () => (await api.get('s')).offset });
	assert.equal(await server.run('other', 'echo $((6*7))'), '42\n');
	assert.ok(await lost() > before, 'no reply was dropped');
	assert.ok(await answered() - begun < 2000, 'replies that no program reads are queued without limit');
	writeFileSync(path.join(server.cwd, 'go'), '');
	await server.outputMatches('s', /\nover\r?\n/, 0, { timeout: 30_000 });
	await server.shellReady('s');
	assert.equal(await server.run('s', 'echo $((6*7))'), '42\n');
});

/*
 * Like an editor: sends queries at its start and all the time, draws, and logs its input until there is a "q" and no reply is
 * pending: a late one would become input of the next program.
 */
const editor = String.raw`use strict; use Time::HiRes "time"; $| = 1;
print "\e[?1049h\e[22;0;0t\e[>4;2m\e[?1h\e=\e[?2004h\e[?1002h\e[?1006h\e[?12h\e[2J\e[H\e[>c\e]10;?\a\e]11;?\a\e[?12\$p\eP+q436f\e\\\e[>q\e[?2026\$p";
my ($replies, $asked, $next, $quits) = ("", 0, time, 0);
open my $out, ">", "typed"; $out->autoflush;
for (;;) {
	my $r = ""; vec($r, 0, 1) = 1;
	if (select($r, undef, undef, 0.03) > 0) {
		sysread(STDIN, my $bytes, 65536); print $out $bytes; $replies .= $bytes;
		$quits ||= $replies =~ s/q(?=\e\[|\z)//;
	}
	last if $quits && (() = $replies =~ /\e\[0n/g) >= $asked;
	if (!$quits && time > $next) { $asked++; $next = time + 0.05; printf "\e[%d;1H\e[K\e[3%dm%d\e[m\e[12;34H\e[6n\e[5n", 1 + $asked % 24, $asked % 8, $asked }
}
print "\e[?1049l\e[23;0;0t\e[>4m\e[?1l\e>\e[?2004l\e[?1002l\e[?1006l"; open my $count, ">", "asked"; print $count $asked;
`;

/** Ten terminals that connect and disconnect until they are stopped: resuming, with the whole history, with a snapshot. */
function storm(server, id, count = 10) {
	const emulators = Array.from({ length: count }, () => new Emulator(server.client({ sessionId: id, cols: 80, rows: 24 })));
	let visits = 0;
	let over = false;
	const done = emulators.map(async ({ client }, at) => {
		for (let round = at; !over; round += 1) {
			const manner = ['resume', 'history', 'snapshot'][round % 3];
			if (manner !== 'resume') client.epoch = client.offset = undefined;
			await client.connect({ history: manner === 'history' });
			visits += 1;
			if (round % 2) await pause(20 + 10 * (at % 5));
			if (round % 4) await client.close();
			else client.terminate();
		}
	});
	const failed = Promise.all(done);
	failed.catch(() => {});
	return {
		/** Wait until all have connected this often; returns their input. */
		async visited(times) {
			await until(() => `${times} visits: ${visits}`, async () => {
				await Promise.race([failed, pause(1)]);
				return visits >= times;
			}, { timeout: 40_000 });
		},
		async end() {
			over = true;
			await failed;
			await Promise.all(emulators.map((emulator) => emulator.parsed()));
			return emulators.map(({ replies }) => replies).join('');
		},
	};
}

shared('ten reconnecting terminals type nothing into a program that sends queries all the time', { timeout: 100_000 }, async (server) => {
	await server.session({ id: 's', cols: 80, rows: 24 });
	writeFileSync(path.join(server.cwd, 'editor.pl'), editor);
	const around = storm(server, 's');
	await server.api.input('s', 'stty raw -echo; perl editor.pl; stty sane; echo ba""ck\r');
	await around.visited(150);
	await server.api.input('s', 'q');
	await server.outputMatches('s', /back\r\n/);
	await around.visited(170);
	assert.equal(await around.end(), '', 'a terminal has typed');
	const asked = Number(readFileSync(path.join(server.cwd, 'asked'), 'latin1'));
	const typed = readFileSync(path.join(server.cwd, 'typed'), 'latin1');
	const color = '\x1b\\]1[01];rgb:[0-9a-f/]{14}\x1b\\\\';
	const start = new RegExp(`^\x1b\\[>0;\\d+;0c${color}${color}\x1b\\[\\?12;[12]\\$y\x1bP1\\+r436f=323536\x1b\\\\\x1bP>\\|Ringside[^\x1b]*\x1b\\\\\x1b\\[\\?2026;2\\$y`);
	assert.match(typed, start);
	assert.ok(asked > 3, `${asked}`);
	// The q may come between any two replies.
	assert.equal(JSON.stringify(typed.replace(start, '').replace('q', '')), JSON.stringify('\x1b[12;34R\x1b[0n'.repeat(asked)));
	assert.equal(await server.run('s', 'read -t 0.5 -n 1 x; echo "[$x]"'), '[]\n');
});

for (const [program, start, quit] of [
	['vim', 'TERM=xterm-256color vim -u DEFAULTS -i NONE -n new.txt', null],
	['tmux', 'tmux -f /dev/null -L ringside-test new-session cat', '\x04'],
]) {
	const skip = process.env.PATH.split(':').some((folder) => existsSync(path.join(folder, program))) ? false : `there is no ${program}`;
	shared(`reconnecting terminals type nothing into ${program}`, { skip, timeout: 80_000 }, async (server) => {
		await server.session({ id: 's', cols: 80, rows: 24 });
		const around = storm(server, 's', 5);
		await server.api.input('s', `${start}; echo ba""ck\r`);
		await server.outputMatches('s', /\x1b\[\?1049h/);
		await around.visited(20);
		if (program === 'vim') {
			await server.api.input('s', 'ihello');
			await around.visited(40);
			await server.api.input('s', ' world\x1b');
			await around.visited(50);
			await server.api.input('s', ':wq\r');
		} else {
			await around.visited(40);
			await server.api.input('s', quit);
		}
		await server.outputMatches('s', /back\r\n/);
		await around.visited(60);
		assert.equal(await around.end(), '', 'a terminal has typed');
		if (program === 'vim') assert.equal(readFileSync(path.join(server.cwd, 'new.txt'), 'latin1'), 'hello world\n');
		assert.equal(await server.run('s', 'read -t 0.5 -n 1 x; echo "[$x]"'), '[]\n');
	});
}
