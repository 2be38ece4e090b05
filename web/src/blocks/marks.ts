import type { IMarker, Terminal } from '@xterm/xterm';
import type { SnapshotMessage } from '../net/wire';
import { MarkScanner } from './mark_scanner';

/** Two for each command that the server keeps. */
const MOST = 2000;

interface Mark {
	readonly marker: IMarker;
	readonly left: boolean; // the cursor was at the left edge
}

/** Markers of xterm.js's, also where the alternate screen is shown: the public method puts them into that. */
function markRow(terminal: Terminal, row: number): IMarker {
	const { _core } = terminal as unknown as {
		readonly _core: { readonly buffers: { readonly normal: { addMarker(row: number): IMarker } } };
	};
	return _core.buffers.normal.addMarker(row);
}

/**
 * In which rows the shell's marks are. Each is known by its offset behind it, and stays with its row as xterm.js's markers
 * do: through scrolling, other widths and erasing, in which the server's screen agrees. Live ones are met in the bytes;
 * a snapshot brings those that were before.
 */
export class Marks {
	#terminal: Terminal;
	#scanner = new MarkScanner();
	#marks = new Map<number, Mark>();
	#restored: { offset: number; left: boolean; line: number }[] | null = null;
	#changed: () => void;

	constructor(terminal: Terminal, changed: () => void) {
		this.#terminal = terminal;
		this.#changed = changed;
		terminal.parser.registerEscHandler({ final: 'c' }, () => {
			this.clear();
			return false;
		});
		terminal.parser.registerOscHandler(7007, (data) => {
			const found = /^m[BD]([01])(\d{1,16}),(\d{1,16})$/.exec(data);
			if (this.#restored !== null && found !== null && this.#restored.length < MOST * 4)
				this.#restored.push({ left: found[1] === '0', offset: Number(found[2]), line: Number(found[3]) });
			return true;
		});
	}

	/** Pass bytes on, in pieces with a mark in the end. then: run at this place of the stream. */
	pass(data: Uint8Array, offset: number, pass: (data: Uint8Array, offset: number) => void,
		then: (run: () => void) => void): void {
		let from = 0;
		for (const { at } of this.#scanner.scan(data, offset)) {
			pass(data.subarray(from, at), offset + from);
			then(() => this.#meet(offset + at));
			from = at;
		}
		if (from < data.length)
			pass(data.subarray(from), offset + from);
	}

	/** A snapshot begins; its reset takes all marks away. */
	enter(): void {
		this.#restored = [];
	}

	/** It is in the terminal. */
	left({ line, lines }: SnapshotMessage): void {
		const restored = this.#restored ?? [];
		this.#restored = null;
		const { baseY } = this.#terminal.buffer.normal;
		const { length } = this.#terminal.buffer.normal;
		for (const mark of restored.slice(-MOST)) {
			const row = line === undefined ? -1 : mark.line - line - lines + baseY;
			if (row >= 0 && row < length)
				this.#add(mark.offset, markRow(this.#terminal, row), mark.left);
		}
		this.#changed();
	}

	/** Where the mark that ends at this offset is now; null: nowhere. */
	find(offset: number): { readonly row: number; readonly left: boolean } | null {
		const mark = this.#marks.get(offset);
		return mark === undefined || mark.marker.isDisposed || mark.marker.line < 0 ? null
			: { row: mark.marker.line, left: mark.left };
	}

	markerAt(offset: number): IMarker | null {
		return this.#marks.get(offset)?.marker ?? null;
	}

	clear(): void {
		const all = [...this.#marks.values()];
		this.#marks.clear();
		for (const { marker } of all)
			marker.dispose();
		this.#changed();
	}

	#meet(offset: number): void {
		const { active } = this.#terminal.buffer;
		if (active.type !== 'normal')
			return;
		this.#add(offset, markRow(this.#terminal, active.baseY + active.cursorY), active.cursorX === 0);
		this.#changed();
	}

	#add(offset: number, marker: IMarker, left: boolean): void {
		this.#marks.get(offset)?.marker.dispose();
		this.#marks.set(offset, { marker, left });
		marker.onDispose(() => {
			if (this.#marks.get(offset)?.marker === marker)
				this.#marks.delete(offset);
		});
		if (this.#marks.size > MOST)
			this.#marks.values().next().value?.marker.dispose();
	}
}
