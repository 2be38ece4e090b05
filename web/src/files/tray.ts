/* The list of uploads in a corner of the page. It stays when another session is shown. */
import { copyText } from '../ui/copy';
import { fill, h, keepFocusOutside } from '../ui/dom';
import { toast } from '../ui/toast';
import { sizeText } from './names';
import './files.css';

const SHOWN_MS = 6000;
const ROWS_MAX = 200;

/** One file in the tray. */
export class TrayRow {
	readonly element = h('li', { 'data-testid': 'upload' });
	#name: string;
	#size: number;
	#removed: () => void;
	#facts = h('span', { class: 'upload-facts' });
	#bar: HTMLProgressElement;
	#buttons = h('span', { class: 'upload-buttons' });

	constructor(name: string, size: number, session: string, removed: () => void) {
		this.#name = name;
		this.#size = size;
		this.#removed = removed;
		this.#bar = h('progress', { max: Math.max(size, 1), value: 0, 'aria-label': `Upload of ${name}` });
		this.element.append(h('bdi', { class: 'upload-name', title: `To ${session}` }, name), this.#facts, this.#bar, this.#buttons);
	}

	showWaiting(cancel: () => void): void {
		this.element.dataset['state'] = 'waiting';
		this.#facts.textContent = sizeText(this.#size);
		fill(this.#buttons, button('Cancel', this.#name, cancel));
	}

	progress(sent: number): void {
		this.element.dataset['state'] = 'sending';
		this.#bar.value = sent;
		this.#facts.textContent = `${sizeText(sent)} of ${sizeText(this.#size)}`;
	}

	arrived(path: string): void {
		this.element.dataset['state'] = 'arrived';
		this.#bar.remove();
		fill(this.#facts, 'Uploaded to ', h('bdi', {}, path));
		fill(this.#buttons, button('Dismiss', this.#name, () => this.remove()));
		window.setTimeout(() => this.remove(), SHOWN_MS);
	}

	failed(why: string, again: () => void): void {
		this.element.dataset['state'] = 'failed';
		this.#bar.remove();
		fill(this.#facts, h('span', { role: 'alert' }, why));
		fill(this.#buttons, button('Try again', this.#name, again), button('Dismiss', this.#name, () => this.remove()));
	}

	remove(): void {
		this.element.remove();
		this.#removed();
	}
}

export class Tray {
	readonly element: HTMLElement;
	#rows = h('ul', {});

	constructor() {
		this.element = h('section', { class: 'uploads', 'aria-label': 'Files', hidden: true, 'data-testid': 'uploads' }, this.#rows);
		keepFocusOutside(this.element);
	}

	add(name: string, size: number, session: string): TrayRow {
		const row = new TrayRow(name, size, session, () => this.#tidy());
		this.#append(row.element);
		return row;
	}

	/** Offer paths that could not be typed, to type or copy later. type: returns false if it still cannot be typed. */
	offerPaths(count: number, text: string, type: () => boolean): void {
		const what = count === 1 ? 'The path' : `${count} paths`;
		const close = () => {
			row.remove();
			this.#tidy();
		};
		const row = h('li', { 'data-testid': 'upload-path', 'data-state': 'offered' },
			h('bdi', { class: 'upload-name mono' }, text.trim()),
			h('span', { class: 'upload-facts' }, `${what} cannot be typed now: the shell is not at its prompt.`),
			h('span', { class: 'upload-buttons' },
				button('Type', what, () => (type() ? close() : toast(`${what} still cannot be typed.`))),
				button('Copy', what, () => void copyText(text.trim(), 'Copied.')), button('Dismiss', what, close)));
		this.#append(row);
	}

	#append(row: HTMLElement): void {
		if (!this.element.isConnected)
			(document.querySelector('.main') ?? document.body).append(this.element);
		this.#rows.append(row);
		// Limit only finished rows, not pending uploads.
		const finished = [...this.#rows.querySelectorAll<HTMLElement>('[data-state=failed], [data-state=offered]')];
		for (const old of finished.slice(0, Math.max(0, finished.length - ROWS_MAX)))
			old.remove();
		this.#tidy();
	}

	#tidy(): void {
		this.element.hidden = this.#rows.childElementCount === 0;
	}
}

function button(label: string, of: string, click: () => void): HTMLButtonElement {
	return h('button', { type: 'button', class: 'button small', 'aria-label': `${label}: ${of}`, click }, label);
}
