/* The commands of several sessions, those of the most recently active session first. */
import type { Api } from '../net/api';
import type { Session } from '../net/wire';
import { BlockList } from './block';
import type { Entry } from './panel_rows';

/** only: the id of a single session, or null for up to sessionsMax sessions. blocksMax: newest commands for each session. */
export async function fetchEntries(api: Api, only: string | null, sessionsMax: number, blocksMax: number): Promise<Entry[]> {
	const sessions = only !== null ? [{ id: only, name: only }] : latest(await api.sessions(), sessionsMax);
	const entries: Entry[] = [];
	for (const { id, name } of sessions) {
		// The session may be deleted meanwhile.
		const blocks = await api.blocks(id, blocksMax).catch(() => []);
		entries.push(...blocks.map((block) => ({ session: id, name: name || id, block })));
	}
	return entries;
}

function latest(sessions: readonly Session[], most: number): Session[] {
	return [...sessions].sort((a, b) => b.lastActivityAt.localeCompare(a.lastActivityAt)).slice(0, most);
}

export type FetchedSession = Pick<Session, 'id' | 'name'> & Partial<Pick<Session, 'epoch' | 'activity'>>;

/** The commands of one session. stamp: its newest command when they were fetched. */
interface Known {
	readonly list: BlockList;
	readonly epoch: Session['epoch'] | undefined;
	stamp: string;
}

/** Like fetchEntries(), repeatedly: fetches only new commands, and only from sessions that have some. */
export class EntryFetcher {
	#api: Pick<Api, 'blocks'>;
	#sessionsMax: number;
	#blocksMax: number;
	#known = new Map<string, Known>();

	constructor(api: Pick<Api, 'blocks'>, sessionsMax: number, blocksMax: number) {
		this.#api = api;
		this.#sessionsMax = sessionsMax;
		this.#blocksMax = blocksMax;
	}

	async refresh(sessions: readonly Session[]): Promise<Entry[]> {
		return this.refreshThese(latest(sessions, this.#sessionsMax));
	}

	async refreshThese(sessions: readonly FetchedSession[]): Promise<Entry[]> {
		const known = new Map<string, Known>();
		for (const session of sessions)
			known.set(session.id, await this.#fetch(session));
		this.#known = known;
		return sessions.flatMap(({ id, name }) =>
			(known.get(id)?.list.all ?? []).map((block) => ({ session: id, name: name || id, block })));
	}

	async #fetch(session: FetchedSession): Promise<Known> {
		const before = this.#known.get(session.id);
		const known = before?.epoch === session.epoch && before !== undefined ? before
			: { list: new BlockList(), epoch: session.epoch, stamp: '' };
		const { activity } = session;
		const stamp = activity ? JSON.stringify([activity.block?.id, activity.block?.state]) : '';
		if (stamp !== '' && stamp === known.stamp)
			return known;
		const { all } = known.list;
		const open = all.find(({ state }) => state === 'running') ?? all.at(-1);
		// The session may be deleted meanwhile.
		const blocks = await this.#api.blocks(session.id, this.#blocksMax, open?.start ?? null).catch(() => null);
		for (const block of blocks ?? [])
			known.list.put(block);
		known.stamp = blocks === null ? '' : stamp;
		return known;
	}
}
