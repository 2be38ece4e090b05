import type { Lease } from '../net/wire';
import { fill, h, keepFocusOutside } from './dom';

/** Says who has leased the keyboard. */
export class LeaseBadge {
	readonly element = h('div', { class: 'lease-badge', hidden: true, 'data-testid': 'lease-badge', role: 'status' });
	#end: (() => void) | null;

	/** end: take it back, for those who may. */
	constructor(end: (() => void) | null) {
		this.#end = end;
		keepFocusOutside(this.element);
	}

	show(lease: Lease | null): void {
		this.element.hidden = lease === null;
		if (lease === null)
			return;
		const exclusive = lease.mode === 'exclusive';
		this.element.title = exclusive
			? 'Only they type for now; Ctrl-C still interrupts.' : 'They type for now; nobody is kept from it.';
		fill(this.element, h('span', { class: 'holder' }, `${lease.owner} ${exclusive ? 'has the keyboard' : 'is typing'}`),
			this.#end !== null && h('button', { type: 'button', click: this.#end }, 'Take it back'));
	}
}
