/* What files are called in the session, and how a shell is told. Names come from anywhere: nothing in them is a key or a path. */

/** Bytes that a name may have: NAME_MAX of Linux. */
const NAME_MAX = 255;
/** Room for what makes a name another: "-99". */
const SUFFIX_MAX = 3;
/** Controls, what is drawn as nothing or turns the direction of text, halves of characters, and the slash. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}/]/gu;
const PLAIN = /^[A-Za-z0-9_@%+:,./-]+$/;
/** The end of what tells the type: ".tar.gz", ".jpeg". */
const EXTENSION = /(?:\.tar)?\.[A-Za-z0-9]{1,8}$/;

/** A name for a file that somebody brings. */
export function cleanName(name: string): string {
	const fit = name.replace(UNFIT, '_').trim();
	if (/^\.{0,2}$/.test(fit))
		return 'file';
	const { stem, extension } = split(fit);
	return cut(stem, NAME_MAX - SUFFIX_MAX - bytes(extension)) + extension;
}

/** The name itself, or where that is taken already the n-th other one for it. */
export function otherName(name: string, n: number): string {
	const { stem, extension } = split(name);
	return n === 0 ? name : `${stem}-${n}${extension}`;
}

function split(name: string): { stem: string; extension: string } {
	const extension = EXTENSION.exec(name)?.[0] ?? '';
	// ".bashrc" has none.
	return extension.length === name.length ? { stem: name, extension: '' }
		: { stem: name.slice(0, name.length - extension.length), extension };
}

function bytes(text: string): number {
	return new TextEncoder().encode(text).length;
}

/** As many characters as there is room for. */
function cut(text: string, room: number): string {
	let length = 0;
	let kept = '';
	for (const character of text) {
		length += bytes(character);
		if (length > room)
			return kept;
		kept += character;
	}
	return kept;
}

/**
 * The word for it that bash, zsh and fish all read as that path. In fish a backslash in quotes may hide what follows: so both
 * it and the quote are outside.
 */
export function quotePath(path: string): string {
	if (PLAIN.test(path) && !path.startsWith('-'))
		return path;
	return path.split(/(['\\])/).filter((part) => part !== '')
		.map((part) => (part === "'" || part === '\\' ? `\\${part}` : `'${part}'`)).join('');
}

/** The directory as it can be told to a shell and to the server; null: not exactly, so paths are relative to the shell's own. */
export function knownDirectory(cwd: unknown): string | null {
	if (typeof cwd !== 'string' || !cwd.startsWith('/') || cwd.length > 4000)
		return null;
	// Not UTF-8, a key or a trick.
	return /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffd]/u.test(cwd) ? null : cwd.replace(/\/+$/, '');
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
