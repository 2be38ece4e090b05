/* The terminals that are there: one, or up to four side by side, of which one is in front. */
import type { SessionView, SessionViewEvents } from './session_view';
import { h } from './ui/dom';
import { icon } from './ui/icons';
import { setText } from './ui/session_row';

export interface PanesOptions {
	readonly place: HTMLElement;
	make(parent: HTMLElement, id: string, events: SessionViewEvents): SessionView;
	/** What becomes of what a session tells while it is in front. */
	events(id: string): SessionViewEvents;
	/** Somebody has gone to another one: that is to be shown. */
	wanted(id: string): void;
	close(id: string): void;
}

class Pane {
	readonly id: string;
	readonly element: HTMLElement;
	readonly view: SessionView;
	#made = false; // until then it takes the focus by itself
	#front = false;
	#last = new Map<string, () => void>();
	#name: HTMLElement;

	constructor(id: string, options: PanesOptions) {
		this.id = id;
		this.#name = h('span', { class: 'pane-name' }, id);
		const place = h('div', { class: 'pane-place' });
		const go = () => {
			if (this.#made && !this.#front)
				options.wanted(id);
		};
		this.element = h('div', { class: 'pane', 'data-testid': 'pane', 'data-session-id': id, focusin: go, pointerdown: go },
			h('div', { class: 'pane-head' }, this.#name, h('button', {
				type: 'button', class: 'icon-button small', title: 'Close this tile; its session goes on', 'aria-label': `Close the tile ${id}`,
				'data-testid': 'pane-close', click: () => options.close(id),
			}, icon('close'))), place);
		options.place.append(this.element);
		this.view = options.make(place, id, this.#keeping(options.events(id)));
		this.#made = true;
	}

	get front(): boolean {
		return this.#front;
	}

	/** In front, and what it has told last is told again. */
	enter(): void {
		this.#front = true;
		this.element.dataset['front'] = 'true';
		for (const tell of this.#last.values())
			tell();
	}

	leave(): void {
		this.#front = false;
		this.element.dataset['front'] = 'false';
	}

	name(name: string): void {
		setText(this.#name, name);
	}

	dispose(): void {
		this.#front = false;
		this.view.dispose();
		this.element.remove();
	}

	/** What it tells is told while it is in front; the last of each kind is kept for when it comes there. */
	#keeping(events: SessionViewEvents): SessionViewEvents {
		const keep = (kind: string, tell: () => void) => {
			this.#last.set(kind, tell);
			if (this.#front)
				tell();
		};
		return {
			attached: () => keep('attached', () => events.attached()),
			connection: (...said) => keep('connection', () => events.connection(...said)),
			latency: (ms) => keep('latency', () => events.latency(ms)),
			presence: (...said) => keep('presence', () => events.presence(...said)),
			lease: (message) => keep('lease', () => events.lease(message)),
			size: (size) => keep('size', () => events.size(size)),
			renamed: (name) => {
				this.name(name);
				keep('renamed', () => events.renamed(name));
			},
			title: (title) => keep('title', () => events.title(title)),
			bell: () => {
				if (this.#front)
					events.bell();
			},
			signedOut: () => events.signedOut(),
			startAgain: () => events.startAgain(),
			remove: () => events.remove(),
		};
	}
}

export class Panes {
	#options: PanesOptions;
	#panes: Pane[] = [];

	constructor(options: PanesOptions) {
		this.#options = options;
	}

	/** Of those side by side, as they stand; empty where there is but one. */
	get tiles(): readonly string[] {
		return this.#panes.length > 1 ? this.#panes.map(({ id }) => id) : [];
	}

	/** Those that somebody can see: where there is no room for two, the one in front (stage.css). */
	get seen(): readonly string[] {
		return this.#panes.filter(({ element }) => element.checkVisibility?.() ?? true).map(({ id }) => id);
	}

	/** What they are when that one is shown. */
	tilesWith(id: string): readonly string[] {
		return this.has(id) ? this.tiles : this.tiles.map((each, at) => this.#panes[at]?.front ? id : each);
	}

	has(id: string): boolean {
		return this.#panes.some((pane) => pane.id === id);
	}

	/** Those sessions and no others, in that order. None of the new ones is in front yet. */
	keep(ids: readonly string[]): void {
		for (const pane of this.#panes.filter(({ id }) => !ids.includes(id)))
			pane.dispose();
		this.#panes = ids.map((id) => this.#panes.find((pane) => pane.id === id) ?? new Pane(id, this.#options));
		this.#arrange();
	}

	/** In front: the tile of that session if there is one, else it takes the place of what was there. */
	show(id: string): SessionView {
		const before = this.#panes.find(({ front }) => front) ?? this.#panes[0];
		let pane = this.#panes.find((each) => each.id === id);
		before?.leave();
		if (pane === undefined) {
			const at = before === undefined ? 0 : this.#panes.indexOf(before);
			before?.dispose();
			pane = new Pane(id, this.#options);
			this.#panes.splice(at, 1, pane);
			this.#arrange();
		}
		pane.enter();
		return pane.view;
	}

	/** Returns who is in front then; null: there are no others. */
	close(id: string): string | null {
		const at = this.#panes.findIndex((pane) => pane.id === id), pane = this.#panes[at];
		if (pane === undefined || this.#panes.length === 1)
			return null;
		pane.dispose();
		this.#panes.splice(at, 1);
		this.#arrange();
		return (this.#panes.find(({ front }) => front) ?? this.#panes[Math.min(at, this.#panes.length - 1)])?.id ?? null;
	}

	names(nameOf: (id: string) => string): void {
		for (const pane of this.#panes)
			pane.name(nameOf(pane.id));
	}

	dispose(): void {
		for (const pane of this.#panes)
			pane.dispose();
		this.#panes = [];
	}

	/** Only what is out of place is moved: moving takes the focus away. */
	#arrange(): void {
		const { place } = this.#options;
		place.dataset['panes'] = String(this.#panes.length);
		for (const [at, { element }] of this.#panes.entries())
			if (place.children[at] !== element)
				place.insertBefore(element, place.children[at] ?? null);
	}
}
