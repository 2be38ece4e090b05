/* The commands of sessions, where something happened last first. */
import type { Api } from '../net/api';
import type { Session } from '../net/wire';
import { BlockList } from './block';
import type { Entry } from './panel_rows';

/** only: of this session alone; null: of as many as these. of: of each session at most so many, the newest. */
export async function fetchEntries(api: Api, only: string | null, sessionsMax: number, of: number): Promise<Entry[]> {
	const sessions = only !== null ? [{ id: only, name: only }] : latest(await api.sessions(), sessionsMax);
	const entries: Entry[] = [];
	for (const { id, name } of sessions) {
		// One that ends meanwhile has none.
		const blocks = await api.blocks(id, of).catch(() => []);
		entries.push(...blocks.map((block) => ({ session: id, name: name || id, block })));
	}
	return entries;
}

function latest(sessions: readonly Session[], most: number): Session[] {
	return [...sessions].sort((a, b) => b.lastActivityAt.localeCompare(a.lastActivityAt)).slice(0, most);
}

/** What is to be known of a session to follow its commands. */
export type Followed = Pick<Session, 'id' | 'name'> & Partial<Pick<Session, 'epoch' | 'activity'>>;

/** The commands of one session, as far as they are known, and at what they were asked for. */
interface Known {
	readonly list: BlockList;
	readonly epoch: Session['epoch'] | undefined;
	stamp: string;
}

/** The same, followed: only what is new is asked for, and only of sessions in which there is something new. */
export class FollowedEntries {
	#api: Pick<Api, 'blocks'>;
	#sessionsMax: number;
	#of: number;
	#known = new Map<string, Known>();

	constructor(api: Pick<Api, 'blocks'>, sessionsMax: number, of: number) {
		this.#api = api;
		this.#sessionsMax = sessionsMax;
		this.#of = of;
	}

	async refresh(sessions: readonly Session[]): Promise<Entry[]> {
		return this.refreshThese(latest(sessions, this.#sessionsMax));
	}

	/** Of these and no others. */
	async refreshThese(sessions: readonly Followed[]): Promise<Entry[]> {
		const known = new Map<string, Known>();
		for (const session of sessions)
			known.set(session.id, await this.#look(session));
		this.#known = known;
		return sessions.flatMap(({ id, name }) =>
			(known.get(id)?.list.all ?? []).map((block) => ({ session: id, name: name || id, block })));
	}

	async #look(session: Followed): Promise<Known> {
		const before = this.#known.get(session.id);
		const known = before?.epoch === session.epoch && before !== undefined ? before
			: { list: new BlockList(), epoch: session.epoch, stamp: '' };
		const { activity } = session;
		const stamp = activity ? JSON.stringify([activity.block?.id, activity.block?.state]) : '';
		if (stamp !== '' && stamp === known.stamp)
			return known;
		const { all } = known.list;
		const open = all.find(({ state }) => state === 'running') ?? all.at(-1);
		// One that ends meanwhile has no more.
		const blocks = await this.#api.blocks(session.id, this.#of, open?.start ?? null).catch(() => null);
		for (const block of blocks ?? [])
			known.list.put(block);
		known.stamp = blocks === null ? '' : stamp;
		return known;
	}
}
