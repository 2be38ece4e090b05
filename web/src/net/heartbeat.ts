import type { Clock } from './clock';

const PING_EVERY_MS = 5000;
const SILENCE_MS = 12000;
const GRACE_MS = 5000; // at least this long for an answer, however long it was quiet before
const WINDOW = 5;
const SILENT_MS = 3000; // without an answer: worth a word
const SILENT_STEP_MS = 1000;

export interface HeartbeatEvents {
	/** Send a ping that carries t. */
	ping(t: number): void;
	/** Median of the last round trips, in milliseconds. */
	latency(ms: number): void;
	/** Nothing was heard for 12 s although we asked: the connection is dead. */
	dead(): void;
	/** No answer for so long, told every second from the third on; 0: there is one again. */
	silence(ms: number): void;
}

/**
 * Asks every 5 s whether the other side is still there. Browsers do not show WebSocket pings to
 * a page, and TCP needs minutes to notice that a laptop changed networks.
 *
 * Silence only counts while a ping is unanswered: in a hidden tab the browser stretches timers
 * to a minute, and a minute in which nobody asked anything proves nothing.
 */
export class Heartbeat {
	#clock: Clock;
	#events: HeartbeatEvents;
	#pingTimer: unknown = null;
	#deadline: unknown = null;
	#startedAt = 0;
	#heardAt = 0;
	#roundTrips: number[] = [];
	#expectedAt = 0; // since when an answer is due
	#quietTimer: unknown = null;
	#silent = false;

	constructor(clock: Clock, events: HeartbeatEvents) {
		this.#clock = clock;
		this.#events = events;
	}

	/** Also when it has started already: then it measures anew. */
	start(): void {
		this.stop();
		this.#startedAt = this.#clock.now();
		this.#heardAt = this.#startedAt;
		this.#roundTrips = [];
		this.#beat();
	}

	stop(): void {
		this.#clock.clearTimeout(this.#pingTimer);
		this.#clock.clearTimeout(this.#deadline);
		this.#pingTimer = null;
		this.#deadline = null;
		this.#answered();
	}

	/** When something was heard last. */
	get heardAt(): number {
		return this.#heardAt;
	}

	/** Something was said that is answered. */
	expect(): void {
		if (this.#quietTimer !== null || this.#pingTimer === null)
			return;
		this.#expectedAt = this.#clock.now();
		this.#quietTimer = this.#clock.setTimeout(() => this.#tellSilence(), SILENT_MS);
	}

	#tellSilence(): void {
		this.#silent = true;
		this.#quietTimer = this.#clock.setTimeout(() => this.#tellSilence(), SILENT_STEP_MS);
		this.#events.silence(this.#clock.now() - this.#expectedAt);
	}

	#answered(): void {
		this.#clock.clearTimeout(this.#quietTimer);
		this.#quietTimer = null;
		if (this.#silent)
			this.#events.silence(0);
		this.#silent = false;
	}

	/** Ask at once, and give up sooner: the page came back from sleep or from another network. */
	hurry(): void {
		if (this.#pingTimer === null)
			return;
		this.#clock.clearTimeout(this.#pingTimer);
		this.#clock.clearTimeout(this.#deadline);
		this.#deadline = this.#clock.setTimeout(() => this.#events.dead(), GRACE_MS);
		this.#beat();
	}

	/** Any message arrived. */
	heard(): void {
		this.#heardAt = this.#clock.now();
		this.#clock.clearTimeout(this.#deadline);
		this.#deadline = null;
		this.#answered();
	}

	/** The answer to a ping; t is what the ping carried. */
	pong(t: unknown): void {
		if (typeof t !== 'number' || t < this.#startedAt)
			return;
		this.#roundTrips.push(Math.max(0, this.#clock.now() - t));
		if (this.#roundTrips.length > WINDOW)
			this.#roundTrips.shift();
		this.#events.latency(median(this.#roundTrips));
	}

	#beat(): void {
		const now = this.#clock.now();
		if (this.#deadline === null) {
			const quietFor = now - this.#heardAt;
			const wait = Math.max(GRACE_MS, SILENCE_MS - quietFor);
			this.#deadline = this.#clock.setTimeout(() => this.#events.dead(), wait);
		}
		this.#pingTimer = this.#clock.setTimeout(() => this.#beat(), PING_EVERY_MS);
		this.#events.ping(now);
		this.expect();
	}
}

export function median(values: readonly number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length >> 1;
	const upper = sorted[middle] ?? 0;
	return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
