const FIRST_MS = 250;
const LAST_MS = 8000;

/**
 * How long to wait before another try: 250 ms doubling to 8 s. Between half and all of it, by
 * chance, so that the pages of a restarted server do not all come back in the same instant.
 * attempt: 0 for the first retry; random: in [0, 1).
 */
export function backoffDelay(attempt: number, random: number): number {
	const full = Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(attempt, 10));
	return Math.round(full * (0.5 + random / 2));
}
