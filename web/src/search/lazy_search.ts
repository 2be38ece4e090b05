/* The search box of a terminal. Its code is loaded when it is first opened. */
import type { SearchBox, SearchBoxOptions } from './search_box';

export class LazySearch {
	#options: SearchBoxOptions;
	#box: SearchBox | null = null;
	#disposed = false;

	constructor(options: SearchBoxOptions) {
		this.#options = options;
	}

	async open(): Promise<void> {
		const { SearchBox } = await import('./search_box');
		if (this.#disposed)
			return;
		if (this.#box === null) {
			this.#box = new SearchBox(this.#options);
			this.#options.mount.after(this.#box.element);
		}
		this.#box.open();
	}

	dispose(): void {
		this.#disposed = true;
		this.#box?.dispose();
	}
}
