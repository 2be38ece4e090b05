/*
 * Pictures of the sessions that are in sight, over one control socket. A screen is asked for once when it is new, and then when
 * something has been printed, which is waited for: a session that is quiet costs nothing, one that is loud four answers a second.
 * No DOM: all of it is tested.
 */
import type { Clock } from '../net/clock';
import type { Answer, Control } from '../net/control';
import type { Session } from '../net/wire';
import { takeScreen, type Picture } from './picture';

const TICK_MS = 250; // between two looks at the same session
const REST = 3; // times as long as an answer took: what is large is not asked for without pause
const RETRY_MS = 2000; // after a refusal
const WAIT_MS = 600_000; // for something to be printed, before it is asked again
const UNDERWAY_MAX = 100; // requests: the server takes 128
const CROWDED_MS = 1000; // where more are in sight than that, each has its turn, and nothing is waited for

interface Subject {
	session: Session;
	picture: Picture | null;
	fresh: boolean; // of the picture: it is known to be so, by this connection
	plain: boolean; // it has too many styles to have them told
	stale: boolean;
	still: boolean; // it has ended, and this is what it has shown last
	request: string | null;
	waiting: boolean; // what is asked for is that something be printed
	due: number;
}

export class Feed {
	#control: Control;
	#clock: Clock;
	#changed: (id: string) => void;
	#subjects = new Map<string, Subject>();
	#shown: readonly string[] = [];
	#timer: unknown = null;
	#looked = -TICK_MS;
	#underway = 0;
	#turn = 0; // who is asked first, where not all can be

	/** changed: a session's picture is another. */
	constructor(control: Control, clock: Clock, changed: (id: string) => void) {
		this.#control = control;
		this.#clock = clock;
		this.#changed = changed;
	}

	picture(id: string): Picture | null {
		return this.#subjects.get(id)?.picture ?? null;
	}

	/** Those that there are, and what is known of them. */
	update(sessions: readonly Session[]): void {
		const ids = new Set(sessions.map(({ id }) => id));
		for (const [id, subject] of this.#subjects) {
			if (!ids.has(id)) {
				this.#release(subject);
				this.#subjects.delete(id);
			}
		}
		for (const session of sessions) {
			const subject = this.#subjects.get(session.id);
			if (subject === undefined)
				this.#subjects.set(session.id, newSubject(session));
			else
				this.#renew(subject, session);
		}
		this.#look();
	}

	/** Those in sight; nothing is asked for others. */
	show(ids: readonly string[]): void {
		const shown = new Set(ids);
		for (const id of this.#shown) {
			const subject = this.#subjects.get(id);
			if (!shown.has(id) && subject !== undefined)
				this.#release(subject);
		}
		this.#shown = ids;
		this.#look();
	}

	/** There is another connection, or none: nothing is under way, and whether versions mean the same is not known. */
	connection(): void {
		this.#underway = 0;
		for (const subject of this.#subjects.values()) {
			subject.request = null;
			subject.fresh = false;
			subject.stale = true;
			subject.still = false;
			subject.due = 0;
		}
		this.#look();
	}

	stop(): void {
		this.show([]);
		this.#clock.clearTimeout(this.#timer);
		this.#timer = null;
	}

	/** Another of the same name, another size, or an end: what is shown is to be looked at. */
	#renew(subject: Subject, session: Session): void {
		const before = subject.session;
		subject.session = session;
		if (before.epoch !== session.epoch) {
			this.#release(subject);
			Object.assign(subject, newSubject(session));
		} else if (before.state !== session.state || before.cols !== session.cols || before.rows !== session.rows) {
			subject.stale = true;
			subject.still = false;
		}
	}

	/** Its request, if there is one, is for nothing. What it shows may have become another meanwhile. */
	#release(subject: Subject): void {
		if (subject.request !== null) {
			this.#control.cancel(subject.request);
			subject.request = null;
			this.#underway--;
			subject.stale = true;
		}
	}

	#look(): void {
		if (!this.#control.open || this.#shown.length === 0)
			return;
		const now = this.#clock.now();
		const next = this.#looked + TICK_MS;
		if (now >= next) {
			this.#tick(now);
			return;
		}
		this.#timer ??= this.#clock.setTimeout(() => {
			this.#timer = null;
			this.#look();
		}, next - now);
	}

	/** Screens are asked for together, so that the page draws them together. */
	#tick(now: number): void {
		this.#looked = now;
		let later = Infinity;
		const count = this.#shown.length, first = this.#turn;
		for (let i = 0; i < count; i++) {
			const at = (first + i) % count;
			const subject = this.#subjects.get(this.#shown[at] ?? '');
			if (this.#underway >= UNDERWAY_MAX) {
				this.#turn = at;
				return; // an answer looks again
			}
			if (subject === undefined || subject.still || (subject.request !== null && !(subject.stale && subject.waiting)))
				continue;
			if (now < subject.due) {
				later = Math.min(later, subject.due);
				continue;
			}
			if (subject.stale || this.#crowded) {
				this.#release(subject);
				this.#fetch(subject);
			} else {
				this.#wait(subject);
			}
		}
		if (later < Infinity && this.#timer === null)
			this.#timer = this.#clock.setTimeout(() => {
				this.#timer = null;
				this.#look();
			}, Math.max(TICK_MS, later - now));
	}

	get #crowded(): boolean {
		return this.#shown.length > UNDERWAY_MAX;
	}

	#ask(subject: Subject, path: string, body: object | null, done: (answer: Answer) => void): void {
		const request = this.#control.request(body === null ? 'GET' : 'POST', `/api/session/${encodeURIComponent(subject.session.id)}/${path}`, body, (answer) => {
			if (subject.request !== request || request === null)
				return;
			subject.request = null;
			this.#underway--;
			if (answer.status === 200) {
				done(answer);
			} else {
				subject.due = this.#clock.now() + RETRY_MS;
				subject.stale = true;
			}
			this.#look();
		});
		subject.request = request;
		if (request !== null)
			this.#underway++;
	}

	#fetch(subject: Subject): void {
		const since = subject.fresh ? subject.picture?.version ?? 0 : 0;
		const { plain, session } = subject;
		subject.stale = false;
		subject.waiting = false;
		const asked = this.#clock.now();
		this.#ask(subject, `screen?format=json${plain ? '' : '&cells=1'}&since=${since}`, null, ({ body }) => {
			const now = this.#clock.now();
			subject.due = now + REST * (now - asked);
			const picture = takeScreen(since > 0 ? subject.picture : null, body, plain);
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
		if (!this.#shown.includes(subject.session.id))
			return;
		subject.waiting = true;
		this.#ask(subject, 'wait', {
			until: [{ type: 'bytes', count: 1 }], from: subject.picture?.offset ?? 0, timeoutMs: WAIT_MS,
		}, ({ body }) => {
			subject.stale ||= (body as { type?: unknown } | null)?.type !== 'timeout';
		});
	}
}

function newSubject(session: Session): Subject {
	return { session, picture: null, fresh: false, plain: false, stale: true, still: false, request: null, waiting: false, due: 0 };
}
