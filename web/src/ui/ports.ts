/* Offers ports that programs of a session listen on, and opens them through previews. */
import type { Api } from '../net/api';
import { previewUrl } from '../net/address';
import { PortEvents } from '../net/port_events';
import { PortOffers } from './port_offers';

export class Ports {
	#api: Api;
	#id: string | null = null;
	#events: PortEvents | null = null;
	#offers: PortOffers;

	/** attempt: runs a task and reports its failure. */
	constructor(api: Api, attempt: (task: () => Promise<void>) => void) {
		this.#api = api;
		this.#offers = new PortOffers((port) => attempt(() => this.#open(port)));
	}

	get element(): HTMLElement {
		return this.#offers.element;
	}

	/** Show the ports of this session from now on. Only owners may see them. */
	follow(id: string): void {
		this.stop();
		this.#id = id;
		this.#offers.clear();
		this.#events = new PortEvents(this.#api, id, (ports) => this.#offers.show(ports));
	}

	stop(): void {
		this.#events?.stop();
		this.#events = null;
	}

	async #open(port: number): Promise<void> {
		if (this.#id === null)
			return;
		const preview = await this.#api.exposePort(port, this.#id);
		// The preview gets no handle on this page and no referrer.
		window.open(previewUrl(preview), '_blank', 'noopener,noreferrer');
	}
}
