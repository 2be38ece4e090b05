import type { Terminal } from '@xterm/xterm';
import { h } from '../ui/dom';
import { iconButton } from '../ui/icon_button';
import { icon } from '../ui/icons';
import type { Theme } from '../ui/theme';
import { SEARCH_COLORS } from './colors';
import type { Place } from './lines';
import { MATCHES_MAX } from './results';
import { revealPlace } from './reveal';
import { TerminalSearch, type SearchState } from './terminal_search';
import './search.css';

export interface SearchBoxOptions {
	readonly terminal: Terminal;
	readonly mount: HTMLElement;
	readonly theme: Theme;
	/** Fetch the lines that the page does not have yet. */
	fetchAll(): void;
	closed(): void;
}

/** Search in the terminal's history: Enter finds the previous match, Shift+Enter the next, Esc closes it. */
export class SearchBox {
	readonly element: HTMLElement;
	#options: SearchBoxOptions;
	#search: TerminalSearch;
	#input = h('input', {
		type: 'text', placeholder: 'Search the history', 'aria-label': 'Search the history',
		autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', maxlength: 1000, 'data-testid': 'search-input',
		input: () => this.#find(),
	});
	#count = h('span', { class: 'count', role: 'status', 'data-testid': 'search-count' });
	#problem = h('p', { class: 'problem', role: 'alert', 'data-testid': 'search-problem' });
	#caseSensitive = this.#toggle('Match case (Alt+C)', 'Aa', 'case');
	#regex = this.#toggle('Regular expression (Alt+R)', '.*', 'regex');
	#stopTheme: () => void;

	constructor(options: SearchBoxOptions) {
		const { terminal, theme } = options;
		this.#options = options;
		this.#search = new TerminalSearch({
			terminal, colors: () => SEARCH_COLORS[theme.name], changed: (state) => this.#show(state), reveal: (place) => this.#reveal(place),
			searched: () => options.fetchAll(),
		});
		this.#stopTheme = theme.onChange(() => this.#search.redraw());
		this.element = h('div', {
			class: 'search-box', role: 'search', hidden: true, 'data-testid': 'search',
			keydown: (event: KeyboardEvent) => this.#onKey(event),
		}, h('div', { class: 'search-field' }, icon('search'), this.#input, this.#count),
		h('div', { class: 'search-buttons' }, this.#caseSensitive, this.#regex,
			iconButton('Previous match', 'up', () => this.#search.move(-1)),
			iconButton('Next match', 'down', () => this.#search.move(1)),
			iconButton('Close search', 'close', () => this.close())),
		this.#problem);
	}

	open(): void {
		const wasOpen = !this.element.hidden;
		this.#options.fetchAll();
		this.element.hidden = false;
		this.#input.focus();
		this.#input.select();
		if (!wasOpen)
			this.#find();
	}

	close(): void {
		this.element.hidden = true;
		this.#search.stop();
		this.#options.closed();
	}

	dispose(): void {
		this.#stopTheme();
		this.#search.dispose();
	}

	#find(): void {
		const text = this.#input.value;
		if (text !== '') {
			this.#search.search({ text, caseSensitive: isOn(this.#caseSensitive), regex: isOn(this.#regex) });
			return;
		}
		this.#search.stop();
		this.#show(null);
	}

	#show(state: SearchState | null): void {
		this.#problem.textContent = state?.problem ?? '';
		this.#input.setAttribute('aria-invalid', String(this.#problem.textContent !== ''));
		const text = state === null || state.problem !== null ? '' : describe(state);
		if (this.#count.textContent !== text)
			this.#count.textContent = text;
	}

	/** Scroll to the place. If the box covers it even so, move the box. */
	#reveal(place: Place): void {
		const { terminal, mount } = this.#options;
		this.element.classList.remove('low');
		const covers = () => this.element.getBoundingClientRect();
		this.element.classList.toggle('low', revealPlace(terminal, mount, place, covers));
	}

	#onKey(event: KeyboardEvent): void {
		const { key, code, target, shiftKey } = event;
		const alt = event.altKey && !event.ctrlKey && !event.metaKey;
		if (event.isComposing)
			return;
		if (key === 'Escape')
			this.close();
		else if (key === 'Enter' && target === this.#input)
			this.#search.move(shiftKey ? 1 : -1);
		else if (alt && code === 'KeyC')
			this.#caseSensitive.click();
		else if (alt && code === 'KeyR')
			this.#regex.click();
		else
			return;
		event.preventDefault();
	}

	#toggle(label: string, text: string, name: string): HTMLButtonElement {
		const toggle = h('button', {
			type: 'button', class: 'icon-button toggle mono', 'aria-label': label.replace(/ \(.*/, ''), title: label, 'aria-pressed': 'false',
			'data-testid': `search-${name}`,
			click: () => {
				toggle.setAttribute('aria-pressed', String(!isOn(toggle)));
				this.#find();
			},
		}, text);
		return toggle;
	}
}

function isOn(toggle: HTMLButtonElement): boolean {
	return toggle.getAttribute('aria-pressed') === 'true';
}

function describe({ count, index, busy }: SearchState): string {
	const all = count.toLocaleString('en') + (count === MATCHES_MAX ? '+' : '');
	if (busy)
		return '…';
	return count === 0 ? 'none' : index < 0 ? all : `${(index + 1).toLocaleString('en')} of ${all}`;
}
