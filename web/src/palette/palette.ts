/*
 * The command palette: finds sessions, actions and commands. An ARIA combobox with a list; the focus stays in the field.
 * Loaded when it is first opened.
 */
import { authorOf, type Block } from '../blocks/block';
import { fetchEntries } from '../blocks/entries';
import { filterEntries, type Entry } from '../blocks/panel_rows';
import { typeable } from '../blocks/typeable';
import { messageOf, type Api } from '../net/api';
import type { Session } from '../net/wire';
import { openDialog } from '../ui/dialog';
import { fill, h } from '../ui/dom';
import { statusOf } from '../ui/session_status';
import { relativeTime } from '../ui/time';
import { find, item, KIND_LABELS, type Found, type Item } from './items';
import './palette.css';

const SESSIONS_MAX = 20; // whose commands are fetched
const COMMANDS_MAX = 100; // for each of them

export interface Action {
	readonly label: string;
	readonly keys?: string;
	run(): void;
}

export interface PaletteOptions {
	readonly api: Api;
	/** Id of the only session of a share link, otherwise null. */
	readonly only: string | null;
	readonly current: string | null;
	readonly sessions: readonly Session[];
	readonly actions: readonly Action[];
	choose(session: string): void;
	show(session: string, block: string): void;
	/** Type a text without sending Enter; null for viewers. */
	readonly type: ((text: string) => void) | null;
}

export function openPalette(options: PaletteOptions): void {
	new Palette(options);
}

