/*
 * The terminal socket of one session. Reconnects after any interruption and requests exactly the missing bytes. No DOM, so
 * that unit tests cover it.
 *
 *   idle → connecting → replaying → live        (attached, then `ready`)
 *            ↑    └── waiting ←──────┘           (lost: reconnects after a delay)
 *   any → closed                                (stopped, signed out, access ended, deleted)
 *
 * A page that is new or too far behind gets a snapshot of the whole terminal instead.
 *
 * Input that is typed before the first `ready` or while the connection is lost is kept: see outbox.ts.
 *
 * Back-pressure: a WebSocket of a browser cannot be paused. A consumer that falls behind drops bytes and then calls
 * resync() with the offset of the first dropped byte.
 */
import { backoffDelay } from './backoff';
import type { Clock } from './clock';
import { Heartbeat } from './heartbeat';
import { Outbox, type Progress, type Undelivered } from './outbox';
import type { Paste } from './paste';
import {
	CLOSE_ACCESS_ENDED, CLOSE_REPLACED, CLOSE_SESSION_DELETED, parseServerMessage,
	type PasteMessage, type ServerMessage, type Size, type SnapshotMessage, type SyncMessage,
} from './wire';

const CONNECT_TIMEOUT_MS = 10000;
const MAX_FRAME_BYTES = 64 * 1024;
const ACK_EVERY = 2048; // bytes: the server paces its output by our acks
const CONFIRM_AFTER_MS = 3000; // after a longer interruption kept input is sent only if the user confirms

/** The part of WebSocket that is used; tests replace it. */
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

/** A position in the session's stream, to resume from. */
export interface Position {
	readonly epoch: string | number;
	readonly offset: number;
}

/** Why connecting failed. */
export type Diagnosis = 'signed-out' | 'access-ended' | 'deleted' | 'unknown';

export interface ConnectionEvents {
	state(state: ConnectionState): void;
	/** Messages that have no callback of their own. */
	message(message: ServerMessage): void;
	/** Replace the contents of the terminal by this snapshot. */
	snapshot(snapshot: SnapshotMessage, data: Uint8Array): void;
	/** The size of the session from this position of the stream on. */
	resize(size: Size): void;
	/** offset: of the first byte of data. */
	bytes(data: Uint8Array, offset: number): void;
	/** The history is complete; live bytes follow. */
	ready(): void;
	latency(ms: number): void;
	/** Milliseconds since the server should have answered; 0 when it has answered. */
	silence(ms: number): void;
	/** The property `undelivered` has changed. */
	undelivered(): void;
	/** How much of the paste has been delivered; null: none is under way. */
	pasting(progress: Progress | null): void;
	/** The server has refused the paste, or the rest of it. */
	pasteRefused(paste: Paste, refusal: PasteMessage): void;
}

export interface ConnectionOptions {
	/**
	 * Open a socket to the session. position: to resume from, null for the first time; acknowledged: bytes of this page's
	 * input that the server has.
	 */
	open(position: Position | null, acknowledged: number): Socket;
	/** Called if connecting failed before `attached`. */
	diagnose(): Promise<Diagnosis>;
	readonly clock: Clock;
	random(): number;
	readonly events: ConnectionEvents;
}

interface IncomingSnapshot {
	readonly message: SnapshotMessage;
	readonly data: Uint8Array;
	filled: number; // bytes received
}

function isInterrupt(data: Uint8Array): boolean {
	return data.length === 1 && data[0] === 3;
}

export class Connection {
	#options: ConnectionOptions;
	#heartbeat: Heartbeat;
	#socket: Socket | null = null;
	#state: ConnectionState = { kind: 'idle' };
	#timer: unknown = null; // connect timeout or retry delay
	#attempt = 0; // failed attempts since the last `ready`
	#attached = false; // on this socket
	#epoch: Position['epoch'] = ''; // of this socket's session
	#position: Position | null = null;
	#incoming: IncomingSnapshot | null = null;
	#received = 0; // bytes received in binary frames of this socket
	#acked = 0; // bytes acknowledged to the server
	#outbox = new Outbox();
	#lastMessageAt: number | null = null; // when the last message of the last live connection arrived
	#hadUndelivered = false; // there was undelivered input at the last event
	#pasteId = 0; // of the last paste
	#pastes = new Map<number, Paste>(); // by id: begun, and not known to have been accepted

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

	/** Typed input that the server has not acknowledged. */
	get undelivered(): Undelivered {
		return this.#outbox.undelivered;
	}

	/** Whether the user has to send or drop undelivered input. */
	get needsConfirmation(): boolean {
		return this.#outbox.needsConfirmation;
	}

