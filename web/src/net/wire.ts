/*
 * What the page and the server say to each other, as types. One message is one JSON text frame;
 * binary frames are the PTY's bytes and are not described here.
 */

export type Role = 'owner' | 'driver' | 'viewer';

/** A size in character cells. */
export interface Size {
	readonly cols: number;
	readonly rows: number;
}

/** Whose window gives the session its size: of who typed last, of all the smallest, nobody's, the owner's. */
export type SizePolicy = 'latest' | 'smallest' | 'fixed' | 'owner';

export interface ExitStatus {
	readonly code: number | null; // null if a signal ended it
	readonly signal: string | null; // "KILL", without SIG
	readonly reason: 'exited' | 'signal' | 'holder_died' | 'ring_damaged';
	readonly offset?: number;
}

export interface Session extends Size {
	readonly id: string;
	readonly name: string;
	readonly epoch: string | number;
	readonly state: 'starting' | 'running' | 'exited';
	readonly shell: string;
	readonly cwd: string;
	readonly sizePolicy: SizePolicy;
	readonly createdAt: string;
	readonly lastActivityAt: string;
	readonly clients: number;
	readonly exit: ExitStatus | null;
}

/** Somebody attached to the session. */
export interface Client {
	readonly id: string | number;
	readonly name: string;
	readonly color: number; // 0…7
	readonly role: Role;
	readonly typedAt: string | null;
}

export interface AttachedMessage extends Size {
	readonly type: 'attached';
	readonly sessionId: string;
	readonly epoch: string | number;
	readonly role: Role;
	readonly clientId: string | number;
	readonly name: string;
	readonly state: Session['state'];
	readonly offset: number;
	readonly scrollback: number; // lines of history that the server keeps
	readonly clipboard: boolean; // programs may write to the clipboard
}

/** The next binary byte is that byte of the session. */
export interface SyncMessage extends Size {
	readonly type: 'sync';
	readonly offset: number;
}

/** What brings a terminal of this size to where the session is at `offset`. A `sync` follows. */
export interface SnapshotMessage extends Size {
	readonly type: 'snapshot';
	readonly offset: number;
	readonly bytes: number; // in the next binary frames
	readonly lines: number; // of history in it
	readonly total: number; // of history at the server
	readonly reason: 'attach' | 'lag' | 'request';
}

export interface PresenceMessage {
	readonly type: 'presence';
	readonly clients: readonly Client[];
	readonly sizeBy: string | number | null;
	readonly sizePolicy: SizePolicy;
}

/** The keyboard is somebody's, for a time. */
export interface Lease {
	readonly owner: string;
	readonly mode: 'exclusive' | 'advisory';
	readonly expiresAt: string;
	readonly sinceAt: string;
}

/** Another shell has taken the place of one that has ended. */
export interface ShellRestart {
	readonly restarted: true;
	readonly restarts: number;
	readonly exitCode: number | null;
	readonly signal: string | null;
}

export type ServerMessage =
	| AttachedMessage
	| SyncMessage
	| SnapshotMessage
	| PresenceMessage
	| { readonly type: 'ready' }
	| { readonly type: 'resize'; readonly cols: number; readonly rows: number; readonly offset: number }
	| ({ readonly type: 'exit' } & ExitStatus)
	| { readonly type: 'lease'; readonly lease: Lease | null }
	| { readonly type: 'state'; readonly name: string; readonly state: Session['state']; readonly shell?: ShellRestart }
	| { readonly type: 'error'; readonly code?: string; readonly message: string }
	| { readonly type: 'pong'; readonly t: unknown };

const KNOWN = new Set<string>([
	'attached', 'sync', 'snapshot', 'presence', 'ready', 'resize', 'exit', 'state', 'lease', 'error', 'pong',
]);

/** The message of a text frame, or null for one that this page does not know: those are ignored. */
export function parseServerMessage(text: string): ServerMessage | null {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return null;
	}
	if (typeof value !== 'object' || value === null || !('type' in value))
		return null;
	return typeof value.type === 'string' && KNOWN.has(value.type) ? (value as ServerMessage) : null;
}

/** Close codes of the terminal socket that mean more than "connect again". */
export const CLOSE_ACCESS_ENDED = 4401;
export const CLOSE_SESSION_DELETED = 4410;
