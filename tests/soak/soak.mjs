#!/usr/bin/env node
// Hours of ordinary work: sessions that start and end, commands, keys, viewers, runs, processes, links and agents. Once a minute
// prints a line about the server: memory, descriptors, holders, files, and the latency of a ping. At the end everything is
// deleted and measured once more.
//
//   tests/soak/soak.mjs [MINUTES]     default $RINGSIDE_SOAK_MINUTES, or 2; a line every 30th of that, at most a minute
//
// RINGSIDE_BIN: the directory of the programs. SEED repeats the work. Sizes are meaningful in a release build only; counts are
// checked in any.
import assert from 'node:assert/strict';
import http from 'node:http';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { Random } from '../lib/grammar.mjs';
import { cmdline, descriptors, isAlive, processesNaming } from '../integration/lib/proc.mjs';
import { sanitized, Server } from '../integration/lib/server.mjs';
import { pause, until } from '../integration/lib/until.mjs';

const minutes = Number(process.argv[2] ?? process.env.RINGSIDE_SOAK_MINUTES ?? 2);
const seed = Number(process.env.SEED ?? 1);
const SESSIONS = 24; // at once
const WORKERS = 6;
const every = Math.min(60_000, minutes * 60_000 / 30);
const MIB = 1 << 20;

const random = new Random(seed);
const server = new Server({ args: ['--ended-ttl', '20', '--process-ttl', '20', '--kept-processes', '20'] });
const { api } = server;
const sessions = new Map(); // id: whether a worker uses it
const tally = {};
const failures = new Map();
let over = false;
let count = 0;

