// Terminal queries reach no client, live or replayed: the server answers them once. Everything else is unchanged.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { metric } from './lib/control.mjs';
import { answersTo, Emulator } from './lib/emulator.mjs';
import { times } from './lib/soak.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const clients = 10;
const bytes = (text) => Buffer.from(text, 'latin1');

const queries = {
	DA1: '\x1b[c',
	'DA1 with 0': '\x1b[0c',
	DA2: '\x1b[>c',
	DA3: '\x1b[=c',
	DSR: '\x1b[5n',
	CPR: '\x1b[6n',
	DECXCPR: '\x1b[?6n',
	'foreground colour': '\x1b]10;?\x07',
	'background colour': '\x1b]11;?\x07',
	'cursor colour': '\x1b]12;?\x1b\\',
	'palette colour': '\x1b]4;1;?\x1b\\',
	'clipboard': '\x1b]52;c;?\x07',
	'DECRQM, private': '\x1b[?1$p',
	'DECRQM': '\x1b[4$p',
	XTVERSION: '\x1b[>q',
	'kitty keyboard': '\x1b[?u',
	DECRQSS: '\x1bP$qm\x1b\\',
	XTGETTCAP: '\x1bP+q544e\x1b\\',
	'window size': '\x1b[18t',
	'window size in pixels': '\x1b[14t',
	title: '\x1b[21t',
	ENQ: '\x05',
	DECID: '\x1bZ',
	'graphics of kitty': '\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\',
	PM: '\x1b^x\x1b\\',
	SOS: '\x1bXx\x1b\\',
	'notification of kitty': '\x1b]99;i=1:p=?;\x1b\\',
	'app id': '\x1b]176;?\x07',
	'clipboard of kitty': '\x1b]5522;type=read\x1b\\',
	'report of iTerm2': '\x1b]1337;ReportCellSize\x07',
	'DA1 in C1': '\xc2\x9bc',
	'CPR in C1': '\xc2\x9b6n',
	'background in C1': '\xc2\x9d11;?\xc2\x9c',
	'DECRQSS in C1': '\xc2\x90$qm\xc2\x9c',
};

/** A file of all queries in brackets, their ranges, and the file with NULs in their place. */
const file = { whole: Buffer.from(Object.values(queries).map((query) => `<${query}>`).join(''), 'latin1'), ranges: [] };
for (const [name, query] of Object.entries(queries)) {
	const from = (file.ranges.at(-1)?.to ?? -1) + 2;
	file.ranges.push({ name, from, to: from + query.length });
}
const blank = Buffer.from(file.whole);
for (const { from, to } of file.ranges) blank.fill(0, from, to);

const escaped = (buffer) => JSON.stringify(buffer.toString('latin1'));

/** Put files and helper programs into the session's directory. */
function installFiles(server, files) {
	for (const [name, content] of Object.entries(files)) writeFileSync(path.join(server.cwd, name), content);
	writeFileSync(path.join(server.cwd, 'show'), '#!/bin/bash\nstty raw -echo; printf "<<begin>>"; for f; do cat "$f"; done; printf "<<end>>"; stty sane; echo\n', { mode: 0o755 });
	// Counts its input until the file "stop" exists; then prints the number of bytes and the bytes.
	writeFileSync(path.join(server.cwd, 'count'), `#!/bin/bash
stty raw -echo
printf '<<begin>>'
for f; do cat "$f"; done
printf '<<end>>'
perl -e '$|=1; my $all="";
for (;;) { my $stop = -e "stop"; my $r=""; vec($r,0,1)=1;
  if (select($r,undef,undef,0.05) > 0) { my $c=sysread(STDIN,my $b,65536); last unless $c; $all.=$b; }
  elsif ($stop) { last } }
print "\\r\\ncount=",length($all),"=",unpack("H*",$all),"=\\r\\n";'
stty sane
`, { mode: 0o755 });
}

const between = (buffer) => {
	const from = buffer.indexOf('<<begin>>');
	const to = buffer.indexOf('<<end>>', from);
	return from < 0 || to < 0 ? undefined : buffer.subarray(from + 9, to);
};

shared('replayed queries are NULs of the same length, from any offset', async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	installFiles(server, { queries: file.whole });
	await api.input('s', './show queries\r');
	await server.outputMatches('s', /<<end>>/);
	const raw = await api.output('s');
	assert.equal(escaped(between(raw)), escaped(file.whole), '/output is not what the program printed');
	const start = raw.indexOf('<<begin>>') + 9;
	const expected = Buffer.from(raw);
	blank.copy(expected, start);

	const fresh = await server.client({ sessionId: 's', cols: 80, rows: 24 }).connect({ history: true });
	await fresh.untilText('<<end>>');
	const got = between(fresh.bytes);
	for (const { name, from, to } of file.ranges) {
		assert.equal(escaped(got.subarray(from, to)), escaped(Buffer.alloc(to - from)), name);
	}
	assert.equal(escaped(got), escaped(blank));
	assert.equal(fresh.bytes.indexOf('<<begin>>') + 9, start, 'the offsets changed');
	fresh.terminate();

	const end = start + file.whole.length;
	for (let offset = start - 2; offset <= end + 2; offset += times(7, 1)) {
		const client = await server.client({ sessionId: 's', cols: 80, rows: 24 })
			.connect({ resume: { epoch: fresh.epoch, offset } });
		await client.untilOffset(end);
		assert.equal(client.since, offset);
		assert.equal(escaped(client.bytes.subarray(0, Math.max(0, end - offset))),
			escaped(expected.subarray(offset, Math.max(offset, end))), `from ${offset}`);
		client.terminate();
	}
});

