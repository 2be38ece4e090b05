import type { Session } from '../net/wire';
import { h } from './dom';
import type { Unseen } from './inbox';
import { SessionRow, type SessionRowEvents } from './session_row';

const REDRAW_MS = 30_000; // for the "3 min. ago"
const TICK_MS = 1000; // for "1:12"

/** All sessions in the order of their creation, so that rows do not move under the pointer. */
export class SessionList {
	readonly element = h('ul', { class: 'sessions', 'data-testid': 'session-list', 'aria-label': 'Sessions' });
	#events: SessionRowEvents;
	#sessions: readonly Session[] = [];
	#rows = new Map<string, SessionRow>();
	#current: string | null = null;
	#unseen: ReadonlyMap<string, Unseen> = new Map();
	#drawTimer = window.setInterval(() => this.#describe(), REDRAW_MS);
	#tickTimer = window.setInterval(() => this.#tick(), TICK_MS);

	constructor(events: SessionRowEvents) {
		this.#events = events;
	}

	dispose(): void {
		window.clearInterval(this.#drawTimer);
		window.clearInterval(this.#tickTimer);
	}

	update(sessions: readonly Session[]): void {
		this.#sessions = [...sessions].sort((a, b) =>
			a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id));
		this.#draw();
	}

	/** What happened in sessions since they were visible. */
	showUnseen(unseen: ReadonlyMap<string, Unseen>): void {
		this.#unseen = unseen;
		this.#draw();
	}

	choose(id: string | null): void {
		this.#current = id;
		this.#draw();
	}

	get sessions(): readonly Session[] {
		return this.#sessions;
	}

	find(id: string): Session | undefined {
		return this.#sessions.find((session) => session.id === id);
	}

	mostRecentExcept(except: string): Session | undefined {
		return mostRecent(this.#sessions.filter((session) => session.id !== except));
	}

	/** The default name of a new session. */
	freeName(): string {
		const taken = new Set(this.#sessions.map((session) => session.name));
		let number = this.#sessions.length + 1;
		while (taken.has(`shell ${number}`))
			number++;
		return `shell ${number}`;
	}

	focus(): void {
		const row = this.#rows.get(this.#current ?? '') ?? this.#rows.values().next().value;
		row?.focus();
	}

	#tick(): void {
		if (document.visibilityState === 'visible')
			for (const row of this.#rows.values())
				row.tick();
	}

	#describe(): void {
		for (const row of this.#rows.values())
			row.describe();
	}

	#draw(): void {
		for (const [id, row] of this.#rows) {
			if (this.find(id) === undefined) {
				row.element.remove();
				this.#rows.delete(id);
			}
		}
		for (const [place, session] of this.#sessions.entries()) {
			let row = this.#rows.get(session.id);
			if (row === undefined) {
				row = new SessionRow(session, this.#events);
				this.#rows.set(session.id, row);
			}
			row.update(session, session.id === this.#current, this.#unseen.get(session.id));
			// Move only rows that are out of place: moving an element loses the focus.
			if (this.element.children[place] !== row.element)
				this.element.insertBefore(row.element, this.element.children[place] ?? null);
		}
	}
}

/** The most recently active session; running sessions come before exited ones. */
export function mostRecent(sessions: readonly Session[]): Session | undefined {
	return [...sessions].sort((a, b) =>
		Number(a.state === 'exited') - Number(b.state === 'exited')
		|| b.lastActivityAt.localeCompare(a.lastActivityAt))[0];
}
