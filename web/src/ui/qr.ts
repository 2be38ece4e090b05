/*
 * QR codes (ISO/IEC 18004:2015) of bytes, level L, versions 1 to 40. Pure. First the fixed patterns are drawn, then the
 * codewords, in columns of two from the right, then the mask.
 */

/** For level L, by version: check codewords in each block, and number of blocks (table 9). */
const CHECKS = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28,
	28, 28, 30, 30, 26, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30] as const;
const BLOCKS = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8,
	8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 21, 22, 24, 25] as const;
const VERSIONS = 40;
const LEVEL_L = 1;

const MASKS: readonly ((row: number, column: number) => boolean)[] = [
	(i, j) => (i + j) % 2 === 0,
	(i) => i % 2 === 0,
	(_, j) => j % 3 === 0,
	(i, j) => (i + j) % 3 === 0,
	(i, j) => (Math.floor(i / 2) + Math.floor(j / 3)) % 2 === 0,
	(i, j) => (i * j) % 2 + (i * j) % 3 === 0,
	(i, j) => ((i * j) % 2 + (i * j) % 3) % 2 === 0,
	(i, j) => ((i + j) % 2 + (i * j) % 3) % 2 === 0,
];

/** Rows of modules (true is dark) without the quiet zone, or null if there are too many bytes. mask: 0 to 7; default: the best. */
export function qrCode(bytes: Uint8Array, mask?: number): boolean[][] | null {
	const version = versionFor(bytes.length);
	if (version === null)
		return null;
	const words = withChecks(dataWords(bytes, version), version);
	const make = (number: number) => {
		const drawing = new Drawing(version);
		drawing.words(words, MASKS[number]!);
		drawing.format(number);
		return drawing.modules;
	};
	if (mask !== undefined)
		return make(mask);
	return MASKS.map((_, number) => make(number)).map((modules) => ({ modules, penalty: penaltyOf(modules) }))
		.reduce((best, each) => each.penalty < best.penalty ? each : best).modules;
}

/** Number of whole codewords that fit beside the patterns. */
function wordsOf(version: number): number {
	let modules = (16 * version + 128) * version + 64;
	if (version >= 2) {
		const aligned = Math.floor(version / 7) + 2;
		modules -= (25 * aligned - 10) * aligned - 55 + (version >= 7 ? 36 : 0);
	}
	return Math.floor(modules / 8);
}

function dataWordsOf(version: number): number {
	return wordsOf(version) - CHECKS[version - 1]! * BLOCKS[version - 1]!;
}

function versionFor(length: number): number | null {
	for (let version = 1; version <= VERSIONS; version++)
		if (4 + (version < 10 ? 8 : 16) + 8 * length <= 8 * dataWordsOf(version))
			return version;
	return null;
}

function dataWords(bytes: Uint8Array, version: number): number[] {
	const bits: number[] = [];
	const put = (value: number, count: number) => {
		for (let i = count - 1; i >= 0; i--)
			bits.push(value >>> i & 1);
	};
	const capacity = dataWordsOf(version);
	put(4, 4); // byte mode
	put(bytes.length, version < 10 ? 8 : 16);
	for (const byte of bytes)
		put(byte, 8);
	put(0, Math.min(4, 8 * capacity - bits.length));
	while (bits.length % 8 !== 0)
		bits.push(0);
	const words = Array.from({ length: bits.length / 8 }, (_, at) => bits.slice(8 * at, 8 * at + 8).reduce((word, bit) => word << 1 | bit, 0));
	for (let pad = 0xec; words.length < capacity; pad ^= 0xec ^ 0x11)
		words.push(pad);
	return words;
}

/** Multiply in GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1. */
function multiply(a: number, b: number): number {
	let product = 0;
	for (let i = 7; i >= 0; i--)
		product = product << 1 ^ (product >>> 7) * 0x11d ^ (b >>> i & 1) * a;
	return product;
}

/** Reed-Solomon check words of the data. */
export function checkWords(data: readonly number[], count: number): number[] {
	const divisor: number[] = [...Array<number>(count - 1).fill(0), 1];
	for (let i = 0, root = 1; i < count; i++, root = multiply(root, 2))
		for (let j = 0; j < count; j++)
			divisor[j] = multiply(divisor[j]!, root) ^ (divisor[j + 1] ?? 0);
	const rest = Array<number>(count).fill(0);
	for (const word of data) {
		const factor = word ^ rest.shift()!;
		rest.push(0);
		for (let j = 0; j < count; j++)
			rest[j]! ^= multiply(divisor[j]!, factor);
	}
	return rest;
}

/** Split the data into blocks, of which the later ones may be longer by one, and interleave them and their check words. */
function withChecks(data: readonly number[], version: number): number[] {
	const blocks = BLOCKS[version - 1]!, checks = CHECKS[version - 1]!;
	const short = Math.floor(data.length / blocks), longer = data.length % blocks;
	const parts: (readonly number[])[] = [];
	for (let i = 0, at = 0; i < blocks; i++) {
		const end = at + short + (i >= blocks - longer ? 1 : 0);
		parts.push(data.slice(at, end));
		at = end;
	}
	const proofs = parts.map((part) => checkWords(part, checks));
	const interleave = (lists: readonly (readonly number[])[], length: number) =>
		Array.from({ length }, (_, at) => lists.flatMap((list) => at < list.length ? [list[at]!] : [])).flat();
	return [...interleave(parts, short + 1), ...interleave(proofs, checks)];
}

