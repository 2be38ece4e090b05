/*
 * Pictures of the visible sessions, over one control socket. The feed fetches a screen, waits for new output, and fetches again,
 * at most four times a second. A quiet session costs nothing. No DOM, so that unit tests cover it.
 */
import type { Clock } from '../net/clock';
import type { Reply, Control } from '../net/control';
import type { Session } from '../net/wire';
import { applyScreen, type Picture } from './picture';

const TICK_MS = 250; // between two fetches of one session
const REST = 3; // pause after a fetch, in multiples of its duration, so that large screens are fetched less often
const RETRY_MS = 2000; // after an error
const WAIT_MS = 600_000; // timeout of a request that waits for output
const PENDING_MAX = 100; // pending requests: the server allows 128
const CROWDED_MS = 1000; // with more visible sessions than that, they are polled in turn, without waiting for output

interface Subject {
	session: Session;
	picture: Picture | null;
	fresh: boolean; // the version of the picture is valid on this connection
	plain: boolean; // too many styles: fetch text only
	stale: boolean; // has to be fetched
	still: boolean; // the session has exited and the picture is final
	request: string | null; // id of the pending request
	waiting: boolean; // that request waits for output
	due: number; // no request before this time
}

export class Feed {
	#control: Control;
	#clock: Clock;
	#changed: (id: string) => void;
	#subjects = new Map<string, Subject>();
	#visible: readonly string[] = [];
	#timer: unknown = null;
	#lastTick = -TICK_MS;
	#pendingCount = 0;
	#turn = 0; // index to start with when not all sessions can be fetched at once

	/** changed: the picture of a session has changed. */
	constructor(control: Control, clock: Clock, changed: (id: string) => void) {
		this.#control = control;
		this.#clock = clock;
		this.#changed = changed;
	}

	picture(id: string): Picture | null {
		return this.#subjects.get(id)?.picture ?? null;
	}

	update(sessions: readonly Session[]): void {
		const ids = new Set(sessions.map(({ id }) => id));
		for (const [id, subject] of this.#subjects) {
			if (!ids.has(id)) {
				this.#cancelRequest(subject);
				this.#subjects.delete(id);
			}
		}
		for (const session of sessions) {
			const subject = this.#subjects.get(session.id);
			if (subject === undefined)
				this.#subjects.set(session.id, newSubject(session));
			else
				this.#updateSubject(subject, session);
		}
		this.#schedule();
	}

	/** Set the visible sessions. Only these are fetched. */
	setVisible(ids: readonly string[]): void {
		const shown = new Set(ids);
		for (const id of this.#visible) {
			const subject = this.#subjects.get(id);
			if (!shown.has(id) && subject !== undefined)
				this.#cancelRequest(subject);
		}
		this.#visible = ids;
		this.#schedule();
	}

	/** The connection was opened or lost: there are no pending requests, and known versions are invalid. */
	connectionChanged(): void {
		this.#pendingCount = 0;
		for (const subject of this.#subjects.values()) {
			subject.request = null;
			subject.fresh = false;
			subject.stale = true;
			subject.still = false;
			subject.due = 0;
		}
		this.#schedule();
	}

	stop(): void {
		this.setVisible([]);
		this.#clock.clearTimeout(this.#timer);
		this.#timer = null;
	}

