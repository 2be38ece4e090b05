import { openDialog } from './dialog';
import { h } from './dom';
import { recall, remember } from './storage';

/**
 * A shortcut of the page: Ctrl+Shift and a letter. Terminals cannot distinguish those from Ctrl and the letter, so programs
 * do not need them.
 */
export interface Shortcut {
	readonly letter: string;
	readonly label: string;
	run(): void;
}

/**
 * Handle shortcuts before xterm.js and the browser, except while a dialog is open. go: shows the n-th session (Alt and a digit);
 * if it returns false, the key goes to the shell. Stops when signal is aborted.
 */
export function listenForShortcuts(shortcuts: readonly Shortcut[], go: (n: number) => boolean, signal: AbortSignal): void {
	document.addEventListener('keydown', (event) => {
		const digit = event.altKey && !event.ctrlKey && !event.shiftKey && !event.metaKey ? /^Digit([1-9])$/.exec(event.code)?.[1] : undefined;
		if (digit !== undefined && document.querySelector('dialog[open]') === null && go(Number(digit))) {
			event.preventDefault();
			event.stopPropagation();
			return;
		}
		if (!event.ctrlKey || !event.shiftKey || event.altKey || event.metaKey)
			return;
		const shortcut = shortcuts.find((each) => event.code === `Key${each.letter}`);
		if (shortcut === undefined || document.querySelector('dialog[open]') !== null)
			return;
		event.preventDefault();
		event.stopPropagation();
		shortcut.run();
	}, { capture: true, signal });
}

export function screenReaderMode(): boolean {
	return recall('screen-reader') === 'on';
}

export function showShortcuts(shortcuts: readonly Shortcut[], changed: (on: boolean) => void): void {
	const rows = [...shortcuts.map(({ letter, label }) => [`Ctrl+Shift+${letter}`, label] as const),
		['Ctrl+Shift+V', 'Paste'] as const,
		['Alt+1…9', 'Go to a session of the list'] as const,
		['/', 'In the session list: filter it'] as const,
		['Alt+Up', 'Scroll to the previous command (Alt and Down: next)'] as const,
		['Shift+drag', 'Select text while a program uses the mouse'] as const];
	openDialog({
		title: 'Keyboard and screen reader',
		body: [h('dl', { class: 'shortcuts' }, ...rows.flatMap(([keys, label]) => [
			h('dt', {}, ...keys.split('+').map((key) => h('kbd', {}, key))), h('dd', {}, label),
		])), h('label', { class: 'check' },
			h('input', {
				type: 'checkbox', checked: screenReaderMode(),
				change: (event: Event) => {
					const on = (event.target as HTMLInputElement).checked;
					remember('screen-reader', on ? 'on' : null);
					changed(on);
				},
			}),
			h('span', {}, 'Screen reader mode: makes the terminal readable line by line'))],
	});
}
