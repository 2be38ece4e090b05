/* Colours of cells, the same as in the page's terminals. No DOM, so that unit tests cover it. */
import type { ITheme } from '@xterm/xterm';
import { SWAPPED, type Color } from './picture';

const NAMES = [
	'black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white', 'brightBlack', 'brightRed', 'brightGreen', 'brightYellow',
	'brightBlue', 'brightMagenta', 'brightCyan', 'brightWhite',
] as const;
const LEVELS = [0, 95, 135, 175, 215, 255]; // of the cube
const CACHE_MAX = 4096; // pairs of colours
const STEPS = 8; // from a colour to black or white

type Rgb = readonly [number, number, number];

export class Colors {
	readonly background: string;
	readonly foreground: string;
	readonly cursor: string;
	#palette: readonly string[];
	#contrast: number;
	#readable = new Map<string, string>();

	/** contrast: minimum of text against its background. */
	constructor(theme: ITheme, contrast: number) {
		this.background = theme.background ?? '#000000';
		this.foreground = theme.foreground ?? '#ffffff';
		this.cursor = theme.cursor ?? this.foreground;
		this.#palette = [...NAMES.map((name) => theme[name] ?? '#808080'), ...cube(), ...greys()];
		this.#contrast = contrast;
	}

	/** The background of cells; null for the default. */
	backgroundOf(color: Color): string | null {
		return color === null ? null : this.#of(color);
	}

	/** The colour of text over this background. */
	text(color: Color, background: Color): string {
		const text = color === null ? this.foreground : this.#of(color);
		if (this.#contrast <= 1)
			return text;
		const over = background === null ? this.background : this.#of(background);
		const key = text + over;
		let readable = this.#readable.get(key);
		if (readable === undefined) {
			readable = readableOver(text, over, this.#contrast);
			if (this.#readable.size >= CACHE_MAX)
				this.#readable.clear();
			this.#readable.set(key, readable);
		}
		return readable;
	}

	#of(color: string | number): string {
		if (typeof color === 'string')
			return color;
		if (color < 0)
			return color === SWAPPED.foreground ? this.background : this.foreground;
		return this.#palette[color] ?? this.foreground;
	}
}

function cube(): string[] {
	return LEVELS.flatMap((r) => LEVELS.flatMap((g) => LEVELS.map((b) => hex([r, g, b]))));
}

function greys(): string[] {
	return Array.from({ length: 24 }, (_, i) => hex([8 + 10 * i, 8 + 10 * i, 8 + 10 * i]));
}

/** The text colour, mixed with black or white as much as the contrast needs. */
export function readableOver(text: string, over: string, contrast: number): string {
	const from = rgb(text), base = luminance(rgb(over));
	const to: Rgb = base > 0.18 ? [0, 0, 0] : [255, 255, 255];
	for (let step = 0; step < STEPS; step++) {
		const mixed = from.map((value, i) => Math.round(value + ((to[i] ?? 0) - value) * step / STEPS)) as unknown as Rgb;
		if (contrastOf(luminance(mixed), base) >= contrast)
			return hex(mixed);
	}
	return hex(to);
}

function contrastOf(a: number, b: number): number {
	return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** WCAG 2.1's relative luminance. */
function luminance(color: Rgb): number {
	const [r, g, b] = color.map((value) => {
		const part = value / 255;
		return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
	}) as unknown as Rgb;
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function rgb(color: string): Rgb {
	const value = Number.parseInt(color.slice(1, 7), 16);
	return [value >> 16 & 255, value >> 8 & 255, value & 255];
}

function hex(color: Rgb): string {
	return `#${color.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
