const BELL_MS = 3000;

/** The tab's title: what the program says, which session, and whether it rang. */
export class PageTitle {
	#session = '';
	#program = '';
	#rang = false;
	#timer: number | undefined;

	constructor() {
		document.addEventListener('visibilitychange', () => {
			if (document.visibilityState === 'visible' && this.#rang)
				this.bell();
		});
	}

	/** Another session is in front. */
	clear(): void {
		this.#program = '';
		this.#rang = false;
	}

	session(name: string): void {
		this.#session = name;
		this.#show();
	}

	program(title: string): void {
		this.#program = title;
		this.#show();
	}

	/** Marks the title: for a moment, or, in a hidden tab, until somebody looks. */
	bell(): void {
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
		document.title = (this.#rang ? '● ' : '') + (parts.length > 0 ? parts.join(' · ') : 'Ringside');
	}
}
