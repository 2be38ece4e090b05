import type { Undelivered } from '../net/outbox';
import { fill, h, keepFocusOutside } from './dom';

const TEXT_MAX = 80;

export interface UndeliveredActions {
	send(): void;
	drop(): void;
}

/** What was typed and has not arrived, in a note at the foot of the terminal. */
export class UndeliveredNote {
	readonly element = h('div', { class: 'undelivered', role: 'status', hidden: true, 'data-testid': 'undelivered' });
	#actions: UndeliveredActions;
	#shown = ''; // what is in it: drawn anew only when that changes, so that a button can be pressed

	constructor(actions: UndeliveredActions) {
		this.#actions = actions;
		keepFocusOutside(this.element);
	}

	/** live: it can be sent now; null: there is nothing to say. */
	show(undelivered: Undelivered | null, live: boolean): void {
		const words = undelivered === null || undelivered.keys === 0 ? '' : describe(undelivered);
		const asks = undelivered?.asks === true && live;
		const key = `${words} ${asks} ${live} ${undelivered?.text}`;
		if (key === this.#shown)
			return;
		this.#shown = key;
		this.element.hidden = words === '';
		if (undelivered === null || words === '')
			fill(this.element);
		else
			fill(this.element, h('span', { class: 'undelivered-words' }, asks ? `${words}:` : words),
				button('Send', 'undelivered-send', asks && this.#actions.send),
				button('Drop', 'undelivered-drop', (asks || !live) && this.#actions.drop),
				// It may be a password: who wants to see it, says so.
				h('details', {}, h('summary', {}, 'Show'), h('code', {}, visible(undelivered.text))));
	}
}

function button(label: string, testId: string, run: (() => void) | false): HTMLElement | false {
	return run !== false && h('button', { type: 'button', class: 'button small', 'data-testid': testId, click: run }, label);
}

function describe({ keys, doubtful }: Undelivered): string {
	const what = keys === 1 ? '1 key' : `${keys} keys`;
	return doubtful ? `${what} perhaps not delivered` : `${what} not delivered`;
}

/** Control characters as Unicode's pictures of them. */
function visible(text: string): string {
	const shown = [...text].map((character) => {
		const code = character.codePointAt(0) ?? 0;
		return code < 0x20 ? String.fromCodePoint(0x2400 + code) : code === 0x7f ? '␡' : character;
	});
	return shown.length > TEXT_MAX ? `…${shown.slice(-TEXT_MAX).join('')}` : shown.join('');
}
