/* Makes sessions for tests. */
import type { Activity, Session } from '../src/net/wire';

export const T0 = Date.parse('2026-01-01T00:00:00Z');
export const at = (seconds: number) => new Date(T0 + seconds * 1000).toISOString();
export type Block = NonNullable<Activity['block']>;

export function block(fields: Partial<Block>): Block {
	return {
		id: 'b1', command: 'npm test', author: null, label: null, by: 'human', state: 'running',
		startedAt: at(0), endedAt: null, exitCode: null, ...fields,
	};
}

export function session(activity: Partial<Activity> | null, fields: Partial<Session> = {}): Session {
	return {
		id: 's', name: 's', epoch: 1, state: 'running', shell: '/bin/bash', cwd: '/root', sizePolicy: 'latest', createdAt: at(0),
		lastActivityAt: at(0), clients: 0, exit: null, cols: 80, rows: 24,
		activity: activity && {
			status: 'prompt', input: null, since: at(0), foreground: null, cwd: '/root/src', cwdCut: false, title: null, block: null, lease: null,
			progress: null, bells: 0, notification: null, unread: false, ...activity,
		}, ...fields,
	};
}
