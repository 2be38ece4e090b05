/*
 * Sizes of images in the output, exactly as in the server (ring/screen/image_size.c): an image takes the same cells in every
 * window and on the server, so a cell counts as 8 by 16 pixels, whatever the font.
 */

export const CELL = { width: 8, height: 16 } as const; // pixels
const SIDE_MAX = 4096; // pixels, as it is shown
const FILE_SIDE_MAX = 10_000; // pixels of a file, which may be shown smaller
const BAND = 6; // pixels of a row of sixels
const NUMBER_MAX = 1_000_000;
export const BYTES_MAX = (4 << 20) - 4096; // of the data of an image

export interface PixelSize {
	readonly width: number;
	readonly height: number;
}

function allowed(size: PixelSize): PixelSize | null {
	const { width, height } = size;
	return width > 0 && height > 0 && width <= SIDE_MAX && height <= SIDE_MAX ? size : null;
}

/** Whether there is nothing but ASCII. */
const isAscii = (data: string) => !/[^\x00-\x7f]/.test(data);

const clamp = (number: number) => Math.min(number, NUMBER_MAX);

/** A number at a position of a text, and the position behind it. */
export function readNumber(text: string, from: number): { readonly number: number; readonly end: number } {
	let number = 0, end = from;
	for (let code = text.charCodeAt(end); code >= 0x30 && code <= 0x39; code = text.charCodeAt(++end))
		number = Math.min(number * 10 + code - 0x30, NUMBER_MAX);
	return { number, end };
}

/** Raster attributes, behind the quotation mark: Pan ; Pad ; Ph ; Pv. */
function rasterSize(data: string, from: number): PixelSize | null {
	const fields = [0, 0, 0, 0];
	let at = from;
	for (let i = 0; i < fields.length; i++) {
		const { number, end } = readNumber(data, at);
		fields[i] = number;
		if (data[end] !== ';')
			break;
		at = end + 1;
	}
	const [, , width = 0, height = 0] = fields;
	return width > 0 && height > 0 ? { width, height } : null;
}

/** data: without controls. The size of sixel graphics: that of the raster attributes, or else that of what is drawn. */
export function sixelSize(data: string): PixelSize | null {
	let width = 0, height = 0, x = 0, top = 0;
	if (!isAscii(data))
		return null;
	for (let at = 0; at < data.length;) {
		let char = data[at++] ?? '', count = 1;
		if (char === '"' && height === 0) {
			const raster = rasterSize(data, at);
			if (raster !== null)
				return allowed(raster);
		} else if (char === '$' || char === '-') {
			x = 0;
			top += char === '-' && top < SIDE_MAX ? BAND : 0;
		} else if (char === '!') {
			const { number, end } = readNumber(data, at);
			count = number;
			char = data[end] ?? '';
			at = end + 1;
		}
		if (char < '?' || char > '~')
			continue;
		x = clamp(x + count);
		width = Math.max(width, x);
		height = top + BAND;
	}
	return allowed({ width, height });
}

/** A file in base64 without white space. */
class Encoded {
	#text: string;

	constructor(text: string) {
		this.#text = text;
	}

	/** The byte at an offset; NaN behind the end, or if the text is not base64 there. */
	at(offset: number): number {
		const from = Math.floor(offset / 3) * 4 + offset % 3, shift = 2 * (offset % 3) + 2;
		const high = digit(this.#text[from]), low = digit(this.#text[from + 1]);
		return Number.isNaN(high + low) ? NaN : (high << shift | low >> (6 - shift)) & 0xff;
	}

	/** Numbers with the most significant byte first. */
	big(offset: number, count: number): number {
		let number = 0;
		for (let i = 0; i < count; i++)
			number = number * 256 + this.at(offset + i);
		return number;
	}

	startsWith(bytes: string): boolean {
		return [...bytes].every((byte, i) => this.at(i) === byte.charCodeAt(0));
	}
}

function digit(char: string | undefined): number {
	const value = char === undefined ? -1 : 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.indexOf(char);
	return value < 0 ? NaN : value;
}

function natural(width: number, height: number): PixelSize | null {
	return width > 0 && height > 0 && width <= FILE_SIDE_MAX && height <= FILE_SIDE_MAX ? { width, height } : null;
}

function jpegSize(file: Encoded): PixelSize | null {
	for (let at = 2; ;) {
		const marker = file.big(at, 2), length = file.big(at + 2, 2);
		if (marker === 0xffff) { // fill bytes
			at++;
			continue;
		}
		if (!(marker >= 0xffc0) || marker === 0xffda || !(length >= 2))
			return null;
		if (marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker))
			return natural(file.big(at + 7, 2), file.big(at + 5, 2));
		at += 2 + length;
	}
}

function naturalSize(file: Encoded): PixelSize | null {
	if (file.startsWith('\x89PNG\r\n\x1a\n') && file.big(12, 4) === 0x49484452)
		return natural(file.big(16, 4), file.big(20, 4));
	if (file.startsWith('GIF87a') || file.startsWith('GIF89a'))
		return natural(file.at(7) * 256 + file.at(6), file.at(9) * 256 + file.at(8));
	return file.startsWith('\xff\xd8') ? jpegSize(file) : null;
}

/** A side: N cells, Npx, N% of the terminal, or auto. In pixels; 0: auto. */
function parseSide(value: string, cells: number, cell: number): number {
	const [, digits = '', unit] = /^(\d*)(px|%|)$/.exec(value) ?? [];
	const number = Math.min(Number(digits), FILE_SIDE_MAX);
	switch (unit) {
	case 'px':
		return number;
	case '%':
		return Math.floor(number * cells * cell / 100);
	case '':
		return number * cell;
	default:
		return 0;
	}
}

const scale = (a: number, b: number, c: number) => Math.max(1, clamp(Math.floor((a * b + Math.floor(c / 2)) / c)));
const toWidth = ({ width, height }: PixelSize, wanted: number) => ({ width: wanted, height: scale(height, wanted, width) });
const toHeight = ({ width, height }: PixelSize, wanted: number) => ({ width: scale(width, wanted, height), height: wanted });

function shownSize(whole: PixelSize, width: number, height: number, keepsRatio: boolean): PixelSize {
	if (width === 0 && height === 0)
		return whole;
	if (width === 0)
		return toHeight(whole, height);
	if (height === 0)
		return toWidth(whole, width);
	if (!keepsRatio)
		return { width, height };
	return width * whole.height <= height * whole.width ? toWidth(whole, width) : toHeight(whole, height);
}

/** The size of a file of OSC 1337 in a terminal. data: behind "1337;". */
export function fileSize(data: string, cols: number, rows: number): PixelSize | null {
	const colon = data.indexOf(':');
	if (!data.startsWith('File=') || colon < 0 || !isAscii(data))
		return null;
	const options = new Map(data.slice(5, colon).split(';').map((each) => {
		const equals = each.indexOf('=');
		return equals < 0 ? [each, ''] : [each.slice(0, equals), each.slice(equals + 1)];
	}));
	const whole = options.get('inline') === '1' ? naturalSize(new Encoded(data.slice(colon + 1))) : null;
	if (whole === null)
		return null;
	const size = shownSize(whole, parseSide(options.get('width') ?? 'auto', cols, CELL.width),
		parseSide(options.get('height') ?? 'auto', rows, CELL.height), options.get('preserveAspectRatio') !== '0');
	return allowed(size.width > cols * CELL.width ? toWidth(size, cols * CELL.width) : size);
}
