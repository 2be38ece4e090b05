import { messageOf, type Api } from '../net/api';
import { showWallInAddress } from '../net/place';
import { SessionEvents } from '../net/session_events';
import type { Role, Session } from '../net/wire';
import type { Theme } from '../ui/theme';
import { toast } from '../ui/toast';
import type { Wall } from './wall';

export interface DoorOptions {
	readonly api: Api;
	readonly role: Role;
	readonly theme: Theme;
	/** What it covers; the session below goes on, in its size. */
	readonly main: HTMLElement;
	/** Whether nobody else tells which sessions there are: a link has no list. */
	readonly follow: boolean;
	open(id: string): void;
	/** Two or more side by side; null: there are no others. */
	readonly openTiles: ((ids: readonly string[]) => void) | null;
	leave(): void;
	/** The server does not tell which sessions there are. */
	refused(): void;
	/** It is opened, or closed. */
	changed(open: boolean): void;
}

/** Opens the wall, which is fetched by then, and closes it. */
export class WallDoor {
	#options: DoorOptions;
	#wall: Wall | null = null;
	#opening = false;
	#events: SessionEvents | null = null;
	#sessions: readonly Session[] | null = null;

	constructor(options: DoorOptions) {
		this.#options = options;
	}

	/** It is there, or about to be. */
	get isOpen(): boolean {
		return this.#opening || this.#wall !== null;
	}

	/** first: the session that is chosen to begin with. */
	open(first: string | null): void {
		if (this.isOpen) {
			this.#wall?.focus();
			return;
		}
		this.#opening = true;
		showWallInAddress(this.#options.api.link);
		this.#options.changed(true);
		void this.#fetch(first);
	}

	close(): void {
		const was = this.isOpen;
		this.#opening = false;
		this.#events?.stop();
		this.#events = null;
		this.#wall?.dispose();
		this.#wall = null;
		this.#options.main.classList.remove('walled');
		if (was)
			this.#options.changed(false);
	}

	update(sessions: readonly Session[]): void {
		this.#sessions = sessions;
		this.#wall?.update(sessions);
	}

	async #fetch(first: string | null): Promise<void> {
		const { api, role, theme, main, follow, open, openTiles, leave, refused } = this.#options;
		try {
			const made = await import('./wall');
			// Somebody has gone back meanwhile, or even come again.
			if (!this.#opening || this.#wall !== null)
				return;
			this.#opening = false;
			this.#wall = new made.Wall({ api, theme, mayType: role !== 'viewer', open, openTiles, leave, refused }, first);
		} catch (error) {
			if (this.#opening) {
				toast(messageOf(error));
				leave();
			}
			return;
		}
		main.classList.add('walled');
		main.append(this.#wall.element);
		if (follow)
			this.#events = new SessionEvents(api, (sessions) => this.update(sessions), refused);
		if (this.#sessions !== null)
			this.#wall.update(this.#sessions);
	}
}
