/* Commands of a session, as the server reports them, and the list of those that this page has. */

export interface Block {
	readonly id: string;
	readonly command: string | null;
	readonly author: string | null;
	readonly label: string | null;
	readonly by: 'human' | 'exec';
	readonly execId: string | null;
	readonly state: 'running' | 'done';
	readonly cwd: string | null; // the shell's directory before and after
	readonly cwdAfter: string | null;
	readonly startedAt: string | null;
	readonly endedAt: string | null;
	readonly exitCode: number | null;
	readonly start: number;
	readonly end: number | null;
	readonly inputMark: number | null; // offset after the shell's mark (OSC 133 B) before the typed line
	readonly endMark: number | null;
	readonly line?: number | null;
	readonly endLine?: number | null;
}

export type BlockKind = 'running' | 'done' | 'failed';

const BLOCKS_MAX = 1000; // as on the server

const INTERRUPTED = 130; // Ctrl-C: not shown as a failure

export function kindOf(block: Pick<Block, 'state' | 'exitCode'>): BlockKind {
	if (block.state === 'running')
		return 'running';
	return block.exitCode === null || block.exitCode === 0 ? 'done' : 'failed';
}

export function wasInterrupted(block: Block): boolean {
	return block.exitCode === INTERRUPTED;
}

/** The name of the author, for display. */
export function authorOf(block: Pick<Block, 'label' | 'by' | 'author'>): string {
	if (block.label !== null && block.label !== '')
		return block.label;
	if (block.by === 'exec')
		return block.author === null || block.author === '' ? 'a program' : block.author;
	return block.author === null || block.author === 'human' ? 'a person' : block.author;
}

/** The people colours that are used neither for failures nor for running commands. */
const COLORS = [1, 2, 4, 5, 6, 7] as const;

export function colorOf(block: Block): number {
	return colorOfName(authorOf(block));
}

/** A colour that depends only on the name. */
export function colorOfName(name: string): number {
	let hash = 0;
	for (const character of name)
		hash = (hash * 31 + character.charCodeAt(0)) >>> 0;
	return COLORS[hash % COLORS.length] as number;
}

/** Duration in milliseconds, until now if the command is running; null if unknown. */
export function durationOf(block: Block, now: number): number | null {
	if (block.startedAt === null)
		return null;
	const end = block.state === 'running' ? now : block.endedAt === null ? NaN : Date.parse(block.endedAt);
	const duration = end - Date.parse(block.startedAt);
	return Number.isNaN(duration) ? null : Math.max(0, duration);
}

/** "0.3 s", "12 s", "3:07", "2:00:12". */
export function showDuration(milliseconds: number): string {
	const seconds = Math.floor(milliseconds / 1000);
	if (seconds < 10)
		return `${(milliseconds / 1000).toFixed(1)} s`;
	if (seconds < 60)
		return `${seconds} s`;
	const two = (value: number) => String(value).padStart(2, '0');
	const minutes = Math.floor(seconds / 60);
	return minutes < 60 ? `${minutes}:${two(seconds % 60)}`
		: `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

/** The newest commands. A command that is done stays done, in whatever order messages and replies arrive. */
export class BlockList {
	#blocks = new Map<number, Block>(); // by start offset
	#sorted: readonly Block[] | null = null;

	/** Oldest first. */
	get all(): readonly Block[] {
		this.#sorted ??= [...this.#blocks.values()].sort((a, b) => a.start - b.start).slice(-BLOCKS_MAX);
		return this.#sorted;
	}

	get running(): Block | null {
		const last = this.all.at(-1);
		return last?.state === 'running' ? last : null;
	}

	find(id: string): Block | undefined {
		return this.all.find((block) => block.id === id);
	}

	put(block: Block): void {
		const known = this.#blocks.get(block.start);
		if (known?.state === 'done' && block.state === 'running')
			return;
		this.#blocks.set(block.start, block);
		this.#sorted = null;
		if (this.#blocks.size > BLOCKS_MAX * 2)
			this.replace(this.all);
	}

	/** Replace all commands, except newer ones that arrived while these were fetched. */
	replace(blocks: readonly Block[]): void {
		const before = this.#blocks;
		const last = blocks.at(-1)?.start ?? -1;
		this.#blocks = new Map([...before].filter(([start]) => start > last));
		for (const block of blocks) {
			const known = before.get(block.start);
			this.#blocks.set(block.start, known?.state === 'done' && block.state === 'running' ? known : block);
		}
		this.#sorted = null;
	}

	clear(): void {
		this.#blocks.clear();
		this.#sorted = null;
	}
}
