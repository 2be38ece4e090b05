/*
 * One session's terminal socket, kept alive. It knows where in the byte stream the page is, and
 * after any interruption asks for exactly the bytes that are missing. No DOM: all of it is tested.
 *
 *   idle → connecting → replaying → live        (attached, then `ready`)
 *            ↑    └── waiting ←──────┘           (lost: tried again after a pause)
 *   any → closed                                (stopped, signed out, access ended, deleted)
 *
 * Who comes anew, or is far behind, gets a snapshot instead: the terminal as it is, whole.
 *
 * Keys: see outbox.ts. What is typed before the first `ready`, or into a connection that is lost, is kept.
 *
 * Back-pressure: a browser's WebSocket cannot be paused. Whoever consumes the bytes may fall
 * behind, drop what follows, and call resync() with the offset of the first byte it dropped.
 */
import { backoffDelay } from './backoff';
import type { Clock } from './clock';
import { Heartbeat } from './heartbeat';
import { Outbox, type Undelivered } from './outbox';
import {
	CLOSE_ACCESS_ENDED, CLOSE_REPLACED, CLOSE_SESSION_DELETED, parseServerMessage,
	type ServerMessage, type Size, type SnapshotMessage, type SyncMessage,
} from './wire';

const CONNECT_TIMEOUT_MS = 10000;
const MAX_FRAME_BYTES = 64 * 1024;
const ACK_EVERY = 2048; // bytes: the server paces itself by what has reached us
const LONG_MS = 3000; // without an answer: what was typed since is not sent without asking

/** The part of WebSocket that is used, so that a test can play it. */
export interface Socket {
	binaryType: string;
	onmessage: ((event: MessageEvent) => void) | null;
	onopen?: ((event: Event) => void) | null;
	onclose: ((event: CloseEvent) => void) | null;
	send(data: string | Uint8Array<ArrayBuffer>): void;
	close(): void;
}

export type ClosedReason = 'stopped' | 'signed-out' | 'access-ended' | 'deleted' | 'replaced';

export type ConnectionState =
	| { readonly kind: 'idle' | 'connecting' | 'replaying' | 'live' }
	| { readonly kind: 'waiting'; readonly delay: number }
	| { readonly kind: 'closed'; readonly reason: ClosedReason };

/** Where a page is in a session's stream: what it resumes with. */
export interface Position {
	readonly epoch: string | number;
	readonly offset: number;
}

/** Why a connect failed. */
export type Diagnosis = 'signed-out' | 'access-ended' | 'deleted' | 'unknown';

export interface ConnectionEvents {
	state(state: ConnectionState): void;
	/** Everything but the bytes, pongs and what the calls below say better. */
	message(message: ServerMessage): void;
	/** The terminal is to become what this makes of it, at this place. */
	snapshot(snapshot: SnapshotMessage, data: Uint8Array): void;
	/** The session's size from this place of the stream on. */
	resize(size: Size): void;
	/** offset: of the first byte. */
	bytes(data: Uint8Array, offset: number): void;
	/** History is complete, live bytes follow. */
	ready(): void;
	latency(ms: number): void;
	/** The server has not answered for so long; 0: it has. */
	silence(ms: number): void;
	/** More or less of what was typed has yet to arrive: look at `undelivered`. */
	undelivered(): void;
}

export interface ConnectionOptions {
	/**
	 * Open a socket to the session; position: to resume from, null for the first time; typed: bytes of this page's
	 * input that are known to have arrived.
	 */
	open(position: Position | null, typed: number): Socket;
	/** Called after a connect that failed before `attached`. */
	diagnose(): Promise<Diagnosis>;
	readonly clock: Clock;
	random(): number;
	readonly events: ConnectionEvents;
}

interface ArrivingSnapshot {
	readonly message: SnapshotMessage;
	readonly data: Uint8Array;
	filled: number; // bytes of it
}

export class Connection {
	#options: ConnectionOptions;
	#heartbeat: Heartbeat;
	#socket: Socket | null = null;
	#state: ConnectionState = { kind: 'idle' };
	#timer: unknown = null; // of connecting (it takes too long) or of waiting (try again)
	#attempt = 0; // failures since the last `ready`
	#attached = false; // on this socket
	#epoch: Position['epoch'] = ''; // of this socket's session
	#position: Position | null = null;
	#arriving: ArrivingSnapshot | null = null;
	#reached = 0; // bytes of this socket's binary frames
	#acked = 0; // of these, that the server knows of
	#outbox = new Outbox();
	#lostAt: number | null = null; // since when nothing was heard, when it was live last
	#unsettled = false; // there was something undelivered when it was last told

