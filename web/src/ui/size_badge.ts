import type { Size } from '../net/wire';
import { fill, h, keepFocusOutside } from './dom';

/** Says whose size the terminal has, when it is not this window's. */
export class SizeBadge {
	readonly element: HTMLElement;
	#take: (() => void) | null;

	/** take: make it this window's size, for those who may. */
	constructor(take: (() => void) | null) {
		this.#take = take;
		this.element = h('div', { class: 'size-badge', hidden: true, 'data-testid': 'size-badge' });
		keepFocusOutside(this.element);
	}

	/** holder: the name of whose window it is, or null if nobody's. */
	show(size: Size, holder: string | null): void {
		this.element.hidden = false;
		fill(this.element,
			h('span', { class: 'holder' }, holder === null ? 'Session size' : `${holder}’s size`),
			h('b', {}, `${size.cols}×${size.rows}`),
			this.#take !== null && h('button', { type: 'button', click: this.#take }, 'Fit to mine'));
	}

	hide(): void {
		this.element.hidden = true;
	}
}
