import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IUnicodeVersionProvider } from '@xterm/xterm';
import { columnsOf, graphemes, wcwidth } from '../src/term/unicode';

/** The columns of each cell that a text fills, as xterm.js counts them. */
function cells(provider: IUnicodeVersionProvider, text: string): string {
	const widths: number[] = [];
	let state = 0;
	for (const character of text) {
		state = provider.charProperties(character.codePointAt(0) ?? 0, state);
		if ((state & 1) === 1)
			widths.pop();
		widths.push(state >> 1 & 3);
	}
	return widths.join('');
}

const cases: readonly (readonly [text: string, wcwidth: string, graphemes: string])[] = [
	['ab', '11', '11'],
	['世界', '22', '22'],
	['🫠🫩a', '221', '221'],
	['e\u0301\u0302x', '11', '11'],
	['\u0301a', '01', '11'],
	['世\u0301', '2', '2'],
	['❤❤\ufe0f❤\ufe0e', '111', '121'],
	['a\ufe0f', '1', '2'],
	['1\ufe0f\u20e3', '1', '2'],
	['🇩🇪🇫', '111', '21'],
	['👍🏽👍', '222', '22'],
	['👨\u200d👩\u200d👧', '222', '2'],
	['👨\u200da', '21', '21'],
	['\u1100\u1161\u11a8\u1100', '22', '22'],
	['각\u11a8가\u1161', '22', '22'],
	['\u0600\u0031\u0032', '111', '11'],
	['क्षि', '111', '1'],
	['स्त्रक', '1111', '11'],
	['क्\u200dष', '11', '1'],
	['क्\u200cष', '11', '11'],
	['कषa\u094dष', '1111', '1111'],
	['நி', '11', '1'],
];

test('characters fill cells by code point and by grapheme cluster', () => {
	for (const [text, byCode, byCluster] of cases)
		assert.deepEqual([cells(wcwidth, text), cells(graphemes, text)], [byCode, byCluster], JSON.stringify(text));
});

test('every code point has a width, also beyond Unicode', () => {
	for (const code of [0, 0x7f, 0x9f, 0xad, 0xd800, 0xfffe, 0x10ffff, 0x110000, 0xffffffff, -1])
		for (const provider of [wcwidth, graphemes])
			for (const before of [0, provider.charProperties(0x61, 0), provider.charProperties(0x915, 0)])
				assert.ok((provider.charProperties(code, before) >> 1 & 3) <= 2, code.toString(16));
	assert.deepEqual([columnsOf(0x110000), columnsOf(0x20ac), columnsOf(0x200b), columnsOf(0x1fae0)], [1, 1, 0, 2]);
});
