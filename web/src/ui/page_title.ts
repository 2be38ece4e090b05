import { showBadge } from './favicon';
import type { Unseen } from './inbox';

const BELL_MS = 3000;
const COUNT_MAX = 9;
const NOTHING_UNSEEN: Unseen = { bell: false, failed: false };

/**
 * The title of the tab: number of waiting sessions, failures and bells in sessions that are not visible, bell of this one,
 * title set by the program, name of the session. The icon shows the first of them.
 */
export class PageTitle {
	#session = '';
	#program = '';
	#rang = false;
	#waiting = 0;
	#unseen: Unseen = NOTHING_UNSEEN;
	#timer: number | undefined;
	#disposed = new AbortController();

	constructor() {
		document.addEventListener('visibilitychange', () => {
			if (document.visibilityState === 'visible' && this.#rang)
				this.ring();
		}, { signal: this.#disposed.signal });
	}

	/** Show nothing of the sessions any more. */
	dispose(): void {
		this.#disposed.abort();
		window.clearTimeout(this.#timer);
		document.title = 'Ringside';
		showBadge('', 'waits');
	}

	/** Another session is in front. */
	clear(): void {
		this.#program = '';
		this.#rang = false;
	}

	setSession(name: string): void {
		this.#session = name;
		this.#show();
	}

	/** The number of sessions that wait for input. */
	setWaiting(count: number): void {
		this.#waiting = count;
		this.#show();
	}

	/** What happened in sessions that are not visible. */
	setUnseen(unseen: Unseen): void {
		this.#unseen = unseen;
		this.#show();
	}

	setProgram(title: string): void {
		this.#program = title;
		this.#show();
	}

	/** Mark the title for a moment, or in a hidden tab until it is visible. */
	ring(): void {
		this.#rang = true;
		this.#show();
		window.clearTimeout(this.#timer);
		if (document.visibilityState === 'visible')
			this.#timer = window.setTimeout(() => {
				this.#rang = false;
				this.#show();
			}, BELL_MS);
	}

	#show(): void {
		const { bell, failed } = this.#unseen;
		const title = [this.#waiting > 0 && `(${this.#waiting})`, failed && '✗', (bell || this.#rang) && '🔔',
			[this.#program, this.#session].filter(Boolean).join(' · ') || 'Ringside'].filter(Boolean).join(' ');
		if (title !== document.title)
			document.title = title;
		if (this.#waiting > 0)
			showBadge(this.#waiting > COUNT_MAX ? '+' : String(this.#waiting), 'waits');
		else
			showBadge(failed ? '!' : bell ? '♪' : '', failed ? 'failed' : 'waits');
	}
}
