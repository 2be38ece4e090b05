import { messageOf, type Api } from '../net/api';
import { browserClock } from '../net/clock';
import { Throttle } from '../net/throttle';
import type { Session } from '../net/wire';
import { fill, h } from '../ui/dom';
import { icon } from '../ui/icons';
import type { BlockKind } from './block';
import { EntryFetcher } from './entries';
import { PanelList } from './panel_list';
import { authorsOf, filterEntries, type Entry, type PanelFilter } from './panel_rows';

const SOON_MS = 1000; // minimum between two fetches
const AGAIN_MS = 10_000; // redraw relative times; pages of a share link also fetch
const SESSIONS_MAX = 50;
const COMMANDS_MAX = 1000; // for each session

export interface PanelOptions {
	readonly api: Api;
	/** Id of the only session to show, or null for all sessions. */
	readonly only: string | null;
	readonly sessions: readonly Session[];
	show(session: string, block: string): void;
	closed(): void;
}

/** Side panel with the commands of all sessions, newest first. Loaded when it is first opened. */
export class Panel {
	readonly element: HTMLElement;
	#options: PanelOptions;
	#entries: readonly Entry[] = [];
	#sessions: readonly Session[];
	#fetcher: EntryFetcher;
	#throttle = new Throttle(browserClock, SOON_MS, () => void this.#fetch());
	#text = h('input', {
		type: 'text', placeholder: 'Filter commands', 'aria-label': 'Filter commands', autocomplete: 'off', spellcheck: 'false',
		'data-testid': 'panel-text', input: () => this.#filter(),
	});
	#author = h('select', { 'aria-label': 'Author', 'data-testid': 'panel-author', change: () => this.#filter() });
	#kind = h('select', { 'aria-label': 'Result', 'data-testid': 'panel-kind', change: () => this.#filter() },
		...[['', 'Any result'], ['running', 'Running'], ['failed', 'Failed'], ['done', 'Succeeded']].map(([value, name]) =>
			h('option', { value }, name)));
	#session = h('select', { 'aria-label': 'Session', 'data-testid': 'panel-session', change: () => this.#filter() });
	#count = h('p', { class: 'block-facts', role: 'status', 'data-testid': 'panel-count' });
	#list: PanelList;
	#fetching = false;
	#timer = window.setInterval(() => this.#onTime(), AGAIN_MS);

	constructor(options: PanelOptions) {
		this.#options = options;
		this.#sessions = options.sessions;
		this.#fetcher = new EntryFetcher(options.api, SESSIONS_MAX, COMMANDS_MAX);
		this.#list = new PanelList({ named: options.only === null, show: (session, block) => options.show(session, block) });
		this.element = h('aside', {
			class: 'blocks-panel', 'aria-label': 'Commands', 'data-testid': 'blocks-panel',
			keydown: (event: KeyboardEvent) => {
				if (event.key === 'Escape')
					options.closed();
			},
		}, h('div', { class: 'panel-head' }, h('h2', {}, 'Commands'), h('button', {
			type: 'button', class: 'icon-button', 'aria-label': 'Close', click: () => options.closed(),
		}, icon('close'))), h('div', { class: 'panel-filters' }, this.#text, this.#author, this.#kind,
			options.only === null && this.#session), this.#count, this.#list.element);
		this.#throttle.request();
	}

	focus(): void {
		this.#text.focus();
	}

	dispose(): void {
		window.clearInterval(this.#timer);
		this.#throttle.dispose();
		this.#list.dispose();
		this.element.remove();
	}

	update(sessions: readonly Session[]): void {
		this.#sessions = sessions;
		if (document.visibilityState === 'visible')
			this.#throttle.request();
	}

	#onTime(): void {
		if (document.visibilityState !== 'visible')
			return;
		this.#list.draw();
		if (this.#options.only !== null)
			this.#throttle.request();
	}

	/** One fetch at a time. */
	async #fetch(): Promise<void> {
		const { only } = this.#options;
		if (this.#fetching) {
			this.#throttle.request();
			return;
		}
		this.#fetching = true;
		try {
			this.#entries = only === null ? await this.#fetcher.refresh(this.#sessions)
				: await this.#fetcher.refreshThese([{ id: only, name: only }]);
			this.#updateFilters();
			this.#filter();
		} catch (error) {
			this.#count.textContent = messageOf(error);
		} finally {
			this.#fetching = false;
		}
	}

	#updateFilters(): void {
		const sessions = new Map(this.#entries.map(({ session, name }) => [session, name]));
		setOptions(this.#author, [['', 'Any author'], ...authorsOf(this.#entries).map((name) => [name, name] as const)]);
		setOptions(this.#session, [['', 'All sessions'], ...sessions]);
	}

	#filter(): void {
		const filter: PanelFilter = {
			text: this.#text.value, author: this.#author.value, kind: this.#kind.value as BlockKind | '', session: this.#session.value,
		};
		const shown = filterEntries(this.#entries, filter);
		const count = `${shown.length} of ${this.#entries.length}`;
		if (this.#count.textContent !== count)
			this.#count.textContent = count;
		this.#list.show(shown);
	}
}

/** Set the options of the select. If they are unchanged, leave an open menu alone. */
function setOptions(select: HTMLSelectElement, choices: readonly (readonly [string, string])[]): void {
	const { value } = select;
	if (JSON.stringify([...select.options].map((option) => [option.value, option.text])) === JSON.stringify(choices))
		return;
	fill(select, ...choices.map(([choice, name]) => h('option', { value: choice }, name)));
	select.value = choices.some(([choice]) => choice === value) ? value : '';
}
