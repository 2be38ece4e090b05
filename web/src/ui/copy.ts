import type { Terminal } from '@xterm/xterm';
import { toast } from './toast';

/**
 * Put text on the clipboard and say so. Away from localhost and without TLS the browser has no
 * clipboard for scripts; the old command still works as long as a key or click asked for it.
 */
export async function copyText(text: string, said: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		if (!copyByCommand(text)) {
			toast('The browser did not allow copying.');
			return;
		}
	}
	toast(said);
}

function copyByCommand(text: string): boolean {
	const intercept = (event: ClipboardEvent) => {
		event.clipboardData?.setData('text/plain', text);
		event.preventDefault();
		event.stopImmediatePropagation();
	};
	document.addEventListener('copy', intercept, { capture: true });
	try {
		return document.execCommand('copy');
	} finally {
		document.removeEventListener('copy', intercept, { capture: true });
	}
}

/** Ctrl-C copies what is selected, and lets go of it: the next one interrupts. wanted: whether somebody wants it so. */
export function copyByInterrupt(terminal: Terminal, wanted: () => boolean): void {
	terminal.attachCustomKeyEventHandler((event) => {
		const copies = event.type === 'keydown' && event.key === 'c' && event.ctrlKey && !event.shiftKey && !event.altKey
			&& !event.metaKey && terminal.hasSelection() && wanted();
		if (!copies)
			return true;
		event.preventDefault();
		void copyText(terminal.getSelection(), 'Copied.');
		terminal.clearSelection();
		return false;
	});
}
