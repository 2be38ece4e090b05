// The memory that all screens share: large screens in many sessions, lines in ever new styles, and a storm of sizes
// from many clients. Contents stay right, and lost lines are reported.
import assert from 'node:assert/strict';
import { metric } from './lib/control.mjs';
import { rssAnon } from './lib/proc.mjs';
import { sanitized, scenario } from './lib/server.mjs';
import { times } from './lib/soak.mjs';
import { until } from './lib/until.mjs';

const MIB = 1 << 20;
const numbered = (n) => `line ${String(n).padStart(6, '0')}`;
// Numbered lines, each with styles that no other line has.
const printer = (lines, styles) => `awk 'BEGIN { for (i = 1; i <= ${lines}; i++) { printf "line %06d ", i; for (j = 0; j < ${styles}; j++) { `
	+ 'n = i * 7 + j; printf "\\033[38;2;%d;%d;%dmab", n / 65536 % 256, n / 256 % 256, n % 256 } print "\\033[m" } }\'';

const numbers = async (server) => {
	const names = ['screen_bytes', 'screen_bytes_max', 'screen_bytes_committed', 'screen_trims_total', 'screen_lines_given_up_total', 'screen_sizes_refused_total'];
	const values = await Promise.all(names.map((name) => metric(server, name)));
	return Object.fromEntries(names.map((name, at) => [name.replace('screen_', ''), values[at]]));
};

/** All lines that a session still has, and how many older lines it reports as dropped. */
async function lines(server, id) {
	const { first, count } = (await server.api.raw('GET', `/api/session/${id}/screen`)).json.scrollback;
	const parts = [];
	for (let from = first; from < first + count; from += 1000) {
		parts.push((await server.api.raw('GET', `/api/session/${id}/scrollback?format=text&from=${from}&to=${Math.min(from + 1000, first + count)}`)).text.replace(/\n$/, '').split('\n'));
	}
	return { first, count, texts: parts.flat(), screen: (await server.api.raw('GET', `/api/session/${id}/screen?format=text`)).text };
}

scenario('sizes beyond the memory of all screens', { args: ['--screen-memory', '64M'] }, async (server) => {
	const { api } = server;
	for (const id of ['a', 'b', 'c']) await server.session({ id });
	await api.resize('a', 1000, 1000);
	await api.resize('b', 1000, 1000);
	const { context } = await api.refused(429, 'LIMIT_REACHED', 'POST', '/api/session/c/resize', { cols: 1000, rows: 1000 });
	assert.deepEqual(context, { sessionId: 'c', screenMemory: 64 * MIB });
	await api.refused(429, 'LIMIT_REACHED', 'POST', '/api/session/c/size', { policy: 'fixed', cols: 1000, rows: 1000 });
	await api.refused(429, 'LIMIT_REACHED', 'POST', '/api/session/create', { id: 'd', cols: 1000, rows: 1000 });
	assert.deepEqual((await api.list()).data.sort(), ['a', 'b', 'c']);
	const client = await server.client({ sessionId: 'c', query: { cols: 1000, rows: 999 } }).connect();
	client.control({ type: 'resize', cols: 999, rows: 1000 });
	const { code } = await client.untilMessage('error');
	assert.equal(code, 'LIMIT_REACHED');
	assert.equal(await server.run('c', 'stty size'), '24 80\n', 'a refused resize changes nothing');
	client.control({ type: 'resize', cols: 200, rows: 100 });
	await until('a small size', async () => (await api.get('c')).rows === 100);
	assert.ok((await numbers(server)).sizes_refused_total >= 4);
	await api.resize('a', 80, 24);
	await api.resize('b', 1000, 999); // a smaller size is never refused
	client.control({ type: 'resize', cols: 1000, rows: 500 });
	await until('a size that fits again', async () => (await api.get('c')).rows === 500);
	await server.session({ id: 'd', cols: 100, rows: 30 });
});

