/* The order of sessions on the wall: first those that wait for input. No DOM, so that unit tests cover it. */
import type { Session } from '../net/wire';
import { statusOf, type Kind } from '../ui/session_status';

const RANKS: Readonly<Record<Kind, number>> = { waits: 0, failed: 1, works: 2, idle: 3, unknown: 3, ended: 4 };
const SETTLE_MS = 2000; // shorter changes, such as quick commands, move nothing

/** The rank of a session, and the next rank if its status does not change. */
interface Rank {
	readonly rank: number;
	readonly next: number;
	readonly since: number; // when next was set
}

export interface Order {
	readonly ids: readonly string[];
	readonly ranks: ReadonlyMap<string, Rank>;
}

export const NO_ORDER: Order = { ids: [], ranks: new Map() };

/**
 * The order after an update; now: milliseconds of any clock. Equal sessions are ordered by creation. A session that waits or has
 * failed moves forward at once; other moves happen after a delay, so that tiles do not jump to and fro.
 */
export function nextOrder(order: Order, sessions: readonly Session[], now: number): Order {
	const ranks = new Map(sessions.map((session) => [session.id, nextRank(order.ranks.get(session.id), RANKS[statusOf(session, 0).kind], now)]));
	const rank = ({ id }: Session) => ranks.get(id)?.rank ?? 0;
	const sorted = [...sessions].sort((a, b) =>
		rank(a) - rank(b) || a.createdAt.localeCompare(b.createdAt) || (a.id < b.id ? -1 : 1));
	return { ids: sorted.map(({ id }) => id), ranks };
}

function nextRank(before: Rank | undefined, wanted: number, now: number): Rank {
	if (before === undefined || wanted === before.rank)
		return { rank: wanted, next: wanted, since: now };
	if (wanted <= RANKS.failed && wanted < before.rank)
		return { rank: wanted, next: wanted, since: now };
	const since = before.next === wanted ? before.since : now;
	return now - since >= SETTLE_MS ? { rank: wanted, next: wanted, since: now } : { rank: before.rank, next: wanted, since };
}

/** When the order has to be updated although no session changes, or null. */
export function dueAt(order: Order): number | null {
	const waiting = [...order.ranks.values()].filter(({ rank, next }) => rank !== next).map(({ since }) => since + SETTLE_MS);
	return waiting.length === 0 ? null : Math.min(...waiting);
}
