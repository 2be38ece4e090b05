/*
 * What the page and the server say to each other, as types. One message is one JSON text frame;
 * binary frames are the PTY's bytes and are not described here.
 */
import type { Block } from '../blocks/block';

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
	readonly reason: 'exited' | 'signal' | 'holder_died';
	readonly offset?: number;
}

/** What a session is at, in short. Every text in it is a program's or somebody's. */
export interface Activity {
	readonly status: 'prompt' | 'starting' | 'running' | 'waiting_input' | 'stopped' | 'fullscreen' | 'exited';
	readonly input: 'line' | 'password' | 'raw' | null;
	readonly since: string;
	readonly foreground: { readonly name: string; readonly startedAt: string | null } | null;
	readonly cwd: string | null;
	readonly cwdCut: boolean; // it has lost its beginning
	readonly block: {
		readonly id: string;
		readonly command: string | null;
		readonly author: string | null;
		readonly label: string | null;
		readonly by: 'exec' | 'human';
		readonly state: 'running' | 'done';
		readonly startedAt: string | null;
		readonly endedAt: string | null;
		readonly exitCode: number | null;
	} | null;
	readonly lease: Lease | null;
	readonly bells: number;
	readonly notification: {
		readonly text: string; readonly title: string | null; readonly at: string; readonly count: number;
	} | null;
	readonly unread: boolean;
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
	readonly activity: Activity | null; // null: the server has yet to look
}

/** Somebody attached to the session. */
export interface Client {
	readonly id: string | number;
	readonly person: string | number; // the same for all tabs of somebody
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
	readonly unicode: string; // what characters take after a reset
	readonly clipboard: boolean; // programs may write to the clipboard
	readonly input: number | null; // bytes of this page's input that have arrived; null: nobody knows
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
	readonly line?: number; // the number of its first one
	readonly reason: 'attach' | 'lag' | 'request';
	readonly partial?: boolean; // one with more lines follows by itself
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
	readonly heir?: string | null; // who has it next
}

/** yours: by the id that this connection shows; null: it shows none. */
export interface LeaseMessage {
	readonly type: 'lease';
	readonly lease: Lease | null;
	readonly yours?: boolean | null;
}

/** Another shell has taken the place of one that has ended. */
export interface ShellRestart {
	readonly restarted: true;
	readonly restarts: number;
	readonly exitCode: number | null;
	readonly signal: string | null;
}

/** A command has begun or ended; missed: some have, of which there was too much to tell. */
export interface BlockMessage {
	readonly type: 'block';
	readonly event: 'started' | 'ended' | 'missed';
	readonly block?: Block;
}

export type ServerMessage =
	| AttachedMessage
	| SyncMessage
	| SnapshotMessage
	| PresenceMessage
	| BlockMessage
	| { readonly type: 'ready' }
	| { readonly type: 'resize'; readonly cols: number; readonly rows: number; readonly offset: number }
	| ({ readonly type: 'exit' } & ExitStatus)
	| { readonly type: 'input'; readonly taken: number }
	| LeaseMessage
	| { readonly type: 'state'; readonly name: string; readonly state: Session['state']; readonly shell?: ShellRestart }
	| { readonly type: 'drain'; readonly draining: boolean } // nothing new begins at this server, or does again
	| { readonly type: 'notification'; readonly title: string | null; readonly text: string }
	| { readonly type: 'error'; readonly code?: string; readonly message: string }
	| { readonly type: 'pong'; readonly t: unknown };

const KNOWN = new Set<string>([
	'attached', 'sync', 'snapshot', 'presence', 'ready', 'resize', 'exit', 'state', 'lease',
	'notification', 'error', 'pong', 'input', 'block', 'drain',
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
export const CLOSE_REPLACED = 4409; // this page has connected again
export const CLOSE_SESSION_DELETED = 4410;
