import type { SearchAddon } from '@xterm/addon-search';
import { h } from './dom';
import { icon } from './icons';
import { SEARCH_COLORS } from './terminal_themes';
import type { Theme } from './theme';

/** Search in the terminal's history: Enter finds the previous match, Shift+Enter the next, Esc closes it. */
export class SearchBox {
	readonly element: HTMLElement;
	#search: SearchAddon;
	#input: HTMLInputElement;
	#theme: Theme;
	#opened: () => void;
	#closed: () => void;

	constructor(search: SearchAddon, theme: Theme, opened: () => void, closed: () => void) {
		this.#search = search;
		this.#theme = theme;
		this.#opened = opened;
		this.#closed = closed;
		this.#input = h('input', {
			type: 'text', placeholder: 'Search the history', 'aria-label': 'Search the history',
			autocomplete: 'off', spellcheck: 'false', 'data-testid': 'search-input',
			input: () => this.#find('previous', true),
		});
		const count = h('span', { class: 'count', 'aria-live': 'polite' });
		search.onDidChangeResults(({ resultIndex, resultCount }) => {
			if (this.#input.value === '')
				count.textContent = '';
			else
				count.textContent = resultCount === 0 ? 'none' : `${resultIndex + 1} / ${resultCount}`;
		});
		this.element = h('div', {
			class: 'search-box', role: 'search', hidden: true, 'data-testid': 'search',
			keydown: (event: KeyboardEvent) => this.#onKey(event),
		}, icon('search'), this.#input, count,
		this.#button('Previous match', 'up', () => this.#find('previous')),
		this.#button('Next match', 'down', () => this.#find('next')),
		this.#button('Close search', 'close', () => this.close()));
	}

	open(): void {
		this.#opened();
		this.element.hidden = false;
		this.#input.focus();
		this.#input.select();
	}

	close(): void {
		this.element.hidden = true;
		this.#search.clearDecorations();
		this.#closed();
	}

	#find(direction: 'previous' | 'next', incremental = false): void {
		const term = this.#input.value;
		if (term === '') {
			this.#search.clearDecorations();
			return;
		}
		const options = { incremental, decorations: SEARCH_COLORS[this.#theme.name] };
		if (direction === 'next')
			this.#search.findNext(term, options);
		else
			this.#search.findPrevious(term, options);
	}

	#onKey(event: KeyboardEvent): void {
		if (event.key === 'Escape')
			this.close();
		else if (event.key === 'Enter' && event.target === this.#input)
			this.#find(event.shiftKey ? 'next' : 'previous');
		else
			return;
		event.preventDefault();
	}

	#button(label: string, name: Parameters<typeof icon>[0], click: () => void): HTMLElement {
		return h('button', { type: 'button', class: 'icon-button', 'aria-label': label, title: label, click },
			icon(name));
	}
}
