import type { IBuffer, Terminal } from '@xterm/xterm';
import { openDialog } from './dialog';
import { h } from './dom';

/**
 * Show the terminal's text and scrollback as static text of the page, for selecting by touch, for the browser's search and
 * for screen readers.
 */
export function openReadMode(terminal: Terminal): void {
	const text = h('pre', {
		class: 'read-text', tabindex: 0, autofocus: true, role: 'region', 'aria-label': 'Text of the terminal', 'data-testid': 'read-text',
		keydown: (event: KeyboardEvent) => {
			if (event.key !== 'a' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey)
				return;
			// Select only this text, not the whole page.
			event.preventDefault();
			getSelection()?.selectAllChildren(text);
		},
	}, bufferText(terminal.buffer.active));
	const dialog = openDialog({
		title: 'Read and select', testId: 'read', body: [text],
		closed: () => {
			getSelection()?.removeAllRanges();
			terminal.focus();
		},
	});
	dialog.classList.add('read');
	text.scrollTop = text.scrollHeight;
}

/** The text of a buffer, with wrapped lines joined. */
export function bufferText(buffer: IBuffer): string {
	let text = '';
	for (let row = 0; row < buffer.length; row++) {
		const wrapped = buffer.getLine(row + 1)?.isWrapped === true;
		text += (buffer.getLine(row)?.translateToString(!wrapped) ?? '') + (wrapped ? '' : '\n');
	}
	return text.trimEnd();
}
