import { colorOfName } from '../blocks/block';
import type { LeaseMessage } from '../net/wire';
import { fill, h } from './dom';
import { timeLeft } from './lease_text';

/** A frame around the terminal in the colour of the lease's holder, with its name. It ignores clicks. */
export class LeaseFrame {
	readonly element: HTMLElement;
	#left = h('span', { class: 'lease-left' });
	#name = h('span', { class: 'lease-name' });
	#timer: number | undefined;

	constructor() {
		this.element = h('div', { class: 'lease-frame', hidden: true, 'aria-hidden': 'true', 'data-testid': 'lease-frame' },
			h('span', { class: 'lease-tag' }, this.#name, this.#left));
	}

	show({ lease, yours }: LeaseMessage): void {
		window.clearInterval(this.#timer);
		this.element.hidden = lease === null;
		if (lease === null)
			return;
		this.element.dataset['color'] = yours ? '0' : String(colorOfName(lease.owner));
		this.element.dataset['mode'] = lease.mode;
		fill(this.#name, yours ? 'You' : lease.owner);
		const tick = () => fill(this.#left, timeLeft(lease, Date.now()));
		tick();
		this.#timer = window.setInterval(tick, 1000);
	}

	dispose(): void {
		window.clearInterval(this.#timer);
	}
}