	constructor(options: ConnectionOptions) {
		this.#options = options;
		this.#heartbeat = new Heartbeat(options.clock, {
			ping: (t) => this.#sendJson({ type: 'ping', t }),
			latency: options.events.latency,
			dead: () => this.#lost(),
			silence: options.events.silence,
		});
	}

	get state(): ConnectionState {
		return this.#state;
	}

	/** What was typed and has not arrived. */
	get undelivered(): Undelivered {
		return this.#outbox.undelivered;
	}

	/** Send what has not arrived, if that is possible now, or forget it. */
	settle(how: 'send' | 'drop'): void {
		if (how === 'drop')
			this.#outbox.drop();
		else if (this.#state.kind === 'live')
			this.#sendKept();
		this.#tellUndelivered();
	}

	/** The offset of the next byte, or null before the first `sync`. */
	get offset(): number | null {
		return this.#position?.offset ?? null;
	}

	get epoch(): Position['epoch'] | null {
		return this.#position?.epoch ?? null;
	}

	start(): void {
		if (this.#state.kind === 'idle')
			this.#connect();
	}

	/** The end. The state `closed` is the last that is heard of it. */
	stop(): void {
		this.#close('stopped');
	}

	/** Begin anew, from any state: the session was replaced, or is to be tried once more. */
	restart(): void {
		this.#drop();
		this.#position = null;
		this.#attempt = 0;
		this.#outbox.clear();
		this.#lostAt = null;
		this.#tellUndelivered();
		this.#connect();
	}

	/** Something changed for the better (network, visibility): do not wait any longer. */
	nudge(): void {
		if (this.#state.kind !== 'waiting') {
			this.#heartbeat.hurry();
			return;
		}
		this.#attempt = 0;
		this.#drop();
		this.#connect();
	}

	/** Go back to offset, on a new socket. */
	resync(offset: number): void {
		if (this.#state.kind === 'closed' || this.#state.kind === 'idle')
			return;
		this.#position &&= { epoch: this.#position.epoch, offset };
		this.#drop();
		this.#connect();
	}

	/**
	 * Keystrokes; typed: by somebody, and kept until they have arrived. What the terminal says by itself is for now, and
	 * dropped while there is no connection. Returns false when they were dropped.
	 */
	send(data: Uint8Array<ArrayBuffer>, typed: boolean): boolean {
		if (this.#state.kind === 'closed')
			return false;
		if (this.#state.kind === 'live' && !(typed && this.#outbox.asks)) {
			this.#transmit(data, typed);
			this.#heartbeat.expect();
			return true;
		}
		const kept = typed && this.#outbox.keep(data);
		this.#tellUndelivered();
		return kept;
	}

	#transmit(data: Uint8Array<ArrayBuffer>, typed: boolean): void {
		this.#outbox.sent(data, typed);
		for (let at = 0; at < data.length; at += MAX_FRAME_BYTES)
			this.#socket?.send(data.subarray(at, at + MAX_FRAME_BYTES));
	}

	#sendKept(): void {
		for (const data of this.#outbox.take())
			this.#transmit(data, true);
		this.#heartbeat.expect();
	}

	#tellUndelivered(): void {
		const unsettled = this.#outbox.undelivered.keys > 0;
		if (unsettled || this.#unsettled)
			this.#options.events.undelivered();
		this.#unsettled = unsettled;
	}

	/** Ask for a snapshot with so many lines of history. Returns false if that is not possible now. */
	requestSnapshot(scrollback: number): boolean {
		if (this.#state.kind !== 'live')
			return false;
		this.#sendJson({ type: 'snapshot', scrollback });
		return true;
	}

	resize({ cols, rows }: Size): void {
		this.#sendJson({ type: 'resize', cols, rows });
	}

	/** The id of the lease that this page has, '' for none. */
	showLease(id: string): void {
		this.#sendJson({ type: 'lease', id });
	}

	setName(name: string): void {
		this.#sendJson({ type: 'name', name });
	}

	#connect(): void {
		this.#attached = false;
		this.#arriving = null;
		this.#reached = this.#acked = 0;
		this.#move({ kind: 'connecting' });
		const socket = this.#socket = this.#options.open(this.#position, this.#outbox.taken);
		socket.binaryType = 'arraybuffer';
		socket.onmessage = (event) => {
			this.#heartbeat.heard();
			if (typeof event.data === 'string')
				this.#onText(event.data);
			else
				this.#onBytes(new Uint8Array(event.data as ArrayBuffer));
		};
		socket.onclose = (event) => this.#onClose(event.code);
		this.#timer = this.#options.clock.setTimeout(() => this.#lost(), CONNECT_TIMEOUT_MS);
	}

	#onText(text: string): void {
		const message = parseServerMessage(text);
		switch (message?.type) {
		case undefined:
			return;
		case 'attached':
			this.#options.clock.clearTimeout(this.#timer);
			this.#attached = true;
			this.#epoch = message.epoch;
			this.#outbox.attached(message.input ?? null, this.#lostAt !== null && this.#options.clock.now() - this.#lostAt > LONG_MS);
			this.#move({ kind: 'replaying' });
			this.#heartbeat.start();
			break;
		case 'sync':
			this.#onSync(message);
			return;
		case 'snapshot':
			this.#arriving = { message, data: new Uint8Array(message.bytes), filled: 0 };
			return;
		case 'resize':
			this.#options.events.resize(message);
			break;
		case 'ready':
			this.#attempt = 0;
			this.#lostAt = null;
			this.#heartbeat.start(); // answers so far have stood behind the history
			this.#move({ kind: 'live' });
			this.#options.events.ready();
			if (!this.#outbox.asks)
				this.#sendKept();
			this.#tellUndelivered();
			return;
		case 'input':
			this.#outbox.receipt(message.taken);
			if (this.#unsettled)
				this.#tellUndelivered();
			return;
		case 'pong':
			this.#heartbeat.pong(message.t);
			return;
		}
		this.#options.events.message(message!);
	}

	#onSync(sync: SyncMessage): void {
		const at = this.#position;
		if (at !== null && (at.epoch !== this.#epoch || at.offset !== sync.offset)) {
			// It neither continues what we have nor comes with a snapshot. One is sent to who has nothing.
			this.#position = null;
			this.#lost();
			return;
		}
		this.#position = { epoch: this.#epoch, offset: sync.offset };
		this.#options.events.resize(sync);
	}

	/** Only a whole snapshot counts. Until then we are, and would resume, where we were before. */
	#onSnapshotBytes(arriving: ArrivingSnapshot, data: Uint8Array): void {
		const { message } = arriving;
		arriving.data.set(data, arriving.filled);
		arriving.filled += data.length;
		if (arriving.filled < message.bytes)
			return;
		this.#arriving = null;
		this.#position = { epoch: this.#epoch, offset: message.offset };
		this.#options.events.snapshot(message, arriving.data);
	}

	#onBytes(data: Uint8Array): void {
		this.#reached += data.length;
		if (this.#reached - this.#acked >= ACK_EVERY) {
			this.#acked = this.#reached;
			this.#sendJson({ type: 'ack', bytes: this.#reached });
		}
		if (this.#arriving !== null) {
			this.#onSnapshotBytes(this.#arriving, data);
		} else if (this.#position !== null) {
			const { epoch, offset } = this.#position;
			this.#position = { epoch, offset: offset + data.length };
			this.#options.events.bytes(data, offset);
		}
	}

	#onClose(code: number): void {
		if (code === CLOSE_ACCESS_ENDED)
			this.#close('access-ended');
		else if (code === CLOSE_SESSION_DELETED)
			this.#close('deleted');
		else if (code === CLOSE_REPLACED)
			this.#close('replaced');
		else
			this.#lost();
	}

	#close(reason: ClosedReason): void {
		this.#drop();
		this.#move({ kind: 'closed', reason });
	}

	#lost(): void {
		const refused = !this.#attached;
		if (this.#state.kind === 'live')
			this.#lostAt = this.#heartbeat.heardAt;
		const delay = backoffDelay(this.#attempt++, this.#options.random());
		this.#drop();
		this.#timer = this.#options.clock.setTimeout(() => this.#connect(), delay);
		this.#move({ kind: 'waiting', delay });
		this.#tellUndelivered();
		if (refused)
			void this.#options.diagnose().then((diagnosis) => {
				// Success, restart() and nudge() in the meantime set the count to 0: then it is an
				// answer to yesterday's question, and the next failure asks again.
				const moot = this.#attempt === 0 || this.#state.kind === 'closed';
				if (!moot && diagnosis !== 'unknown')
					this.#close(diagnosis);
			});
	}

	/** Let go of the socket without a word from it any more. close() alone may take minutes. */
	#drop(): void {
		this.#options.clock.clearTimeout(this.#timer);
		this.#timer = null;
		this.#heartbeat.stop();
		if (this.#socket !== null) {
			this.#socket.onmessage = null;
			this.#socket.onclose = null;
			this.#socket.close();
			this.#socket = null;
		}
	}

	#sendJson(message: object): void {
		if (this.#attached && this.#socket !== null)
			this.#socket.send(JSON.stringify(message));
	}

	#move(state: ConnectionState): void {
		this.#state = state;
		this.#options.events.state(state);
	}
}
