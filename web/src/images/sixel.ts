/*
 * Sixel graphics to pixels. Sources: VT330/VT340 Programmer Reference, chapter 14; xterm's ctlseqs. Pixels that are not drawn
 * are transparent, and each colour is as it was defined when it is used.
 */
import { readNumber, type PixelSize } from './size';

const BAND = 6; // pixels of a row of sixels
const COLORS = 1024;
/** The VT340's first colours, in percent. */
const VT340 = [[0, 0, 0], [20, 20, 80], [80, 13, 13], [20, 80, 20], [80, 20, 80], [20, 80, 80], [80, 80, 20], [53, 53, 53],
	[26, 26, 26], [33, 33, 60], [60, 26, 26], [33, 60, 33], [60, 33, 60], [33, 60, 60], [60, 60, 33], [80, 80, 80]] as const;
const OPAQUE = 0xff000000;
const TIMES_MAX = 16; // that all pixels of an image may be drawn, on average

/** Percentages as a pixel, in the byte order of ImageData on little-endian machines. */
function pixelOf(red: number, green: number, blue: number): number {
	const [r, g, b] = [red, green, blue].map((part) => Math.round(Math.min(Math.max(part, 0), 100) * 2.55));
	return (OPAQUE | (b ?? 0) << 16 | (g ?? 0) << 8 | (r ?? 0)) >>> 0;
}

/** Hue in degrees, where 0 is blue, lightness and saturation in percent. */
function pixelOfHls(hue: number, lightness: number, saturation: number): number {
	const l = Math.min(lightness, 100) / 100, s = Math.min(saturation, 100) / 100;
	const reach = s * Math.min(l, 1 - l);
	const part = (shift: number) => {
		const k = (shift + (hue + 240) % 360 / 30) % 12;
		return 100 * (l - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
	};
	return pixelOf(part(0), part(8), part(4));
}

/** Returns the pixels as ImageData has them. data: without controls. Throws a RangeError if it would take too long. */
export function decodeSixel(data: string, { width, height }: PixelSize): Uint8ClampedArray<ArrayBuffer> {
	const pixels = new Uint32Array(width * height);
	const colors = new Uint32Array(COLORS).fill(pixelOf(80, 80, 80));
	VT340.forEach(([r, g, b], i) => { colors[i] = pixelOf(r, g, b); });
	let color = colors[0] ?? OPAQUE, x = 0, top = 0;
	let left = TIMES_MAX * (width * height + data.length);
	const draw = (sixel: number, count: number) => {
		left -= sixel === 0 ? 0 : Math.min(count, width) * BAND;
		if (left < 0)
			throw new RangeError('the image draws over itself too often');
		const end = Math.min(x + count, width);
		for (let bit = 0; bit < BAND && top + bit < height; bit++)
			if (sixel >> bit & 1)
				pixels.fill(color, (top + bit) * width + Math.min(x, width), (top + bit) * width + end);
		x += count;
	};
	for (let at = 0; at < data.length;) {
		const code = data.charCodeAt(at++);
		if (code >= 0x3f && code <= 0x7e) {
			draw(code - 0x3f, 1);
		} else if (code === 0x21) { // !
			const { number, end } = readNumber(data, at);
			const sixel = data.charCodeAt(end);
			at = end + 1;
			if (sixel >= 0x3f && sixel <= 0x7e)
				draw(sixel - 0x3f, number);
		} else if (code === 0x23) { // #
			const [register = 0, system, ...parts] = parametersAt(data, at);
			const [a = 0, b = 0, c = 0] = parts;
			if (system === 1 || system === 2)
				colors[register % COLORS] = system === 1 ? pixelOfHls(a, b, c) : pixelOf(a, b, c);
			color = colors[register % COLORS] ?? OPAQUE;
		} else if (code === 0x24) { // $
			x = 0;
		} else if (code === 0x2d) { // -
			x = 0;
			top += BAND;
		}
	}
	return new Uint8ClampedArray(pixels.buffer);
}

/** Numbers separated by semicolons. */
function parametersAt(data: string, from: number): number[] {
	const numbers = [];
	for (let at = from; ; at++) {
		const { number, end } = readNumber(data, at);
		numbers.push(number);
		at = end;
		if (data[at] !== ';')
			return numbers;
	}
}
