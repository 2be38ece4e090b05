import type { Terminal } from '@xterm/xterm';
import { messageOf, type Api } from '../net/api';
import { copyText } from '../ui/copy';
import { toast } from '../ui/toast';
import type { Block } from './block';
import { typeable } from './typeable';

export function copyCommand(block: Block): void {
	if (block.command !== null)
		void copyText(block.command, 'The command has been copied.');
}

/** Copy the output from the server, which also has lines that the terminal has dropped. */
export async function copyOutput(api: Api, sessionId: string, block: { readonly id: string }): Promise<void> {
	try {
		const { text, omitted, lost } = await api.blockOutput(sessionId, block.id);
		await copyText(text, omitted > 0 ? `The beginning of the output has been copied, without the last ${omitted} bytes.`
			: lost > 0 ? `The output has been copied, without ${lost} bytes that are no longer available.` : 'The output has been copied.');
	} catch (error) {
		toast(messageOf(error));
	}
}

export function copyLink(block: Block): void {
	const url = new URL(window.location.href);
	url.hash = '';
	url.searchParams.set('block', block.id);
	void copyText(url.href, 'A link to the command has been copied. It requires access to the session.');
}

/** Type the command without sending Enter, so that people can check it first. */
export function rerun(terminal: Terminal, paste: (text: string) => void, block: Block): void {
	const text = typeable(block.command);
	if (text === null)
		return;
	paste(text);
	terminal.focus();
}

/** Why the command cannot be typed now; null if it can. */
export function whyNotRerun(terminal: Terminal, running: Block | null, block: Block): string | null {
	const text = typeable(block.command);
	if (text === null)
		return 'The text of the command is not known';
	if (running !== null || terminal.buffer.active.type !== 'normal')
		return 'Another program is running';
	// Without bracketed paste the shell would run each line as it is typed.
	return text.includes('\n') && !terminal.modes.bracketedPasteMode ? 'The shell does not accept several lines at once' : null;
}
