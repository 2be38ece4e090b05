import type { Undelivered } from '../net/outbox';
import { fill, h, keepFocusOutside } from './dom';

const TEXT_MAX = 80;

export interface UndeliveredActions {
	send(): void;
	drop(): void;
}

/** A note at the bottom of the terminal that shows undelivered input. */
export class UndeliveredNote {
	readonly element = h('div', { class: 'undelivered', role: 'status', hidden: true, 'data-testid': 'undelivered' });
	#actions: UndeliveredActions;
	#shown = ''; // key of the shown contents: unchanged contents are not redrawn, so that buttons get their clicks

	constructor(actions: UndeliveredActions) {
		this.#actions = actions;
		keepFocusOutside(this.element);
	}

	/** undelivered: null to hide the note; live: the input can be sent now. */
	show(undelivered: Undelivered | null, live: boolean): void {
		const words = undelivered === null || undelivered.keys === 0 ? '' : describe(undelivered);
		const confirms = undelivered?.needsConfirmation === true && live;
		const key = `${words} ${confirms} ${live} ${undelivered?.text}`;
		if (key === this.#shown)
			return;
		this.#shown = key;
		this.element.hidden = words === '';
		if (undelivered === null || words === '')
			fill(this.element);
		else
			fill(this.element, h('span', { class: 'undelivered-words' }, confirms ? `${words}:` : words),
				button('Send', 'undelivered-send', confirms && this.#actions.send),
				button('Discard', 'undelivered-drop', (confirms || !live) && this.#actions.drop),
				// The text may be a password, so it is hidden at first.
				h('details', {}, h('summary', {}, 'Show'), h('code', {}, showControls(undelivered.text))));
	}
}

function button(label: string, testId: string, run: (() => void) | false): HTMLElement | false {
	return run !== false && h('button', { type: 'button', class: 'button small', 'data-testid': testId, click: run }, label);
}

function describe({ keys, doubtful }: Undelivered): string {
	const what = keys === 1 ? '1 key' : `${keys} keys`;
	return doubtful ? `${what} perhaps not delivered` : `${what} not delivered`;
}

/** The text with Unicode's pictures of control characters. */
function showControls(text: string): string {
	const shown = [...text].map((character) => {
		const code = character.codePointAt(0) ?? 0;
		return code < 0x20 ? String.fromCodePoint(0x2400 + code) : code === 0x7f ? '␡' : character;
	});
	return shown.length > TEXT_MAX ? `…${shown.slice(-TEXT_MAX).join('')}` : shown.join('');
}
