/* The menu of a file that was clicked in the terminal. */
import { fill, h, keepFocusOutside } from '../ui/dom';
import { relativeTime } from '../ui/time';
import { sizeText } from './names';
import './files.css';

const GAP = 6; // pixels between the pointer and the menu
const MARGIN = 4; // pixels between the menu and the edges of its parent

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

	/** Show the menu beside a point of the window, also when the window gets another size: a tap may open a phone's keyboard. */
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
		this.#open = new AbortController();
		this.#keepAt(at, this.#open.signal);
		this.#listen(this.#open.signal);
	}

	close(): void {
		this.#open?.abort();
		this.#open = null;
		this.element.hidden = true;
	}

	#keepAt({ clientX, clientY }: { readonly clientX: number; readonly clientY: number }, signal: AbortSignal): void {
		const outer = this.element.parentElement;
		if (outer === null)
			return;
		const { left, top } = outer.getBoundingClientRect();
		const place = () => this.#place(clientX - left, clientY - top, outer.getBoundingClientRect());
		place();
		const observer = new ResizeObserver(place);
		observer.observe(outer);
		signal.addEventListener('abort', () => observer.disconnect());
	}

	/** Below the point, or above it if there is no space, but inside the parent. */
	#place(x: number, y: number, { width, height }: DOMRect): void {
		const { offsetWidth, offsetHeight, style } = this.element;
		const below = y + GAP + offsetHeight <= height;
		style.left = `${Math.max(MARGIN, Math.min(x, width - offsetWidth - MARGIN))}px`;
		style.top = `${Math.max(MARGIN, Math.min(below ? y + GAP : y - GAP - offsetHeight, height - offsetHeight - MARGIN))}px`;
	}

	#listen(signal: AbortSignal): void {
		const options = { capture: true, passive: false, signal };
		const onOutside = ({ target }: Event) => {
			if (!(target instanceof Node && this.element.contains(target)))
				this.close();
		};
		window.addEventListener('pointerdown', onOutside, options);
		window.addEventListener('wheel', onOutside, options);
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
