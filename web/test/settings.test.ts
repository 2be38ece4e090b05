import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FONT_FAMILY, fontStack } from '../src/term/fonts';
import { DEFAULTS, nextFontSize, parseSettings } from '../src/ui/settings';
import { isPalette, PALETTES } from '../src/ui/terminal_themes';

test('stored values that are not known are ignored', () => {
	for (const kept of [null, '', 'null', '7', '"x"', '[]', '{', '\0', '{"fontSize":14}', '{"fontSize":"1e9"}', '{"fontSize":"-1"}', '{"fontSize":null}',
		'{"lineHeight":"NaN","cursor":["bar"],"blink":{"toString":1}}', '{"__proto__":{"cursor":"bar"}}', '{"constructor":"block","toString":"on"}',
		`{"cursor":"${'x'.repeat(100_000)}"}`, '['.repeat(5000)])
		assert.deepEqual(parseSettings(kept), DEFAULTS, kept?.slice(0, 60));
	assert.deepEqual(parseSettings('{"fontSize":"18","cursor":"skull","interrupt":"interrupt","extra":1}'),
		{ ...DEFAULTS, fontSize: '18', interrupt: 'interrupt' });
	assert.equal(Object.getPrototypeOf(parseSettings('{"__proto__":{"cursor":"bar"}}')), Object.prototype);
});

test('a font is a name, never CSS', () => {
	for (const name of ['x"; } body { display: none', 'url(https://example.org)', 'a"b', 'a\\22 b', 'a\nb', ' x', '-x', 'a;b', 'a,b', '\u202ex', 'x'.repeat(64), 'var(--x)', 'a/*'])
		assert.equal(parseSettings(JSON.stringify({ fontFamily: name })).fontFamily, '', name);
	for (const name of ['Fira Code', 'M+ 1mn', 'Noto Sans Mono CJK JP', 'ＭＳ ゴシック', '源ノ角ゴシック', '3270 Nerd Font', 'monospace', ''])
		assert.equal(parseSettings(JSON.stringify({ fontFamily: name })).fontFamily, name);
	assert.equal(fontStack('Fira Code'), `"Fira Code", ${FONT_FAMILY}`);
	assert.equal(fontStack('monospace'), 'ui-monospace, monospace');
	assert.equal(fontStack('bundled'), `"Ringside JetBrains Mono", ${FONT_FAMILY}`);
	assert.equal(fontStack(''), FONT_FAMILY);
	assert.equal(fontStack('a", b'), FONT_FAMILY);
});

test('the font size steps through the sizes that can be set', () => {
	assert.deepEqual([nextFontSize(14, 1), nextFontSize(14, -1), nextFontSize(18, 1), nextFontSize(13.5, -1)], ['15', '13', '20', '13']);
	assert.deepEqual([nextFontSize(32, 1), nextFontSize(8, -1)], ['32', '8']);
});

/** WCAG 2.1. */
function contrast(a: string, b: string): number {
	const luminance = (color: string) => {
		const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255)
			.map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
		return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
	};
	const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
	return (light + 0.05) / (dark + 0.05);
}

test('every palette is complete, and its text is readable, also when selected', () => {
	for (const [name, { colors, label }] of Object.entries(PALETTES)) {
		assert.ok(isPalette(name) && label !== '');
		const { background = '', foreground = '', selectionBackground = '', cursor = '' } = colors;
		for (const [key, color] of Object.entries(colors))
			assert.match(String(color), /^#[0-9a-f]{6}([0-9a-f]{2})?$/, `${name} ${key}`);
		assert.equal(Object.keys(colors).length, Object.keys(PALETTES.dark.colors).length, name);
		assert.ok(contrast(background, foreground) >= 4.5, `${name}: ${contrast(background, foreground)}`);
		assert.ok(contrast(selectionBackground, foreground) >= 4.5, `${name}, selected: ${contrast(selectionBackground, foreground)}`);
		assert.ok(contrast(cursor, background) >= 3, `${name}, cursor`);
	}
	for (const name of ['', 'constructor', '__proto__', 'Dark'])
		assert.ok(!isPalette(name));
});
