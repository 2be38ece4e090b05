/* The items of the palette, searching and ranking. No DOM. */
import { match, searchText, type Match, type SearchText } from './match';

export type ItemKind = 'session' | 'action' | 'command' | 'again';

export const KIND_LABELS: Readonly<Record<ItemKind, string>> = {
	session: 'Session', action: 'Action', command: 'Command', again: 'Type again',
};

export interface Item {
	readonly kind: ItemKind;
	readonly text: SearchText;
	/** Secondary text. It is searched too, but ranks lower. */
	readonly facts: SearchText;
	readonly keys: string;
	run(): void;
}

export interface Found {
	readonly item: Item;
	readonly indices: Match['indices']; // matched characters of its text
}

const SHOWN_MAX = 50;
const KIND_MAX = 15; // items of one kind, while the query is empty

export function item(kind: ItemKind, text: string, facts: string, run: () => void, keys = ''): Item {
	return { kind, text: searchText(text), facts: searchText(facts), keys, run };
}

/** The best matches; equal ones keep their order. all: number of matches. */
export function find(items: readonly Item[], query: string): { shown: readonly Found[]; all: number } {
	if (query.trim() === '') {
		const shown = new Map<ItemKind, number>();
		const first = items.filter(({ kind }) => {
			shown.set(kind, (shown.get(kind) ?? 0) + 1);
			return (shown.get(kind) ?? 0) <= KIND_MAX;
		});
		return { shown: first.slice(0, SHOWN_MAX).map((each) => ({ item: each, indices: new Set() })), all: items.length };
	}
	const found = items.flatMap((each) => {
		const direct = match(query, each.text);
		const other = direct === null ? match(query, join(each)) : null;
		const best = direct ?? other;
		return best === null ? [] : [{ item: each, indices: best.indices, score: best.score - (direct === null ? 50 : 0) + WEIGHT[each.kind] }];
	});
	found.sort((a, b) => b.score - a.score);
	return { shown: found.slice(0, SHOWN_MAX), all: found.length };
}

const WEIGHT: Readonly<Record<ItemKind, number>> = { session: 6, action: 4, command: 0, again: -1 };

function join({ text, facts }: Item): SearchText {
	return { characters: [...text.characters, ' ', ...facts.characters], lower: [...text.lower, ' ', ...facts.lower] };
}
