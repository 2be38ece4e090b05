import { toast, type Toast } from './toast';

/** Says how much output was skipped. A flood is skipped in many pieces: one message adds them up. */
export class SkipNotice {
	#toast: Toast | null = null;
	#total = 0;

	add(bytes: number): void {
		this.#total += bytes;
		if (this.#toast?.change(describe(this.#total)))
			return;
		this.#total = bytes;
		this.#toast = toast(describe(bytes));
	}
}

function describe(bytes: number): string {
	const amount = bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
	return `${amount} of output skipped, to catch up.`;
}
