/* The menu of a file that was clicked in the terminal. */
import { fill, h, keepFocusOutside } from '../ui/dom';
import { relativeTime } from '../ui/time';
import { sizeText } from './names';
import './files.css';

const GAP = 6; // pixels between the pointer and the menu

export interface MenuFile {
	readonly path: string;
	readonly size: number;
	readonly modifiedAt: string;
}

export interface FileMenuActions {
	download(path: string): void;
	copy(path: string): void;
}

/** It does not take the focus: keys close it and go to the terminal, except Esc. */
export class FileMenu {
	readonly element = h('div', { class: 'file-menu', role: 'dialog', 'aria-label': 'File', 'data-testid': 'file-menu', hidden: true });
	#actions: FileMenuActions;
	#open: AbortController | null = null; // removes the listeners

	constructor(actions: FileMenuActions) {
		this.#actions = actions;
		keepFocusOutside(this.element);
	}

	/** Show the menu beside a point of the window. */
	show({ path, size, modifiedAt }: MenuFile, at: { readonly clientX: number; readonly clientY: number }): void {
		this.close();
		const button = (label: string, name: string, run: () => void) => h('button', {
			type: 'button', class: 'button small', 'data-testid': `file-${name}`,
			click: () => {
				this.close();
				run();
			},
		}, label);
		fill(this.element, h('bdi', { class: 'file-path mono' }, path),
			h('p', { class: 'file-facts' }, `${sizeText(size)} · changed ${relativeTime(modifiedAt)}`),
			h('div', { class: 'file-actions' },
				button('Download', 'download', () => this.#actions.download(path)),
				button('Copy path', 'copy', () => this.#actions.copy(path))));
		this.element.hidden = false;
		this.#place(at);
		this.#listen();
	}

	close(): void {
		this.#open?.abort();
		this.#open = null;
		this.element.hidden = true;
	}

	/** Below the point, or above it if there is more space. */
	#place({ clientX, clientY }: { readonly clientX: number; readonly clientY: number }): void {
		const outer = this.element.parentElement?.getBoundingClientRect();
		if (outer === undefined)
			return;
		const { offsetWidth, offsetHeight, style } = this.element;
		const x = clientX - outer.left;
		const y = clientY - outer.top;
		const below = y + GAP + offsetHeight <= outer.height;
		style.left = `${Math.max(4, Math.min(x, outer.width - offsetWidth - 4))}px`;
		style.top = `${Math.max(4, below ? y + GAP : y - GAP - offsetHeight)}px`;
	}

	#listen(): void {
		this.#open = new AbortController();
		const options = { capture: true, passive: false, signal: this.#open.signal };
		const onOutside = ({ target }: Event) => {
			if (!(target instanceof Node && this.element.contains(target)))
				this.close();
		};
		window.addEventListener('pointerdown', onOutside, options);
		window.addEventListener('wheel', onOutside, options);
		window.addEventListener('resize', () => this.close(), options);
		window.addEventListener('keydown', (event) => {
			if (event.key === 'Escape') {
				event.preventDefault();
				event.stopPropagation();
			} else if (event.target instanceof Node && this.element.contains(event.target)) {
				return;
			}
			this.close();
		}, options);
	}
}
