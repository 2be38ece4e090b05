// Compares the server's screen with libvterm's for the same output. A difference in text or cursor must have a rule in
// rules.c, or is a bug. Input that crashes libvterm is changed before it gets there.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { loadCorpus } from '../corpus/load.mjs';
import { times } from '../integration/lib/soak.mjs';
import { Random, step } from '../lib/grammar.mjs';

const DRIVER = path.join(process.env.RINGSIDE_BIN ?? 'build', 'tests/differential/differential');

/** Both screens, in a process of their own, because libvterm may crash. */
class Opinion {
	#child = spawn(DRIVER, { stdio: ['pipe', 'pipe', 'inherit'], timeout: times(600, 7200) * 1000 });
	#waiting = [];
	#lines = [];

	constructor() {
		createInterface({ input: this.#child.stdout }).on('line', (line) => {
			if (line === '.')
				this.#waiting.shift()?.resolve(this.#lines.splice(0));
			else
				this.#lines.push(line);
		});
		this.#child.stdin.on('error', () => {}); // its exit is handled below
		this.ended = new Promise((resolve) => {
			this.#child.on('exit', (code, signal) => {
				this.#waiting.splice(0).forEach(({ reject }) => reject(new Error(`the program exited: ${signal ?? code}`)));
				resolve({ code, signal });
			});
		});
	}

	send(line) { this.#child.stdin.write(`${line}\n`); }
	ask(line) {
		this.send(line);
		return new Promise((resolve, reject) => { this.#waiting.push({ resolve, reject }); });
	}

	/** The finding in a stream, or none. */
	async judge({ cols, rows, steps }) {
		this.send(`new ${rows} ${cols}`);
		for (const { bytes, resize } of steps)
			this.send(resize ? `size ${resize[1]} ${resize[0]}` : `feed ${Buffer.from(bytes).toString('hex')}`);
		return (await this.ask('end')).join('\n');
	}

	async rules() {
		return (await this.ask('rules')).map((line) => {
			const [name, section, explanation, example, used] = line.split('\t');
			const [wide, narrow] = Buffer.from(example, 'hex').toString('latin1').split('\x1c');
			const steps = [{ bytes: Buffer.from(wide, 'latin1') }];
			if (narrow)
				steps.push({ resize: [15, 6] }, { bytes: Buffer.from(narrow, 'latin1') });
			return { name, section, explanation, example: { cols: 20, rows: 6, steps }, used: Number(used) };
		});
	}

	end() {
		this.#child.stdin.end();
		return this.ended;
	}
}

/** Run body with a new process, which must exit with status 0. */
async function withOpinion(body) {
	const opinion = new Opinion();
	try {
		await body(opinion);
	} finally {
		assert.deepEqual(await opinion.end(), { code: 0, signal: null });
	}
}

async function report(t, opinion) {
	const [tokens, compared, painted, unlike] = (await opinion.ask('figures'))[0].split(' ').map(Number);
	t.diagnostic(`${tokens} tokens, ${compared} comparisons, ${painted} snapshots, ${unlike} drawn differently by libvterm`);
	for (const { name, used } of await opinion.rules())
		t.diagnostic(`${name}: ${used}`);
	return { compared, painted, unlike };
}

test('recordings and hand-written streams look the same in libvterm', async (t) => {
	await withOpinion(async (opinion) => {
		const found = [];
		for (const stream of loadCorpus()) {
			const finding = await opinion.judge(stream);
			if (finding)
				found.push(`${stream.name}: ${finding}`);
		}
		const { compared } = await report(t, opinion);
		assert.ok(compared > 100000, 'too few comparisons');
		assert.deepEqual(found, []);
	});
});

const seed = Number(process.env.SEED ?? 1);
const rounds = times(150, 100000, 'DIFFERENTIAL_ROUNDS');

/** Minimise a stream that leads to a finding. */
async function minimise(opinion, stream) {
	let { steps } = stream;
	for (let i = steps.length - 1; i >= 0; i--) {
		const fewer = steps.toSpliced(i, 1);
		if (await opinion.judge({ ...stream, steps: fewer }))
			steps = fewer;
	}
	return steps.map(({ bytes, resize }) => (resize ? `resize ${resize}` : JSON.stringify(Buffer.from(bytes).toString('latin1'))));
}

test('random output looks the same in libvterm', async (t) => {
	await withOpinion(async (opinion) => {
		const random = new Random(seed);
		for (let round = 0; round < rounds; round++) {
			const stream = { cols: 2 + random.below(24), rows: 1 + random.below(12), steps: [] };
			const resizes = random.below(3) === 0;
			for (let i = 0; i < 60; i++)
				stream.steps.push(step(random, resizes));
			const finding = await opinion.judge(stream);
			if (finding)
				assert.fail(`SEED=${seed}, round ${round}, ${stream.cols} x ${stream.rows}: ${finding}\n`
					+ (await minimise(opinion, stream)).join('\n'));
		}
		await report(t, opinion);
	});
});

test('each rule is needed: without it, its example differs', async () => {
	await withOpinion(async (opinion) => {
		const rules = await opinion.rules();
		for (const { name, section, example } of rules) {
			assert.ok(section.length > 0, name);
			assert.equal(await opinion.judge(example), '', name);
		}
		const idle = [];
		for (const { name, example } of rules) {
			opinion.send(`without ${name}`);
			if (await opinion.judge(example) === '')
				idle.push(name);
		}
		assert.deepEqual(idle, []);
	});
});
