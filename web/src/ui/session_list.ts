import type { Session } from '../net/wire';
import { h } from './dom';
import type { Unseen } from './inbox';
import { SessionFilter } from './session_filter';
import { matchesFilter } from './session_match';
import { SessionRow, type SessionRowEvents } from './session_row';

const REDRAW_MS = 30_000; // for the "3 min. ago"
const TICK_MS = 1000; // for "1:12"
const PAGE = 8; // rows that Page Up and Page Down pass

/**
 * All sessions in the order of their creation, so that rows do not move under the pointer. Arrow keys move through the rows,
 * and Tab reaches one of them.
 */
export class SessionList {
	readonly element = h('ul', {
		class: 'sessions', 'data-testid': 'session-list', 'aria-label': 'Sessions',
		keydown: (event: KeyboardEvent) => this.#onKey(event),
		focusin: () => this.#reach(this.#focused()),
		scroll: () => {
			this.#keepsInView = Math.abs(this.#hidden()) < 1;
		},
	});
	#events: SessionRowEvents;
	#filter = new SessionFilter({
		changed: () => this.#onFilter(),
		choose: () => this.#shown[0] !== undefined && this.#events.choose(this.#shown[0]),
		leave: () => this.focus(),
	});
	#sessions: readonly Session[] = [];
	#byId = new Map<string, Session>();
	#rows = new Map<string, SessionRow>();
	#shown: readonly string[] = []; // ids of the sessions that match the filter
	#unseen: ReadonlyMap<string, Unseen> = new Map();
	#current: string | null = null;
	#reachable: string | null = null; // id of the row that Tab reaches
	#mustReveal = false; // the row of the current session has to be scrolled into view when it is there
	#keepsInView = false; // it is in view, and stays there when the list becomes smaller
	#drawTimer = window.setInterval(() => this.#describe(), REDRAW_MS);
	#tickTimer = window.setInterval(() => this.#tick(), TICK_MS);
	#observer = new ResizeObserver(() => {
		if (this.#keepsInView)
			this.#reveal();
	});

	constructor(events: SessionRowEvents) {
		this.#events = events;
		this.#observer.observe(this.element);
	}

	dispose(): void {
		window.clearInterval(this.#drawTimer);
		window.clearInterval(this.#tickTimer);
		this.#observer.disconnect();
	}

	/** The field above the list. */
	get filter(): HTMLElement {
		return this.#filter.element;
	}

	update(sessions: readonly Session[]): void {
		this.#sessions = [...sessions].sort((a, b) =>
			a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id));
		this.#byId = new Map(sessions.map((session) => [session.id, session]));
		this.#draw();
	}

	/** What happened in sessions since they were visible. */
	showUnseen(unseen: ReadonlyMap<string, Unseen>): void {
		this.#unseen = unseen;
		for (const [id, row] of this.#rows)
			this.#updateRow(id, row);
	}

	choose(id: string | null): void {
		this.#current = id;
		this.#mustReveal = true;
		this.#draw();
	}

	get sessions(): readonly Session[] {
		return this.#sessions;
	}

	find(id: string): Session | undefined {
		return this.#byId.get(id);
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
		const row = this.#rows.get(this.#reachable ?? '');
		row?.focus();
		if (row === undefined && this.#sessions.length > 0)
			this.#filter.open(); // it matches no session
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

	#onFilter(): void {
		this.#mustReveal = this.#filter.query === '';
		this.#draw();
	}

	#draw(): void {
		const focused = this.#focused(), place = this.#shown.indexOf(focused ?? '');
		this.#removeRows();
		this.#shown = this.#matching();
		// The user has chosen a session that the filter hides.
		if (this.#mustReveal && this.find(this.#current ?? '') !== undefined && !this.#shown.includes(this.#current ?? '')) {
			this.#filter.clear();
			this.#shown = this.#matching();
		}
		this.#placeRows();
		this.#filter.update(this.#shown.length, this.#sessions.length);
		const wanted = this.#mustReveal ? [this.#current, this.#reachable] : [this.#reachable, this.#current];
		this.#reach(wanted.find((id) => this.#shown.includes(id ?? '')) ?? this.#shown[0] ?? null);
		if (focused !== null && !this.#shown.includes(focused)) {
			this.#reach(this.#shown[Math.min(place, this.#shown.length - 1)] ?? null);
			this.focus();
		}
		if (this.#mustReveal && this.#rows.has(this.#current ?? '')) {
			this.#mustReveal = false;
			this.#keepsInView = true;
			this.#reveal();
		}
	}

	#matching(): string[] {
		return this.#sessions.filter((session) => matchesFilter(session, this.#filter.query)).map(({ id }) => id);
	}

	#removeRows(): void {
		for (const [id, row] of this.#rows) {
			if (this.find(id) === undefined) {
				row.element.remove();
				this.#rows.delete(id);
			}
		}
	}

	#placeRows(): void {
		const shown = new Set(this.#shown);
		for (const [place, session] of this.#sessions.entries()) {
			let row = this.#rows.get(session.id);
			if (row === undefined) {
				row = new SessionRow(session, this.#events);
				this.#rows.set(session.id, row);
			}
			this.#updateRow(session.id, row);
			row.element.hidden = !shown.has(session.id);
			// Move only rows that are out of place: moving an element loses the focus.
			if (this.element.children[place] !== row.element)
				this.element.insertBefore(row.element, this.element.children[place] ?? null);
		}
	}

	#updateRow(id: string, row: SessionRow): void {
		const session = this.find(id);
		if (session !== undefined)
			row.update(session, id === this.#current, this.#unseen.get(id));
	}

	/** Id of the row that has the focus, or null. */
	#focused(): string | null {
		const row = this.element.contains(document.activeElement) ? document.activeElement?.closest<HTMLElement>('[data-session-id]') : null;
		return row?.dataset['sessionId'] ?? null;
	}

	#reach(id: string | null): void {
		const before = this.#rows.get(this.#reachable ?? ''), row = this.#rows.get(id ?? '');
		if (before !== undefined && before !== row)
			before.reachable = false;
		if (row !== undefined)
			row.reachable = true;
		this.#reachable = id;
	}

	/** Scroll the list, and only it, to the current session. */
	#reveal(): void {
		this.element.scrollTop += this.#hidden();
	}

	/** How far the row of the current session is above (negative) or below the visible part. */
	#hidden(): number {
		const row = this.#rows.get(this.#current ?? '')?.element.getBoundingClientRect(), list = this.element.getBoundingClientRect();
		return row === undefined ? 0 : Math.min(0, row.top - list.top) || Math.max(0, row.bottom - list.bottom);
	}

	#onKey(event: KeyboardEvent): void {
		const place = this.#shown.indexOf(this.#focused() ?? ''), last = this.#shown.length - 1;
		if (place < 0 || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey)
			return;
		const next = {
			ArrowDown: place + 1, ArrowUp: place - 1, PageDown: place + PAGE, PageUp: place - PAGE, Home: 0, End: last,
		}[event.key];
		if (next !== undefined)
			this.#rows.get(this.#shown[Math.max(0, Math.min(last, next))] ?? '')?.focus();
		else if (event.key === '/')
			this.#filter.open();
		else
			return;
		event.preventDefault();
	}
}

/** The most recently active session; running sessions come before exited ones. */
export function mostRecent(sessions: readonly Session[]): Session | undefined {
	return [...sessions].sort((a, b) =>
		Number(a.state === 'exited') - Number(b.state === 'exited')
		|| b.lastActivityAt.localeCompare(a.lastActivityAt))[0];
}
