import type { Clock } from './clock';

/** Does something at once, and again only after a while: what is asked for meanwhile is done then, once. */
export class Paced {
	#clock: Clock;
	#pause: number;
	#run: () => void;
	#timer: unknown = null;
	#asked = false;
	#disposed = false;

	/** pause: at least, in milliseconds. */
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
