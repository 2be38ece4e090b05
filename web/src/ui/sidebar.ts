import { h, keepFocusOutside } from './dom';
import { icon, mark } from './icons';
import { recall, remember } from './storage';

/** A narrow window or a phone in landscape: as in sidebar.css. */
const narrow = window.matchMedia('(max-width: 700px), (pointer: coarse) and (max-height: 500px)');

export interface SidebarOptions {
	readonly list: HTMLElement;
	readonly filter: HTMLElement;
	readonly inbox: HTMLElement;
	readonly create: () => void;
	readonly createFromDialog: () => void;
	readonly openWall: () => void;
	/** null: the page has no login that could be ended. */
	readonly signOut: (() => void) | null;
}

/** The sidebar with the session list. On a phone it is a drawer over the terminal. */
export class Sidebar {
	readonly element: HTMLElement;
	readonly backdrop = h('div', { class: 'backdrop', click: () => this.close() });

	constructor({ list, filter, inbox, create, createFromDialog, openWall, signOut }: SidebarOptions) {
		this.element = h('aside', {
			id: 'sidebar', class: 'sidebar', 'aria-label': 'Sessions',
			keydown: (event: KeyboardEvent) => {
				if (event.key === 'Escape' && narrow.matches)
					this.close();
			},
		},
		h('div', { class: 'brand' }, mark(), h('span', {}, 'Ringside')),
		inbox,
		h('div', { class: 'sidebar-head' }, h('h2', {}, 'Sessions'), h('span', { class: 'spring' }),
			h('button', {
				type: 'button', class: 'icon-button small', click: openWall, 'data-testid': 'wall-button',
				title: 'Show all sessions (Ctrl+Shift+L)', 'aria-label': 'Show all sessions',
			}, icon('tiles')),
			h('span', { class: 'split-button' }, h('button', {
				type: 'button', class: 'button small', click: create, 'data-testid': 'new-session',
				title: 'New session in the directory of this one',
			}, icon('add'), 'New'), h('button', {
				type: 'button', class: 'button small', click: createFromDialog, 'data-testid': 'new-session-as',
				'aria-label': 'New session: name, directory, shell', 'aria-haspopup': 'dialog', title: 'Name, directory, shell',
			}, icon('down')))),
		filter, list,
		signOut !== null && h('button', { type: 'button', class: 'quiet', click: signOut },
			icon('exit'), 'Sign out'));
		keepFocusOutside(this.element);
		this.#show(!narrow.matches && recall('sidebar') !== 'closed');
		narrow.addEventListener('change', () => this.#show(!narrow.matches && recall('sidebar') !== 'closed'));
	}

	get isOpen(): boolean {
		return !this.element.inert;
	}

	toggle(): void {
		this.#show(!this.isOpen);
		// A drawer is not restored when the page is opened again.
		if (!narrow.matches)
			remember('sidebar', this.isOpen ? null : 'closed');
	}

	open(): void {
		this.#show(true);
	}

	close(): void {
		this.#show(false);
	}

	/** Close it if it is a drawer; a sidebar stays open. */
	closeDrawer(): void {
		if (narrow.matches)
			this.close();
	}

	#show(open: boolean): void {
		this.element.inert = !open;
		document.documentElement.classList.toggle('sidebar-open', open);
	}
}
