/* Names of fonts, as CSS values. */

export interface Font {
	readonly family: string; // a CSS value
	readonly size: number; // CSS pixels
	readonly lineHeight: number;
}

export const FONT_FAMILY =
	'"JetBrains Mono", "Cascadia Mono", "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
const SYSTEM = 'ui-monospace, monospace';
/** The value of the setting for the font that is part of the page. */
export const BUNDLED = 'bundled';
export const BUNDLED_FAMILY = 'Ringside JetBrains Mono'; // not the name of one that may be installed

/** Whether it can be the name of a font, within quotes of CSS. */
export function isFontName(name: unknown): name is string {
	return typeof name === 'string' && /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._+-]{0,62}$/u.test(name);
}

/** name: of a font; bundled: the page's own; monospace: the system's; empty: the first of several that is installed. */
export function fontStack(name: string): string {
	if (name === 'monospace')
		return SYSTEM;
	if (name === BUNDLED)
		return `"${BUNDLED_FAMILY}", ${FONT_FAMILY}`;
	return isFontName(name) ? `"${name}", ${FONT_FAMILY}` : FONT_FAMILY;
}
