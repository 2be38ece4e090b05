/* Filters for the panel of commands, and the range of rows to draw. Pure. */
import { authorOf, kindOf, type Block, type BlockKind } from './block';

export interface Entry {
	readonly session: string;
	readonly name: string; // of the session
	readonly block: Block;
}

export interface PanelFilter {
	readonly text: string;
	readonly author: string; // '': all
	readonly kind: BlockKind | ''; // '': all
	readonly session: string; // '': all
}

/** Newest first. */
export function filterEntries(entries: readonly Entry[], { text, author, kind, session }: PanelFilter): Entry[] {
	const wanted = text.trim().toLowerCase();
	return entries.filter((entry) =>
		(session === '' || entry.session === session)
		&& (author === '' || authorOf(entry.block) === author)
		&& (kind === '' || kindOf(entry.block) === kind)
		&& (wanted === '' || (entry.block.command ?? '').toLowerCase().includes(wanted)))
		.sort((a, b) => timeOf(b) - timeOf(a) || b.block.start - a.block.start);
}

function timeOf({ block }: Entry): number {
	return block.startedAt === null ? 0 : Date.parse(block.startedAt);
}

/** The authors, sorted. */
export function authorsOf(entries: readonly Entry[]): string[] {
	return [...new Set(entries.map(({ block }) => authorOf(block)))].sort();
}

/** The rows to draw: visible ones and some around them. */
export function windowOf(count: number, rowHeight: number, scrollTop: number, height: number): { first: number; end: number } {
	const around = 6;
	const first = Math.max(0, Math.min(count, Math.floor(scrollTop / rowHeight)) - around);
	return { first, end: Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + around) };
}
