/*
 * The inbox: sessions that wait for input, and events in sessions that were not visible. Pure and without DOM, so that unit
 * tests cover it.
 */
import type { Activity, Session } from '../net/wire';
import { describeInput, isFailure, oneLine, waitsForInput } from './session_status';

const LONG_MS = 10_000; // longer commands are reported when they end
const ITEMS_MAX = 50;

export interface Item {
	readonly key: string; // identifies the event
	readonly sessionId: string;
	readonly name: string; // of the session
	readonly kind: 'password' | 'waits' | 'failed' | 'finished' | 'bell' | 'notification';
	readonly text: string;
	readonly by: string; // author of the command; '' for people
	readonly block: string | null; // id of the running command
}

/** What the inbox has already seen of a session. */
interface Mark {
	readonly bells: number;
	readonly notified: number;
	readonly block: string | null; // id of the newest finished command
}

/** What happened in a session that is not visible since it was visible. */
export interface Unseen {
	readonly bell: boolean;
	readonly failed: boolean; // a command, also one that is too short for an item
}

export interface Inbox {
	readonly unseen: ReadonlyMap<string, Unseen>; // by id of the session
	readonly items: readonly Item[];
	readonly marks: ReadonlyMap<string, Mark>;
	readonly dropped: ReadonlySet<string>; // keys of dismissed items that still wait
}

export const EMPTY: Inbox = { unseen: new Map(), items: [], marks: new Map(), dropped: new Set() };

/** The inbox after an update. seen: ids of visible sessions. Events from before the first update are not reported. */
export function nextInbox(inbox: Inbox, sessions: readonly Session[], seen: ReadonlySet<string>): Inbox {
	const marks = new Map<string, Mark>();
	const waiting: Item[] = [], events: Item[] = [];
	const wanted = new Set<string>();
	for (const session of sessions) {
		const { activity, id } = session;
		const before = inbox.marks.get(id);
		if (!activity) {
			if (before !== undefined)
				marks.set(id, before);
			continue;
		}
		marks.set(id, markOf(activity, before));
		if (seen.has(id))
			continue;
		if (waitsForInput(activity)) {
			const item = waitingItem(session, activity);
			wanted.add(item.key);
			if (!inbox.dropped.has(item.key))
				waiting.push(item);
		}
		if (before !== undefined)
			events.push(...newItems(session, activity, before));
	}
	const kept = inbox.items.filter(({ key, kind, sessionId }) => !isWaiting(kind) && !seen.has(sessionId)
		&& marks.has(sessionId) && !events.some((item) => item.key === key));
	return {
		unseen: nextUnseen(inbox, sessions, seen), items: [...waiting, ...[...kept, ...events].slice(-ITEMS_MAX)], marks,
		dropped: new Set([...inbox.dropped].filter((key) => wanted.has(key))),
	};
}

/** The inbox without a dismissed item. */
export function dropItem(inbox: Inbox, key: string): Inbox {
	const unseen = new Map(inbox.unseen), item = inbox.items.find((each) => each.key === key);
	const left = item === undefined ? undefined : unseen.get(item.sessionId);
	if (item !== undefined && left !== undefined)
		unseen.set(item.sessionId, { bell: left.bell && item.kind !== 'bell', failed: left.failed && item.kind !== 'failed' });
	return { ...inbox, unseen, items: inbox.items.filter((each) => each.key !== key), dropped: new Set([...inbox.dropped, key]) };
}

/** What happened in any of the sessions. */
export function anyUnseen({ unseen }: Inbox): Unseen {
	const all = [...unseen.values()];
	return { bell: all.some(({ bell }) => bell), failed: all.some(({ failed }) => failed) };
}

/** Items that are only in the second inbox. */
export function addedItems(before: Inbox, after: Inbox): Item[] {
	const known = new Set(before.items.map(({ key }) => key));
	return after.items.filter(({ key }) => !known.has(key));
}

function isWaiting(kind: Item['kind']): boolean {
	return kind === 'password' || kind === 'waits';
}

function markOf({ bells, notification, block }: Activity, before: Mark | undefined): Mark {
	return { bells, notified: notification?.count ?? 0, block: block?.state === 'done' ? block.id : before?.block ?? null };
}

function itemOf(session: Session, kind: Item['kind'], what: string, text: string): Item {
	const block = session.activity?.block;
	return {
		key: `${session.id} ${what}`, sessionId: session.id, name: session.name || session.id, kind, text,
		block: block?.state === 'running' ? block.id : null,
		by: oneLine(block?.label ?? (block?.by === 'exec' ? block.author ?? 'a program' : '')),
	};
}

function waitingItem(session: Session, activity: Activity): Item {
	return itemOf(session, activity.input === 'password' ? 'password' : 'waits', `waits ${activity.since} ${activity.block?.id ?? ''}`, describeInput(activity));
}

/** Whether this command has ended since then. */
function hasEnded(block: Activity['block'], before: Mark): block is NonNullable<Activity['block']> {
	return block?.state === 'done' && block.id !== before.block;
}

function nextUnseen({ marks, unseen }: Inbox, sessions: readonly Session[], seen: ReadonlySet<string>): Map<string, Unseen> {
	const next = new Map<string, Unseen>();
	for (const { activity, id } of sessions.filter((session) => !seen.has(session.id))) {
		const before = marks.get(id), known = unseen.get(id);
		const rang = before !== undefined && (activity?.bells ?? 0) > before.bells;
		const failed = before !== undefined && hasEnded(activity?.block ?? null, before) && isFailure(activity?.block?.exitCode);
		if ((rang && known?.bell !== true) || (failed && known?.failed !== true))
			next.set(id, { bell: rang || known?.bell === true, failed: failed || known?.failed === true });
		else if (known !== undefined)
			next.set(id, known);
	}
	return next;
}

function newItems(session: Session, activity: Activity, before: Mark): Item[] {
	const found: Item[] = [];
	const { bells, block, notification } = activity;
	if (hasEnded(block, before)) {
		const failed = isFailure(block.exitCode);
		const lasted = Date.parse(block.endedAt ?? '') - Date.parse(block.startedAt ?? '');
		const command = oneLine(block.command ?? '') || 'a command';
		if (failed && (block.by === 'exec' || lasted >= LONG_MS))
			found.push(itemOf(session, 'failed', `block ${block.id}`, `✗ ${block.exitCode} ${command}`));
		else if (lasted >= LONG_MS)
			found.push(itemOf(session, 'finished', `block ${block.id}`, `✓ ${command}`));
	}
	if (notification !== null && notification.count > before.notified)
		found.push(itemOf(session, 'notification', `said ${notification.at}`,
			oneLine([notification.title, notification.text].filter(Boolean).join(': '))));
	if (bells > before.bells)
		found.push(itemOf(session, 'bell', 'bell', 'rang'));
	return found;
}
