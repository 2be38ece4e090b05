/*
 * Images in the terminal, as in the server (ring/screen/image.c): the cells of an image are spaces that know which part of it
 * they show. So text can be printed over it, and it scrolls, like any text. Drawing them is up to show_images.ts.
 */
import type { Terminal } from '@xterm/xterm';
import { BYTES_MAX, CELL, fileSize, sixelSize, type PixelSize } from './size';

/** The data of an image's sequence: sixels, or what follows "1337;". */
export interface EncodedImage {
	readonly kind: 'sixel' | 'file';
	data: string; // empty when it has been forgotten
}

/** Where an image comes from; offsets are those of its sequence in the output. */
export type ImageSource = EncodedImage | { readonly from: number; readonly to: number };

/** An image, shared by its cells. */
export interface Image extends PixelSize {
	readonly source: ImageSource;
}

/** What one row of an image is in xterm.js. */
export interface ImageRow {
	readonly image: Image;
	readonly row: number;
	readonly first: number; // the column that the image's first cell was printed in
}

interface Extended {
	payload?: unknown;
}

interface Attributes {
	bg: number;
	extended: Extended;
	clone(): Attributes;
}

interface Line {
	readonly length: number;
	getExtended(x: number): Extended | undefined;
	getWidth(x: number): number;
	hasContent(x: number): number;
}

/** What is used of xterm.js that is not public. The image addon of xterm.js keeps its cells in the same way. */
interface Core {
	readonly buffer: { x: number; y: number; readonly ybase: number; readonly ydisp: number; readonly lines: { get(y: number): Line | undefined } };
	readonly coreService: { readonly modes: { insertMode: boolean } };
	readonly _inputHandler: {
		_curAttrData: Attributes;
		readonly _parser: { precedingJoinState: number };
		print(codes: Uint32Array, start: number, end: number): void;
		lineFeed(): void;
	};
}

const HAS_EXTENDED = 0x10000000;
const SPACE = 0x20;
const CONTROLS = /[\x00-\x1f\x7f]/g; // the server ignores them as well
const KEPT_MAX = 32 << 20; // characters of data of images
const KEPT_EACH = 200; // besides its data
const SNAPSHOT_IMAGE = /^i(\d{1,16}),(\d{1,16}),(\d{1,5}),(\d{1,5}),(\d{1,4}),(\d{1,4}),(\d{1,4})$/;

const coreOf = (terminal: Terminal) => (terminal as unknown as { readonly _core: Core })._core;

/** The part of an image that a cell of the visible screen shows. */
export function imageAt(terminal: Terminal, x: number, y: number): ImageRow | null {
	const { buffer } = coreOf(terminal);
	const payload = buffer.lines.get(buffer.ydisp + y)?.getExtended(x)?.payload;
	return payload === undefined ? null : payload as ImageRow;
}

export class ImageCells {
	#terminal: Terminal;
	#core: Core;
	#plain: Attributes;
	#added: () => void;
	#inSnapshot = false;
	#kept = new Set<EncodedImage>(); // oldest first
	#keptSize = 0;
	#restored = new Map<number, Image>(); // of a snapshot, by their offset

	/** added: called for each image. */
	constructor(terminal: Terminal, added: () => void) {
		this.#terminal = terminal;
		this.#core = coreOf(terminal);
		this.#plain = this.#core._inputHandler._curAttrData.clone();
		this.#added = added;
		terminal.parser.registerDcsHandler({ final: 'q' }, (raw) => {
			const data = raw.replaceAll(CONTROLS, '');
			return this.#draw({ kind: 'sixel', data }, sixelSize(data), false);
		});
		terminal.parser.registerOscHandler(1337, (data) =>
			this.#draw({ kind: 'file', data }, fileSize(data, terminal.cols, terminal.rows), true));
		terminal.parser.registerOscHandler(7007, (data) => this.#inSnapshot && this.#restore(data));
	}

	/** A snapshot begins: it may contain images. Programs cannot name any. */
	beginSnapshot(): void {
		this.#inSnapshot = true;
		this.#kept.clear();
		this.#keptSize = 0;
	}

	endSnapshot(): void {
		this.#inSnapshot = false;
		this.#restored.clear();
	}

	/** Draw an image at the cursor. */
	#draw(source: EncodedImage, size: PixelSize | null, toItsRight: boolean): boolean {
		if (size === null || source.data.length > BYTES_MAX)
			return true;
		const { buffer, _inputHandler: handler } = this.#core, { cols } = this.#terminal;
		const image = { ...size, source };
		const first = Math.min(buffer.x, cols - 1), count = Math.min(Math.ceil(size.width / CELL.width), cols - first);
		for (let row = 0; row * CELL.height < size.height; row++) {
			if (row > 0)
				handler.lineFeed();
			buffer.x = first;
			if (this.#cutsCharacters(first, first + count)) {
				this.#print(null, count);
				buffer.x = first;
			}
			this.#print({ image, row, first }, count);
		}
		if (!toItsRight)
			buffer.x = first;
		this.#keep(source);
		this.#added();
		return true;
	}

	/** Scrollbacks may have thousands of images: forget the oldest ones. */
	#keep(source: EncodedImage): void {
		this.#kept.add(source);
		this.#keptSize += source.data.length + KEPT_EACH;
		for (const oldest of this.#kept) {
			if (this.#keptSize <= KEPT_MAX)
				return;
			this.#kept.delete(oldest);
			this.#keptSize -= oldest.data.length + KEPT_EACH;
			oldest.data = '';
		}
	}

	/**
	 * Whether printing cells from first to end leaves halves of wide characters beside them. These become blank in the pen,
	 * which must not be that of the image.
	 */
	#cutsCharacters(first: number, end: number): boolean {
		const { buffer } = this.#core, line = buffer.lines.get(buffer.ybase + buffer.y);
		return line !== undefined && ((first > 0 && line.getWidth(first - 1) === 2)
			|| (end < line.length && line.getWidth(end) === 0 && !line.hasContent(end)));
	}

	/** Print spaces at the cursor, as cells of an image or as plain ones. */
	#print(part: ImageRow | null, count: number): void {
		const { _inputHandler: handler, coreService: { modes } } = this.#core;
		const { _curAttrData: pen } = handler, { insertMode } = modes;
		const style = this.#plain.clone();
		if (part !== null) {
			style.bg |= HAS_EXTENDED;
			style.extended.payload = part;
		}
		handler._curAttrData = style;
		modes.insertMode = false;
		handler._parser.precedingJoinState = 0;
		handler.print(new Uint32Array(count).fill(SPACE), 0, count);
		handler._parser.precedingJoinState = 0;
		modes.insertMode = insertMode;
		handler._curAttrData = pen;
	}

	#restore(data: string): boolean {
		const [offset, length, width, height, row, first, count] = SNAPSHOT_IMAGE.exec(data)?.slice(1).map(Number) ?? [];
		if (offset === undefined || length === undefined || width === undefined || height === undefined || row === undefined
			|| first === undefined || count === undefined)
			return false;
		let image = this.#restored.get(offset);
		if (image === undefined) {
			image = { width, height, source: { from: offset, to: offset + length } };
			this.#restored.set(offset, image);
			this.#added();
		}
		this.#print({ image, row, first }, Math.min(count, this.#terminal.cols));
		return true;
	}
}
