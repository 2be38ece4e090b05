import type { SizePolicy } from '../net/wire';
import { fill, h } from './dom';
import { icon } from './icons';

const POLICIES: Readonly<Record<SizePolicy, string>> = {
	latest: 'Window that typed last',
	smallest: 'Smallest window',
	owner: 'Owner’s window',
	fixed: 'Fixed size…',
};

/** Selects the size policy of the session. An icon over an invisible native select. */
export class SizeMenu {
	readonly element: HTMLElement;
	#select: HTMLSelectElement;

	constructor(choose: (policy: SizePolicy) => void) {
		let before: HTMLElement | null = null; // the element that had the focus
		this.#select = h('select', {
			'data-testid': 'size-policy',
			focus: (event: FocusEvent) => {
				before = event.relatedTarget as HTMLElement | null;
			},
			change: () => {
				const chosen = this.#select.value as SizePolicy;
				this.#select.value = ''; // so that the same policy can be chosen again; the server reports the current one
				before?.focus();
				choose(chosen);
			},
		});
		this.element = h('label', { class: 'icon-button small size-menu' }, icon('resize'), this.#select);
		this.show('latest');
	}

	show(policy: SizePolicy): void {
		const label = `Size of the session: ${POLICIES[policy].replace('…', '')}`;
		if (this.#select.ariaLabel === label)
			return; // an open menu stays open
		this.#select.ariaLabel = label;
		this.element.title = label;
		fill(this.#select, h('option', { value: '', hidden: true }),
			...Object.entries(POLICIES).map(([value, text]) =>
				h('option', { value }, value === policy ? `${text} ✓` : text)));
	}
}
