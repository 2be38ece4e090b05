const FIRST_MS = 250;
const LAST_MS = 8000;

/**
 * Delay in ms before a retry: 250 ms, doubling up to 8 s, reduced by up to half at random, so that the pages of a
 * restarted server do not all reconnect at once. attempt: 0 for the first retry; random: in [0, 1).
 */
export function backoffDelay(attempt: number, random: number): number {
	const full = Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(attempt, 10));
	return Math.round(full * (0.5 + random / 2));
}
