/*
 * Columns of characters in xterm.js, as on the server's screen (ring/screen/grid/width.c and grapheme.c): by code point as
 * glibc's wcwidth(), or by grapheme cluster. No DOM.
 */
import type { IUnicodeVersionProvider } from '@xterm/xterm';
import { TABLE } from './unicode_table';

/* Kinds, in the order of tests/unicode/properties.mjs. */
const OTHER = 0, PREPEND = 1, EXTEND = 2, REGIONAL = 3, SPACING = 4, L = 5, V = 6, T = 7, LV = 8, LVT = 9, ZWJ = 10, PICTURE = 11,
	CONSONANT = 12, LINKER = 13, NON_JOINER = 14;
const KIND = 0xf;
/* Flags of a cluster's kind: it may continue as a conjunct, and a consonant continues it. */
const CONJUNCT = 0x10;
const LINKED = 0x20;

const CODES = 0x110000;
const SYLLABLE_FIRST = 0xac00, SYLLABLE_END = 0xd7a4, SYLLABLES_OF_PAIR = 28; // of Hangul

/*
 * A property is a kind << 4 | cluster columns << 2 | columns. The array has them XOR the most frequent one: memory that is
 * never written costs nothing.
 */
const PLAIN = 1 << 2 | 1;
const properties = new Uint8Array(CODES);
for (const [kind, clusterColumns, columns, runs] of TABLE) {
	let at = 0;
	runs.split(' ').forEach((text, i) => {
		const end = at + parseInt(text, 36);
		if (i % 2 === 1)
			properties.fill((kind << 4 | clusterColumns << 2 | columns) ^ PLAIN, at, end);
		at = end;
	});
}
for (let code = SYLLABLE_FIRST; code < SYLLABLE_END; code++)
	properties[code] = (((code - SYLLABLE_FIRST) % SYLLABLES_OF_PAIR === 0 ? LV : LVT) << 4 | 2 << 2 | 2) ^ PLAIN;

const propertyOf = (code: number) => (properties[code] ?? 0) ^ PLAIN;

/** Columns of a code point; 0 for combining ones. */
export function columnsOf(code: number): 0 | 1 | 2 {
	return (propertyOf(code) & 3) as 0 | 1 | 2;
}

/* The state after a character, as xterm.js has it. 0: there is none. */
const stateOf = (kind: number, width: number) => kind << 3 | width << 1;
const JOINS = 1;
const widthOf = (state: number) => state >> 1 & 3;
const NARROW = stateOf(OTHER, 1);
const isAscii = (code: number) => code >= 0x20 && code < 0x7f;

/** By code point, with combining marks. */
export const wcwidth: IUnicodeVersionProvider = {
	version: 'wcwidth',
	wcwidth: columnsOf,
	charProperties: (code, before) => {
		if (isAscii(code))
			return NARROW;
		const width = columnsOf(code), widthBefore = widthOf(before);
		return width === 0 && widthBefore > 0 ? stateOf(OTHER, widthBefore) | JOINS : stateOf(OTHER, width);
	},
};

/* Hangul: GB6 to GB8. */
function joinsSyllable(before: number, after: number): boolean {
	switch (before) {
	case L:
		return after === L || after === V || after === LV || after === LVT;
	case LV:
	case V:
		return after === V || after === T;
	case LVT:
	case T:
		return after === T;
	default:
		return false;
	}
}

/* GB9 to GB13, from the two characters and the conjunct before. */
function joinsCluster(cluster: number, after: number): boolean {
	const before = cluster & KIND;
	switch (after) {
	case EXTEND:
	case ZWJ:
	case SPACING:
	case LINKER:
	case NON_JOINER:
		return true;
	case CONSONANT:
		return before === PREPEND || (cluster & LINKED) !== 0;
	case PICTURE:
		return before === PREPEND || before === ZWJ;
	case REGIONAL:
		return before === PREPEND || before === REGIONAL;
	default:
		return before === PREPEND || joinsSyllable(before, after);
	}
}

/* GB9c: the flags after one more character of a cluster. */
function conjunct(cluster: number, kind: number): number {
	if (kind === CONSONANT)
		return CONJUNCT;
	if ((cluster & CONJUNCT) === 0)
		return 0;
	if (kind === LINKER)
		return CONJUNCT | LINKED;
	return kind === EXTEND || kind === ZWJ ? cluster & (CONJUNCT | LINKED) : 0;
}

/** By grapheme cluster. */
export const graphemes: IUnicodeVersionProvider = {
	version: 'graphemes',
	wcwidth: columnsOf,
	charProperties: (code, before) => {
		const cluster = before >> 3;
		if (isAscii(code) && cluster === OTHER)
			return NARROW;
		const property = propertyOf(code), kind = property >> 4, width = property >> 2 & 3;
		if (kind === OTHER && cluster === OTHER)
			return stateOf(OTHER, width);
		if (before === 0 || !joinsCluster(cluster, kind))
			return stateOf(kind | conjunct(0, kind), width);
		if (kind === REGIONAL) // a flag is complete
			return stateOf(OTHER, 2) | JOINS;
		return stateOf(kind | conjunct(cluster, kind), Math.max(width, widthOf(before))) | JOINS;
	},
};
