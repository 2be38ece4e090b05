import type { IBuffer, Terminal } from '@xterm/xterm';
import { openDialog } from './dialog';
import { h } from './dom';

/**
 * What the terminal shows and has shown as a text of the page: it can be selected with fingers, found by the browser's own
 * search and read by screen readers, and stays as it is while the session goes on.
 */
export function openReadMode(terminal: Terminal): void {
	const text = h('pre', {
		class: 'read-text', tabindex: 0, autofocus: true, role: 'region', 'aria-label': 'Text of the terminal', 'data-testid': 'read-text',
		keydown: (event: KeyboardEvent) => {
			if (event.key !== 'a' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey)
				return;
			// Of it, not of the page behind it as well.
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

/** Lines that were wrapped are whole again. */
export function bufferText(buffer: IBuffer): string {
	let text = '';
	for (let row = 0; row < buffer.length; row++) {
		const wrapped = buffer.getLine(row + 1)?.isWrapped === true;
		text += (buffer.getLine(row)?.translateToString(!wrapped) ?? '') + (wrapped ? '' : '\n');
	}
	return text.trimEnd();
}
