// Waiting for a condition with a deadline. Tests never sleep and hope.
//
// A deadline says how long something may take on a machine that does nothing else. On one that is shared, time
// counts as much less as there are others that want to run: see Patience.
import { readFileSync } from 'node:fs';
import os from 'node:os';

/** Slow builds (sanitizers, valgrind) multiply every deadline. */
export const slowness = Number(process.env.RINGSIDE_TIMEOUT_FACTOR ?? 1);

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const processors = os.availableParallelism?.() ?? os.cpus().length;
const SAMPLE_MS = 50; // the load is not read more often
const CROWD_MAX = 10; // no machine is so busy that a test may take for ever
let sampled = { at: -Infinity, crowd: 1 };

/** How many want to run for each processor there is: 1 on a machine with nothing else to do. */
function crowd() {
	const now = performance.now();
	if (now - sampled.at < SAMPLE_MS) return sampled.crowd;
	let running = 0;
	try {
		running = Number(/^(?:\S+ ){3}(\d+)\//.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1] ?? 0);
	} catch {
		// no such file here: then time is time
	}
	sampled = { at: now, crowd: Math.min(CROWD_MAX, Math.max(1, running / processors)) };
	return sampled.crowd;
}

/** So many milliseconds of a machine of one's own. */
export class Patience {
	constructor(ms) {
		this.left = ms * slowness;
		this.since = performance.now();
	}

	/** Whether they are over; has to be asked now and then. */
	get over() {
		const now = performance.now();
		this.left -= (now - this.since) / crowd();
		this.since = now;
		return this.left <= 0;
	}
}

/**
 * Polls `probe` until it returns something truthy, which is returned. `what` is said when the
 * deadline passes; if it is a function, it is called then, to tell the last state. progress: a function that
 * tells how far it is; then the deadline begins anew whenever that changes, so what is alive may take its time.
 */
export async function until(what, probe, { timeout = 15_000, interval = 15, progress } = {}) {
	let patience = new Patience(timeout);
	let before;
	let failure;
	for (;;) {
		try {
			failure = undefined;
			const result = await probe();
			if (result) return result;
			const now = await progress?.();
			if (now !== before) {
				patience = new Patience(timeout);
				before = now;
			}
		} catch (error) {
			if (error?.final) throw error;
			failure = error;
		}
		if (patience.over) {
			const text = typeof what === 'function' ? what() : what;
			throw new Error(`no ${text} within ${timeout * slowness} ms`, { cause: failure });
		}
		await pause(interval);
	}
}

/** Rejects when `promise` has not settled in time, with an error that is `late`. */
export async function within(what, promise, timeout = 15_000) {
	let timer;
	const deadline = new Promise((_, reject) => {
		const patience = new Patience(timeout);
		timer = setInterval(() => {
			if (!patience.over) return;
			const text = typeof what === 'function' ? what() : what;
			reject(Object.assign(new Error(`no ${text} within ${timeout * slowness} ms`), { late: true }));
		}, Math.min(200, Math.max(1, timeout * slowness)));
	});
	try {
		return await Promise.race([promise, deadline]);
	} finally {
		clearInterval(timer);
	}
}

/** Asserts that a condition stays true for a while: for what must not happen. */
export async function stays(what, probe, duration = 300) {
	const end = Date.now() + duration;
	do {
		if (!(await probe())) throw new Error(`did not stay: ${what}`);
		await pause(20);
	} while (Date.now() < end);
}
