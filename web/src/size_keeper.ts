import type { Terminal } from '@xterm/xterm';
import type { Client, PresenceMessage, Role, Size } from './net/wire';
import { Screen } from './term/screen';
import { SizeBadge } from './ui/size_badge';

const SETTLE_MS = 80;

export interface SizeKeeperOptions {
	readonly mount: HTMLElement;
	readonly terminal: Terminal;
	readonly role: Role;
	/** Tell the server this window's size. */
	tell(size: Size): void;
	/** Make it the session's size, whoever holds that. */
	take(size: Size): void;
}

/**
 * A session has one size, held by whoever typed last, and every window has its own. This keeps
 * the server informed of the window's, and the terminal in the session's, with a badge when they
 * differ.
 */
export class SizeKeeper {
	readonly badge: HTMLElement;
	#options: SizeKeeperOptions;
	#screen: Screen;
	#badge: SizeBadge;
	#told: Size | null = null;
	#mine: boolean; // this window holds the size; until we hear who does, do as if
	#holder: string | null = null; // the name of who holds it
	#observer: ResizeObserver;
	#settling: number | undefined;

	constructor(options: SizeKeeperOptions) {
		this.#options = options;
		this.#mine = options.role !== 'viewer';
		this.#screen = new Screen(options.mount, options.terminal);
		this.#badge = new SizeBadge(options.role === 'owner' ? () => this.#take() : null);
		this.badge = this.#badge.element;
		// While the window is dragged: look right at once, tell the server when it has settled.
		this.#observer = new ResizeObserver(() => {
			this.layout();
			window.clearTimeout(this.#settling);
			this.#settling = window.setTimeout(() => this.#tell(), SETTLE_MS);
		});
		this.#observer.observe(options.mount);
	}

	dispose(): void {
		this.#observer.disconnect();
		window.clearTimeout(this.#settling);
	}

	/** This window's size, which is about to be told as part of connecting. */
	telling(): Size | null {
		this.#told = this.wanted();
		return this.#told;
	}

	wanted(): Size | null {
		return this.#screen.wanted();
	}

	presence({ clients, sizeBy }: PresenceMessage, me: Client['id'] | null): void {
		this.#mine = sizeBy !== null && sizeBy === me;
		this.#holder = clients.find((client) => client.id === sizeBy)?.name ?? null;
		this.layout();
	}

	/** The session's size from this place of the stream on. */
	apply({ cols, rows }: Size): void {
		const { terminal } = this.#options;
		if (cols !== terminal.cols || rows !== terminal.rows)
			terminal.resize(cols, rows);
		this.layout();
	}

	/** The cells have another size than before. */
	refit(): void {
		this.layout();
		this.#tell();
	}

	layout(): void {
		this.#screen.layout(this.#mine);
		const wanted = this.wanted();
		const { cols, rows } = this.#options.terminal;
		if (this.#mine || wanted === null || (wanted.cols === cols && wanted.rows === rows))
			this.#badge.hide();
		else
			this.#badge.show({ cols, rows }, this.#holder);
	}

	#tell(): void {
		const size = this.wanted();
		if (size === null || (size.cols === this.#told?.cols && size.rows === this.#told.rows))
			return;
		this.#told = size;
		this.#options.tell(size);
	}

	#take(): void {
		const size = this.wanted();
		if (size !== null)
			this.#options.take(size);
	}
}
