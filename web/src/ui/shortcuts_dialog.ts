import { openDialog } from './dialog';
import { h } from './dom';
import { isMac } from './platform';
import type { SettingValues } from './settings';
import { screenReaderMode, type Shortcut } from './shortcuts';
import { remember } from './storage';

export interface ShortcutsDialogOptions {
	readonly shortcuts: readonly Shortcut[];
	readonly settings: SettingValues;
	/** Whether the page has a list of sessions. */
	readonly sessions: boolean;
	/** The screen reader mode has been changed. */
	changed(on: boolean): void;
}

type Row = readonly [keys: readonly string[], label: string];

/** The list of all shortcuts. Loaded when it is first opened. */
export function showShortcuts(options: ShortcutsDialogOptions): void {
	openDialog({
		title: 'Keyboard and screen reader', testId: 'shortcuts',
		body: [...sections(options).map(([title, rows]) => h('section', {}, h('h3', {}, title), list(rows))), readerSwitch(options)],
	});
}

function sections({ shortcuts, settings, sessions }: ShortcutsDialogOptions): [title: string, rows: Row[]][] {
	const { interrupt, digits } = settings;
	const terminal: Row[] = [
		...(interrupt === 'copy' ? [[['Ctrl', 'C'], 'Copy the selected text; without a selection, interrupt the program'] as const] : []),
		[['Ctrl', 'Shift', 'V'], 'Paste'],
		[['Alt', 'Up'], 'Scroll to the previous command (Alt and Down: next)'],
		[['Shift', 'PgUp'], 'Scroll up by a page (Shift and PgDn: down)'],
		[[isMac ? 'Cmd' : 'Ctrl', '+'], 'Larger font (−: smaller, 0: the default size)'],
		[[isMac ? 'Option' : 'Shift', 'drag'], 'Select text while a program uses the mouse'],
	];
	return [
		['Page', [
			...shortcuts.map(({ key, label }): Row => [['Ctrl', 'Shift', key], label]),
			...(sessions && digits === 'sessions' ? [[['Alt', '1…9'], 'Go to a session of the list'] as const] : []),
			...(sessions ? [[['/'], 'In the session list: filter it'] as const] : []),
		]],
		['Terminal', terminal],
		['Search', [
			[['Enter'], 'Previous match, upwards (with Shift: next)'],
			[['Alt', 'C'], 'Match case'],
			[['Alt', 'R'], 'Regular expression'],
			[['Esc'], 'Close the search'],
		]],
	];
}

function list(rows: readonly Row[]): HTMLElement {
	return h('dl', { class: 'shortcuts' }, ...rows.flatMap(([keys, label]) => [
		h('dt', {}, ...keys.map((key) => h('kbd', {}, key))), h('dd', {}, label),
	]));
}

function readerSwitch({ changed }: ShortcutsDialogOptions): HTMLElement {
	return h('label', { class: 'check' }, h('input', {
		type: 'checkbox', checked: screenReaderMode(),
		change: (event: Event) => {
			const on = (event.target as HTMLInputElement).checked;
			remember('screen-reader', on ? 'on' : null);
			changed(on);
		},
	}), h('span', {}, 'Screen reader mode: makes the terminal readable line by line'));
}
