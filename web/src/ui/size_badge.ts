import type { Size, SizePolicy } from '../net/wire';
import { fill, h, keepFocusOutside } from './dom';

const OF_NOBODY: Readonly<Record<SizePolicy, string>> = {
	latest: 'Session size', smallest: 'Smallest window', fixed: 'Fixed size', owner: 'Owner’s size',
};

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

	/** holder: the name of whose window it is, or null if nobody's alone. */
	show(size: Size, policy: SizePolicy, holder: string | null): void {
		// Under the other policies only the windows themselves give the size.
		const take = policy === 'latest' || policy === 'fixed' ? this.#take : null;
		this.element.hidden = false;
		fill(this.element, h('span', { class: 'holder' }, whoseSize(policy, holder)),
			h('b', {}, `${size.cols}×${size.rows}`),
			take !== null && h('button', { type: 'button', click: take }, 'Fit to mine'));
	}

	hide(): void {
		this.element.hidden = true;
	}
}

export function whoseSize(policy: SizePolicy, holder: string | null): string {
	return holder === null ? OF_NOBODY[policy] : `${holder}’s size`;
}
