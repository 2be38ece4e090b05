import type { Port } from '../net/port_events';
import { fill, h, keepFocusOutside } from './dom';

const SHOWN = 3;

/** Offers to open ports that programs of the session listen on. */
export class PortOffers {
	readonly element = h('span', { class: 'port-offers', 'data-testid': 'port-offers', role: 'status', 'aria-live': 'polite' });
	#open: (port: number) => void;
	#ports: readonly Port[] = [];
	#dismissed = new Set<number>();

	constructor(open: (port: number) => void) {
		this.#open = open;
		keepFocusOutside(this.element);
	}

	/** Another session is shown. */
	clear(): void {
		this.#dismissed.clear();
		this.show([]);
	}

	show(ports: readonly Port[]): void {
		this.#ports = ports.filter(({ previewable }) => previewable);
		// A port that is closed and opened again is offered again.
		for (const port of this.#dismissed)
			if (!this.#ports.some((each) => each.port === port))
				this.#dismissed.delete(port);
		this.#draw();
	}

	#draw(): void {
		const offered = this.#ports.filter(({ port }) => !this.#dismissed.has(port));
		const more = offered.length - SHOWN;
		fill(this.element, ...offered.slice(0, SHOWN).map((port) => this.#offer(port)),
			more > 0 && h('span', { class: 'port-more' }, `and ${more} more`));
	}

	#offer({ port, process }: Port): HTMLElement {
		return h('span', { class: 'port-offer', 'data-port': port, title: process === undefined ? '' : `${process} listens on this port` },
			h('button', { type: 'button', class: 'port-open', click: () => this.#open(port) },
				h('span', { class: 'port-words' }, `Port ${port} is listening · `), h('b', {}, 'open')),
			h('button', {
				type: 'button', class: 'port-dismiss', 'aria-label': `Do not offer port ${port}`, title: 'Not now',
				click: () => {
					this.#dismissed.add(port);
					this.#draw();
				},
			}, '×'));
	}
}