shared('a live query reaches none of ten clients, whichever types or sets the size', async (server) => {
	const { api } = server;
	await server.session({ id: 's' });
	installFiles(server, { queries: file.whole });
	const all = [];
	for (let at = 0; at < clients; at += 1) {
		all.push(await server.client({ sessionId: 's', cols: 80, rows: 24, name: `client ${at}` }).connect());
	}
	all[3].type('./show queries\r');
	await Promise.all(all.map((client) => client.untilText('<<end>>')));
	const sizeBy = all[0].messages.filter(({ type }) => type === 'presence').pop().sizeBy;
	assert.equal(sizeBy, all[3].attached.clientId, 'the client that typed last sets the size');
	for (const client of all) {
		const got = between(client.bytes);
		for (const { name, from, to } of file.ranges) {
			assert.equal(escaped(got.subarray(from, to)), escaped(Buffer.alloc(to - from)), name);
		}
		assert.equal(escaped(got), escaped(blank));
	}
	const again = await server.client({ sessionId: 's', cols: 80, rows: 24 }).connect({ history: true });
	await again.untilText('<<end>>');
	assert.equal(escaped(between(again.bytes)), escaped(blank));
	const raw = await api.output('s');
	assert.equal(escaped(between(raw)), escaped(file.whole));
});

shared('an incomplete sequence at the end is delivered before the exit', async (server) => {
	for (const tail of ['\\033[', '\\033', '\\033]11;', '\\033]0;title', '\\302', '\\360\\237', '\\033P+q54']) {
		await server.session({ id: 's' });
		const client = await server.client({ sessionId: 's', cols: 80, rows: 24 }).connect({ history: true });
		const other = await server.client({ sessionId: 's' }).connect();
		client.type(`printf 'la''st${tail}'; kill -9 $$\r`);
		for (const each of [client, other]) {
			const exit = await each.untilMessage('exit');
			assert.equal(each.offset, exit.offset, tail);
		}
		const raw = await server.api.output('s');
		assert.equal(client.bytes.length, raw.length);
		await server.api.delete('s');
	}
});

shared('an endless sequence holds back only a limited number of bytes', async (server) => {
	await server.session({ id: 's' });
	const client = await server.client({ sessionId: 's', cols: 80, rows: 24 }).connect();
	for (const head of ['\\033]0;', '\\033]11;?', '\\033P+q', '\\033[', '\\033_', '\\302\\235']) {
		const { offset } = await server.api.get('s');
		client.type(`printf '${head}'; head -c 300000 /dev/zero | tr '\\0' 1; read -n 1; printf '\\030'; echo\r`); // CAN: it must not be answered
		await until(`300000 bytes after ${head}`, async () => (await server.api.get('s')).offset > offset + 300_000);
		await client.untilOffset(offset + 200_000);
		client.type('x');
		await server.shellReady('s');
	}
});

/** Ten emulators on one session, which reply as a terminal does. */
async function crowd(server, sessionId) {
	const all = [];
	for (let at = 0; at < clients; at += 1) {
		const client = server.client({ sessionId, cols: 80, rows: 24, name: `client ${at}` });
		all.push(new Emulator(client));
		await client.connect({ history: true });
	}
	return all;
}

/** Wait until the emulators have parsed everything, and the server has their input. */
async function settled(server, sessionId, all) {
	const { offset } = await server.api.get(sessionId);
	await Promise.all(all.map(async (emulator, at) => {
		await emulator.client.untilOffset(offset);
		await emulator.parsed();
		const t = at + 1 + Math.floor(Math.random() * 1e9) * 100;
		emulator.client.control({ type: 'ping', t });
		await emulator.client.untilMessage('pong', (pong) => pong.t === t);
	}));
}

async function counted(server, sessionId) {
	writeFileSync(path.join(server.cwd, 'stop'), '');
	const [, count, hex] = await server.outputMatches(sessionId, /count=(\d+)=([0-9a-f]*)=/);
	return { count: Number(count), replies: Buffer.from(hex, 'hex').toString('latin1') };
}

/** All clients disconnect and reconnect: where they were, at the start of the history, or with a snapshot. */
async function comeBack(all, manner) {
	for (const { client } of all) {
		await client.close();
		if (manner !== 'resume') {
			client.epoch = undefined;
			client.offset = undefined;
		}
		await client.connect({ history: manner === 'history' });
	}
}

const answered = (server) => metric(server, 'queries_answered_total');

shared('ten terminals that attach and reconnect type nothing', { timeout: 80_000 }, async (server) => {
	const { api } = server;
	await server.session({ id: 's', cols: 80, rows: 24 });
	installFiles(server, { file: file.whole });
	// The program reads the server's replies before any client connects.
	writeFileSync(path.join(server.cwd, 'drain'), 'stty raw -echo; cat file; perl -e \'for (;;) { my $r = ""; vec($r, 0, 1) = 1; last unless select($r, undef, undef, 0.5) > 0; sysread(STDIN, my $b, 65536) }\'\n');
	writeFileSync(path.join(server.cwd, 'empty'), '');
	await api.input('s', '. ./drain; ./count empty\r');
	await server.outputMatches('s', /<<end>>/);
	const before = await answered(server);
	assert.ok(before > 15, `${before} queries were answered`);
	const all = await crowd(server, 's');
	await settled(server, 's', all);
	for (const manner of ['resume', 'history', 'snapshot']) {
		await comeBack(all, manner);
		await settled(server, 's', all);
	}
	assert.deepEqual(await counted(server, 's'), { count: 0, replies: '' });
	assert.ok(all.every(({ replies }) => replies === ''), 'a terminal answered');
	assert.equal(await answered(server), before, 'the server answered a replayed query');
	assert.notEqual(await answersTo(file.whole), '', 'this terminal never replies, so the test proves nothing');
});
