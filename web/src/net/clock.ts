/** A clock in milliseconds, which tests replace. */
export interface Clock {
	now(): number;
	setTimeout(run: () => void, delay: number): unknown;
	clearTimeout(timer: unknown): void;
}

export const browserClock: Clock = {
	now: () => performance.now(),
	setTimeout: (run, delay) => window.setTimeout(run, delay),
	clearTimeout: (timer) => window.clearTimeout(timer as number | undefined),
};
