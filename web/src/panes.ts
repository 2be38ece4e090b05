/* The terminals of the page: one, or up to four side by side. One of them is in front. */
import type { SessionView, SessionViewEvents } from './session_view';
import { h } from './ui/dom';
import { icon } from './ui/icons';
import { setText } from './ui/session_row';

export interface PanesOptions {
	readonly container: HTMLElement;
	make(parent: HTMLElement, id: string, events: SessionViewEvents): SessionView;
	/** Callbacks for the events of a session while it is in front. */
	events(id: string): SessionViewEvents;
	/** The user has focused another pane, which is to become the one in front. */
	activated(id: string): void;
	close(id: string): void;
}

class Pane {
	readonly id: string;
	readonly element: HTMLElement;
	readonly view: SessionView;
	#made = false; // before that the new view may take the focus by itself
	#front = false;
	#last = new Map<string, () => void>();
	#name: HTMLElement;

	constructor(id: string, options: PanesOptions) {
		this.id = id;
		this.#name = h('span', { class: 'pane-name' }, id);
		const place = h('div', { class: 'pane-place' });
		const go = () => {
			if (this.#made && !this.#front)
				options.activated(id);
		};
		this.element = h('div', { class: 'pane', 'data-testid': 'pane', 'data-session-id': id, focusin: go, pointerdown: go },
			h('div', { class: 'pane-head' }, this.#name, h('button', {
				type: 'button', class: 'icon-button small', title: 'Close this tile; the session keeps running', 'aria-label': `Close the tile ${id}`,
				'data-testid': 'pane-close', click: () => options.close(id),
			}, icon('close'))), place);
		options.container.append(this.element);
		this.view = options.make(place, id, this.#forwarding(options.events(id)));
		this.#made = true;
	}

	get front(): boolean {
		return this.#front;
	}

	/** Bring it to the front and repeat its last events. */
	activate(): void {
		this.#front = true;
		this.element.dataset['front'] = 'true';
		for (const notify of this.#last.values())
			notify();
	}

	deactivate(): void {
		this.#front = false;
		this.element.dataset['front'] = 'false';
	}

	setName(name: string): void {
		setText(this.#name, name);
	}

	dispose(): void {
		this.#front = false;
		this.view.dispose();
		this.element.remove();
	}

	/** Forward events while the pane is in front, and keep the last one of each kind for activate(). */
	#forwarding(events: SessionViewEvents): SessionViewEvents {
		const keep = (kind: string, notify: () => void) => {
			this.#last.set(kind, notify);
			if (this.#front)
				notify();
		};
		return {
			attached: () => keep('attached', () => events.attached()),
			role: (role) => keep('role', () => events.role(role)),
			connection: (...args) => keep('connection', () => events.connection(...args)),
			latency: (ms) => keep('latency', () => events.latency(ms)),
			presence: (...args) => keep('presence', () => events.presence(...args)),
			lease: (message) => keep('lease', () => events.lease(message)),
			size: (size) => keep('size', () => events.size(size)),
			renamed: (name) => {
				this.setName(name);
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

	/** Session ids side by side, from left to right; empty if there is only one. */
	get tiles(): readonly string[] {
		return this.#panes.length > 1 ? this.#panes.map(({ id }) => id) : [];
	}

	/** Ids of visible sessions. In a narrow window only the pane in front is visible (stage.css). */
	get visible(): readonly string[] {
		return this.#panes.filter(({ element }) => element.checkVisibility?.() ?? true).map(({ id }) => id);
	}

	/** The tiles after show(id). */
	tilesWith(id: string): readonly string[] {
		return this.has(id) ? this.tiles : this.tiles.map((each, at) => this.#panes[at]?.front ? id : each);
	}

	has(id: string): boolean {
		return this.#panes.some((pane) => pane.id === id);
	}

	/** Show exactly these sessions, in this order. New panes are not in front yet. */
	setSessions(ids: readonly string[]): void {
		for (const pane of this.#panes.filter(({ id }) => !ids.includes(id)))
			pane.dispose();
		this.#panes = ids.map((id) => this.#panes.find((pane) => pane.id === id) ?? new Pane(id, this.#options));
		this.#arrange();
	}

	/** Bring the session to the front. If it has no pane, it replaces the session in front. */
	show(id: string): SessionView {
		const before = this.#panes.find(({ front }) => front) ?? this.#panes[0];
		let pane = this.#panes.find((each) => each.id === id);
		before?.deactivate();
		if (pane === undefined) {
			const at = before === undefined ? 0 : this.#panes.indexOf(before);
			before?.dispose();
			pane = new Pane(id, this.#options);
			this.#panes.splice(at, 1, pane);
			this.#arrange();
		}
		pane.activate();
		return pane.view;
	}

	/** Close a pane. Returns the session in front, or null if this was the only pane. */
	close(id: string): string | null {
		const at = this.#panes.findIndex((pane) => pane.id === id), pane = this.#panes[at];
		if (pane === undefined || this.#panes.length === 1)
			return null;
		pane.dispose();
		this.#panes.splice(at, 1);
		this.#arrange();
		return (this.#panes.find(({ front }) => front) ?? this.#panes[Math.min(at, this.#panes.length - 1)])?.id ?? null;
	}

	setNames(nameOf: (id: string) => string): void {
		for (const pane of this.#panes)
			pane.setName(nameOf(pane.id));
	}

	dispose(): void {
		for (const pane of this.#panes)
			pane.dispose();
		this.#panes = [];
	}

	/** Move only panes that are out of place: moving an element loses the focus. */
	#arrange(): void {
		const { container } = this.#options;
		container.dataset['panes'] = String(this.#panes.length);
		for (const [at, { element }] of this.#panes.entries())
			if (container.children[at] !== element)
				container.insertBefore(element, container.children[at] ?? null);
	}
}