scenario('when screens use too much memory, sessions without clients lose lines, and report it', { args: ['--screen-memory', '16M'], timeout: 120_000 }, async (server, t) => {
	const { api } = server;
	const total = 9000;
	for (const id of ['old', 'seen', 'new']) await server.session({ id });
	const watcher = await server.client({ sessionId: 'seen', keepLog: false, sink() {} }).connect();
	const seen = {};
	for (const id of ['old', 'seen', 'new']) {
		await api.input(id, `${printer(total, 20)}; echo the''-end\r`);
		await server.outputMatches(id, /the-end/);
		await server.untilPrompt(id);
		seen[id] = (await api.raw('GET', `/api/session/${id}/screen?format=text`)).text;
	}
	await until('memory below the limit', async () => (({ bytes, bytes_max: max }) => bytes <= max)(await numbers(server)));
	const after = await numbers(server);
	t.diagnostic(JSON.stringify(after));
	assert.equal(after.bytes_max, 16 * MIB);
	assert.ok(after.trims_total > 0);
	const gone = {};
	for (const id of ['old', 'seen', 'new']) {
		const { first, count, texts, screen } = await lines(server, id);
		gone[id] = first;
		assert.equal(screen, seen[id], `the screen of ${id} is unchanged`);
		assert.match(screen, new RegExp(numbered(total)));
		// Each line is at the position that the response says.
		assert.equal(texts.length, count);
		const at = texts.findIndex((text) => text.startsWith('line '));
		const start = Number(texts[at].slice(5, 11));
		for (let i = at; i < texts.length; i += 1) assert.ok(texts[i].startsWith(numbered(start + i - at)), `${texts[i].slice(0, 20)} is line ${first + i}`);
	}
	t.diagnostic(`lines given up: ${JSON.stringify(gone)}`);
	assert.ok(gone.old > 0, 'the idle session loses lines');
	assert.ok(gone.old >= gone.seen && gone.old + gone.seen + gone.new === after.lines_given_up_total, 'all dropped lines are counted');
	await server.restart();
	for (const id of ['old', 'seen', 'new']) {
		assert.equal((await lines(server, id)).screen, seen[id], `the screen of ${id} is restored`);
	}
	watcher.terminate();
});

const budget = times(64, 128); // MiB

scenario('the largest screens, all styles, and a storm of sizes from ten clients', {
	args: ['--screen-memory', process.env.RINGSIDE_SCREEN_MEMORY ?? `${budget}M`], timeout: 540_000, memory: true,
}, async (server, t) => {
	const { api } = server;
	const [count, total, styles] = [times(4, 20, 'RINGSIDE_SCREENS'), times(4_000, 12_000), 40];
	const ids = Array.from({ length: count }, (_, i) => `s${i}`);
	await server.session({ id: 'calm' });
	const calm = await server.client({ sessionId: 'calm' }).connect();
	for (const id of ids) await server.session({ id });
	const before = rssAnon(server.pid);
	let peak = before;
	const look = () => { peak = Math.max(peak, rssAnon(server.pid)); };
	const sizes = await Promise.all(ids.map((id) => api.raw('POST', `/api/session/${id}/resize`, { cols: 1000, rows: 1000 })));
	const large = sizes.filter(({ status }) => status === 200).length;
	assert.ok(sizes.every(({ status, json }) => status === 200 || (status === 429 && json.code === 'LIMIT_REACHED')));
	const began = performance.now();
	for (const id of ids) await api.input(id, `${printer(total, styles)}; echo the''-end\r`);
	await until('the end of all commands', async () => {
		look();
		const texts = await Promise.all(ids.map(async (id) => (await api.raw('GET', `/api/session/${id}/screen?format=text`)).text));
		return texts.every((text) => text.includes('the-end'));
	}, { timeout: 300_000, interval: 300 });
	const filled = [rssAnon(server.pid), await numbers(server), Math.round(performance.now() - began)];
	const clients = await Promise.all(Array.from({ length: 10 }, (_, i) => server.client({ sessionId: ids[i % count], keepLog: false, sink() {} }).connect()));
	let slowest = 0;
	for (let round = 0; round < times(4, 100); round += 1) {
		for (const client of clients) for (const [cols, rows] of [[1000, 1000], [2, 2], [1000, 2], [2, 1000], [1000, 1000]]) client.control({ type: 'resize', cols, rows });
		const sent = performance.now();
		calm.type(`echo ca""lm-${round}\r`);
		await calm.untilText(`calm-${round}\r\n`, { timeout: 60_000 });
		slowest = Math.max(slowest, performance.now() - sent);
		look();
	}
	for (const client of clients) client.control({ type: 'resize', cols: 80, rows: 24 });
	await until('the last size', async () => (await Promise.all(ids.slice(0, 10).map((id) => api.get(id)))).every(({ cols, rows }) => cols === 80 && rows === 24), { timeout: 60_000 });
	for (const id of ids.slice(0, 10)) assert.equal(await server.run(id, 'stty size'), '24 80\n');
	const after = await numbers(server);
	t.diagnostic(`${large} of ${count} large; memory +${((filled[0] - before) / MIB).toFixed(0)} MiB when full (${filled[2]} ms), +${((peak - before) / MIB).toFixed(0)} MiB at most, `
		+ `+${((rssAnon(server.pid) - before) / MIB).toFixed(0)} MiB after the storm; slowest echo ${slowest.toFixed(0)} ms`);
	t.diagnostic(`full ${JSON.stringify(filled[1])}; after ${JSON.stringify(after)}`);
	if (process.env.RINGSIDE_SCREEN_MEMORY) return;
	assert.ok(filled[1].bytes <= 1.25 * filled[1].bytes_max, 'about the limit');
	if (!sanitized()) assert.ok(peak - before < 2 * budget * MIB, `memory grew by ${peak - before}`);
});
