import type { ConnectionState } from '../net/connection';
import type { Size } from '../net/wire';
import { h, keepFocusOutside } from './dom';
import { icon } from './icons';

const SLOW_MS = 150;
const VERY_SLOW_MS = 400;

export interface StatusBarOptions {
	/** null: this page may not change the size policy. */
	readonly sizeMenu: HTMLElement | null;
	readonly showShortcuts: () => void;
	readonly openSettings: () => void;
}

/** The line at the bottom: connection, latency, ports, lease and size. */
export class StatusBar {
	readonly element: HTMLElement;
	#state = h('span', { role: 'status', 'aria-live': 'polite', 'data-testid': 'status', class: 'state' });
	#latency = h('span', {
		class: 'latency', 'data-testid': 'latency', title: 'Round trip to the server, median of the last five',
	});
	#lease = h('span', { class: 'size-place' });
	#ports = h('span', { class: 'ports-place' });
	#badge = h('span', { class: 'size-place' });
	#size = h('span', { class: 'size', title: 'Size of the session' });

	constructor({ sizeMenu, showShortcuts, openSettings }: StatusBarOptions) {
		this.element = h('footer', { class: 'status-bar' },
			this.#state, this.#latency, this.#ports, h('span', { class: 'spring' }), this.#lease, this.#badge, this.#size,
			sizeMenu, h('button', {
				type: 'button', class: 'icon-button small in-palette', 'aria-label': 'Settings', title: 'Settings', 'aria-haspopup': 'dialog',
				'data-testid': 'open-settings', click: openSettings,
			}, icon('settings')), h('button', {
				type: 'button', class: 'icon-button small in-palette', 'aria-label': 'Keyboard shortcuts',
				title: 'Keyboard shortcuts', click: showShortcuts,
			}, icon('keyboard')));
		keepFocusOutside(this.element);
	}

	/** See SessionViewEvents.connection(). */
	showConnection(state: ConnectionState, behind: boolean, silentMs: number): void {
		const silent = silentMs > 0 && state.kind === 'live';
		const catchingUp = behind && state.kind === 'live';
		const text = silent ? `No answer for ${Math.floor(silentMs / 1000)} s` : catchingUp ? 'Catching up…' : describe(state);
		if (this.#state.textContent !== text)
			this.#state.textContent = text;
		this.#state.dataset['state'] = silent ? 'silent' : catchingUp ? 'behind' : state.kind;
		if (state.kind !== 'live' || silent)
			this.#latency.textContent = '';
	}

	showLatency(ms: number): void {
		this.#latency.textContent = ms < 1 ? '<1 ms' : `${Math.round(ms)} ms`;
		this.#latency.dataset['speed'] = ms < SLOW_MS ? 'good' : ms < VERY_SLOW_MS ? 'slow' : 'bad';
	}

	setBadge(badge: HTMLElement): void {
		this.#badge.replaceChildren(badge);
	}

	setPorts(offers: HTMLElement): void {
		this.#ports.replaceChildren(offers);
	}

	setLease(badge: HTMLElement): void {
		this.#lease.replaceChildren(badge);
	}

	showSize(size: Size): void {
		this.#size.textContent = `${size.cols}×${size.rows}`;
	}
}

function describe(state: ConnectionState): string {
	switch (state.kind) {
	case 'idle':
	case 'connecting':
		return 'Connecting…';
	case 'replaying':
		return 'Loading history…';
	case 'live':
		return 'Connected';
	case 'waiting':
		return 'Reconnecting…';
	case 'closed':
		return state.reason === 'deleted' ? 'Deleted' : 'Disconnected';
	}
}
