import { messageOf, type Api } from '../net/api';
import { showWallInAddress } from '../net/address';
import { SessionEvents } from '../net/session_events';
import type { Role, Session } from '../net/wire';
import type { Theme } from '../ui/theme';
import { toast } from '../ui/toast';
import type { Wall } from './wall';

export interface LazyWallOptions {
	readonly api: Api;
	readonly role: Role;
	readonly theme: Theme;
	/** The element that the wall covers. The session below stays connected and keeps its size. */
	readonly main: HTMLElement;
	/** Whether the wall has to fetch the sessions itself: the page of a share link has no list. */
	readonly follow: boolean;
	open(id: string): void;
	/** Open two or more sessions side by side; null if there is only one. */
	readonly openTiles: ((ids: readonly string[]) => void) | null;
	leave(): void;
	/** The server refused the list of sessions. */
	refused(): void;
	changed(open: boolean): void;
}

/** Opens and closes the wall, whose code is loaded when it is first opened. */
export class LazyWall {
	#options: LazyWallOptions;
	#wall: Wall | null = null;
	#opening = false;
	#events: SessionEvents | null = null;
	#sessions: readonly Session[] | null = null;

	constructor(options: LazyWallOptions) {
		this.#options = options;
	}

	get isOpen(): boolean {
		return this.#opening || this.#wall !== null;
	}

	/** first: id of the session that is selected at first. */
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
		const wasOpen = this.isOpen;
		this.#opening = false;
		this.#events?.stop();
		this.#events = null;
		this.#wall?.dispose();
		this.#wall = null;
		this.#options.main.classList.remove('walled');
		if (wasOpen)
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
			// It was closed meanwhile, or closed and opened again.
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
