// Expected values are from qrencode 4.1.1, and the check words from the example in ISO/IEC 18004.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { checkWords, qrCode } from '../src/ui/qr';

const VERSION_1 = [
	'111111100010101111111',
	'100000100000101000001',
	'101110101010001011101',
	'101110100000101011101',
	'101110100101101011101',
	'100000100111001000001',
	'111111101010101111111',
	'000000001010000000000',
	'111011111010111000100',
	'111100011011001110001',
	'110010110001010010111',
	'101100000011100010010',
	'000001100001010101000',
	'000000001011011110011',
	'111111101010101010111',
	'100000101110110110010',
	'101110101011000001010',
	'101110100001101011010',
	'101110101100100010101',
	'100000101100000010010',
	'111111101000010011011',
];
/** SHA-256 of the rows, by text. */
const DIGESTS: readonly (readonly [string, number, string])[] = [
	[`http://ringside.example:7070/#link=${'ab0-_'.repeat(60)}`, 65, '6f82e52a69bfbaa37d6b4648f4979a29ea2debf85dd6d05bdaccab8a63a8bd04'],
	['h'.repeat(2953), 177, '22102b33724d696786c39eeed7dfc39e5e54d1b4948869f53d8cec2d23131898'],
];

const rowsOf = (text: string, mask?: number) =>
	qrCode(new TextEncoder().encode(text), mask)?.map((row) => row.map((dark) => dark ? '1' : '0').join('')) ?? [];
const all = (text: string) => Array.from({ length: 8 }, (_, mask) => rowsOf(text, mask));

test('check words', () => {
	assert.deepEqual(checkWords([32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17], 10),
		[196, 35, 39, 119, 235, 215, 231, 226, 93, 23]);
});

test('a small code, module by module', () => {
	assert.ok(all('https://x.y/').some((rows) => rows.join() === VERSION_1.join()), 'with one of the masks');
});

test('the code of a link and the largest code: blocks of two lengths, alignment patterns, version', () => {
	for (const [text, size, digest] of DIGESTS) {
		const tried = all(text);
		assert.ok(tried.every((rows) => rows.length === size), `${tried[0]?.length}`);
		assert.ok(tried.some((rows) => createHash('sha256').update(rows.join('\n')).digest('hex') === digest), `${text.length} bytes`);
	}
});

test('the chosen mask is one of the eight, and too long data has no code', () => {
	assert.ok(all('https://x.y/').some((rows) => rows.join() === rowsOf('https://x.y/').join()));
	assert.equal(qrCode(new Uint8Array(2954)), null);
	assert.equal(rowsOf('').length, 21);
});
