/* Events of the session list, and how they change it. Pure. */
import type { Activity, Session } from './wire';

export type SessionEvent =
	| { readonly type: 'sessions'; readonly sessions: readonly Session[] }
	| { readonly type: 'activity'; readonly activities: readonly { readonly id: string; readonly activity: Activity }[] };

/** Of a session of a node that is away the server knows little else than the id. */
export function complete(session: Session): Session {
	return session.state === 'unreachable' ? { ...session, createdAt: '', lastActivityAt: '', sizePolicy: 'latest' } : session;
}

/** The list after an event. Unknown events change nothing. */
export function applySessionEvent(sessions: readonly Session[], event: SessionEvent): readonly Session[] {
	if (event.type === 'sessions')
		return event.sessions.map(complete);
	if (event.type !== 'activity')
		return sessions;
	const activities = new Map(event.activities.map(({ id, activity }) => [id, activity]));
	return sessions.map((session) => {
		const activity = activities.get(session.id);
		return activity === undefined ? session : { ...session, activity };
	});
}
