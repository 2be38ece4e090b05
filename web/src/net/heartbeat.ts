import type { Clock } from './clock';

const PING_EVERY_MS = 5000;
const SILENCE_MS = 12000;
const GRACE_MS = 5000; // minimum wait for an answer after a ping
const PROBE_MS = 1500; // the same after pingNow()
const WINDOW = 5;
const SILENT_MS = 3000; // without an answer, before silence() is called
const SILENT_STEP_MS = 1000;

export interface HeartbeatEvents {
	/** Send a ping that carries t. */
	ping(t: number): void;
	/** Median of the last round trips, in milliseconds. */
	latency(ms: number): void;
	/** Nothing was received for 12 s although a ping was sent: the connection is dead. */
	dead(): void;
	/** No answer for so many milliseconds, called every second from the third on; 0 when there is one again. */
	silence(ms: number): void;
}

/**
 * Pings the server every 5 s. Browsers hide WebSocket pings from pages, and TCP needs minutes to notice that a laptop has
 * changed networks.
 *
 * Silence counts only while a ping is unanswered, because browsers delay timers of hidden tabs by up to a minute.
 */
export class Heartbeat {
	#clock: Clock;
	#events: HeartbeatEvents;
	#pingTimer: unknown = null;
	#deadline: unknown = null;
	#startedAt = 0;
	#receivedAt = 0;
	#roundTrips: number[] = [];
	#expectedAt = 0; // when the oldest unanswered message was sent
	#silenceTimer: unknown = null;
	#silent = false;

	constructor(clock: Clock, events: HeartbeatEvents) {
		this.#clock = clock;
		this.#events = events;
	}

	/** Start, or restart all measurements. */
	start(): void {
		this.stop();
		this.#startedAt = this.#clock.now();
		this.#receivedAt = this.#startedAt;
		this.#roundTrips = [];
		this.#ping();
	}

	stop(): void {
		this.#clock.clearTimeout(this.#pingTimer);
		this.#clock.clearTimeout(this.#deadline);
		this.#pingTimer = null;
		this.#deadline = null;
		this.#answered();
	}

	get receivedAt(): number {
		return this.#receivedAt;
	}

	/** A message was sent that the server answers. */
	expectAnswer(): void {
		if (this.#silenceTimer !== null || this.#pingTimer === null)
			return;
		this.#expectedAt = this.#clock.now();
		this.#silenceTimer = this.#clock.setTimeout(() => this.#reportSilence(), SILENT_MS);
	}

	#reportSilence(): void {
		this.#silent = true;
		this.#silenceTimer = this.#clock.setTimeout(() => this.#reportSilence(), SILENT_STEP_MS);
		this.#events.silence(this.#clock.now() - this.#expectedAt);
	}

	#answered(): void {
		this.#clock.clearTimeout(this.#silenceTimer);
		this.#silenceTimer = null;
		if (this.#silent)
			this.#events.silence(0);
		this.#silent = false;
	}

	/** Ping now and give up sooner: the page may be back from sleep or on another network. */
	pingNow(): void {
		if (this.#pingTimer === null)
			return;
		this.#clock.clearTimeout(this.#pingTimer);
		this.#clock.clearTimeout(this.#deadline);
		this.#deadline = this.#clock.setTimeout(() => this.#events.dead(), PROBE_MS);
		this.#ping();
	}

	/** A message has arrived. */
	received(): void {
		this.#receivedAt = this.#clock.now();
		this.#clock.clearTimeout(this.#deadline);
		this.#deadline = null;
		this.#answered();
	}

	/** The answer to a ping; t: of that ping. */
	pong(t: unknown): void {
		if (typeof t !== 'number' || t < this.#startedAt)
			return;
		this.#roundTrips.push(Math.max(0, this.#clock.now() - t));
		if (this.#roundTrips.length > WINDOW)
			this.#roundTrips.shift();
		this.#events.latency(median(this.#roundTrips));
	}

	#ping(): void {
		const now = this.#clock.now();
		if (this.#deadline === null) {
			const quietFor = now - this.#receivedAt;
			const wait = Math.max(GRACE_MS, SILENCE_MS - quietFor);
			this.#deadline = this.#clock.setTimeout(() => this.#events.dead(), wait);
		}
		this.#pingTimer = this.#clock.setTimeout(() => this.#ping(), PING_EVERY_MS);
		this.#events.ping(now);
		this.expectAnswer();
	}
}

export function median(values: readonly number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length >> 1;
	const upper = sorted[middle] ?? 0;
	return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
