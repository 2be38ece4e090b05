/* Safe names for uploaded files, and quoting of paths for shells. Names are not trusted: they may contain keys or slashes. */

const NAME_MAX = 255; // bytes, as on Linux
const SUFFIX_MAX = 3; // bytes of "-99"
/** Control characters, invisible ones, direction overrides, lone surrogates, and the slash. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}/]/gu;
const PLAIN = /^[A-Za-z0-9_@%+:,./-]+$/;
/** ".tar.gz", ".jpeg". */
const EXTENSION = /(?:\.tar)?\.[A-Za-z0-9]{1,8}$/;

/** A valid name for an uploaded file. */
export function cleanName(name: string): string {
	const fit = name.replace(UNFIT, '_').trim();
	if (/^\.{0,2}$/.test(fit))
		return 'file';
	const { stem, extension } = split(fit);
	return truncate(stem, NAME_MAX - SUFFIX_MAX - bytes(extension)) + extension;
}

/** The name itself for n = 0, otherwise the n-th alternative: "name-1.txt". */
export function alternativeName(name: string, n: number): string {
	const { stem, extension } = split(name);
	return n === 0 ? name : `${stem}-${n}${extension}`;
}

function split(name: string): { stem: string; extension: string } {
	const extension = EXTENSION.exec(name)?.[0] ?? '';
	// ".bashrc" has no extension.
	return extension.length === name.length ? { stem: name, extension: '' }
		: { stem: name.slice(0, name.length - extension.length), extension };
}

function bytes(text: string): number {
	return new TextEncoder().encode(text).length;
}

/** The longest prefix of whole characters that has at most so many bytes. */
function truncate(text: string, bytesMax: number): string {
	let length = 0;
	let kept = '';
	for (const character of text) {
		length += bytes(character);
		if (length > bytesMax)
			return kept;
		kept += character;
	}
	return kept;
}

/**
 * Quote the path so that bash, zsh and fish all read it as one word. In fish a backslash inside of single quotes may escape
 * the next character, so backslashes and quotes are escaped outside of the quotes.
 */
export function quotePath(path: string): string {
	if (PLAIN.test(path) && !path.startsWith('-'))
		return path;
	return path.split(/(['\\])/).filter((part) => part !== '')
		.map((part) => (part === "'" || part === '\\' ? `\\${part}` : `'${part}'`)).join('');
}

/** Whether the text has no invalid UTF-8, control characters, invisible characters or direction overrides. */
export function isClean(text: string): boolean {
	return !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffd]/u.test(text);
}

/** The directory without trailing slashes, or null if it cannot be used safely. Then paths are relative to the shell's directory. */
export function knownDirectory(cwd: unknown): string | null {
	return typeof cwd === 'string' && cwd.startsWith('/') && cwd.length <= 4000 && isClean(cwd) ? cwd.replace(/\/+$/, '') : null;
}

/** "1.5 MB" */
export function sizeText(count: number): string {
	const units = ['B', 'KB', 'MB', 'GB', 'TB'];
	let unit = 0;
	let value = count;
	while (value >= 1000 && unit < units.length - 1) {
		value /= 1000;
		unit++;
	}
	return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
