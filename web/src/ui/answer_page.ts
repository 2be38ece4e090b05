/* The page of a link for one secret (humanUrl): shows what asks for it and sends it. It has no terminal. */
import { authorOf } from '../blocks/block';
import { typeSecret } from '../net/answer';
import { isStatus, messageOf, type Api, type Identity, type Prompt } from '../net/api';
import { h } from './dom';
import { icon, mark } from './icons';
import { oneLine } from './session_status';

const CHECK_MS = 3000;
const SECRET_MAX = 1024;

export function showAnswerPage(api: Api, identity: Identity, prompt: Prompt): void {
	new AnswerPage(api, identity, prompt);
}

class AnswerPage {
	#api: Api;
	#identity: Identity;
	#input = h('input', {
		type: 'password', autocomplete: 'off', required: true, maxlength: SECRET_MAX, id: 'secret', 'data-testid': 'answer-secret',
		'aria-describedby': 'answer-hint',
	});
	#button = h('button', { type: 'submit', class: 'button primary' }, 'Send');
	#problem = h('p', { class: 'problem', role: 'alert' });
	#form: HTMLFormElement;
	#timer: number | undefined;

	constructor(api: Api, identity: Identity, { sessionName, block }: Prompt) {
		this.#api = api;
		this.#identity = identity;
		const name = oneLine(sessionName ?? '') || identity.sessionId || 'A session';
		this.#form = h('form', { class: 'sign-in answer', 'data-testid': 'answer', submit: (event: SubmitEvent) => void this.#send(event) },
			h('div', { class: 'brand' }, mark(), h('h1', {}, 'A program asks for a password')),
			h('p', {}, icon('lock'), ' In ', h('bdi', {}, name), block === null ? null : `, by ${authorOf(block)}`),
			block !== null && h('code', { class: 'block-command', 'data-testid': 'answer-command', tabindex: 0 }, block.command ?? 'A command'),
			h('label', { class: 'field' }, h('span', {}, 'Password'), this.#input, h('small', { id: 'answer-hint' },
				'It is sent only to this prompt and is not recorded.')),
			this.#problem, this.#button);
		document.title = `Password for ${name}`;
		document.body.replaceChildren(h('main', { class: 'sign-in-page' }, this.#form));
		this.#input.focus();
		this.#checkLater();
	}

	#checkLater(): void {
		this.#timer = window.setTimeout(() => void this.#check(), CHECK_MS);
	}

	/** Check whether the prompt still waits. */
	async #check(): Promise<void> {
		try {
			await this.#api.whoami();
		} catch (error) {
			if (isStatus(error, 401) || isStatus(error, 403)) {
				this.#showEnd('The prompt has ended: it was answered, or the program has continued.');
				return;
			}
		}
		if (!this.#button.disabled)
			this.#checkLater();
	}

	async #send(event: SubmitEvent): Promise<void> {
		event.preventDefault();
		const secret = this.#input.value;
		this.#input.value = '';
		this.#button.disabled = true;
		this.#problem.textContent = '';
		window.clearTimeout(this.#timer);
		try {
			await typeSecret(this.#identity.sessionId ?? '', this.#identity.link, secret);
			this.#showEnd('The password has been sent. You can close this page.');
		} catch (error) {
			this.#problem.textContent = messageOf(error);
			this.#button.disabled = false;
			this.#checkLater();
		}
	}

	#showEnd(text: string): void {
		window.clearTimeout(this.#timer);
		const message = h('p', { role: 'status', tabindex: -1, 'data-testid': 'answer-over' }, text);
		this.#form.replaceChildren(h('div', { class: 'brand' }, mark(), h('h1', {}, 'Ringside')), message);
		message.focus();
	}
}
