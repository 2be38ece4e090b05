import type { Session } from '../net/wire';
import { h } from '../ui/dom';
import { icon } from '../ui/icons';
import { describeSession, KIND_LABELS, setText, showMark } from '../ui/session_row';
import { statusOf } from '../ui/session_status';
import { AnswerForm } from './answer_form';
import type { Place } from './layout';

export interface TileEvents {
	open(id: string): void;
	/** The tile got the focus. */
	chosen(id: string): void;
	interrupt(session: Session): void;
	copy(session: Session): void;
	/** If it rejects, the error is shown. */
	answer(session: Session, text: string): Promise<void>;
	/** Select or deselect the session for opening side by side; null if there is only one. */
	readonly pick: ((id: string) => void) | null;
}

/** One session on the wall: everything around its miniature. Its elements are reused at every update. */
export class Tile {
	readonly element: HTMLElement;
	#session: Session;
	#events: TileEvents;
	#link: HTMLAnchorElement;
	#dot = h('span', { class: 'dot', role: 'img' });
	#name = h('span', { class: 'tile-name' });
	#mark = h('span', { class: 'session-mark', 'aria-hidden': 'true' });
	#what = h('bdi', { class: 'session-what' });
	#time = h('span', { class: 'session-time' });
	#answer: HTMLButtonElement;
	#interrupt: HTMLButtonElement;
	#copy: HTMLButtonElement;
	#pick: HTMLButtonElement;
	#form: AnswerForm | null = null;
	#current = false;

	constructor(session: Session, href: string, mayType: boolean, events: TileEvents) {
		this.#session = session;
		this.#events = events;
		this.#link = h('a', {
			class: 'tile-open', href, tabindex: -1, 'data-testid': 'wall-open',
			click: (event: MouseEvent) => {
				// With a modifier the browser opens a new tab.
				if (event.ctrlKey || event.metaKey || event.shiftKey)
					return;
				event.preventDefault();
				events.open(session.id);
			},
		}, h('span', { class: 'tile-head' }, this.#dot, this.#name,
			h('span', { class: 'session-facts', 'data-testid': 'wall-facts' }, this.#mark, this.#what, this.#time)));
		this.#answer = button(icon('keyboard'), 'wall-answer', () => this.#toggleForm());
		this.#interrupt = button('^C', 'wall-interrupt', () => events.interrupt(this.#session));
		this.#copy = button(icon('copy'), 'wall-copy', () => events.copy(this.#session));
		this.#pick = button(icon('panel'), 'wall-pick', () => events.pick?.(session.id));
		this.#pick.ariaPressed = 'false';
		this.element = h('li', {
			class: 'tile', 'data-testid': 'wall-tile', 'data-session-id': session.id, focusin: () => events.chosen(session.id),
		}, this.#link,
			h('span', { class: 'tile-actions' }, mayType && this.#answer, mayType && this.#interrupt, this.#copy, events.pick !== null && this.#pick));
		this.update(session);
	}

	get session(): Session {
		return this.#session;
	}

	/** Its form is open, so it must not move. */
	get hasForm(): boolean {
		return this.#form !== null;
	}

	update(session: Session): void {
		this.#session = session;
		const name = session.name || session.id, what = statusOf(session, Date.now());
		this.element.dataset['kind'] = what.kind;
		this.element.dataset['state'] = session.state;
		this.element.dataset['unread'] = String(session.activity?.unread ?? false);
		setText(this.#name, name);
		if (this.#dot.ariaLabel !== KIND_LABELS[what.kind])
			this.#dot.ariaLabel = KIND_LABELS[what.kind];
		showMark(this.#mark, what.mark);
		setText(this.#what, what.text);
		setText(this.#time, what.time);
		const more = describeSession(session);
		if (this.#link.title !== more)
			this.#link.title = more;
		this.#answer.hidden = what.kind !== 'waits';
		this.#interrupt.hidden = session.state === 'exited';
		this.#copy.hidden = !session.activity?.block;
		describe(this.#answer, 'Answer', name);
		describe(this.#interrupt, 'Interrupt (Ctrl-C)', name);
		describe(this.#copy, 'Copy the last output', name);
		describe(this.#pick, 'Side by side', name);
		if (what.kind !== 'waits')
			this.#close(false);
	}

	/** Update the elapsed time. */
	tick(): void {
		setText(this.#time, statusOf(this.#session, Date.now()).time);
	}

	place({ x, y, width, height }: Place): void {
		const { style } = this.element;
		style.transform = `translate(${x}px, ${y}px)`;
		style.width = `${width}px`;
		style.height = `${height}px`;
	}

	/** Whether Tab and arrow keys start from this tile. */
	set current(current: boolean) {
		if (this.#current === current)
			return;
		this.#current = current;
		for (const element of [this.#link, this.#answer, this.#interrupt, this.#copy, this.#pick])
			element.tabIndex = current ? 0 : -1;
	}

	/** Selected for opening side by side. */
	set picked(picked: boolean) {
		this.#pick.ariaPressed = String(picked);
		this.element.dataset['picked'] = String(picked);
	}

	focus(): void {
		this.#link.focus({ preventScroll: true });
	}

	#toggleForm(): void {
		if (this.#form !== null) {
			this.#close(true);
			return;
		}
		const session = this.#session;
		this.#form = new AnswerForm(session, (text) => this.#events.answer(session, text), () => this.#close(true));
		this.element.append(this.#form.element);
		this.#answer.ariaExpanded = 'true';
		this.#form.focus();
	}

	#close(byHand: boolean): void {
		if (this.#form === null)
			return;
		const inside = this.#form.element.contains(document.activeElement);
		this.#form.element.remove();
		this.#form = null;
		this.#answer.ariaExpanded = 'false';
		if (byHand || inside)
			this.focus();
	}
}

function button(face: Node | string, testId: string, click: () => void): HTMLButtonElement {
	return h('button', { type: 'button', class: 'icon-button small', tabindex: -1, 'data-testid': testId, click }, face);
}

function describe(element: HTMLButtonElement, verb: string, name: string): void {
	const label = `${verb}: ${name}`;
	if (element.ariaLabel === label)
		return;
	element.title = verb;
	element.ariaLabel = label;
}
