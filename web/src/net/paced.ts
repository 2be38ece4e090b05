import type { Clock } from './clock';

/** Calls a function at most once in each interval. Further requests within the interval lead to one call at its end. */
export class Paced {
	#clock: Clock;
	#pause: number;
	#run: () => void;
	#timer: unknown = null;
	#asked = false;
	#disposed = false;

	/** interval: in milliseconds. */
	constructor(clock: Clock, pause: number, run: () => void) {
		this.#clock = clock;
		this.#pause = pause;
		this.#run = run;
	}

	ask(): void {
		if (this.#disposed)
			return;
		if (this.#timer !== null) {
			this.#asked = true;
			return;
		}
		this.#timer = this.#clock.setTimeout(() => {
			this.#timer = null;
			if (this.#asked)
				this.ask();
		}, this.#pause);
		this.#asked = false;
		this.#run();
	}

	dispose(): void {
		this.#disposed = true;
		this.#clock.clearTimeout(this.#timer);
	}
}
