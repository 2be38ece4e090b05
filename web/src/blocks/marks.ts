import type { IMarker, Terminal } from '@xterm/xterm';
import type { SnapshotMessage } from '../net/wire';
import { MarkScanner } from './mark_scanner';

const MARKS_MAX = 2000; // two for each command that the server keeps

interface Mark {
	readonly marker: IMarker;
	readonly left: boolean; // the cursor was at the left edge
}

/** Add a marker to the normal buffer. The public method of xterm.js uses the active buffer, which may be the alternate one. */
function markRow(terminal: Terminal, row: number): IMarker {
	const { _core } = terminal as unknown as {
		readonly _core: { readonly buffers: { readonly normal: { addMarker(row: number): IMarker } } };
	};
	return _core.buffers.normal.addMarker(row);
}

/**
 * The rows of the shell's marks. A mark is identified by the offset after it. xterm.js markers keep it with its row when
 * lines scroll, rewrap or are erased, as on the server's screen. Live marks are found in the bytes; a snapshot contains
 * older ones (OSC 7007).
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
			if (this.#restored !== null && found !== null && this.#restored.length < MARKS_MAX * 4)
				this.#restored.push({ left: found[1] === '0', offset: Number(found[2]), line: Number(found[3]) });
			return true;
		});
	}

	/** Pass bytes on in pieces that end after each mark. whenParsed: runs a function when the bytes before it are parsed. */
	pass(data: Uint8Array, offset: number, pass: (data: Uint8Array, offset: number) => void,
		whenParsed: (run: () => void) => void): void {
		let from = 0;
		for (const { at } of this.#scanner.scan(data, offset)) {
			pass(data.subarray(from, at), offset + from);
			whenParsed(() => this.#record(offset + at));
			from = at;
		}
		if (from < data.length)
			pass(data.subarray(from), offset + from);
	}

	/** A snapshot begins. Its reset removes all marks. */
	beginSnapshot(): void {
		this.#restored = [];
	}

	/** The snapshot is in the terminal. */
	endSnapshot({ line, lines }: SnapshotMessage): void {
		const restored = this.#restored ?? [];
		this.#restored = null;
		const { baseY } = this.#terminal.buffer.normal;
		const { length } = this.#terminal.buffer.normal;
		for (const mark of restored.slice(-MARKS_MAX)) {
			const row = line === undefined ? -1 : mark.line - line - lines + baseY;
			if (row >= 0 && row < length)
				this.#add(mark.offset, markRow(this.#terminal, row), mark.left);
		}
		this.#changed();
	}

	/** The current row of the mark that ends at this offset, or null. */
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

	#record(offset: number): void {
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
		if (this.#marks.size > MARKS_MAX)
			this.#marks.values().next().value?.marker.dispose();
	}
}
