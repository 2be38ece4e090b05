import type { Terminal } from '@xterm/xterm';
import { filesFrom, type FileSelection } from '../files/file_selection';
import { textDialog } from './dialog';
import { toast } from './toast';

/** Handle pastes and drops on the terminal: texts go to `paste`, files to `upload`. */
export function handlePaste(mount: HTMLElement, paste: (text: string) => void, upload: (selection: FileSelection) => void): void {
	const take = (event: Event, data: DataTransfer | null, how: 'paste' | 'drop') => {
		// This listener runs before that of xterm.js, which would paste the text as it is.
		event.preventDefault();
		event.stopPropagation();
		const text = data?.getData('text/plain') ?? '';
		const selection = how === 'paste' && text !== '' ? null : filesFrom(data, how);
		if (selection !== null)
			upload(selection);
		else
			paste(text);
	};
	mount.addEventListener('paste', (event) => take(event, event.clipboardData, 'paste'), { capture: true });
	mount.addEventListener('drop', (event) => take(event, event.dataTransfer, 'drop'));
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
export async function pasteFromClipboard(terminal: Terminal, paste: (text: string) => void): Promise<void> {
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
		paste(text);
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
