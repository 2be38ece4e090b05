import { openDialog } from './dialog';
import { h } from './dom';
import { FontField } from './font_field';
import { isMac } from './platform';
import { DEFAULTS, SETTINGS, type SettingName, type Settings } from './settings';
import { PALETTES } from './terminal_themes';
import type { Theme } from './theme';
import './settings.css';

const LABELS: Readonly<Record<SettingName, string>> = {
	fontFamily: 'Font', fontSize: 'Font size', lineHeight: 'Line height', cursor: 'Cursor', blink: 'Cursor blinks',
	scrollback: 'History kept in this page', selection: 'Selecting text', interrupt: 'Ctrl+C on selected text', digits: 'Alt+1…9',
	option: 'Option key',
};
const VALUE_LABELS: Readonly<Record<string, string>> = {
	'fontSize auto': 'Automatic', 'cursor block': 'Block', 'cursor bar': 'Bar', 'cursor underline': 'Underline',
	'blink auto': 'Automatic', 'blink on': 'Always', 'blink off': 'Never',
	'scrollback server': 'As on the server', 'scrollback 1000': '1,000 lines', 'scrollback 5000': '5,000 lines',
	'scrollback 10000': '10,000 lines', 'scrollback 50000': '50,000 lines', 'scrollback 100000': '100,000 lines',
	'selection keep': 'Only selects it', 'selection copy': 'Copies it', 'option character': 'Types characters', 'option meta': 'Is Meta (Alt)',
	'interrupt copy': 'Copies it', 'interrupt interrupt': 'Interrupts', 'digits sessions': 'Select sessions', 'digits shell': 'Go to the shell',
};

/** The settings dialog. Changes apply at once. Loaded when it is first opened. */
export function openSettings(settings: Settings, theme: Theme): void {
	const colours = select('theme', [['', 'Same as the system'], ...Object.entries(PALETTES).map(([name, { label }]) => [name, label] as const)],
		(value) => theme.choose(value));
	const font = new FontField(settings);
	const names = (Object.keys(SETTINGS) as SettingName[]).filter((name) => name !== 'fontFamily' && (name !== 'option' || isMac));
	const rows = names.map((name) => {
		const choices = SETTINGS[name].map((value) => {
			const word = VALUE_LABELS[`${name} ${value}`] ?? value;
			return [value, value === DEFAULTS[name] && word === value ? `${word} (default)` : word] as const;
		});
		return { name, field: select(name, choices, (value) => settings.set(name, value)) };
	});
	const show = () => {
		colours.value = theme.chosen ?? '';
		font.show();
		for (const { name, field } of rows)
			field.value = settings.values[name];
	};
	show();
	openDialog({
		title: 'Settings', testId: 'settings',
		body: [h('div', { class: 'settings' }, row('Colours', colours), font.element, ...rows.map(({ name, field }) => row(LABELS[name], field)))],
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
