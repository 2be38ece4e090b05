import type { IDecoration, IMarker, Terminal } from '@xterm/xterm';
import { kindOf, wasInterrupted } from './block';
import type { PlacedBlock } from './place';

const COLOR = '#d9584a'; // on both themes
const TICKS_MAX = 200;

/** Marks failures in the scroll bar. */
export class Ticks {
	#terminal: Terminal;
	#ticks = new Map<string, { marker: IMarker; decoration: IDecoration }>();

	constructor(terminal: Terminal) {
		this.#terminal = terminal;
	}

	/** markerAt: the marker of a mark by its offset. */
	update(placed: readonly PlacedBlock[], markerAt: (offset: number) => IMarker | null): void {
		const failed = placed.filter(({ block, begins }) => begins && kindOf(block) === 'failed' && !wasInterrupted(block)).slice(-TICKS_MAX);
		const stay = new Set(failed.map(({ block }) => block.id));
		for (const [id, { marker, decoration }] of this.#ticks) {
			if (stay.has(id) && !marker.isDisposed)
				continue;
			decoration.dispose();
			this.#ticks.delete(id);
		}
		for (const { block } of failed) {
			const marker = this.#ticks.has(block.id) || block.inputMark === null ? null : markerAt(block.inputMark);
			const decoration = marker === null ? undefined
				: this.#terminal.registerDecoration({ marker, overviewRulerOptions: { color: COLOR, position: 'full' } });
			if (marker !== null && decoration !== undefined)
				this.#ticks.set(block.id, { marker, decoration });
		}
	}
}
