import { BUNDLED, isFontName } from '../term/fonts';
import { h } from './dom';
import type { Settings } from './settings';

const KNOWN = ['Cascadia Code', 'Cascadia Mono', 'Consolas', 'Courier New', 'DejaVu Sans Mono', 'Fira Code', 'Fira Mono', 'Hack', 'IBM Plex Mono',
	'Inconsolata', 'Iosevka', 'JetBrains Mono', 'Liberation Mono', 'Lucida Console', 'Menlo', 'Monaco', 'Noto Sans Mono', 'Roboto Mono', 'SF Mono',
	'Source Code Pro', 'Ubuntu Mono'];
const OTHER = '?'; // cannot be the name of a font
const SAMPLE = 'mmwwMMWWiillI10';

/** The choice of a font: well-known ones that are installed, or any by its name. */
export class FontField {
	readonly element: HTMLElement;
	#settings: Settings;
	#select: HTMLSelectElement;
	#name: HTMLInputElement;
	#hint = h('small', { role: 'status', 'data-testid': 'setting-font-hint' });

	constructor(settings: Settings) {
		this.#settings = settings;
		const choices = [['', 'Automatic'], ['monospace', 'The system’s'], [BUNDLED, 'JetBrains Mono (included)'], ...KNOWN.filter(isInstalled).map((name) => [name, name] as const), [OTHER, 'Other …']] as const;
		this.#select = h('select', { 'data-testid': 'setting-fontFamily', change: () => this.#onSelect() },
			...choices.map(([value, label]) => h('option', { value }, label)));
		this.#name = h('input', {
			type: 'text', maxlength: 64, placeholder: 'Name of a font', 'aria-label': 'Name of a font', autocomplete: 'off', autocapitalize: 'off',
			spellcheck: 'false', hidden: true, 'data-testid': 'setting-font-name', change: () => this.#choose(this.#name.value.trim()),
		});
		this.element = h('div', { class: 'field' }, h('label', { class: 'field' }, h('span', {}, 'Font'), this.#select), this.#name, this.#hint);
	}

	/** Show the setting. */
	show(): void {
		const { fontFamily } = this.#settings.values;
		const listed = [...this.#select.options].some(({ value }) => value === fontFamily);
		this.#select.value = listed ? fontFamily : OTHER;
		this.#name.hidden = listed;
		this.#name.value = listed ? '' : fontFamily;
		this.#showHint(fontFamily);
	}

	#onSelect(): void {
		if (this.#select.value !== OTHER) {
			this.#choose(this.#select.value);
			return;
		}
		this.#name.hidden = false;
		this.#name.focus();
	}

	#choose(name: string): void {
		if (name !== '' && !isFontName(name)) {
			this.#hint.textContent = 'The name of a font has only letters, digits, spaces and . _ + -';
			return;
		}
		this.#settings.set('fontFamily', name);
		this.show();
		void this.#settings.fontSettled.then(() => this.show());
	}

	#showHint(name: string): void {
		const own = name !== '' && name !== 'monospace' && name !== BUNDLED;
		this.#hint.textContent = this.#settings.fontFailed ? 'It could not be loaded, so the automatic font is used.'
			: own && !isInstalled(name) ? 'It is not installed on this device, so the automatic font is used.'
			: own && width('i', `"${name}"`) !== width('W', `"${name}"`) ? 'Its characters differ in width, so text has gaps.' : '';
	}
}

/** A font that is installed has the same width whatever would replace it. */
function isInstalled(name: string): boolean {
	return new Set(['serif', 'sans-serif', 'monospace'].map((other) => width(SAMPLE, `"${name}", ${other}`))).size === 1;
}

const canvas = document.createElement('canvas').getContext('2d');

/** fonts: a CSS value. */
function width(text: string, fonts: string): number {
	if (canvas === null)
		return 0;
	canvas.font = `32px ${fonts}`;
	return canvas.measureText(text).width;
}