	/** Send undelivered input, if the connection is live, or drop it. */
	settle(how: 'send' | 'drop'): void {
		if (how === 'drop') {
			this.cancelPaste();
			this.#outbox.drop();
		} else if (this.#state.kind === 'live') {
			this.#outbox.confirm();
			this.#sendKept();
		}
		this.#notifyUndelivered();
	}

	/** Offset of the next byte, or null before the first `sync`. */
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

	/** Close for good. The state `closed` is the last event. */
	stop(): void {
		this.#close('stopped');
	}

	/** Start again without a position, from any state. */
	restart(): void {
		this.#closeSocket();
		this.#position = null;
		this.#attempt = 0;
		this.#outbox.clear();
		this.#lastMessageAt = null;
		this.#notifyUndelivered();
		this.#connect();
	}

	/** The network may work again: retry now, or check the connection now. */
	nudge(): void {
		if (this.#state.kind !== 'waiting') {
			this.#heartbeat.pingNow();
			return;
		}
		this.#attempt = 0;
		this.#closeSocket();
		this.#connect();
	}

	/** Resume from this offset on a new socket. */
	resync(offset: number): void {
		if (this.#state.kind === 'closed' || this.#state.kind === 'idle')
			return;
		this.#position &&= { epoch: this.#position.epoch, offset };
		this.#closeSocket();
		this.#connect();
	}

	/**
	 * Send input. typed: by the user, and kept until the server acknowledges it. Replies of the terminal itself are dropped
	 * while there is no connection or a paste is being sent. Returns false if the input was dropped.
	 */
	send(data: Uint8Array<ArrayBuffer>, typed: boolean): boolean {
		if (this.#state.kind === 'closed')
			return false;
		if (typed && isInterrupt(data))
			this.cancelPaste();
		const mustWait = this.#outbox.isPasting || (typed && this.#outbox.needsConfirmation);
		if (this.#state.kind === 'live' && !mustWait) {
			this.#transmit(data, typed);
			return true;
		}
		const kept = typed && this.#outbox.keep(data);
		this.#notifyUndelivered();
		return kept;
	}

	/** Paste, behind all earlier input. Returns false if the connection is closed, or too much waits already. */
	paste(paste: Paste): boolean {
		if (this.#state.kind === 'closed' || !this.#outbox.keepPaste(paste))
			return false;
		if (this.#state.kind === 'live' && !this.#outbox.needsConfirmation)
			this.#sendKept();
		this.#notifyUndelivered();
		return true;
	}

	/** Do not send the rest of the paste. */
	cancelPaste(): void {
		if (!this.#outbox.endPaste())
			return;
		this.#sendJson({ type: 'paste', id: this.#pasteId, end: true });
		this.#options.events.pasting(null);
		this.#sendKept();
	}

	#transmit(data: Uint8Array<ArrayBuffer>, typed: boolean): void {
		this.#outbox.sent(data, typed);
		for (let at = 0; at < data.length; at += MAX_FRAME_BYTES)
			this.#socket?.send(data.subarray(at, at + MAX_FRAME_BYTES));
		this.#heartbeat.expectAnswer();
	}

	#sendKept(): void {
		if (this.#state.kind !== 'live')
			return;
		for (let piece = this.#outbox.takeKept(); piece !== null; piece = this.#outbox.takeKept())
			if (piece.paste === undefined)
				this.#transmit(piece.data, true);
			else
				this.#beginPaste(piece.paste);
	}

	#beginPaste(paste: Paste): void {
		const { data, ...shape } = paste;
		const id = ++this.#pasteId;
		this.#pastes.set(id, paste);
		this.#sendJson({ type: 'paste', id, bytes: data.length, ...shape });
		this.#sendSlices();
		this.#heartbeat.expectAnswer();
	}

	#sendSlices(): void {
		for (let slice = this.#outbox.nextSlice(); slice !== null; slice = this.#outbox.nextSlice())
			this.#socket?.send(slice);
	}

	#onPasteRefused(refusal: PasteMessage): void {
		const paste = this.#pastes.get(refusal.id);
		if (paste === undefined)
			return;
		this.#pastes.delete(refusal.id);
		if (refusal.id === this.#pasteId)
			this.cancelPaste();
		this.#options.events.pasteRefused(paste, refusal);
	}

	#notifyUndelivered(): void {
		const hasUndelivered = !this.#outbox.isEmpty;
		if (hasUndelivered || this.#hadUndelivered)
			this.#options.events.undelivered();
		this.#hadUndelivered = hasUndelivered;
	}

	/** Tell the server which colours the terminal has, for programs that ask. */
	sendTheme(theme: object): void {
		this.#sendJson({ type: 'theme', ...theme });
	}

	/** Request a snapshot with so many lines of history. Returns false if the connection is not live. */
	requestSnapshot(scrollback: number): boolean {
		if (this.#state.kind !== 'live')
			return false;
		this.#sendJson({ type: 'snapshot', scrollback });
		return true;
	}

	resize({ cols, rows }: Size): void {
		this.#sendJson({ type: 'resize', cols, rows });
	}

	/** Send the id of this page's lease, '' for none. */
	sendLease(id: string): void {
		this.#sendJson({ type: 'lease', id });
	}

	setName(name: string): void {
		this.#sendJson({ type: 'name', name });
	}

	#connect(): void {
		this.#attached = false;
		this.#incoming = null;
		this.#received = this.#acked = 0;
		this.#setState({ kind: 'connecting' });
		const socket = this.#socket = this.#options.open(this.#position, this.#outbox.acknowledged);
		socket.binaryType = 'arraybuffer';
		socket.onmessage = (event) => {
			this.#heartbeat.received();
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
			this.#pastes.clear();
			this.#epoch = message.epoch;
			this.#outbox.attached(message.input ?? null, this.#lastMessageAt !== null && this.#options.clock.now() - this.#lastMessageAt > CONFIRM_AFTER_MS);
			this.#setState({ kind: 'replaying' });
			this.#heartbeat.start();
			break;
		case 'sync':
			this.#onSync(message);
			return;
		case 'snapshot':
			this.#incoming = { message, data: new Uint8Array(message.bytes), filled: 0 };
			return;
		case 'resize':
			this.#options.events.resize(message);
			break;
		case 'ready':
			this.#attempt = 0;
			this.#lastMessageAt = null;
			this.#heartbeat.start(); // restart: earlier pongs were delayed by the history
			this.#setState({ kind: 'live' });
			this.#options.events.ready();
			if (!this.#outbox.needsConfirmation)
				this.#sendKept();
			this.#notifyUndelivered();
			return;
		case 'input':
			this.#onInputTaken(message.taken);
			return;
		case 'paste':
			this.#onPasteRefused(message);
			return;
		case 'pong':
			this.#heartbeat.pong(message.t);
			return;
		}
		this.#options.events.message(message!);
	}

	#onInputTaken(taken: number): void {
		const pasting = this.#outbox.progress !== null;
		this.#outbox.acknowledge(taken);
		if (this.#outbox.isEmpty && this.#outbox.progress === null)
			this.#pastes.clear();
		if (pasting) {
			this.#sendSlices();
			this.#options.events.pasting(this.#outbox.progress);
			this.#sendKept(); // what waits behind the paste
		}
		if (this.#hadUndelivered)
			this.#notifyUndelivered();
	}

	#onSync(sync: SyncMessage): void {
		const at = this.#position;
		if (at !== null && (at.epoch !== this.#epoch || at.offset !== sync.offset)) {
			// There is a gap without a snapshot. A connection without a position gets a snapshot.
			this.#position = null;
			this.#lost();
			return;
		}
		this.#position = { epoch: this.#epoch, offset: sync.offset };
		this.#options.events.resize(sync);
	}

	/** The position changes only when the snapshot is complete. */
	#onSnapshotBytes(incoming: IncomingSnapshot, data: Uint8Array): void {
		const { message } = incoming;
		incoming.data.set(data, incoming.filled);
		incoming.filled += data.length;
		if (incoming.filled < message.bytes)
			return;
		this.#incoming = null;
		this.#position = { epoch: this.#epoch, offset: message.offset };
		this.#options.events.snapshot(message, incoming.data);
	}

	#onBytes(data: Uint8Array): void {
		this.#received += data.length;
		if (this.#received - this.#acked >= ACK_EVERY) {
			this.#acked = this.#received;
			this.#sendJson({ type: 'ack', bytes: this.#received });
		}
		if (this.#incoming !== null) {
			this.#onSnapshotBytes(this.#incoming, data);
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
		this.#closeSocket();
		this.#setState({ kind: 'closed', reason });
	}

	#lost(): void {
		const refused = !this.#attached;
		if (this.#state.kind === 'live')
			this.#lastMessageAt = this.#heartbeat.receivedAt;
		const delay = backoffDelay(this.#attempt++, this.#options.random());
		this.#closeSocket();
		this.#timer = this.#options.clock.setTimeout(() => this.#connect(), delay);
		this.#setState({ kind: 'waiting', delay });
		this.#notifyUndelivered();
		if (refused)
			void this.#options.diagnose().then((diagnosis) => {
				// Success, restart() and nudge() set the count to 0. Then this diagnosis is outdated, and the next failure starts
				// another.
				const outdated = this.#attempt === 0 || this.#state.kind === 'closed';
				if (!outdated && diagnosis !== 'unknown')
					this.#close(diagnosis);
			});
	}

	/** Close the socket and ignore its events from now on: close() alone may take minutes. */
	#closeSocket(): void {
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

	#setState(state: ConnectionState): void {
		this.#state = state;
		this.#options.events.state(state);
	}
}
