/* Typing what no program should know: one answer, to the prompt that waits now, and to no other. */
import { Api } from './api';
import { socketUrl } from './place';
import { CLOSE_ACCESS_ENDED, parseServerMessage } from './wire';

const PATIENCE_MS = 15_000;

/**
 * block: the command that was seen to ask, so that none that asks since gets the secret. From then on the server's link keeps
 * it from any other prompt, and from the shell's line: it is good for one answer. Fails with what to tell.
 */
export async function answerPrompt(api: Api, sessionId: string, block: string | null, secret: string): Promise<void> {
	const token = await api.humanLink(sessionId, block);
	if (token === null)
		throw new Error('It is answered already, or somebody is about to. See the terminal.');
	const link = new Api();
	const identity = await link.login(token);
	await typeSecret(sessionId, identity.link, secret);
}

/** By the login of such a link. Fails with what to tell. */
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
		const timer = window.setTimeout(() => fail('The server does not answer. See the terminal.'), PATIENCE_MS);
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
				reject(new Error('The prompt is over. See the terminal.'));
		};
	});
}
