import { h } from './dom';
import type { Item } from './inbox';
import { recall, remember } from './storage';

const TITLES: Readonly<Record<Item['kind'], string>> = {
	password: 'waits for a password', waits: 'waits for you', failed: 'has failed', finished: 'is done',
	bell: 'rang', notification: 'says',
};

/** System notifications. The user turns them on by a button, which asks the browser for permission. */
export class Notifier {
	readonly element = h('button', { type: 'button', class: 'inbox-notify', 'data-testid': 'notify', click: () => void this.#toggle() });
	#open: (sessionId: string) => void;

	constructor(open: (sessionId: string) => void) {
		this.#open = open;
		this.element.hidden = !('Notification' in window) || !window.isSecureContext;
		this.#show();
	}

	/** Notify of new items if the page is hidden. */
	notify(items: readonly Item[]): void {
		if (!this.#on || document.visibilityState === 'visible')
			return;
		for (const { key, kind, name, sessionId, text } of items) {
			try {
				const shown = new Notification(`${name} ${TITLES[kind]}`, { body: text, tag: key });
				shown.onclick = () => {
					window.focus();
					this.#open(sessionId);
					shown.close();
				};
			} catch {
				return; // on phones only service workers can show notifications
			}
		}
	}

	get #on(): boolean {
		return 'Notification' in window && Notification.permission === 'granted' && recall('notify') === 'on';
	}

	async #toggle(): Promise<void> {
		if (this.#on)
			remember('notify', null);
		else if (await Notification.requestPermission() === 'granted')
			remember('notify', 'on');
		this.#show();
	}

	#show(): void {
		this.element.textContent = this.#on ? 'Turn notifications off'
			: 'Notification' in window && Notification.permission === 'denied' ? 'The browser blocks notifications' : 'Notify me when this page is hidden';
	}
}