class Drawing {
	readonly modules: boolean[][];
	#size: number;
	#reserved: boolean[][]; // modules of patterns

	constructor(version: number) {
		this.#size = 17 + 4 * version;
		this.modules = Array.from({ length: this.#size }, () => Array<boolean>(this.#size).fill(false));
		this.#reserved = this.modules.map((row) => [...row]);
		const end = this.#size - 1;
		for (let i = 0; i < this.#size; i++) {
			this.#set(6, i, i % 2 === 0);
			this.#set(i, 6, i % 2 === 0);
		}
		for (const [row, column] of [[3, 3], [3, end - 3], [end - 3, 3]] as const)
			this.#square(row, column, 4, (distance) => distance !== 2 && distance !== 4);
		const places = alignments(version, this.#size);
		for (const row of places)
			for (const column of places)
				if (!((row === 6 && (column === 6 || column === end - 6)) || (row === end - 6 && column === 6)))
					this.#square(row, column, 2, (distance) => distance !== 1);
		this.format(0);
		if (version >= 7)
			this.#version(version);
	}

	/** Draw level and mask twice, with their BCH (15, 5) check bits. */
	format(mask: number): void {
		const data = LEVEL_L << 3 | mask;
		const bits = (data << 10 | remainder(data, 10, 0x537)) ^ 0x5412, end = this.#size - 1;
		for (let i = 0; i < 15; i++) {
			const dark = (bits >>> i & 1) === 1;
			const along = i < 6 ? i : i < 8 ? i + 1 : null;
			if (along !== null)
				this.#set(along, 8, dark);
			else
				this.#set(8, i === 8 ? 7 : 14 - i, dark);
			if (i < 8)
				this.#set(8, end - i, dark);
			else
				this.#set(end - 14 + i, 8, dark);
		}
		this.#set(end - 7, 8, true);
	}

	/** Draw the codewords upwards and downwards in turn, skipping the column of the timing pattern. */
	words(words: readonly number[], mask: (row: number, column: number) => boolean): void {
		let at = 0;
		for (let right = this.#size - 1; right >= 1; right -= 2) {
			if (right === 6)
				right = 5;
			for (let step = 0; step < this.#size; step++) {
				const row = (right + 1 & 2) === 0 ? this.#size - 1 - step : step;
				for (const column of [right, right - 1]) {
					if (this.#reserved[row]![column])
						continue;
					const dark = ((words[at >>> 3] ?? 0) >>> 7 - (at & 7) & 1) === 1;
					this.modules[row]![column] = dark !== mask(row, column);
					at++;
				}
			}
		}
	}

	#version(version: number): void {
		const bits = version << 12 | remainder(version, 12, 0x1f25);
		for (let i = 0; i < 18; i++) {
			const near = Math.floor(i / 3), far = this.#size - 11 + i % 3, dark = (bits >>> i & 1) === 1;
			this.#set(near, far, dark);
			this.#set(far, near, dark);
		}
	}

	#square(row: number, column: number, radius: number, isDark: (distance: number) => boolean): void {
		for (let i = -radius; i <= radius; i++)
			for (let j = -radius; j <= radius; j++)
				this.#set(row + i, column + j, isDark(Math.max(Math.abs(i), Math.abs(j))));
	}

	#set(row: number, column: number, dark: boolean): void {
		if (row < 0 || column < 0 || row >= this.#size || column >= this.#size)
			return;
		this.modules[row]![column] = dark;
		this.#reserved[row]![column] = true;
	}
}

function remainder(data: number, bits: number, divisor: number): number {
	let rest = data;
	for (let i = 0; i < bits; i++)
		rest = rest << 1 ^ (rest >>> bits - 1) * divisor;
	return rest;
}

/** Positions of alignment patterns (annex E). */
function alignments(version: number, size: number): number[] {
	if (version === 1)
		return [];
	const count = Math.floor(version / 7) + 2;
	const step = Math.floor((version * 8 + count * 3 + 5) / (count * 4 - 4)) * 2;
	return [6, ...Array.from({ length: count - 1 }, (_, i) => size - 7 - step * (count - 2 - i))];
}

/** Penalty of a mask (7.8.3): long runs, blocks, patterns like a finder, uneven share of dark modules. */
function penaltyOf(modules: readonly (readonly boolean[])[]): number {
	const size = modules.length;
	const lines = [...modules, ...modules.map((_, column) => modules.map((row) => row[column]!))]
		.map((line) => line.map((dark) => dark ? '1' : '0').join(''));
	let penalty = 0, dark = 0;
	for (const line of lines) {
		for (const run of line.match(/1{5,}|0{5,}/g) ?? [])
			penalty += run.length - 2;
		penalty += 40 * (line.match(/(?=10111010000|00001011101)/g) ?? []).length;
	}
	for (let row = 0; row < size; row++)
		for (let column = 0; column < size; column++) {
			const shade = modules[row]![column];
			dark += shade ? 1 : 0;
			if (row > 0 && column > 0 && modules[row - 1]![column] === shade &&
				modules[row]![column - 1] === shade && modules[row - 1]![column - 1] === shade)
				penalty += 3;
		}
	return penalty + 10 * Math.floor(Math.abs(dark * 20 - size * size * 10) / (size * size));
}
