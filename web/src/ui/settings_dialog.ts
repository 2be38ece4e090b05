import { openDialog } from './dialog';
import { h } from './dom';
import { DEFAULTS, SETTINGS, type SettingName, type Settings } from './settings';
import { PALETTES } from './terminal_themes';
import type { Theme } from './theme';
import './settings.css';

const LABELS: Readonly<Record<SettingName, string>> = {
	fontSize: 'Font size', lineHeight: 'Line height', cursor: 'Cursor', blink: 'Cursor blinks',
	interrupt: 'Ctrl+C on selected text', digits: 'Alt+1…9',
};
const VALUE_LABELS: Readonly<Record<string, string>> = {
	'fontSize auto': 'Automatic', 'cursor block': 'Block', 'cursor bar': 'Bar', 'cursor underline': 'Underline',
	'blink auto': 'Automatic', 'blink on': 'Always', 'blink off': 'Never',
	'interrupt copy': 'Copies it', 'interrupt interrupt': 'Interrupts', 'digits sessions': 'Select sessions', 'digits shell': 'Go to the shell',
};

/** The settings dialog. Changes apply at once. Loaded when it is first opened. */
export function openSettings(settings: Settings, theme: Theme): void {
	const colours = select('theme', [['', 'Same as the system'], ...Object.entries(PALETTES).map(([name, { label }]) => [name, label] as const)],
		(value) => theme.choose(value));
	const rows = Object.entries(SETTINGS).map(([key, values]) => {
		const name = key as SettingName;
		const choices = values.map((value) => {
			const word = VALUE_LABELS[`${name} ${value}`] ?? value;
			return [value, value === DEFAULTS[name] && word === value ? `${word} (default)` : word] as const;
		});
		return { name, field: select(name, choices, (value) => settings.set(name, value)) };
	});
	const show = () => {
		colours.value = theme.chosen ?? '';
		for (const { name, field } of rows)
			field.value = settings.values[name];
	};
	show();
	openDialog({
		title: 'Settings', testId: 'settings',
		body: [h('div', { class: 'settings' }, row('Colours', colours), ...rows.map(({ name, field }) => row(LABELS[name], field)))],
		actions: [h('button', {
			type: 'button', class: 'button', 'data-testid': 'settings-reset',
			click: () => {
				settings.reset();
				theme.choose(null);
				show();
			},
		}, 'Reset')],
	}).classList.add('settings-dialog');
}

function select(name: string, choices: readonly (readonly [string, string])[], chosen: (value: string) => void): HTMLSelectElement {
	const field = h('select', { 'data-testid': `setting-${name}`, change: () => chosen(field.value) },
		...choices.map(([value, label]) => h('option', { value }, label)));
	return field;
}

function row(label: string, field: HTMLElement): HTMLElement {
	return h('label', { class: 'field' }, h('span', {}, label), field);
}
