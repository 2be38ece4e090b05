import type { Terminal } from '@xterm/xterm';
import type { Client, PresenceMessage, Role, Size, SizePolicy } from './net/wire';
import type { Font } from './term/fonts';
import { zoomByPinch } from './term/pinch';
import { Screen } from './term/screen';
import { SizeBadge } from './ui/size_badge';

const SETTLE_MS = 80;
const FOLLOW_MS = 1000; // the session normally takes this window's size within this time

export interface SizeKeeperOptions {
	readonly mount: HTMLElement;
	readonly terminal: Terminal;
	readonly role: Role;
	/** A phone: it keeps the session's size, and sets its own only when the user asks. */
	readonly passive: boolean;
	/** Report this window's size to the server. */
	report(size: Size): void;
	/** Set the size of the session, under any policy. */
	claim(size: Size): void;
}

/**
 * A session has one size, which its policy takes from one of the windows. This reports the window's size to the server,
 * gives the terminal the session's size, and shows a badge if they differ.
 */
export class SizeKeeper {
	readonly badge: HTMLElement;
	#options: SizeKeeperOptions;
	#screen: Screen;
	#badge: SizeBadge;
	#reported: Size | null = null;
	#mine: boolean; // this window sets the size; assumed until the server reports it
	#holder: string | null = null; // name of the client that sets the size
	#policy: SizePolicy = 'latest';
	#observer: ResizeObserver;
	#settling: number | undefined;
	#following: number | undefined;
	#passive: boolean;
	#left = false; // this page is not a client of the session any more
	#overridden = false; // this window should set the size, but the session has another, set through the API

	constructor(options: SizeKeeperOptions) {
		this.#options = options;
		this.#passive = options.passive;
		this.#mine = options.role !== 'viewer' && !this.#passive;
		this.#screen = new Screen(options.mount, options.terminal, options.passive);
		if (options.passive)
			zoomByPinch(options.mount, (zoom) => {
				this.#screen.zoom = zoom;
				this.layout();
			});
		const mayTake = options.role === 'owner' || (options.passive && options.role === 'driver');
		this.#badge = new SizeBadge(mayTake ? () => this.#claim() : null);
		this.badge = this.#badge.element;
		// While the window is resized: lay out at once, but report the size only when it is stable.
		this.#observer = new ResizeObserver(() => {
			this.#expectSize(false);
			this.layout();
			window.clearTimeout(this.#settling);
			this.#settling = window.setTimeout(() => this.#report(), SETTLE_MS);
		});
		this.#observer.observe(options.mount);
	}

	dispose(): void {
		this.#observer.disconnect();
		window.clearTimeout(this.#settling);
		window.clearTimeout(this.#following);
	}

	/** The user types. */
	followCursor(): void {
		this.#screen.followCursor();
	}

	/** The size to report when connecting; null: none. */
	sizeToReport(): Size | null {
		this.#reported = this.#passive ? null : this.wanted();
		return this.#reported;
	}

	/** The size that fits this window. */
	wanted(): Size | null {
		return this.#screen.wanted();
	}

	/** The size of a new session, because no other window shows it yet. */
	wantedForNew(): Size | null {
		return this.#screen.wantedForNew();
	}

	presence({ clients, sizeBy, sizePolicy }: PresenceMessage, me: Client['id'] | null): void {
		this.#left = false;
		this.#policy = sizePolicy;
		this.#mine = sizeBy !== null && sizeBy === me;
		this.#holder = clients.find((client) => client.id === sizeBy)?.name ?? null;
		this.layout();
	}

	/** This page is no longer a client of the session: hide the badge until it is one again. */
	leave(): void {
		this.#left = true;
		this.layout();
	}

	/** The session has this size. */
	apply({ cols, rows }: Size): void {
		const { terminal } = this.#options;
		if (cols !== terminal.cols || rows !== terminal.rows)
			terminal.resize(cols, rows);
		this.layout();
	}

	useFont(font: Font): void {
		this.#screen.useFont(font);
		this.refit();
	}

	/** The size of cells has changed. */
	refit(): void {
		this.layout();
		this.#report();
	}

	layout(): void {
		const wanted = this.wanted();
		const { cols, rows } = this.#options.terminal;
		const differs = wanted !== null && (wanted.cols !== cols || wanted.rows !== rows);
		this.#expectSize(this.#mine && differs);
		const mine = this.#mine && !this.#overridden;
		this.#screen.layout(mine);
		if (differs && !mine && !this.#left)
			this.#badge.show({ cols, rows }, this.#policy, this.#overridden ? null : this.#holder);
		else
			this.#badge.hide();
	}

	/** waiting: the session should get this window's size soon. */
	#expectSize(waiting: boolean): void {
		if (!waiting) {
			window.clearTimeout(this.#following);
			this.#following = undefined;
			this.#overridden = false;
			return;
		}
		this.#following ??= window.setTimeout(() => {
			this.#overridden = true;
			this.layout();
		}, FOLLOW_MS);
	}

	#report(): void {
		const size = this.wanted();
		if (this.#passive || size === null || (size.cols === this.#reported?.cols && size.rows === this.#reported.rows))
			return;
		this.#reported = size;
		this.#options.report(size);
	}

	#claim(): void {
		const size = this.wanted();
		if (size === null)
			return;
		if (this.#passive) {
			this.#passive = false;
			this.#report();
		}
		if (this.#options.role === 'owner')
			this.#options.claim(size);
	}
}
