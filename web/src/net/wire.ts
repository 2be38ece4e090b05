/*
 * Types of the messages between page and server. A message is one JSON text frame. Binary frames are bytes of the PTY.
 */
import type { Block } from '../blocks/block';

export type Role = 'owner' | 'driver' | 'viewer';

/** A size in character cells. */
export interface Size {
	readonly cols: number;
	readonly rows: number;
}

/** Which window sets the size of the session: the one that typed last, the smallest one, none, the owner's. */
export type SizePolicy = 'latest' | 'smallest' | 'fixed' | 'owner';

export interface ExitStatus {
	readonly code: number | null; // null if it was killed by a signal
	readonly signal: string | null; // "KILL", without SIG
	readonly reason: 'exited' | 'signal' | 'holder_died';
	readonly offset?: number;
}

/** What happens in a session. The texts come from programs and people and are not trusted. */
export interface Activity {
	readonly status: 'prompt' | 'starting' | 'running' | 'waiting_input' | 'stopped' | 'fullscreen' | 'exited';
	readonly input: 'line' | 'password' | 'raw' | null;
	readonly since: string;
	readonly foreground: { readonly name: string; readonly startedAt: string | null } | null;
	readonly cwd: string | null;
	readonly cwdCut: boolean; // the beginning of cwd is missing
	readonly title: string | null; // of the terminal
	readonly progress: {
		readonly state: 'normal' | 'error' | 'indeterminate' | 'paused';
		readonly percent: number | null; // null: indeterminate
	} | null;
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
	readonly state: 'starting' | 'running' | 'exited' | 'unreachable'; // unreachable: its node is away
	readonly node?: string; // in a fleet
	readonly shell: string;
	readonly cwd: string;
	readonly sizePolicy: SizePolicy;
	readonly createdAt: string;
	readonly lastActivityAt: string;
	readonly clients: number;
	readonly exit: ExitStatus | null;
	readonly activity: Activity | null; // null: not known yet
}

/** A file or directory. */
export interface FileFacts {
	readonly absolutePath: string;
	readonly type: 'file' | 'directory' | 'other';
	readonly size: number; // bytes
	readonly modifiedAt: string;
	readonly readable: boolean; // by the server
}

/** A client that is attached to the session. */
export interface Client {
	readonly id: string | number;
	readonly person: string | number; // the same for all tabs of one browser
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
	readonly scrollback: number; // lines of history on the server
	readonly unicode: string; // width table that a reset selects
	readonly clipboard: boolean; // programs may write to the clipboard
	readonly input: number | null; // bytes of this page's input that have arrived; null: unknown
}

/** The next binary byte has this offset. */
export interface SyncMessage extends Size {
	readonly type: 'sync';
	readonly offset: number;
}

/** Bytes that bring a terminal of this size to the session's state at `offset`. A `sync` follows. */
export interface SnapshotMessage extends Size {
	readonly type: 'snapshot';
	readonly offset: number;
	readonly bytes: number; // in the next binary frames
	readonly lines: number; // of history in it
	readonly total: number; // of history on the server
	readonly line?: number; // number of the first line
	readonly reason: 'attach' | 'lag' | 'request';
	readonly partial?: boolean; // another snapshot with more lines follows
}

export interface PresenceMessage {
	readonly type: 'presence';
	readonly clients: readonly Client[];
	readonly sizeBy: string | number | null;
	readonly sizePolicy: SizePolicy;
}

/** A temporary claim to the keyboard. */
export interface Lease {
	readonly owner: string;
	readonly mode: 'exclusive' | 'advisory';
	readonly expiresAt: string;
	readonly sinceAt: string;
	readonly heir?: string | null; // the next holder
}

/** yours: this connection has sent the id of the lease; null: it has sent no id. */
export interface LeaseMessage {
	readonly type: 'lease';
	readonly lease: Lease | null;
	readonly yours?: boolean | null;
}

/** The shell has exited and a new one was started. */
export interface ShellRestart {
	readonly restarted: true;
	readonly restarts: number;
	readonly exitCode: number | null;
	readonly signal: string | null;
}

/** A command has started or ended; missed: the server has skipped some of these messages. */
export interface BlockMessage {
	readonly type: 'block';
	readonly event: 'started' | 'ended' | 'missed';
	readonly block?: Block;
}

/** The paste with that id, or the rest of it, was refused. */
export interface PasteMessage {
	readonly type: 'paste';
	readonly id: number;
	readonly code: string;
	readonly message: string;
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
	| PasteMessage
	| LeaseMessage
	| { readonly type: 'state'; readonly name: string; readonly state: Session['state']; readonly shell?: ShellRestart }
	| { readonly type: 'drain'; readonly draining: boolean } // whether the server refuses new sessions
	| { readonly type: 'notification'; readonly title: string | null; readonly text: string }
	| { readonly type: 'error'; readonly code?: string; readonly message: string }
	| { readonly type: 'pong'; readonly t: unknown };

const KNOWN = new Set<string>([
	'attached', 'sync', 'snapshot', 'presence', 'ready', 'resize', 'exit', 'state', 'lease',
	'notification', 'error', 'pong', 'input', 'block', 'drain', 'paste',
]);

/** Parse a text frame. Returns null for unknown messages, which are ignored. */
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

/** Close codes of the terminal socket after which the page must not reconnect. */
export const CLOSE_ACCESS_ENDED = 4401;
export const CLOSE_REPLACED = 4409; // another connection of this page has replaced it
export const CLOSE_SESSION_DELETED = 4410;
