import { h, keepFocusOutside } from './dom';
import { icon, mark } from './icons';
import { recall, remember } from './storage';

/** A window that has no room for both, or a phone on its side: as in sidebar.css. */
const narrow = window.matchMedia('(max-width: 700px), (pointer: coarse) and (max-height: 500px)');

/** The list's place: beside the terminal, or on a phone a drawer over it. */
export class Sidebar {
	readonly element: HTMLElement;
	readonly backdrop = h('div', { class: 'backdrop', click: () => this.close() });

	constructor(list: HTMLElement, inbox: HTMLElement, create: () => void, createAs: () => void, wall: () => void,
		signOut: (() => void) | null) {
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
				type: 'button', class: 'icon-button small', click: wall, 'data-testid': 'wall-button',
				title: 'All sessions at once (Ctrl+Shift+L)', 'aria-label': 'All sessions at once',
			}, icon('tiles')),
			h('span', { class: 'split-button' }, h('button', {
				type: 'button', class: 'button small', click: create, 'data-testid': 'new-session',
				title: 'New session, in the folder of this one',
			}, icon('add'), 'New'), h('button', {
				type: 'button', class: 'button small', click: createAs, 'data-testid': 'new-session-as',
				'aria-label': 'New session: name, folder, shell', 'aria-haspopup': 'dialog', title: 'Name, folder, shell',
			}, icon('down')))),
		list,
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
		// A drawer that was open when the page was left is only in the way.
		if (!narrow.matches)
			remember('sidebar', this.isOpen ? null : 'closed');
	}

	open(): void {
		this.#show(true);
	}

	close(): void {
		this.#show(false);
	}

	/** After a choice: the drawer has done its work, the sidebar stays. */
	chosen(): void {
		if (narrow.matches)
			this.close();
	}

	#show(open: boolean): void {
		this.element.inert = !open;
		document.documentElement.classList.toggle('sidebar-open', open);
	}
}
