import { showCount } from './favicon';

const BELL_MS = 3000;

/** The title of the tab: number of waiting sessions, bell, title set by the program, name of the session. */
export class PageTitle {
	#session = '';
	#program = '';
	#rang = false;
	#waiting = 0;
	#timer: number | undefined;

	constructor() {
		document.addEventListener('visibilitychange', () => {
			if (document.visibilityState === 'visible' && this.#rang)
				this.ring();
		});
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
		if (count === this.#waiting)
			return;
		this.#waiting = count;
		showCount(count);
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
		const parts = [this.#program, this.#session].filter((part) => part !== '');
		document.title = (this.#waiting > 0 ? `(${this.#waiting}) ` : '') + (this.#rang ? '● ' : '') + (parts.length > 0 ? parts.join(' · ') : 'Ringside');
	}
}
