import type { Terminal } from '@xterm/xterm';
import { toast } from './toast';

/**
 * Copy text to the clipboard and show a toast, unless message is null. Without TLS and beyond localhost browsers have no
 * clipboard API; then the old copy command works, if a key or click has caused the call.
 */
export async function copyText(text: string, message: string | null): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		if (!copyByCommand(text)) {
			toast('The browser did not allow copying.');
			return;
		}
	}
	if (message !== null)
		toast(message);
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

/** Let Ctrl-C copy a selection and clear it, so that the next Ctrl-C interrupts. wanted: whether this is enabled. */
export function copyOnInterrupt(terminal: Terminal, wanted: () => boolean): void {
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

/**
 * Copy what the user selects with the mouse, without a message. wanted: whether this is enabled. Returns a function that
 * removes the listeners.
 */
export function copyOnSelect(terminal: Terminal, mount: HTMLElement, wanted: () => boolean): () => void {
	const listeners = new AbortController(), { signal } = listeners;
	let pressed = false;
	mount.addEventListener('mousedown', ({ button }) => {
		pressed = button === 0;
	}, { capture: true, signal });
	// The button can be released anywhere. xterm.js has updated the selection before.
	window.addEventListener('mouseup', () => {
		const text = pressed && wanted() ? terminal.getSelection() : '';
		pressed = false;
		if (text !== '')
			void copyText(text, null);
	}, { signal });
	return () => listeners.abort();
}
