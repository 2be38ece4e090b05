import type { SoftKeyboard } from './soft_keyboard';
import type { TouchOptions } from './touch';

/** Handles touches, with code that is loaded only where there is a touch screen. Until then xterm.js handles them. */
export class LazyTouch {
	#options: TouchOptions;
	#keyboard: SoftKeyboard | null = null;

	constructor(options: TouchOptions, signal: AbortSignal) {
		this.#options = options;
		if (navigator.maxTouchPoints > 0)
			this.#load(signal).catch(() => undefined);
	}

	/** Type a key of the key bar. */
	type(keys: string): void {
		if (this.#keyboard === null)
			this.#options.terminal.input(keys);
		else
			this.#keyboard.type(keys);
	}

	/** Text was pasted. */
	pasted(): void {
		this.#keyboard?.restart();
	}

	async #load(signal: AbortSignal): Promise<void> {
		const { handleTouch } = await import('./touch');
		if (!signal.aborted)
			this.#keyboard = handleTouch(this.#options, signal);
	}
}
