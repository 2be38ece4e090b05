// The width of every code point is that of the page's tables.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ours, Reference } from '../lib/screen.mjs';

test('every code point is as wide as in the page', async () => {
	const ours = new Ours();
	const widths = await ours.widths();
	ours.end();
	const theirs = new Reference(80, 24, 0);
	const { activeVersion } = theirs.terminal.unicode;
	assert.equal(activeVersion, '11');
	const service = theirs.core.unicodeService;
	const wrong = [];
	for (let code = 0; code <= 0x10ffff; code++)
		if (service.wcwidth(code) !== widths[code])
			wrong.push(`U+${code.toString(16)}: ${widths[code]}, not ${service.wcwidth(code)}`);
	assert.equal(widths.length, 0x110000);
	assert.deepEqual(wrong, []);
	theirs.end();
});
