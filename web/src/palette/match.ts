/* Fuzzy matching of a few letters, in time linear in the text. Pure. */

const QUERY_MAX = 100;
const TEXT_MAX = 300;

export interface Match {
	readonly score: number;
	/** Indices of the matched characters (code points). */
	readonly indices: ReadonlySet<number>;
}

/** A text that was prepared for matching. */
export interface SearchText {
	readonly characters: readonly string[];
	readonly lower: readonly string[];
}

/** Make the text one line. Invisible characters and direction overrides become dots. */
export function searchText(text: string): SearchText {
	const characters = [...text.slice(0, 2 * TEXT_MAX).replace(/\s+/g, ' ').replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '·').trim()]
		.slice(0, TEXT_MAX);
	// Each character by itself, because the lower case of a text may be longer.
	return { characters, lower: characters.map((character) => [...character.toLowerCase()][0] ?? character) };
}

/** Match every word of the query, as a substring or with letters left out. Returns null if a word does not match. */
export function match(query: string, text: SearchText): Match | null {
	const at = new Set<number>();
	let score = 0;
	for (const word of query.slice(0, QUERY_MAX).toLowerCase().split(/\s+/)) {
		if (word === '')
			continue;
		const found = matchWord([...word], text);
		if (found === null)
			return null;
		score += found.score;
		for (const place of found.places)
			at.add(place);
	}
	return { score: score - text.characters.length / TEXT_MAX, indices: at };
}

function matchWord(word: readonly string[], text: SearchText): { score: number; places: number[] } | null {
	const part = findPart(word, text);
	if (part !== null)
		return { score: (part === 0 ? 100 : startsWord(text, part) ? 80 : 60) + word.length, places: word.map((_, n) => part + n) };
	const places = findLetters(word, text);
	if (places === null)
		return null;
	const starts = places.filter((place) => startsWord(text, place)).length;
	const span = (places.at(-1) ?? 0) - (places[0] ?? 0) + 1;
	// Scattered letters count only if words of the text start with them.
	return span > 6 * word.length && starts < word.length ? null
		: { score: 20 + 20 * (starts / word.length) + 20 * (word.length / span), places };
}

/** Index of the word in the text, preferably at the start of a word. */
function findPart(word: readonly string[], text: SearchText): number | null {
	let found: number | null = null;
	for (let start = 0; start + word.length <= text.lower.length; start++) {
		if (!word.every((letter, n) => text.lower[start + n] === letter))
			continue;
		if (startsWord(text, start))
			return start;
		found ??= start;
	}
	return found;
}

/** Indices of the letters in order, as close to the last one as possible. */
function findLetters(word: readonly string[], { lower }: SearchText): number[] | null {
	let next = 0;
	let end = 0;
	for (; end < lower.length && next < word.length; end++)
		if (lower[end] === word[next])
			next++;
	if (next < word.length)
		return null;
	const places: number[] = [];
	for (let place = end - 1; next > 0; place--)
		if (lower[place] === word[next - 1]) {
			places.unshift(place);
			next--;
		}
	return places;
}

function startsWord({ characters }: SearchText, place: number): boolean {
	return place === 0 || /[^\p{L}\p{N}]/u.test(characters[place - 1] ?? '')
		|| (/\p{Lu}/u.test(characters[place] ?? '') && /\p{Ll}/u.test(characters[place - 1] ?? ''));
}
