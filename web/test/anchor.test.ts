import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnchor, findAnchor } from '../src/term/anchor';
import { numbered } from './terminals';

const rows = (lines: readonly string[]) => ({
	length: lines.length,
	getLine: (row: number) => {
		const line = lines[row];
		return line === undefined ? undefined : { translateToString: () => line };
	},
});

const screen = Array<string>(10).fill('');

for (const [what, then, at, now, want] of [
	['older lines were added before it', numbered(501, 600), 3, numbered(1, 600), 503],
	['new lines were added after it', numbered(1, 600), 300, numbered(1, 900), 300],
	['lines were dropped at the start and added at the end', numbered(1, 600), 300, numbered(200, 900), 101],
	['the first lines above it are gone', numbered(1, 600), 300, numbered(300, 900), 1],
	['the text is gone', numbered(1, 600), 300, numbered(400, 900), null],
	['nothing is left', numbered(1, 600), 300, screen, null],
	['there were blank lines only', screen, 4, [...screen, ...screen], 14],
	['half of the following lines have changed', [...numbered(1, 50), 'a', 'b', 'c'], 49,
		[...numbered(1, 50), 'x', 'y', 'z'], 49],
] as const)
	test(`found again: ${what}`, () => {
		assert.equal(findAnchor(rows(now), createAnchor(rows(then), at)), want);
	});

test('repeated text is found at the same distance from the end', () => {
	const block = numbered(1, 30);
	const many = [...block, ...block, ...block, ...block];
	assert.equal(findAnchor(rows(['older', ...many]), createAnchor(rows(many), 65)), 66);
});

test('repeated text after new lines: the next occurrence above', () => {
	const block = numbered(1, 30);
	const many = [...block, ...block, ...block, ...block];
	assert.equal(findAnchor(rows([...many, ...numbered(100, 110)]), createAnchor(rows(many), 65)), 65);
});
