import type { Clock } from './clock';

/** Calls a function at most once in each interval. Further requests within the interval lead to one call at its end. */
export class Throttle {
	#clock: Clock;
	#interval: number;
	#run: () => void;
	#timer: unknown = null;
	#requested = false;
	#disposed = false;

	/** interval: in milliseconds. */
	constructor(clock: Clock, interval: number, run: () => void) {
		this.#clock = clock;
		this.#interval = interval;
		this.#run = run;
	}

	request(): void {
		if (this.#disposed)
			return;
		if (this.#timer !== null) {
			this.#requested = true;
			return;
		}
		this.#timer = this.#clock.setTimeout(() => {
			this.#timer = null;
			if (this.#requested)
				this.request();
		}, this.#interval);
		this.#requested = false;
		this.#run();
	}

	dispose(): void {
		this.#disposed = true;
		this.#clock.clearTimeout(this.#timer);
	}
}
