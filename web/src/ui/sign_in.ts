import { isStatus, messageOf } from '../net/api';
import { h } from './dom';
import { mark } from './icons';

/**
 * The sign-in card. why: a sentence that says what happened. login: tries a token; rejects if it is wrong.
 */
export function showSignIn(why: string, login: (token: string) => Promise<void>): void {
	const token = h('input', {
		type: 'password', autocomplete: 'current-password', required: true, class: 'mono', id: 'token',
		'data-testid': 'sign-in-token', 'aria-describedby': 'sign-in-hint',
	});
	const problem = h('p', { class: 'problem', role: 'alert' });
	const button = h('button', { type: 'submit', class: 'button primary' }, 'Sign in');

	async function submit(event: SubmitEvent): Promise<void> {
		event.preventDefault();
		button.disabled = true;
		problem.textContent = '';
		try {
			await login(tokenOf(token.value));
		} catch (error) {
			problem.textContent = describe(error);
			button.disabled = false;
			token.select();
		}
	}

	document.body.replaceChildren(h('main', { class: 'sign-in-page' },
		h('form', { class: 'sign-in', 'data-testid': 'sign-in', submit: (event: SubmitEvent) => void submit(event) },
			h('div', { class: 'brand' }, mark(), h('h1', {}, 'Ringside')),
			h('p', {}, why),
			h('label', { class: 'field' }, h('span', {}, 'Token'), token,
				h('small', { id: 'sign-in-hint' },
					'It is in the address that Ringside printed when it started. You can paste the whole address.')),
			problem, button)));
	token.focus();
}

/** People paste the whole address. */
function tokenOf(text: string): string {
	return text.trim().replace(/^.*#(?:token|link)=/, '');
}

function describe(error: unknown): string {
	if (isStatus(error, 401))
		return 'This token is not valid.';
	if (isStatus(error, 429))
		return 'Too many wrong tokens. Wait a moment, then try again.';
	return messageOf(error);
}
