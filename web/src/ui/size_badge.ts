import type { Size, SizePolicy } from '../net/wire';
import { fill, h, keepFocusOutside } from './dom';

const POLICY_LABELS: Readonly<Record<SizePolicy, string>> = {
	latest: 'Session size', smallest: 'Smallest window', fixed: 'Fixed size', owner: 'Owner’s size',
};

/** Shows where the session's size comes from, if not from this window. */
export class SizeBadge {
	readonly element: HTMLElement;
	#take: (() => void) | null;

	/** take: sets the size of this window; null if this page may not. */
	constructor(take: (() => void) | null) {
		this.#take = take;
		this.element = h('div', { class: 'size-badge', hidden: true, 'data-testid': 'size-badge' });
		keepFocusOutside(this.element);
	}

	/** holder: name of the client whose window sets the size, or null. */
	show(size: Size, policy: SizePolicy, holder: string | null): void {
		// Under the other policies the button would have no effect.
		const take = policy === 'latest' || policy === 'fixed' ? this.#take : null;
		this.element.hidden = false;
		fill(this.element, h('span', { class: 'holder' }, sizeLabel(policy, holder)),
			h('b', {}, `${size.cols}×${size.rows}`),
			take !== null && h('button', { type: 'button', click: take }, 'Fit to mine'));
	}

	hide(): void {
		this.element.hidden = true;
	}
}

export function sizeLabel(policy: SizePolicy, holder: string | null): string {
	return holder === null ? POLICY_LABELS[policy] : `${holder}’s size`;
}
