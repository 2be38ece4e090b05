import { messageOf } from '../net/api';
import { h } from './dom';
import { icon } from './icons';
import type { Item } from './inbox';

export interface InboxEvents {
	choose(sessionId: string): void;
	drop(key: string): void;
	/** Type a secret at the prompt. If it rejects, the error is shown. */
	answer(item: Item, secret: string): Promise<void>;
}

/** The inbox above the session list. Cards keep their elements, because the user may be typing into one. */
export class InboxPanel {
	#cards = new Map<string, HTMLElement>();
	#list = h('ul', { class: 'inbox-items' });
	#events: InboxEvents;
	readonly element: HTMLElement;

	/** more: an element below the cards. */
	constructor(events: InboxEvents, more: HTMLElement | null) {
		this.#events = events;
		this.element = h('section', { class: 'inbox', 'aria-label': 'Needs you', 'data-testid': 'inbox', hidden: true },
			h('h2', {}, 'Needs you'), this.#list, more);
	}

	show(items: readonly Item[]): void {
		const keys = new Set(items.map(({ key }) => key));
		for (const [key, card] of this.#cards) {
			if (!keys.has(key)) {
				card.remove();
				this.#cards.delete(key);
			}
		}
		for (const [place, item] of items.entries()) {
			let card = this.#cards.get(item.key);
			if (card === undefined) {
				card = this.#card(item);
				this.#cards.set(item.key, card);
			}
			if (this.#list.children[place] !== card)
				this.#list.insertBefore(card, this.#list.children[place] ?? null);
		}
		this.element.hidden = items.length === 0;
	}

	#card(item: Item): HTMLElement {
		return h('li', { 'data-testid': 'inbox-item', 'data-kind': item.kind, 'data-session-id': item.sessionId },
			h('button', { type: 'button', class: 'inbox-open', click: () => this.#events.choose(item.sessionId) },
				h('b', {}, item.name), h('bdi', {}, item.text), item.by !== '' && h('small', {}, `by ${item.by}`)),
			h('button', {
				type: 'button', class: 'icon-button small', title: 'Dismiss', 'aria-label': `Dismiss: ${item.name}`,
				'data-testid': 'inbox-drop', click: () => this.#events.drop(item.key),
			}, icon('close')),
			item.kind === 'password' && this.#secretForm(item));
	}

	#secretForm(item: Item): HTMLElement {
		const input = h('input', {
			type: 'password', autocomplete: 'off', required: true, maxlength: 1024, 'aria-label': `Password for ${item.name}`,
			placeholder: 'Password', 'data-testid': 'inbox-secret',
		});
		const send = h('button', { type: 'submit', class: 'button small' }, 'Send');
		const problem = h('p', { class: 'problem', role: 'alert' });
		return h('form', {
			submit: (event: SubmitEvent) => {
				event.preventDefault();
				const secret = input.value;
				input.value = '';
				send.disabled = true;
				problem.textContent = '';
				this.#events.answer(item, secret).catch((error: unknown) => {
					problem.textContent = messageOf(error);
				}).finally(() => {
					send.disabled = false;
				});
			},
		}, input, send, problem);
	}
}