class Palette {
	#options: PaletteOptions;
	#items: readonly Item[];
	#found: readonly Found[] = [];
	#chosen = 0;
	#run: (() => void) | null = null;
	#dialog: HTMLDialogElement;
	#input = h('input', {
		type: 'text', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'palette-list', 'aria-autocomplete': 'list',
		'aria-label': 'Search sessions, commands and actions', placeholder: 'Sessions, commands, actions', autofocus: true,
		autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off', maxlength: 200, 'data-testid': 'palette-input',
		input: () => this.#find(), keydown: (event: KeyboardEvent) => this.#onKey(event),
	});
	#list = h('ul', { id: 'palette-list', role: 'listbox', 'aria-label': 'Results', 'data-testid': 'palette-list' });
	#count = h('p', { class: 'palette-count', role: 'status', 'data-testid': 'palette-count' });
	#problem = '';

	constructor(options: PaletteOptions) {
		this.#options = options;
		this.#items = [...this.#sessions(), ...this.#actions()];
		this.#dialog = openDialog({
			title: 'Command palette', testId: 'palette', body: [this.#input, this.#list, this.#count],
			submit: () => this.#choose(this.#chosen),
			// Run the item only now: the dialog has given the focus back, and another dialog may open.
			closed: () => this.#run?.(),
		});
		this.#dialog.classList.add('palette');
		this.#find();
		void this.#fetch();
	}

	#sessions(): Item[] {
		const { sessions, current, choose } = this.#options;
		return sessions.map((session, index) => {
			const { kind, text } = statusOf(session, Date.now());
			const facts = [...new Set([session.id === current ? 'current' : null, kind === 'waits' ? 'waits for input' : null, text,
				session.activity?.cwd ?? session.cwd])].filter(Boolean).join(' · ');
			return item('session', session.name || session.id, facts, () => choose(session.id), index < 9 ? `Alt+${index + 1}` : '');
		});
	}

	#actions(): Item[] {
		return this.#options.actions.map(({ label, keys, run }) => item('action', label, '', run, keys));
	}

	async #fetch(): Promise<void> {
		const { api, only } = this.#options;
		try {
			const all = filterEntries(await fetchEntries(api, only, SESSIONS_MAX, COMMANDS_MAX), { text: '', author: '', kind: '', session: '' });
			this.#items = [...this.#items, ...this.#commands(all), ...this.#retype(all)];
		} catch (error) {
			this.#problem = ` ${messageOf(error)}`;
		}
		// Keep the current selection.
		if (this.#dialog.isConnected)
			this.#find(this.#found[this.#chosen]?.item);
	}

	#commands(entries: readonly Entry[]): Item[] {
		const { show } = this.#options;
		return entries.filter(({ block }) => block.command !== null).map(({ session, name, block }) =>
			item('command', block.command ?? '', describe(block, name), () => show(session, block.id)));
	}

	/** Each text once. */
	#retype(entries: readonly Entry[]): Item[] {
		const { type } = this.#options;
		if (type === null)
			return [];
		const texts = new Set(entries.map(({ block }) => typeable(block.command)).filter((text) => text !== null));
		return [...texts].map((text) => item('again', text, '', () => type(text)));
	}

	#find(at?: Item): void {
		const { shown, all } = find(this.#items, this.#input.value);
		this.#found = shown;
		this.#chosen = Math.max(0, shown.findIndex((each) => each.item === at));
		fill(this.#list, ...shown.map((found, index) => this.#row(found, index)));
		const count = all === 0 ? 'No results' : all > shown.length ? `${shown.length} of ${all}` : `${all} found`;
		if (this.#count.textContent !== count + this.#problem)
			this.#count.textContent = count + this.#problem;
		this.#mark();
	}

	#row({ item: { kind, text, facts, keys }, indices }: Found, index: number): HTMLElement {
		return h('li', {
			id: `palette-${index}`, role: 'option', 'data-testid': 'palette-item', 'data-kind': kind,
			click: () => this.#choose(index),
			// The focus stays in the field.
			mousedown: (event: MouseEvent) => event.preventDefault(),
		}, h('span', { class: 'palette-kind' }, KIND_LABELS[kind]),
		h('bdi', { class: kind === 'command' || kind === 'again' ? 'palette-text mono' : 'palette-text' }, ...highlight(text.characters, indices)),
		keys !== '' && h('kbd', {}, keys),
		facts.characters.length > 0 && h('bdi', { class: 'palette-facts' }, facts.characters.join('')));
	}

	#onKey(event: KeyboardEvent): void {
		const { key } = event;
		const again = event.code === 'KeyP' && event.ctrlKey && event.shiftKey;
		const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[key];
		if (event.isComposing || event.altKey || event.metaKey || (!again && (step === undefined || event.ctrlKey)))
			return;
		event.preventDefault();
		if (again)
			this.#dialog.close();
		else if (this.#found.length > 0 && step !== undefined)
			this.#move(step);
	}

	/** A single step wraps around; a page stops at the end. */
	#move(step: number): void {
		const count = this.#found.length;
		const next = this.#chosen + step;
		this.#chosen = Math.abs(step) === 1 ? (next + count) % count : Math.max(0, Math.min(count - 1, next));
		this.#mark();
	}

	#mark(): void {
		for (const [index, row] of [...this.#list.children].entries())
			row.setAttribute('aria-selected', String(index === this.#chosen));
		const chosen = this.#list.children[this.#chosen];
		if (chosen === undefined)
			this.#input.removeAttribute('aria-activedescendant');
		else
			this.#input.setAttribute('aria-activedescendant', chosen.id);
		chosen?.scrollIntoView({ block: 'nearest' });
	}

	#choose(index: number): void {
		const found = this.#found[index];
		if (found === undefined)
			return;
		this.#run = () => found.item.run();
		this.#dialog.close();
	}
}

function describe(block: Block, session: string): string {
	const failed = block.state === 'done' && block.exitCode !== null && block.exitCode !== 0 ? `failed with ${block.exitCode}` : null;
	return [block.state === 'running' ? 'running' : failed, authorOf(block), session,
		block.startedAt === null ? null : relativeTime(block.startedAt)].filter(Boolean).join(' · ');
}

/** The text with its matched characters in <mark>. */
function highlight(characters: readonly string[], indices: ReadonlySet<number>): (Node | string)[] {
	const parts: { text: string; hit: boolean }[] = [];
	for (const [place, character] of characters.entries()) {
		const last = parts.at(-1);
		const hit = indices.has(place);
		if (last?.hit === hit)
			last.text += character;
		else
			parts.push({ text: character, hit });
	}
	return parts.map(({ text, hit }) => (hit ? h('mark', {}, text) : text));
}
