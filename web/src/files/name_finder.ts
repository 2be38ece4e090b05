/*
 * Finds text in a line of output that may be the name of a file: words, quoted names as ls prints them, names before the
 * position in a compiler's message, and the whole line. Pure. The time is linear in the length of the line.
 */
import { isClean } from './names';

const NAME_MAX = 1024; // characters

/** The text at [start, end) of the line, and the name that it means. */
export interface Reading {
	readonly start: number;
	readonly end: number;
	readonly name: string;
}

/** Possible readings of one piece of text, the most likely first. */
export type Candidate = readonly Reading[];

/** For each closing quote the place of the next one after `from`, so that no part of the line is searched twice. */
type Quotes = Map<string, { readonly from: number; readonly at: number }>;

const CLOSING: Readonly<Record<string, string>> = { '\'': '\'', '"': '"', '`': '`', '‘': '’', '“': '”', '«': '»' };
const BEFORE_QUOTE = '=([{<,:';
const LEADING = /^[([{<'"`‘“«@*,;=|（【《「『\u2500-\u257f]/;
const TRAILING = /[)\]}>'"`’”».,;:!?*@|=…，。；：、）】》」』\u2500-\u257f]$/;
const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, e: 27, f: 12, n: 10, r: 13, t: 9, v: 11 };

/**
 * The candidates that overlap [from, to) of the line, the most likely first. Those that overlap each other exclude each
 * other.
 */
export function findNames(line: string, from = 0, to = line.length): Candidate[] {
	const quoted: Candidate[] = [];
	const words: Candidate[] = [];
	const quotes: Quotes = new Map();
	const keep = (list: Candidate[], readings: readonly Reading[]) => {
		const plausible = readings.filter(({ start, end, name }, index) => start < to && end > from && isPlausible(name)
			&& readings.findIndex((each) => each.name === name) === index);
		if (plausible.length > 0)
			list.push(plausible);
	};
	for (let at = 0; at < line.length;) {
		if (isSpace(line, at)) {
			at++;
			continue;
		}
		const quote = readQuoted(line, at, quotes);
		const end = quote?.end ?? wordEnd(line, at, quotes);
		if (quote !== null) {
			keep(quoted, quote.readings);
			for (const word of wordsIn(line, at, end, from, to))
				keep(words, readingsOf(line, word.start, word.end));
		} else if (at < to && end > from) {
			keep(words, readingsOf(line, at, end));
		}
		at = end;
	}
	const whole: Candidate[] = [];
	if (quoted.length + words.length > 0)
		keep(whole, wholeLine(line));
	return [...whole, ...quoted, ...words];
}

function isSpace(text: string, at: number): boolean {
	const code = text.charCodeAt(at);
	return code === 32 || code === 9 || (code > 127 && /\s/.test(text.charAt(at)));
}

/** The end of the word without quotes that starts here. A backslash escapes a space. A quote may start another word. */
function wordEnd(line: string, start: number, quotes: Quotes): number {
	let at = start;
	do
		at += line[at] === '\\' && isSpace(line, at + 1) ? 2 : 1;
	while (at < line.length && !isSpace(line, at)
		&& !(BEFORE_QUOTE.includes(line.charAt(at - 1)) && CLOSING[line.charAt(at)] !== undefined && readQuoted(line, at, quotes) !== null));
	return Math.min(at, line.length);
}

/** The words between spaces in quoted text, if there are several, that overlap [from, to). */
function* wordsIn(line: string, start: number, end: number, from: number, to: number): Iterable<{ start: number; end: number }> {
	for (let at = start; at < end; at++) {
		const word = at;
		while (at < end && !isSpace(line, at))
			at++;
		if (word < at && word < to && at > from)
			yield { start: word, end: at };
	}
}

/** Text in quotes, or several such pieces in a row, as ls prints it: 'a'$'\n''b'. */
function readQuoted(line: string, start: number, quotes: Quotes): { readonly end: number; readonly readings: readonly Reading[] } | null {
	let pieces = 0;
	let end = start;
	let plain = '';
	let escaped = ''; // with the escape sequences of "…" as git uses them
	while (end - start <= NAME_MAX) {
		if (end > start && line[end] === '\\' && /['"]/.test(line.charAt(end + 1))) {
			plain += line.charAt(end + 1);
			escaped += line.charAt(end + 1);
			end += 2;
			pieces++;
			continue;
		}
		const ansi = line[end] === '$' && line[end + 1] === '\'';
		const begin = end + (ansi ? 2 : 1);
		const open = line.charAt(begin - 1);
		const close = CLOSING[open];
		if (close === undefined)
			break;
		const escapes = ansi || open === '"';
		const closesAt = escapes ? findUnescaped(line, close, begin) : findClosing(line, close, begin, quotes);
		if (closesAt - begin > NAME_MAX)
			break;
		const content = line.slice(begin, closesAt);
		plain += ansi ? unescape(content) : content;
		escaped += escapes ? unescape(content) : content;
		end = closesAt + 1;
		pieces++;
	}
	if (pieces === 0)
		return null;
	// The link of a name in simple quotes is the name alone.
	const range = pieces === 1 && line[start] !== '$' ? { start: start + 1, end: end - 1 } : { start, end };
	return { end, readings: [{ ...range, name: plain }, { ...range, name: escaped }] };
}

/** The place of the closing quote at or after `begin`; Infinity: there is none. */
function findClosing(line: string, close: string, begin: number, quotes: Quotes): number {
	const known = quotes.get(close);
	if (known !== undefined && known.from <= begin && begin <= known.at)
		return known.at;
	const found = line.indexOf(close, begin);
	const at = found < 0 ? Infinity : found;
	quotes.set(close, { from: begin, at });
	return at;
}

/** The same, if a backslash escapes it. Only near `begin`. */
function findUnescaped(line: string, close: string, begin: number): number {
	const last = Math.min(line.length, begin + NAME_MAX);
	for (let at = begin; at < last; at++) {
		if (line[at] === close)
			return at;
		if (line[at] === '\\')
			at++;
	}
	return Infinity;
}

/** Decode escape sequences. Bytes in octal are UTF-8. */
function unescape(text: string): string {
	if (!text.includes('\\'))
		return text;
	const bytes: number[] = [];
	const encoder = new TextEncoder();
	for (const [part, octal, other] of text.matchAll(/\\([0-7]{1,3})|\\([^])|[^\\]+|\\$/g)) {
		if (octal !== undefined)
			bytes.push(parseInt(octal, 8) & 255);
		else if (other !== undefined && ESCAPES[other] !== undefined)
			bytes.push(ESCAPES[other]);
		else
			bytes.push(...encoder.encode(other ?? part));
	}
	return new TextDecoder().decode(Uint8Array.from(bytes));
}

/** The line without spaces around it, if it has spaces inside. */
function wholeLine(line: string): readonly Reading[] {
	if (line.length > 2 * NAME_MAX)
		return [];
	const name = line.trim();
	const start = line.indexOf(name);
	return /\s/.test(name) ? [{ start, end: start + name.length, name }] : [];
}

/** The readings of a word, the longest first. */
function readingsOf(line: string, start: number, end: number): readonly Reading[] {
	const word = line.slice(start, end);
	if (word.length > 2 * NAME_MAX)
		return [];
	if (word.includes('://'))
		return readingsOfUrl(word, start);
	const readings: Reading[] = [{ start, end, name: word }];
	const core = trimmed(word, start);
	for (const piece of [core, afterEquals(core), afterOption(core)])
		if (piece !== null)
			readings.push(piece, ...withoutPosition(piece));
	for (const prefix of ['--- a/', '+++ b/', 'diff --git a/'])
		if (line.startsWith(prefix) && /^[ab]\//.test(word))
			readings.push({ start: start + 2, end, name: word.slice(2) });
	return readings.concat(readings.filter(({ name }) => name.includes('\\'))
		.map((reading) => ({ ...reading, name: reading.name.replace(/\\(.)/g, '$1') })));
}

/** The path of a file: address. */
function readingsOfUrl(word: string, start: number): readonly Reading[] {
	const at = word.indexOf('file://');
	const path = at < 0 ? -1 : word.indexOf('/', at + 'file://'.length);
	if (path < 0)
		return [];
	const core = trimmed(word.slice(at), start + at);
	const whole = { start: core.start + path - at, end: core.end, name: core.name.slice(path - at) };
	return [whole, ...withoutPosition(whole)].map((reading) => ({ ...reading, name: decoded(reading.name) }));
}

function decoded(path: string): string {
	try {
		return decodeURIComponent(path);
	} catch {
		return path;
	}
}

/** Without the punctuation around it. */
function trimmed(word: string, start: number): Reading {
	let from = 0;
	let to = word.length;
	while (from < to && LEADING.test(word.charAt(from)))
		from++;
	while (to > from && TRAILING.test(word.charAt(to - 1)))
		to--;
	return { start: start + from, end: start + to, name: word.slice(from, to) };
}

/** "b" of "a=b". */
function afterEquals({ end, name }: Reading): Reading | null {
	const at = name.indexOf('=');
	return at < 0 ? null : trimmed(name.slice(at + 1), end - (name.length - at - 1));
}

/** "/a" of "-I/a". */
function afterOption({ start, end, name }: Reading): Reading | null {
	return /^-[A-Za-z][/.~]/.test(name) ? { start: start + 2, end, name: name.slice(2) } : null;
}

/** The name before positions and other text: a.c:1:2, a.c(1,2), a.c:text, a.c-1-text. */
function withoutPosition({ start, name }: Reading): Reading[] {
	const ends = [/(?::\d+){1,2}$/, /:/, /\(\d/, /-\d+-/].map((pattern) => name.search(pattern));
	return ends.filter((at) => at > 0).map((at) => ({ start, end: start + at, name: name.slice(0, at) }));
}

/** Whether it can be the name of a file: not a number, an option, a directory, or anything with invisible characters. */
function isPlausible(name: string): boolean {
	return name.length <= NAME_MAX && !name.startsWith('-') && !/(?:^|\/)\.{0,2}$/.test(name)
		&& (/\p{L}/u.test(name) || /^\.{0,2}\/.*\d/.test(name)) && isClean(name);
}
