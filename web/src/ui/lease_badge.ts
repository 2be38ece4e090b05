import type { LeaseMessage } from '../net/wire';
import { openDialog, textField } from './dialog';
import { fill, h, keepFocusOutside } from './dom';

export interface LeaseActions {
	take(when: 'now' | 'after'): void;
	giveBack(note: string): void;
}

/** Shows the holder of the keyboard's lease, and buttons to take it over or give it back. */
export class LeaseBadge {
	readonly element = h('div', { class: 'lease-badge', hidden: true, 'data-testid': 'lease-badge', role: 'status' });
	#actions: LeaseActions | null;

	/** actions: null if this page may not change the lease. */
	constructor(actions: LeaseActions | null) {
		this.#actions = actions;
		keepFocusOutside(this.element);
	}

	show({ lease, yours }: LeaseMessage): void {
		this.element.hidden = lease === null;
		if (lease === null)
			return;
		const exclusive = lease.mode === 'exclusive';
		this.element.title = !exclusive ? 'They have asked for the keyboard; others can still type.'
			: yours ? 'Only you can type.' : 'Only they can type; Ctrl-C still interrupts.';
		const words = yours ? 'You have the keyboard' : `${lease.owner} ${exclusive ? 'has the keyboard' : 'is typing'}`;
		fill(this.element, h('span', { class: 'holder' }, lease.heir == null ? words : `${words}; ${lease.heir} is next`),
			...this.#buttons(yours === true, lease.heir != null));
	}

	#buttons(yours: boolean, waits: boolean): readonly (HTMLElement | false)[] {
		const actions = this.#actions;
		if (actions === null)
			return [];
		if (yours)
			return [button('Give back…', 'lease-give-back', 'Give the keyboard to the previous holder', () => askForNote((note) => actions.giveBack(note)))];
		return [
			button('Take over', 'lease-take', 'Take the keyboard now', () => actions.take('now')),
			!waits && button('Let finish', 'lease-after', 'Take the keyboard when the running command has ended', () => actions.take('after')),
		];
	}
}

function button(label: string, testId: string, title: string, click: () => void): HTMLElement {
	return h('button', { type: 'button', title, click, 'data-testid': testId }, label);
}

function askForNote(done: (note: string) => void): void {
	const note = textField({
		label: 'A note for the previous holder', placeholder: 'I have fixed the path; go on with the tests.', testId: 'lease-note',
		hint: 'A program reads it with its next call, or when its wait for the keyboard ends. It may be left empty.', maxLength: 160,
	});
	const dialog = openDialog({
		title: 'Give the keyboard back',
		body: [note.row],
		actions: [h('button', { type: 'button', class: 'button', click: () => dialog.close() }, 'Cancel'),
			h('button', { type: 'submit', class: 'button primary', 'data-testid': 'confirm' }, 'Give back')],
		submit: () => {
			dialog.close();
			done(note.input.value.trim());
		},
	});
	note.input.focus();
}
