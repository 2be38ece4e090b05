import { answerPrompt } from '../net/answer';
import type { Api } from '../net/api';
import type { Reply, Control } from '../net/control';
import type { Session } from '../net/wire';

const ENDED = 'The prompt was answered, or another client is answering it. See the terminal.';

interface State {
	readonly input?: string;
	readonly block?: string | null;
}

/** Type input for the prompt that the user saw, not for a later one. Rejects with a message for the user. */
export async function answerQuestion(api: Api, control: Control, { id, activity }: Session, text: string): Promise<void> {
	const block = activity?.block?.state === 'running' ? activity.block.id : null;
	if (activity?.input === 'password') {
		await answerPrompt(api, id, block, text);
		return;
	}
	const { state } = await request(control, 'GET', id, 'state') as { state?: State };
	if (state?.input !== activity?.input || (state?.block ?? null) !== block)
		throw new Error(ENDED);
	// A program that reads single keys gets no Enter.
	await request(control, 'POST', id, 'keys', activity?.input === 'raw' && text !== '' ? { text } : { text, submit: true });
}

/** Type Ctrl-C. */
export async function interrupt(control: Control, id: string): Promise<void> {
	await request(control, 'POST', id, 'keys', { keys: ['C-c'] });
}

async function request(control: Control, method: string, id: string, what: string, body: object | null = null): Promise<object> {
	const answer = await new Promise<Reply>((resolve) => {
		const asked = control.request(method, `/api/session/${encodeURIComponent(id)}/${what}`, body, resolve);
		if (asked === null)
			resolve({ status: 0, body: null, message: 'The server cannot be reached.' });
	});
	if (answer.status !== 200)
		throw new Error(answer.message);
	return answer.body as object;
}
