import type { Terminal } from '@xterm/xterm';
import { filesFrom, type FileSelection } from '../files/file_selection';
import { confirmDialog, textDialog } from './dialog';
import { toast } from './toast';

/**
 * Handle pastes and drops on the terminal. If the program does not use bracketed paste, it would read each line as typed, so
 * the user has to confirm several lines. Files go to `upload`.
 */
export function handlePaste(terminal: Terminal, mount: HTMLElement, mayType: boolean, upload: (selection: FileSelection) => void): void {
	mount.addEventListener('paste', (event) => {
		const text = event.clipboardData?.getData('text/plain') ?? '';
		const selection = text === '' ? filesFrom(event.clipboardData, 'paste') : null;
		if (selection !== null) {
			event.preventDefault();
			event.stopPropagation();
			upload(selection);
		} else if (mayType && isRisky(terminal, text)) {
			// This listener runs before that of xterm.js.
			event.preventDefault();
			event.stopPropagation();
			void confirmAndPaste(terminal, text);
		}
	}, { capture: true });
	mount.addEventListener('drop', (event) => {
		event.preventDefault();
		const selection = filesFrom(event.dataTransfer, 'drop');
		if (selection !== null)
			upload(selection);
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
		void confirmAndPaste(terminal, text);
	else if (text !== '')
		terminal.paste(text);
}

/** Keep the browser from opening files that are dropped elsewhere on the page. */
export function preventFileDrops(): void {
	for (const type of ['dragover', 'drop'] as const)
		window.addEventListener(type, (event) => {
			const field = (event.target as Element | null)?.closest?.('input, textarea:not(.xterm-helper-textarea)');
			if (!field || event.dataTransfer?.types.includes('Files'))
				event.preventDefault();
		});
}

function isRisky(terminal: Terminal, text: string): boolean {
	return !terminal.modes.bracketedPasteMode && countLines(text) > 1;
}

/** The number of lines; the last one may lack its newline. */
function countLines(text: string): number {
	return text.split(/\r\n|\r|\n/).length - (/[\r\n]$/.test(text) ? 1 : 0);
}

async function confirmAndPaste(terminal: Terminal, text: string): Promise<void> {
	const yes = await confirmDialog({
		title: `Paste ${countLines(text)} lines?`,
		text: 'The program cannot tell a paste from typing and will run each line at once.',
		action: 'Paste',
	});
	terminal.focus();
	if (yes)
		terminal.paste(text);
}
