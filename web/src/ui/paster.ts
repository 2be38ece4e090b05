import type { Terminal } from '@xterm/xterm';
import type { Connection } from '../net/connection';
import type { Progress } from '../net/outbox';
import { cleanPaste, PASTE_MAX, pasteOf, type Paste } from '../net/paste';
import type { PasteMessage } from '../net/wire';
import { confirmDialog } from './dialog';
import { h, keepFocusOutside } from './dom';
import { toast } from './toast';

const SHOWN_AFTER_MS = 400;
const UNBRACKETED = 'PASTE_UNBRACKETED';

/**
 * Pastes text into the session. The server brackets it, removes control characters, and refuses several lines if the program
 * would run each of them; then the user is asked. A paste that takes longer shows its progress.
 */
export class Paster {
	readonly element: HTMLElement;
	#terminal: Terminal;
	#connection: () => Connection;
	#sent: () => void;
	#bar = h('progress', { max: '1', value: '0', 'aria-label': 'Paste' });
	#share = h('span', { class: 'pasting-share' });
	#timer: number | undefined;

	/** sent: called after each paste. */
	constructor(terminal: Terminal, connection: () => Connection, sent: () => void) {
		this.#terminal = terminal;
		this.#sent = sent;
		this.#connection = connection;
		this.element = h('div', { class: 'pasting', role: 'status', hidden: true, 'data-testid': 'pasting' }, 'Pasting', this.#bar, this.#share,
			h('button', { type: 'button', class: 'button small', 'data-testid': 'paste-cancel', click: () => this.#cancel() }, 'Cancel'));
		keepFocusOutside(this.element);
	}

	paste(text: string): void {
		const data = new TextEncoder().encode(cleanPaste(text));
		if (data.length > PASTE_MAX)
			toast('At most 16 MiB can be pasted at once: nothing was pasted. Drop larger texts as a file.');
		else if (data.length > 0)
			this.#send(pasteOf(data));
	}

	#send(paste: Paste): void {
		const connection = this.#connection();
		if (connection.paste(paste)) {
			this.#terminal.scrollToBottom();
			this.#sent();
		} else if (connection.state.kind !== 'closed')
			toast('This cannot be pasted now: too much input waits already.');
	}

	/** How much has been delivered; null: no paste is under way. */
	show(progress: Progress | null): void {
		if (progress === null) {
			window.clearTimeout(this.#timer);
			this.#timer = undefined;
			this.element.hidden = true;
			return;
		}
		const share = progress.delivered / progress.total;
		this.#bar.value = share;
		this.#share.textContent = `${Math.floor(100 * share)} %`;
		this.#timer ??= window.setTimeout(() => {
			this.element.hidden = false;
		}, SHOWN_AFTER_MS);
	}

	refused(paste: Paste, { code, message }: PasteMessage): void {
		if (code === UNBRACKETED)
			void this.#ask(paste);
		else
			toast(`The paste was stopped. ${message}`);
	}

	async #ask(paste: Paste): Promise<void> {
		const yes = await confirmDialog({
			title: `Paste ${paste.lines} lines?`,
			text: 'The program cannot tell a paste from typing and will run each line at once.',
			action: 'Paste',
		});
		this.#terminal.focus();
		if (yes)
			this.#send({ ...paste, confirmed: true });
	}

	#cancel(): void {
		this.#connection().cancelPaste();
		this.#terminal.focus();
		toast('The rest of the paste was not sent.');
	}
}
