import type { Terminal } from '@xterm/xterm';
import { ImageCells } from './image_cells';
import type { FetchOutput } from './pictures';

/** The images of a terminal. What draws them is loaded with the first one. */
export class Images {
	#cells: ImageCells;
	#loading = false;

	/** fetchOutput: gets the bytes of images that only a snapshot mentions. */
	constructor(terminal: Terminal, fetchOutput: FetchOutput, signal: AbortSignal) {
		this.#cells = new ImageCells(terminal, () => {
			if (this.#loading)
				return;
			this.#loading = true;
			void import('./show_images').then(({ showImages }) => {
				if (!signal.aborted)
					showImages(terminal, fetchOutput, signal);
			}, () => {
				this.#loading = false;
			});
		});
	}

	beginSnapshot(): void {
		this.#cells.beginSnapshot();
	}

	endSnapshot(): void {
		this.#cells.endSnapshot();
	}
}