const rollup = (pid, field) => {
	try {
		return Number(new RegExp(`^${field}: +(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))[1]) * 1024;
	} catch {
		return 0; // the process has exited
	}
};
const files = (folder) => readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
	try {
		return sum + (entry.isDirectory() ? files(path.join(folder, entry.name)) : statSync(path.join(folder, entry.name)) && 1);
	} catch {
		return sum; // removed meanwhile
	}
}, 0);

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
async function latency() {
	const took = [];
	for (let at = 0; at < 50; at += 1) {
		const begun = performance.now();
		await api.call('GET', '/api/ping', undefined, { agent });
		took.push(performance.now() - begun);
		await pause(5);
	}
	took.sort((a, b) => a - b);
	return { median: took[25], most: took[49] };
}

/** Measure the server. */
async function sample() {
	const holders = processesNaming(server.root).filter((pid) => /^ringside-holder/.test(cmdline(pid)));
	const { median, most } = await latency();
	return {
		rss: rollup(server.pid, 'Rss'), pss: rollup(server.pid, 'Pss'), fds: Object.keys(descriptors(server.pid)).length,
		holders: holders.length, holdersPss: holders.reduce((sum, pid) => sum + rollup(pid, 'Pss'), 0),
		files: files(server.dir), sessions: sessions.size, median, most,
	};
}

const columns = [['time', 8], ['rss', 8], ['pss', 8], ['fds', 5], ['holders', 8], ['MiB', 6], ['files', 6], ['sessions', 9], ['ping', 7], ['worst', 8], ['work', 8]];
const row = (cells) => console.log(cells.map((cell, at) => String(cell).padStart(columns[at][1])).join(' '));
function print(label, s) {
	row([label, (s.rss / MIB).toFixed(1), (s.pss / MIB).toFixed(1), s.fds, s.holders, (s.holdersPss / MIB).toFixed(1), s.files, s.sessions,
		s.median.toFixed(1), s.most.toFixed(1), count]);
}

const post = (route, body) => api.call('POST', route, body, { timeout: 60_000 });

async function open() {
	const id = `w${count}`;
	sessions.set(id, true);
	await api.create({ id, cwd: server.cwd, cols: 60 + random.below(100), rows: 20 + random.below(30) });
	sessions.set(id, false);
}

/** Reserve a session that no other worker uses. */
function reserve() {
	const free = [...sessions].filter(([, busy]) => !busy).map(([id]) => id);
	const id = free.length ? random.pick(free) : undefined;
	if (id) sessions.set(id, true);
	return id;
}

const inSession = {
	exec: (id) => post(`/api/session/${id}/exec`, { command: `seq ${10 + random.below(2000)}; echo $RANDOM`, queue: true }),
	pipes: (id) => post(`/api/session/${id}/exec`, { command: 'ls -l /usr/bin | head -50; echo error >&2', streams: 'pipes', queue: true }),
	keys: async (id) => {
		await post(`/api/session/${id}/keys`, { text: `echo typed ${count}`, submit: true });
		await post(`/api/session/${id}/wait`, { until: [{ type: 'prompt' }], timeoutMs: 10_000 });
	},
	colours: (id) => post(`/api/session/${id}/exec`, { command: 'for i in {1..100}; do printf "\\e[38;5;%dm%s \\e[0m" $i "$i 端末 🎪"; done; echo', queue: true }),
	viewer: async (id) => {
		const client = await server.client({ sessionId: id, keepLog: false, sink: () => {} }).connect();
		await pause(random.below(200));
		await client.close();
		server.clients.delete(client);
	},
	screen: (id) => api.call('GET', `/api/session/${id}/screen`),
	search: (id) => api.call('GET', `/api/session/${id}/search?q=typed`),
	resize: (id) => api.resize(id, 60 + random.below(100), 20 + random.below(30)),
	link: async (id) => {
		const { link } = await api.link(id, 'viewer', 60_000);
		await api.call('DELETE', `/api/session/${id}/links/${link.id}`);
	},
};
const beside = {
	run: () => post('/api/run', { command: `seq ${random.below(5000)}` }),
	process: async () => {
		const { processId } = await post('/api/process/start', { command: `seq ${random.below(3000)}; exit ${random.below(3)}` });
		await post(`/api/process/${processId}/wait`, { for: 'exit' });
		if (random.below(2)) await api.call('DELETE', `/api/process/${processId}?remove=true`);
	},
	list: () => api.list(),
};

async function one() {
	count += 1;
	if (sessions.size < SESSIONS || random.below(60) === 0) return open();
	const outside = random.below(5) === 0;
	const id = outside ? undefined : reserve();
	if (!id) {
		const what = random.pick(Object.keys(beside));
		tally[what] = (tally[what] ?? 0) + 1;
		return beside[what]();
	}
	try {
		if (sessions.size > SESSIONS) {
			await api.delete(id);
			sessions.delete(id);
			return undefined;
		}
		const what = random.pick(Object.keys(inSession));
		tally[what] = (tally[what] ?? 0) + 1;
		return await inSession[what](id);
	} finally {
		if (sessions.has(id)) sessions.set(id, false);
	}
}

async function worker() {
	while (!over) {
		try {
			await one();
		} catch (error) {
			const text = String(error.message).slice(0, 300).replace(/\d+/g, 'N');
			failures.set(text, (failures.get(text) ?? 0) + 1);
		}
		await pause(random.below(30));
	}
}

async function soak() {
	await server.start();
	const first = await sample();
	console.log(`# ${minutes} minutes, SEED=${seed}; MiB of the server (rss, pss) and of its holders, ms of a ping`);
	row(columns.map(([name]) => name));
	print('begin', first);
	const workers = Array.from({ length: WORKERS }, worker);
	const begun = Date.now();
	const samples = [];
	while (Date.now() - begun < minutes * 60_000) {
		await pause(every);
		assert.ok(server.child && isAlive(server.pid), 'the server died');
		const now = await sample();
		samples.push(now);
		print(`${((Date.now() - begun) / 60_000).toFixed(1)} min`, now);
	}
	over = true;
	await Promise.all(workers);
	for (const id of (await api.list()).data) await api.delete(id);
	for (const { id } of (await api.call('GET', '/api/process/list')).processes) await api.raw('DELETE', `/api/process/${id}?remove=true&graceMs=0`);
	sessions.clear();
	await until('end of all holders', () => processesNaming(server.root).length === 1, { timeout: 60_000 });
	// Wait for background work, which is done step by step.
	const rest = await until('rest', async () => {
		const now = await sample();
		return now.fds <= first.fds + 2 && now;
	}, { timeout: 60_000 });
	print('rest', rest);
	console.log(`# ${JSON.stringify(tally)}`);
	return { first, samples, rest };
}

/** Check the samples. */
function judge({ first, samples, rest }) {
	assert.deepEqual([...failures], [], 'requests failed');
	for (const { holders, sessions: there } of samples) assert.ok(holders <= there + 20 + WORKERS * 2, `${holders} holders of ${there} sessions`);
	assert.ok(rest.files <= first.files + 5, `${rest.files} files are left, ${first.files} at first`);
	const third = samples[Math.floor(samples.length / 3)];
	const last = samples.at(-1);
	const growth = (last.rss - third.rss) / MIB;
	console.log(`# the last two thirds: ${growth.toFixed(1)} MiB more; at rest ${((rest.rss - first.rss) / MIB).toFixed(1)} MiB more than at first`);
	assert.ok(last.fds <= third.fds + 60, `${last.fds} descriptors, ${third.fds} after a third`);
	if (sanitized()) return;
	assert.ok(growth < 24, `memory grows: ${growth} MiB in the last two thirds`);
	assert.ok(rest.rss - first.rss < 24 * MIB, `at rest it has ${(rest.rss / MIB).toFixed(1)} MiB, at first ${(first.rss / MIB).toFixed(1)}`);
}

let status = 0;
try {
	judge(await soak());
} catch (error) {
	console.error(error);
	console.error(server.stderr.split('\n').filter((line) => !/level=(info|debug)/.test(line)).slice(0, 200).join('\n'));
	status = 1;
}
over = true;
try {
	await server.cleanup({ graceful: status === 0 });
} catch (error) {
	console.error(error);
	status = 1;
}
process.exit(status);
