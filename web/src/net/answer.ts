/* Answers a password prompt through a link that is valid for this one prompt. */
import { Api } from './api';
import { socketUrl } from './address';
import { CLOSE_ACCESS_ENDED, parseServerMessage } from './wire';

const TIMEOUT_MS = 15_000;

/**
 * Type a secret at the prompt of a command. block: the command that the user saw, so that a later one does not get the
 * secret. The link is valid for one answer to that prompt. Rejects with a message for the user.
 */
export async function answerPrompt(api: Api, sessionId: string, block: string | null, secret: string): Promise<void> {
	const token = await api.humanLink(sessionId, block);
	if (token === null)
		throw new Error('The prompt was answered, or another client is answering it. See the terminal.');
	const link = new Api();
	const identity = await link.login(token);
	await typeSecret(sessionId, identity.link, secret);
}

/** Type a secret with the login of such a link. Rejects with a message for the user. */
export function typeSecret(sessionId: string, link: string | null, secret: string): Promise<void> {
	return typeOnce(new WebSocket(socketUrl('ws/pty', { sessionId, ...(link === null ? {} : { link }) })), secret);
}

function typeOnce(socket: WebSocket, secret: string): Promise<void> {
	return new Promise((resolve, reject) => {
		let sent = false;
		const fail = (why: string) => {
			window.clearTimeout(timer);
			socket.close();
			reject(new Error(why));
		};
		const timer = window.setTimeout(() => fail('The server does not answer. See the terminal.'), TIMEOUT_MS);
		socket.onmessage = ({ data }: MessageEvent<unknown>) => {
			const message = typeof data === 'string' ? parseServerMessage(data) : null;
			if (message?.type === 'ready' && !sent) {
				sent = true;
				socket.send(new TextEncoder().encode(`${secret}\r`));
			} else if (message?.type === 'error') {
				fail(message.message);
			}
		};
		socket.onclose = ({ code }) => {
			window.clearTimeout(timer);
			if (sent && code === CLOSE_ACCESS_ENDED)
				resolve();
			else
				reject(new Error('The prompt has ended. See the terminal.'));
		};
	});
}
