// Waiting for a condition with a deadline. Tests never sleep and hope.

/** Slow builds (sanitizers, valgrind) multiply every deadline. */
export const slowness = Number(process.env.RINGSIDE_TIMEOUT_FACTOR ?? 1);

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Polls `probe` until it returns something truthy, which is returned. `what` is said when the
 * deadline passes; if it is a function, it is called then, to tell the last state.
 */
export async function until(what, probe, { timeout = 15_000, interval = 15 } = {}) {
	const deadline = Date.now() + timeout * slowness;
	let failure;
	for (;;) {
		try {
			failure = undefined;
			const result = await probe();
			if (result) return result;
		} catch (error) {
			if (error?.final) throw error;
			failure = error;
		}
		if (Date.now() > deadline) {
			const text = typeof what === 'function' ? what() : what;
			throw new Error(`no ${text} within ${timeout * slowness} ms`, { cause: failure });
		}
		await pause(interval);
	}
}

/** Rejects when `promise` has not settled in time. */
export async function within(what, promise, timeout = 15_000) {
	let timer;
	const deadline = new Promise((_, reject) => {
		timer = setTimeout(() => {
			const text = typeof what === 'function' ? what() : what;
			reject(new Error(`no ${text} within ${timeout * slowness} ms`));
		}, timeout * slowness);
	});
	try {
		return await Promise.race([promise, deadline]);
	} finally {
		clearTimeout(timer);
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