	/** Fetch again if the session was replaced, resized or has exited. */
	#updateSubject(subject: Subject, session: Session): void {
		const before = subject.session;
		subject.session = session;
		if (before.epoch !== session.epoch) {
			this.#cancelRequest(subject);
			Object.assign(subject, newSubject(session));
		} else if (before.state !== session.state || before.cols !== session.cols || before.rows !== session.rows) {
			subject.stale = true;
			subject.still = false;
		}
	}

	/** Cancel the pending request. The picture may then be outdated. */
	#cancelRequest(subject: Subject): void {
		if (subject.request !== null) {
			this.#control.cancel(subject.request);
			subject.request = null;
			this.#pendingCount--;
			subject.stale = true;
		}
	}

	#schedule(): void {
		if (!this.#control.open || this.#visible.length === 0)
			return;
		const now = this.#clock.now();
		const next = this.#lastTick + TICK_MS;
		if (now >= next) {
			this.#tick(now);
			return;
		}
		this.#timer ??= this.#clock.setTimeout(() => {
			this.#timer = null;
			this.#schedule();
		}, next - now);
	}

	/** Fetch all due screens together, so that the page draws them together. */
	#tick(now: number): void {
		this.#lastTick = now;
		let later = Infinity;
		const count = this.#visible.length, first = this.#turn;
		for (let i = 0; i < count; i++) {
			const at = (first + i) % count;
			const subject = this.#subjects.get(this.#visible[at] ?? '');
			if (this.#pendingCount >= PENDING_MAX) {
				this.#turn = at;
				return; // continued after the next reply
			}
			if (subject === undefined || subject.still || (subject.request !== null && !(subject.stale && subject.waiting)))
				continue;
			if (now < subject.due) {
				later = Math.min(later, subject.due);
				continue;
			}
			if (subject.stale || this.#crowded) {
				this.#cancelRequest(subject);
				this.#fetch(subject);
			} else {
				this.#wait(subject);
			}
		}
		if (later < Infinity && this.#timer === null)
			this.#timer = this.#clock.setTimeout(() => {
				this.#timer = null;
				this.#schedule();
			}, Math.max(TICK_MS, later - now));
	}

	get #crowded(): boolean {
		return this.#visible.length > PENDING_MAX;
	}

	#request(subject: Subject, path: string, body: object | null, done: (answer: Reply) => void): void {
		const request = this.#control.request(body === null ? 'GET' : 'POST', `/api/session/${encodeURIComponent(subject.session.id)}/${path}`, body, (answer) => {
			if (subject.request !== request || request === null)
				return;
			subject.request = null;
			this.#pendingCount--;
			if (answer.status === 200) {
				done(answer);
			} else {
				subject.due = this.#clock.now() + RETRY_MS;
				subject.stale = true;
			}
			this.#schedule();
		});
		subject.request = request;
		if (request !== null)
			this.#pendingCount++;
	}

	#fetch(subject: Subject): void {
		const since = subject.fresh ? subject.picture?.version ?? 0 : 0;
		const { plain, session } = subject;
		subject.stale = false;
		subject.waiting = false;
		const asked = this.#clock.now();
		this.#request(subject, `screen?format=json${plain ? '' : '&cells=1'}&since=${since}`, null, ({ body }) => {
			const now = this.#clock.now();
			subject.due = now + REST * (now - asked);
			const picture = applyScreen(since > 0 ? subject.picture : null, body, plain);
			if (picture === null) {
				subject.due = this.#clock.now() + RETRY_MS;
				subject.stale = true;
			} else if (typeof picture === 'string') {
				subject.plain ||= picture === 'plain';
				subject.fresh = false;
				subject.stale = true;
			} else {
				subject.picture = picture;
				subject.fresh = true;
				subject.still = session.state === 'exited' && !subject.stale;
				this.#changed(session.id);
				if (this.#crowded)
					subject.due = this.#clock.now() + CROWDED_MS;
				else if (!subject.stale && !subject.still)
					this.#wait(subject);
			}
		});
		if (subject.request === null)
			subject.stale = true;
	}

	#wait(subject: Subject): void {
		if (!this.#visible.includes(subject.session.id))
			return;
		subject.waiting = true;
		this.#request(subject, 'wait', {
			until: [{ type: 'bytes', count: 1 }], from: subject.picture?.offset ?? 0, timeoutMs: WAIT_MS,
		}, ({ body }) => {
			subject.stale ||= (body as { type?: unknown } | null)?.type !== 'timeout';
		});
	}
}

function newSubject(session: Session): Subject {
	return { session, picture: null, fresh: false, plain: false, stale: true, still: false, request: null, waiting: false, due: 0 };
}
