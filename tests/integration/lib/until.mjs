// Waiting for a condition with a deadline. Tests never sleep and hope.
//
// A deadline is the time on an idle machine. On a busy one, time counts less, by the number of processes that want to run:
// see Patience.
import { readFileSync } from 'node:fs';
import os from 'node:os';

/** Slow builds (sanitizers, valgrind) multiply every deadline. */
export const slowness = Number(process.env.RINGSIDE_TIMEOUT_FACTOR ?? 1);

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const processors = os.availableParallelism?.() ?? os.cpus().length;
const SAMPLE_MS = 50; // interval between reads of the load
const CROWD_MAX = 10; // limits deadlines on a very busy machine
let sampled = { at: -Infinity, crowd: 1 };

/** Number of runnable processes per processor: 1 on an idle machine. */
function crowd() {
	const now = performance.now();
	if (now - sampled.at < SAMPLE_MS) return sampled.crowd;
	let running = 0;
	try {
		running = Number(/^(?:\S+ ){3}(\d+)\//.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1] ?? 0);
	} catch {
		// there is no such file: time counts fully
	}
	sampled = { at: now, crowd: Math.min(CROWD_MAX, Math.max(1, running / processors)) };
	return sampled.crowd;
}

/** A number of milliseconds on an idle machine. */
export class Patience {
	constructor(ms) {
		this.left = ms * slowness;
		this.since = performance.now();
	}

	/** Whether they have passed; must be polled. */
	get over() {
		const now = performance.now();
		this.left -= (now - this.since) / crowd();
		this.since = now;
		return this.left <= 0;
	}
}

/**
 * Poll `probe` until it returns a truthy value, which is returned. `what`: what is awaited, for the error; a function is
 * called when the deadline passes. progress: a function; when its value changes, the deadline starts anew, so that slow work
 * may take its time.
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
			// Reports of failed tests have only the message.
			const why = failure ? `; the last probe threw: ${failure.message ?? failure}` : '';
			throw new Error(`timed out after ${timeout * slowness} ms, waiting for ${text}${why}`, { cause: failure });
		}
		await pause(interval);
	}
}

/** Reject if `promise` has not settled in time, with an error whose `late` is set. */
export async function within(what, promise, timeout = 15_000) {
	let timer;
	const deadline = new Promise((_, reject) => {
		const patience = new Patience(timeout);
		timer = setInterval(() => {
			if (!patience.over) return;
			const text = typeof what === 'function' ? what() : what;
			reject(Object.assign(new Error(`timed out after ${timeout * slowness} ms, waiting for ${text}`), { late: true }));
		}, Math.min(200, Math.max(1, timeout * slowness)));
	});
	try {
		return await Promise.race([promise, deadline]);
	} finally {
		clearInterval(timer);
	}
}

/** Assert that a condition stays true for a while. */
export async function stays(what, probe, duration = 300) {
	const end = Date.now() + duration;
	do {
		if (!(await probe())) throw new Error(`did not stay: ${what}`);
		await pause(20);
	} while (Date.now() < end);
}
