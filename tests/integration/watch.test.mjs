// Watching files. sandbox_class does so by the published client, over each transport.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync, appendFileSync, chmodSync, chownSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { openBinary } from './lib/other_user.mjs';
import { inSandboxes, scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { EventStream } from './lib/sse.mjs';
import { shared } from './lib/together.mjs';
import { until, within } from './lib/until.mjs';

const watch = (server, place, more = {}) =>
	new EventStream(server, '/api/watch', { method: 'POST', body: { path: place, ...more } });

async function watching(server, place, more) {
	const stream = watch(server, place, more);
	await stream.until('watching', (e) => e.type === 'watching');
	return stream;
}
const untilEvent = (stream, type, place) => stream.until(`${type} ${place}`,
	(e) => (e.eventType === type && e.path === place) || e.type === 'resync');
const quiet = async (server, stream, place) => {
	// The event of a later change shows that no other event came before.
	const mark = path.join(place, `mark-${Math.random()}`);
	writeFileSync(mark, '');
	await untilEvent(stream, 'create', mark);
};
const rss = (server) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024;
const inotifies = (server) => Number(execFileSync('bash', ['-c',
	`ls -l /proc/${server.pid}/fd | grep -c inotify || true`], { encoding: 'utf8' }));

shared('an event comes soon after the system call', async (server) => {
	const stream = await watching(server, '.');
	const took = [];
	for (let n = 0; n < 50; n++) {
		const place = path.join(server.cwd, `f${n}`);
		const at = performance.now();
		writeFileSync(place, '');
		while (!stream.events.some((e) => e.path === place)) await new Promise(setImmediate);
		took.push(performance.now() - at);
	}
	took.sort((a, b) => a - b);
	console.log(`# watch: p50 ${took[25].toFixed(2)} ms, p90 ${took[45].toFixed(2)} ms`);
	assert.ok(took[25] < 75, 'events are not delayed in order to merge them');
});

shared('trees that appear at once, deep trees, and moved directories', async (server) => {
	const at = (...names) => path.join(server.cwd, ...names);
	const outside = path.join(server.root, 'outside');
	mkdirSync(path.join(outside, 'in/ner'), { recursive: true });
	writeFileSync(path.join(outside, 'in/ner/file'), '');
	const stream = await watching(server, server.cwd);
	for (let n = 0; n < times(4, 20); n++) {
		execFileSync('bash', ['-c', `mkdir -p "$1/t${n}/b/c/d" && touch "$1/t${n}/b/c/d/"{1..20} "$1/t${n}/b/x"`, 'bash', server.cwd]);
		await untilEvent(stream, 'create', at(`t${n}/b/x`));
		for (let k = 1; k <= 20; k++) await untilEvent(stream, 'create', at(`t${n}/b/c/d/${k}`));
	}
	// Moved in from outside, its contents are new. Moved within, it is watched under its new name.
	renameSync(path.join(outside, 'in'), at('in'));
	await untilEvent(stream, 'move_to', at('in'));
	await untilEvent(stream, 'create', at('in/ner/file'));
	renameSync(at('in'), at('t0/moved'));
	await untilEvent(stream, 'move_from', at('in'));
	await untilEvent(stream, 'move_to', at('t0/moved'));
	writeFileSync(at('t0/moved/ner/more'), '');
	await untilEvent(stream, 'create', at('t0/moved/ner/more'));
	renameSync(at('t0/moved'), path.join(outside, 'gone'));
	await untilEvent(stream, 'move_from', at('t0/moved'));
	const before = stream.events.length;
	// It was moved out: the kernel shows that the server does not watch it any more.
	await until('the end of its watch', () => {
		const ino = execFileSync('stat', ['-c', '%i', path.join(outside, 'gone/ner')], { encoding: 'utf8' }).trim();
		const hex = BigInt(ino).toString(16);
		return !execFileSync('bash', ['-c', `cat /proc/${server.pid}/fdinfo/* 2>/dev/null`], { encoding: 'utf8' }).includes(`ino:${hex} `);
	});
	writeFileSync(path.join(outside, 'gone/ner/unseen'), '');
	await quiet(server, stream, server.cwd);
	assert.ok(!stream.events.slice(before).some((e) => e.path?.includes('unseen')));
	// A deep tree, and its removal.
	const deep = Array.from({ length: 200 }, (_, n) => `d${n}`).join('/');
	mkdirSync(at(deep), { recursive: true });
	writeFileSync(at(deep, 'bottom'), '');
	await untilEvent(stream, 'create', at(deep, 'bottom'));
	rmSync(at('d0'), { recursive: true });
	await untilEvent(stream, 'delete', at('d0'));
	assert.ok(!stream.events.some((e) => e.type === 'resync'), 'no events were lost');
});

shared('a client that does not read costs little memory, and gets a resync', { timeout: 120_000 }, async (server) => {
	const lazy = await new Promise((resolve, reject) => {
		const body = JSON.stringify({ path: '.' });
		http.request(`${server.base}/api/watch`, { agent: false, method: 'POST', headers: {
			Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json', 'Content-Length': body.length } }, (response) => {
			response.once('data', () => { response.pause(); resolve(response); });
		}).on('error', reject).end(body);
	});
	const stream = await watching(server, '.');
	const before = rss(server);
	// Events with long names, but of few files: disks are slow with many.
	const names = ['a', 'b'].map((name) => path.join(server.cwd, name.repeat(200)));
	writeFileSync(names[0], '');
	for (let round = 0; round < times(10_000, 15_000); round++) renameSync(names[round % 2], names[(round + 1) % 2]);
	await quiet(server, stream, server.cwd).catch(() => {});
	assert.ok(rss(server) - before < 150, `${before} MB became ${rss(server)}`);
	let text = '';
	lazy.setEncoding('utf8').on('data', (more) => { text += more; });
	lazy.resume();
	await until('a resync', () => text.includes('"type":"resync"'));
	lazy.destroy();
});

shared('the end of the root, and directories that cannot be watched', async (server) => {
	const root = path.join(server.cwd, 'root');
	mkdirSync(root);
	const stream = await watching(server, root);
	rmSync(root, { recursive: true });
	await untilEvent(stream, 'delete', root);
	assert.match((await stream.until('stopped', (e) => e.type === 'stopped')).reason, /deleted/);
	await until('the end of the stream', () => stream.closed);
	mkdirSync(root);
	const moved = await watching(server, root);
	renameSync(root, `${root}2`);
	assert.match((await moved.until('stopped', (e) => e.type === 'stopped')).reason, /moved/);

	const refused = async (body, status, code, route = '/api/watch') => {
		const { status: got, json } = await server.api.raw('POST', route, body);
		assert.equal(got, status, JSON.stringify([body, json]));
		assert.equal(json.code, code, JSON.stringify(body));
		return json;
	};
	symlinkSync('/etc', path.join(server.cwd, 'etc'));
	for (const [body, status, code] of [
		[{}, 400, 'VALIDATION_FAILED'], [{ path: '' }, 400, 'VALIDATION_FAILED'], [{ path: ' \n' }, 400, 'VALIDATION_FAILED'],
		[{ path: 1 }, 400, 'VALIDATION_FAILED'], [{ path: 'a\0b' }, 400, 'VALIDATION_FAILED'], [{ path: 'x'.repeat(5000) }, 400, 'VALIDATION_FAILED'],
		[{ path: '.', include: ['a'], exclude: ['b'] }, 400, 'VALIDATION_FAILED'], [{ path: '.', include: 'a' }, 400, 'VALIDATION_FAILED'],
		[{ path: '.', exclude: [1] }, 400, 'VALIDATION_FAILED'], [{ path: '.', exclude: ['[a]'] }, 400, 'VALIDATION_FAILED'],
		[{ path: '.', include: Array(40).fill('a') }, 400, 'VALIDATION_FAILED'], [{ path: '.', recursive: 1 }, 400, 'VALIDATION_FAILED'],
		[{ path: '.', events: ['open'] }, 400, 'VALIDATION_FAILED'],
		[{ path: 'none' }, 404, 'FILE_NOT_FOUND'], [{ path: '/etc' }, 403, 'PERMISSION_DENIED'], [{ path: '..' }, 403, 'PERMISSION_DENIED'],
		[{ path: '/nonexistent' }, 403, 'PERMISSION_DENIED'], [{ path: 'etc' }, 403, 'PERMISSION_DENIED'],
	]) {
		await refused(body, status, code);
		await refused(body, status, code, '/api/watch/check');
	}
	const json = await refused({ path: 'etc' }, 403, 'PERMISSION_DENIED');
	assert.deepEqual(json.context, { path: path.join(server.cwd, 'etc'), resolvedPath: realpathSync('/etc'), workspaceRoot: realpathSync(server.cwd) });
	for (const since of ['x', 'watch-1-1', 'watch-1-1:-1', ':', 'watch-:x', 'watch-1-1:99999999999999999999', 'a'.repeat(500)])
		await refused({ path: '.', since }, 400, 'VALIDATION_FAILED', '/api/watch/check');
});

const noUser = process.getuid() !== 0 ? 'only root may start what is another user\'s' : inSandboxes && 'root owns the sandboxes of these tests';

scenario('with a session user only files that the user may see are watched', { skip: noUser, start: false }, async (server) => {
	for (const place of [server.root, server.cwd]) chmodSync(place, 0o755);
	const [theirs, ours] = ['theirs', 'ours'].map((name) => path.join(server.cwd, name));
	mkdirSync(theirs);
	mkdirSync(path.join(theirs, 'closed'), { mode: 0o700 });
	mkdirSync(ours, { mode: 0o700 });
	chownSync(theirs, 1, 1);
	server.options.binary = openBinary();
	await server.start({ args: ['--session-user', 'daemon', '--workspace', server.cwd] });
	for (const place of ['ours', 'theirs/closed'])
		for (const route of ['/api/watch', '/api/watch/check']) {
			const { status, json } = await server.api.raw('POST', route, { path: place });
			assert.deepEqual([status, json.code], [403, 'PERMISSION_DENIED'], `${route} ${place}`);
		}
	// Inaccessible subdirectories are left out, the rest is reported.
	const stream = await watching(server, '.', { recursive: true });
	writeFileSync(path.join(ours, 'secret'), '');
	writeFileSync(path.join(theirs, 'closed', 'secret'), '');
	writeFileSync(path.join(theirs, 'file'), '');
	await untilEvent(stream, 'create', path.join(theirs, 'file'));
	assert.doesNotMatch(JSON.stringify(stream.events), /secret/);
});

scenario('versions', async (server) => {
	const check = (since) => server.api.call('POST', '/api/watch/check', { path: '.', ...since ? { since } : {} });
	const expired = await check('watch-99-99:5');
	assert.equal(expired.status, 'resync');
	assert.equal(expired.reason, 'expired');
	const restarted = await check('watch-99-99:5');
	assert.deepEqual([restarted.status, restarted.reason, restarted.version], ['resync', 'restarted', expired.version]);
	assert.equal((await check(expired.version)).status, 'unchanged');
	const future = await server.api.raw('POST', '/api/watch/check', { path: '.', since: expired.version.replace(/\d+$/, '7') });
	assert.equal(future.status, 400);
	writeFileSync(path.join(server.cwd, 'x'), '');
	await until('the change', async () => (await check(expired.version)).status === 'changed');
	assert.equal((await check()).status, 'unchanged');
	await server.restart();
	const after = await check(expired.version);
	assert.deepEqual([after.status, after.reason], ['resync', 'expired']);
});

shared('exclude, include, and events on request', async (server) => {
	const at = (...names) => path.join(server.cwd, ...names);
	for (const name of ['.git', 'node_modules', 'src']) mkdirSync(at(name));
	const usual = await watching(server, '.'), all = await watching(server, '.', { exclude: [] });
	const typed = await watching(server, '.', { include: ['*.ts'] }), flat = await watching(server, '.', { recursive: false });
	const file = at('src/one.ts');
	writeFileSync(file, '1');
	const single = await watching(server, 'src/one.ts', { events: ['modify', 'attrib'] });
	for (const name of ['.git/index', 'node_modules/x', 'src/two.js']) writeFileSync(at(name), '');
	appendFileSync(file, '2');
	chmodSync(file, 0o600);
	await untilEvent(single, 'modify', file);
	await untilEvent(single, 'attrib', file);
	for (const stream of [usual, all, flat]) await quiet(server, stream, server.cwd);
	writeFileSync(at('end.ts'), '');
	await untilEvent(typed, 'create', at('end.ts'));
	const names = (stream) => new Set(stream.events.map((e) => e.path ?? ''));
	assert.ok(names(usual).has(at('src/two.js')) && !names(usual).has(at('.git/index')) && !names(usual).has(at('node_modules/x')));
	assert.ok(names(all).has(at('.git/index')) && names(all).has(at('node_modules/x')));
	assert.ok([...names(typed)].every((name) => name.endsWith('.ts') || name === server.cwd));
	assert.ok(!names(flat).has(at('src/two.js')));
	assert.ok(!usual.events.some((e) => e.eventType === 'attrib'), 'only on request');
});

scenario('twenty equal watches use one inotify instance', async (server) => {
	const before = inotifies(server);
	const streams = [];
	for (let n = 0; n < 20; n++) streams.push(await watching(server, '.'));
	assert.equal(new Set(streams.map((each) => each.events[0].watchId)).size, 1);
	assert.equal(inotifies(server), before + 1);
	const place = path.join(server.cwd, 'x');
	writeFileSync(place, '');
	for (const each of streams) await untilEvent(each, 'create', place);
	for (const each of streams) each.terminate();
	await until('the end of the instance', () => inotifies(server) === before);
	// All start and end at once.
	for (let round = 0; round < 2; round++) {
		const many = Array.from({ length: 40 }, (_, n) => watch(server, '.', { exclude: [`p${n}`] }));
		if (round % 2) await Promise.all(many.map((each) => each.until('watching', (e) => e.type === 'watching')));
		for (const each of many) each.terminate();
	}
	await until('the end of all instances', () => inotifies(server) === before);
	const held = [];
	// Watches that were only made by checks give way: first the one that was unused for longest.
	const kept = (name) => server.api.call('POST', '/api/watch/check', { path: '.', exclude: [name] });
	const { version } = await kept('first');
	for (let n = 0; n < 63; n++) await kept(`k${n}`);
	assert.equal((await server.api.call('POST', '/api/watch/check', { path: '.', exclude: ['first'], since: version })).status, 'unchanged');
	await kept('one more');
	assert.equal((await server.api.call('POST', '/api/watch/check', { path: '.', exclude: ['first'], since: version })).status, 'unchanged');
	for (let n = 0; n < 64; n++) held.push(await watching(server, '.', { exclude: [`q${n}`] }));
	const { status, json } = await server.api.raw('POST', '/api/watch', { path: '.' });
	assert.equal(status, 429);
	assert.equal(json.code, 'LIMIT_REACHED');
	for (const each of held) each.terminate();
});

shared('consecutive writes are one event now and one later', async (server) => {
	const place = path.join(server.cwd, 'busy');
	writeFileSync(place, '');
	const stream = await watching(server, '.');
	const begin = Date.now();
	// The first write is reported at once; the following ones may all happen before the server looks.
	appendFileSync(place, 'x');
	await until('the first', () => stream.events.some((e) => e.path === place));
	for (let n = 0; n < 500; n++) appendFileSync(place, 'x');
	await quiet(server, stream, server.cwd);
	const last = Date.now();
	await until('the last', () => stream.events.some((e) => e.path === place && e.at >= last) || Date.now() - last > 500);
	const count = stream.events.filter((e) => e.path === place).length;
	assert.ok(count >= 2 && count < 5 + (Date.now() - begin) / 75, `${count} events`);
});

scenario('the server is killed while it watches', { mayHaveDied: true }, async (server) => {
	await server.session({ id: 's' });
	const stream = await watching(server, '.');
	writeFileSync(path.join(server.cwd, 'x'), '');
	await untilEvent(stream, 'create', path.join(server.cwd, 'x'));
	await server.kill('SIGKILL');
	await until('the end of the stream', () => stream.closed);
	await server.start();
	assert.equal(await server.run('s', 'echo here'), 'here\n');
	(await watching(server, '.')).terminate();
	const busy = await watching(server, '.', { exclude: [] });
	const noise = execFileSync('bash', ['-c', 'cd "$1"; (for n in {1..3000}; do : >f$n; done) >/dev/null 2>&1 & ', 'bash', server.cwd]);
	assert.ok(noise !== undefined && busy.status === 200);
	const { code } = await server.kill('SIGTERM');
	assert.equal(code, 0);
});
