import { messageOf } from '../net/api';
import type { Session } from '../net/wire';
import { h } from '../ui/dom';
import { icon } from '../ui/icons';

const TEXT_MAX = 4096;

/** A form in a tile to answer a waiting program. */
export class AnswerForm {
	readonly element: HTMLFormElement;
	#input: HTMLInputElement;
	#problem = h('p', { class: 'problem', role: 'alert' });
	#button = h('button', { type: 'submit', class: 'button small primary', 'data-testid': 'wall-send' }, icon('check'), 'Send');

	/** answer: types the text; if it rejects, the error is shown. closed: answered or cancelled. */
	constructor(session: Session, answer: (text: string) => Promise<void>, closed: () => void) {
		const name = session.name || session.id, kind = session.activity?.input;
		const what = kind === 'password' ? 'Password' : kind === 'raw' ? 'Keys' : 'A line';
		this.#input = h('input', {
			type: kind === 'password' ? 'password' : 'text', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off', maxlength: TEXT_MAX,
			class: 'mono', placeholder: what, 'aria-label': `${what} for ${name}`, 'data-testid': 'wall-answer-text',
		});
		this.element = h('form', {
			class: 'tile-answer', 'data-testid': 'wall-answer-form', 'aria-label': `Answer ${name}`,
			submit: (event: SubmitEvent) => {
				event.preventDefault();
				void this.#send(answer, closed);
			},
			keydown: (event: KeyboardEvent) => {
				event.stopPropagation(); // arrow keys move the cursor, not the selected tile
				if (event.key === 'Escape')
					closed();
			},
		}, this.#input, this.#button, this.#problem);
	}

	focus(): void {
		this.#input.focus();
	}

	async #send(answer: (text: string) => Promise<void>, closed: () => void): Promise<void> {
		const text = this.#input.value;
		this.#input.value = '';
		this.#input.disabled = this.#button.disabled = true;
		this.#problem.textContent = '';
		try {
			await answer(text);
			closed();
		} catch (error) {
			this.#problem.textContent = messageOf(error);
			this.#input.disabled = this.#button.disabled = false;
			this.#input.focus();
		}
	}
}
