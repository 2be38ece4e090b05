import type { Terminal } from '@xterm/xterm';
import { broughtBy, type Brought } from '../files/brought';
import { confirmDialog, textDialog } from './dialog';
import { toast } from './toast';

/**
  * Handle pastes and drops on the terminal. If the program does not use bracketed paste, it would read each line as typed, so
  * the user has to confirm several lines. Files go to `upload`.
 */
export function guardPaste(terminal: Terminal, mount: HTMLElement, mayType: boolean, bring: (brought: Brought) => void): void {
	mount.addEventListener('paste', (event) => {
		const text = event.clipboardData?.getData('text/plain') ?? '';
		const brought = text === '' ? broughtBy(event.clipboardData, 'paste') : null;
		if (brought !== null) {
			event.preventDefault();
			event.stopPropagation();
			bring(brought);
		} else if (mayType && isRisky(terminal, text)) {
			// This listener runs before that of xterm.js.
			event.preventDefault();
			event.stopPropagation();
			void ask(terminal, text);
		}
	}, { capture: true });
	mount.addEventListener('drop', (event) => {
		event.preventDefault();
		const brought = broughtBy(event.dataTransfer, 'drop');
		if (brought !== null)
			bring(brought);
		else if (mayType)
			paste(terminal, event.dataTransfer?.getData('text/plain') ?? '');
	});
	showDropping(mount);
}

/** Highlight the terminal while files are dragged over it. */
function showDropping(mount: HTMLElement): void {
	const show = (event: DragEvent) =>
		mount.classList.toggle('dropping', event.type === 'dragover' && event.dataTransfer?.types.includes('Files') === true);
	for (const type of ['dragover', 'dragleave', 'drop'] as const)
		mount.addEventListener(type, show);
}

/** Paste without a keyboard. If the page may not read the clipboard, a dialog asks for the text. */
export async function pasteFromClipboard(terminal: Terminal): Promise<void> {
	let text: string | null;
	try {
		text = await navigator.clipboard.readText();
	} catch {
		text = await textDialog({
			title: 'Paste', label: 'Text for the terminal', action: 'Paste',
			hint: 'This page may not read the clipboard. Paste the text here.',
		});
	}
	terminal.focus();
	if (text === '')
		toast('There is no text on the clipboard.');
	else if (text !== null)
		paste(terminal, text);
}

function paste(terminal: Terminal, text: string): void {
	if (isRisky(terminal, text))
		void ask(terminal, text);
	else if (text !== '')
		terminal.paste(text);
}

/** Keep the browser from opening files that are dropped elsewhere on the page. */
export function keepDropsHere(): void {
	for (const type of ['dragover', 'drop'] as const)
		window.addEventListener(type, (event) => {
			const field = (event.target as Element | null)?.closest?.('input, textarea:not(.xterm-helper-textarea)');
			if (!field || event.dataTransfer?.types.includes('Files'))
				event.preventDefault();
		});
}

function isRisky(terminal: Terminal, text: string): boolean {
	return !terminal.modes.bracketedPasteMode && lines(text) > 1;
}

/** The number of lines; the last one may lack its newline. */
function lines(text: string): number {
	return text.split(/\r\n|\r|\n/).length - (/[\r\n]$/.test(text) ? 1 : 0);
}

async function ask(terminal: Terminal, text: string): Promise<void> {
	const yes = await confirmDialog({
		title: `Paste ${lines(text)} lines?`,
		text: 'The program cannot tell a paste from typing and will run each line at once.',
		action: 'Paste',
	});
	terminal.focus();
	if (yes)
		terminal.paste(text);
}
