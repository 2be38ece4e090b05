/* Names of fonts, as CSS values. */

export interface Font {
	readonly family: string; // a CSS value
	readonly size: number; // CSS pixels
	readonly lineHeight: number;
}

export const FONT_FAMILY =
	'"JetBrains Mono", "Cascadia Mono", "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
const SYSTEM = 'ui-monospace, monospace';

/** Whether it can be the name of a font, within quotes of CSS. */
export function isFontName(name: unknown): name is string {
	return typeof name === 'string' && /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._+-]{0,62}$/u.test(name);
}

/** name: of a font; monospace: the system's; empty: the page's fonts. */
export function fontStack(name: string): string {
	if (name === 'monospace')
		return SYSTEM;
	return isFontName(name) ? `"${name}", ${FONT_FAMILY}` : FONT_FAMILY;
}
