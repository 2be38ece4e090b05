/* What the server says about paths, for a moment. It is asked rarely, whatever the terminal shows. */
import type { Clock } from '../net/clock';
import type { FileFacts } from '../net/wire';

const KEPT_MS = 3000;
const KEPT_MAX = 2000; // paths
const DWELL_MS = 60; // a pointer that crosses lines asks nothing
const APART_MS = 250; // between two requests
const PAUSE_MS = 5000; // after a request that failed; longer if it took long, as on a disk that does not answer

export interface KnownFilesOptions {
	readonly clock: Clock;
	/** Resolves to the facts about each path. Rejects if the request fails. */
	stat(paths: readonly string[]): Promise<readonly (FileFacts | null)[]>;
	/** Whether the failed request is useless to repeat, because this page may not read files. */
	isRefusal(error: unknown): boolean;
}

export class KnownFiles {
	#options: KnownFilesOptions;
	#known = new Map<string, { readonly facts: FileFacts | null; readonly at: number }>(); // oldest first
	#next: { readonly paths: readonly string[]; readonly done: (answered: boolean) => void } | null = null;
	#busy = false;
	#timer: unknown = null;
	#notBefore = 0;
	#refused = false;

	constructor(options: KnownFilesOptions) {
		this.#options = options;
	}

	/** The server does not let this page read files. */
	get refused(): boolean {
		return this.#refused;
	}

	/** Facts about all these paths; null if some of them are not known. */
	get(paths: readonly string[]): ReadonlyMap<string, FileFacts | null> | null {
		const oldest = this.#options.clock.now() - KEPT_MS;
		const facts = new Map<string, FileFacts | null>();
		for (const path of paths) {
			const known = this.#known.get(path);
			if (known === undefined || known.at < oldest)
				return null;
			facts.set(path, known.facts);
		}
		return facts;
	}

	/**
	 * Ask about these paths soon, in place of any that still wait. done: called once they are known, or with false if the
	 * request has failed. It is not called if other paths have replaced them, or if an earlier request was refused.
	 */
	ask(paths: readonly string[], done: (answered: boolean) => void): void {
		if (this.#refused)
			return;
		const { clock } = this.#options;
		this.#next = { paths, done };
		clock.clearTimeout(this.#timer);
		this.#timer = clock.setTimeout(() => void this.#send(), Math.max(DWELL_MS, this.#notBefore - clock.now()));
	}

	/** Ask nothing that still waits. */
	cancel(): void {
		this.#next = null;
		this.#options.clock.clearTimeout(this.#timer);
	}

	async #send(): Promise<void> {
		const next = this.#next;
		if (next === null || this.#busy)
			return;
		const { clock, stat, isRefusal } = this.#options;
		this.#next = null;
		this.#busy = true;
		const begin = clock.now();
		this.#notBefore = begin + APART_MS;
		let answered = false;
		try {
			this.#keep(next.paths, await stat(next.paths));
			answered = true;
		} catch (error) {
			this.#refused ||= isRefusal(error);
			this.#notBefore = clock.now() + Math.max(PAUSE_MS, 2 * (clock.now() - begin));
		}
		this.#busy = false;
		this.#finish(() => next.done(answered));
	}

	/** A request has ended. Others that wait replace it. */
	#finish(done: () => void): void {
		if (this.#next === null)
			done();
		else
			this.ask(this.#next.paths, this.#next.done);
	}

	#keep(paths: readonly string[], facts: readonly (FileFacts | null)[]): void {
		const at = this.#options.clock.now();
		for (const [index, path] of paths.entries()) {
			this.#known.delete(path);
			this.#known.set(path, { facts: facts[index] ?? null, at });
		}
		for (const path of this.#known.keys()) {
			if (this.#known.size <= KEPT_MAX)
				break;
			this.#known.delete(path);
		}
	}
}
