// Makes grapheme_ranges.h, from what the page's addon knows of each character: node grapheme_ranges.mjs >grapheme_ranges.h
import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { graphemesProvider } from '../../../tests/lib/graphemes.mjs';

const KINDS = ['OTHER', 'PREPEND', 'EXTEND', 'REGIONAL', 'SPACING', 'L', 'V', 'T', 'LV', 'LVT', 'ZWJ', 'PICTURE'];
const UNICODE = '13.0'; // that of its tables, whatever it calls itself
const SYLLABLES = [0xac00, 0xd7a3]; // of Hangul: those the code tells itself
const LINE = 4; // ranges

const hex = (code) => `0x${code.toString(16)}`;

/** What a character is, if nothing is before it: [kind, columns]. */
export function property(provider, code) {
	const value = provider.charProperties(code, 0);
	return [value >> 3 & 0xf, value >> 1 & 3];
}

function ranges(provider) {
	const list = [];
	for (let code = 0; code <= 0x10ffff; code++) {
		const [kind, width] = property(provider, code);
		const last = list.at(-1);
		if ((kind === 0 && width === 1) || (code >= SYLLABLES[0] && code <= SYLLABLES[1]))
			continue;
		if (last && last.last === code - 1 && last.kind === kind && last.width === width)
			last.last = code;
		else
			list.push({ first: code, last: code, kind, width });
	}
	return list;
}

export function header() {
	const { version } = JSON.parse(readFileSync(new URL('../../../web/node_modules/@xterm/addon-unicode-graphemes/package.json', import.meta.url)));
	const items = ranges(graphemesProvider()).map(({ first, last, kind, width }) => `{${hex(first)}, ${KINDS[kind]}, ${width}, ${hex(last)}},`);
	const lines = [];
	while (items.length > 0)
		lines.push(`\t${items.splice(0, LINE).join(' ')}`);
	return `/*
 * Made by grapheme_ranges.mjs from the tables of addon-unicode-graphemes ${version}: Grapheme_Cluster_Break, Extended_Pictographic
 * and East_Asian_Width of Unicode ${UNICODE}, with what the addon makes of them. What is in none is OTHER, and a column wide.
 */
/* clang-format off */
static const struct {
	uint32_t first : 24, kind : 6, width : 2;
	uint32_t last;
} ranges[] = {
${lines.join('\n')}
};
`;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
	process.stdout.write(header());
