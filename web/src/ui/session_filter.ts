import { h } from './dom';
import { setText } from './session_row';

const SHOWN_FROM = 8; // sessions: fewer can be seen at a glance

export interface SessionFilterEvents {
	changed(): void;
	/** Show the first session that matches. */
	choose(): void;
	/** Move the focus to the list. */
	leave(): void;
}

/** The field above the session list. With few sessions it is hidden until open(). */
export class SessionFilter {
	readonly element: HTMLElement;
	#events: SessionFilterEvents;
	#few = true;
	#opened = false;
	#input = h('input', {
		type: 'search', placeholder: 'Filter', 'aria-label': 'Filter sessions',
		autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off', maxlength: 200, 'data-testid': 'session-filter',
		input: () => this.#events.changed(), keydown: (event: KeyboardEvent) => this.#onKey(event),
		focus: () => this.#hold(true), blur: () => this.#hold(false),
	});
	#count = h('span', { role: 'status', 'data-testid': 'session-count' });

	constructor(events: SessionFilterEvents) {
		this.#events = events;
		this.element = h('div', { class: 'session-filter', hidden: true }, this.#input, this.#count);
	}

	get query(): string {
		return this.#input.value;
	}

	open(): void {
		this.#hold(true);
		this.#input.focus();
		this.#input.select();
	}

	/** Without an event. */
	clear(): void {
		this.#input.value = '';
		this.#show();
	}

	/** shown: number of the sessions that match. */
	update(shown: number, all: number): void {
		this.#few = all < SHOWN_FROM;
		this.#show();
		setText(this.#count, this.query.trim() === '' ? '' : `${shown} of ${all}`);
	}

	#show(): void {
		this.element.hidden = this.#few && !this.#opened && this.query === '';
	}

	/** Keep it visible while it has the focus. */
	#hold(opened: boolean): void {
		this.#opened = opened;
		this.#show();
	}

	#onKey(event: KeyboardEvent): void {
		if (event.isComposing || event.altKey || event.ctrlKey || event.metaKey)
			return;
		if (event.key === 'Escape' && this.query !== '') {
			this.clear();
			this.#events.changed();
			event.stopPropagation(); // the next one closes the drawer
		} else if (event.key === 'Escape' || event.key === 'ArrowDown') {
			this.#events.leave();
		} else if (event.key === 'Enter') {
			this.#events.choose();
		} else {
			return;
		}
		event.preventDefault();
	}
}
