import { h, keepFocusOutside } from '../ui/dom';

const GAP = 8;
const HANDLE = 30; // height of a handle below the text

export interface MenuActions {
	copy(): void;
	selectAll(): void;
	/** null: this page may only watch. */
	readonly paste: (() => void) | null;
	/** Show the details of the command that has printed the text. */
	command(): void;
}

/** Actions that are possible now. */
export interface Possible {
	readonly copy: boolean;
	readonly command: boolean;
}

/** The menu of a selection or of a place in the terminal. */
export class SelectionMenu {
	readonly element: HTMLElement;
	#copy: HTMLElement;
	#command: HTMLElement;

	constructor({ copy, selectAll, paste, command }: MenuActions) {
		const button = (label: string, click: () => void) => h('button', { type: 'button', class: 'touch-action', click }, label);
		this.#copy = button('Copy', copy);
		this.#command = button('Command', command);
		this.element = h('div', { class: 'touch-menu', role: 'toolbar', 'aria-label': 'Selection', 'data-testid': 'touch-menu', hidden: true },
			this.#copy, paste !== null && button('Paste', paste), button('Select all', selectAll), this.#command);
		keepFocusOutside(this.element);
	}

	get open(): boolean {
		return !this.element.hidden;
	}

	show({ copy, command }: Possible): void {
		this.#copy.hidden = !copy;
		this.#command.hidden = !command;
		this.element.hidden = false;
	}

	hide(): void {
		this.element.hidden = true;
	}

	/** Place it above the text between two heights of the stage, or below it, or over it. center: a distance from the left. */
	place(stage: HTMLElement, top: number, bottom: number, center: number): void {
		const { offsetWidth, offsetHeight } = this.element;
		const { clientWidth, clientHeight } = stage;
		const above = top - GAP - offsetHeight, below = bottom + HANDLE + GAP;
		const y = above >= 0 ? above : below + offsetHeight <= clientHeight ? below : clientHeight - offsetHeight - GAP;
		const x = Math.max(GAP, Math.min(clientWidth - offsetWidth - GAP, center - offsetWidth / 2));
		this.element.style.left = `${x}px`;
		this.element.style.top = `${Math.max(0, Math.min(y, clientHeight - offsetHeight))}px`;
	}
}
