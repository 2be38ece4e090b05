/* The panel of commands, whose code is loaded when it is first opened. */
import type { Api } from '../net/api';
import type { Session } from '../net/wire';
import type { Panel } from './panel';

interface LazyPanelOptions {
	readonly api: Api;
	/** Id of the only session to show, or null for all sessions. */
	readonly only: string | null;
	show(session: string, block: string): void;
	/** The panel was closed; the focus has to go elsewhere. */
	closed(): void;
}

export class LazyPanel {
	#options: LazyPanelOptions;
	#panel: Panel | null = null;
	#sessions: readonly Session[] = [];

	constructor(options: LazyPanelOptions) {
		this.#options = options;
	}

	async toggle(): Promise<void> {
		if (this.#panel !== null) {
			this.#close();
			return;
		}
		const { Panel } = await import('./panel');
		if (this.#panel !== null)
			return;
		const { api, only, show } = this.#options;
		this.#panel = new Panel({
			api, only, sessions: this.#sessions, show: (session, block) => show(session, block), closed: () => this.#close(),
		});
		document.querySelector('.app')?.append(this.#panel.element);
		this.#panel.focus();
	}

	update(sessions: readonly Session[]): void {
		this.#sessions = sessions;
		this.#panel?.update(sessions);
	}

	dispose(): void {
		this.#panel?.dispose();
		this.#panel = null;
	}

	#close(): void {
		this.dispose();
		this.#options.closed();
	}
}
