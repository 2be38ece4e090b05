import type { Terminal } from '@xterm/xterm';
import { broughtBy, type Brought } from '../files/brought';
import { confirmDialog, textDialog } from './dialog';
import { toast } from './toast';

/**
 * What comes into the terminal by the clipboard or by a drop. Lines for a program that cannot tell a paste from typing are
 * asked about first, for it takes each of them at once. Files are for `bring`; none of them leads the browser elsewhere.
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
			// In front of xterm.js, which listens further inside.
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

/** While files are held over it. */
function showDropping(mount: HTMLElement): void {
	const show = (event: DragEvent) =>
		mount.classList.toggle('dropping', event.type === 'dragover' && event.dataTransfer?.types.includes('Files') === true);
	for (const type of ['dragover', 'dragleave', 'drop'] as const)
		mount.addEventListener(type, show);
}

/** For who has no key for it. The text comes from a field where the browser does not give the clipboard to pages. */
export async function pasteFromClipboard(terminal: Terminal): Promise<void> {
	let text: string | null;
	try {
		text = await navigator.clipboard.readText();
	} catch {
		text = await textDialog({
			title: 'Paste', label: 'Text for the terminal', action: 'Paste',
			hint: 'The browser does not let this page read the clipboard: paste here.',
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

/** Wherever a file is dropped on the page, it is not opened in its place. Once a page. */
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

/** How many there are, the last of which need not be ended. */
function lines(text: string): number {
	return text.split(/\r\n|\r|\n/).length - (/[\r\n]$/.test(text) ? 1 : 0);
}

async function ask(terminal: Terminal, text: string): Promise<void> {
	const yes = await confirmDialog({
		title: `Paste ${lines(text)} lines?`,
		text: 'The program that reads them cannot tell a paste from typing, and takes each line at once.',
		action: 'Paste',
	});
	terminal.focus();
	if (yes)
		terminal.paste(text);
}
