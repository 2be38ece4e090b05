/* Links of file names in a terminal. Their code is loaded once the terminal is connected. */
import type { Terminal } from '@xterm/xterm';
import type { Block } from '../blocks/block';
import type { Api } from '../net/api';

export interface LazyLinksOptions {
	readonly api: Api;
	readonly session: string;
	readonly terminal: Terminal;
	readonly stage: HTMLElement;
	readonly mount: HTMLElement;
	/** The command that has printed a row, or null. */
	blockAt(row: number): Block | null;
}

export class LazyLinks {
	#options: LazyLinksOptions;
	#loading = false;
	#closeMenu: (() => void) | null = null;
	#disposed = false;

	constructor(options: LazyLinksOptions) {
		this.#options = options;
	}

	/** Load the code. Later calls have no effect, except after a failure. */
	load(): void {
		if (this.#loading)
			return;
		this.#loading = true;
		void import('./show_links').then(({ showLinks }) => {
			if (!this.#disposed)
				this.#closeMenu = showLinks(this.#options);
		}, () => {
			this.#loading = false;
		});
	}

	dispose(): void {
		this.#disposed = true;
		this.#closeMenu?.();
	}
}
