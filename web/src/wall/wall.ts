import { copyOutput } from '../blocks/actions';
import { messageOf, type Api } from '../net/api';
import { browserClock } from '../net/clock';
import { Control } from '../net/control';
import { sessionHref, TILES_MAX } from '../net/address';
import type { Session } from '../net/wire';
import '../styles/wall.css';
import { h } from '../ui/dom';
import { icon } from '../ui/icons';
import { setText } from '../ui/session_row';
import { countWaiting } from '../ui/session_status';
import { MINIMUM_CONTRAST } from '../ui/terminal_themes';
import type { Theme } from '../ui/theme';
import { toast } from '../ui/toast';
import { answerQuestion, interrupt } from './answer_question';
import { WallCanvas } from './canvas';
import { Colors } from './colors';
import { Feed } from './feed';
import { layOut, moveBy, placeOf, tilesBetween, type Layout } from './layout';
import { dueAt, nextOrder, NO_ORDER } from './order';
import { Tile } from './tile';

const TICK_MS = 1000; // for "1:12"
const DRAW_MS = 60; // pictures that arrive within this time are drawn together
const REST_MS = 700; // tiles do not move until the pointer has rested for this time

export interface WallOptions {
	readonly api: Api;
	readonly theme: Theme;
	readonly mayType: boolean;
	open(id: string): void;
	/** Open two or more sessions side by side; null if there is only one. */
	readonly openTiles: ((ids: readonly string[]) => void) | null;
	leave(): void;
	/** The access of this page seems to have ended. */
	refused(): void;
}

/** All sessions, live and small; those that wait for input first. It attaches to none, so no size changes. Loaded when it is opened. */
export class Wall {
	readonly element: HTMLElement;
	#options: WallOptions;
	#control: Control;
	#feed: Feed;
	#canvas = new WallCanvas();
	#colors: Colors;
	#sessions: readonly Session[] = [];
	#order = NO_ORDER;
	#ids: readonly string[] = []; // in the order of tiles, which lags behind #order while the pointer moves
	#tiles = new Map<string, Tile>();
	#coarse = window.matchMedia('(pointer: coarse)');
	#layout: Layout = layOut(0, 0, 0, false);
	#current: string | null;
	#pressed = false;
	#movedAt = -REST_MS; // last move of the pointer over tiles
	#dirty = new Set<string>();
	#updated = false; // update() was called
	#wasOpen = false; // the socket was open before
	#drawTimer: number | undefined;
	#orderTimer: number | undefined;
	#tickTimer: number;
	#count = h('p', { class: 'wall-count', role: 'status', 'data-testid': 'wall-count' });
	#picked: readonly string[] = []; // ids selected for opening side by side
	#openPicked = h('button', {
		type: 'button', class: 'button small primary', hidden: true, 'data-testid': 'wall-together', click: () => this.#options.openTiles?.(this.#picked),
	});
	#list = h('ul', { class: 'wall-tiles', 'aria-label': 'Sessions' });
	#scroller = h('div', { class: 'wall-scroller', tabindex: -1, scroll: () => this.#onScroll() });
	#space = h('div', { class: 'wall-space' });
	#observer = new ResizeObserver(() => this.#arrange());
	#removeListeners: () => void;

	/** first: id of the session that is selected at first. */
	constructor(options: WallOptions, first: string | null) {
		this.#options = options;
		this.#current = first;
		this.#colors = this.#newColors();
		this.#control = new Control({
			clock: browserClock, random: Math.random, changed: () => {
				this.#feed.connectionChanged();
				this.#showStatus();
			},
			open: () => options.api.mux.open('/ws'), ended: () => options.refused(),
		});
		this.#feed = new Feed(this.#control, browserClock, (id) => this.#drawSoon(id));
		this.#space.append(this.#canvas.element, this.#list);
		this.#scroller.append(this.#space);
		this.element = h('section', {
			class: 'wall', 'aria-label': 'All sessions', 'data-testid': 'wall', keydown: (event: KeyboardEvent) => this.#onKey(event),
			pointerdown: () => { this.#pressed = true; }, pointermove: () => { this.#movedAt = performance.now(); },
		}, h('header', { class: 'wall-head' }, h('h1', {}, 'All sessions'), this.#count, h('span', { class: 'spring' }), this.#openPicked, h('button', {
			type: 'button', class: 'icon-button', title: 'Back (Escape)', 'aria-label': 'Back', 'data-testid': 'wall-close',
			click: () => options.leave(),
		}, icon('close'))), this.#scroller);
		this.#removeListeners = this.#addListeners();
		this.#tickTimer = window.setInterval(() => this.#tick(), TICK_MS);
		this.#showStatus();
		if (document.visibilityState === 'visible')
			this.#control.start();
	}

	dispose(): void {
		this.#removeListeners();
		window.clearInterval(this.#tickTimer);
		window.clearTimeout(this.#drawTimer);
		window.clearTimeout(this.#orderTimer);
		this.#observer.disconnect();
		this.#feed.stop();
		this.#control.stop();
		this.element.remove();
	}

	update(sessions: readonly Session[]): void {
		const isFirst = !this.#updated;
		this.#updated = true;
		this.#sessions = sessions;
		for (const session of sessions) {
			const tile = this.#tiles.get(session.id);
			if (tile?.session !== session)
				tile?.update(session);
		}
		this.#feed.update(sessions);
		this.#sort();
		this.#showStatus();
		if (isFirst)
			this.focus();
	}

	/** Focus the current tile, or the wall if there is none. */
	focus(): void {
		const tile = this.#tiles.get(this.#current ?? '');
		if (tile === undefined) {
			this.#scroller.focus();
			return;
		}
		this.#reveal(this.#ids.indexOf(tile.session.id));
		tile.focus();
	}

	#sort(): void {
		const now = performance.now();
		this.#order = nextOrder(this.#order, this.#sessions, now);
		window.clearTimeout(this.#orderTimer);
		const due = dueAt(this.#order);
		if (due !== null)
			this.#orderTimer = window.setTimeout(() => this.#sort(), due - now);
		this.#place();
	}

	/** Apply the order. While the pointer moves or presses or a form is open, tiles only go and new ones come last. */
	#place(): void {
		const moving = this.#movedAt + REST_MS - performance.now();
		const held = this.#pressed || moving > 0 || [...this.#tiles.values()].some((tile) => tile.hasForm);
		if (moving > 0) {
			window.clearTimeout(this.#orderTimer);
			this.#orderTimer = window.setTimeout(() => this.#sort(), moving);
		}
		const { ids } = this.#order;
		const next = held ? [...this.#ids.filter((id) => ids.includes(id)), ...ids.filter((id) => !this.#ids.includes(id))] : ids;
		const same = next.length === this.#ids.length && next.every((id, at) => id === this.#ids[at]);
		if (same)
			return;
		const at = this.#ids.indexOf(this.#current ?? '');
		const focused = this.#list.contains(document.activeElement);
		this.#ids = next;
		this.#makeTiles();
		if (this.#current === null || !next.includes(this.#current))
			this.#choose(next[Math.max(0, Math.min(at, next.length - 1))] ?? null);
		this.#arrange();
		if (focused && !this.#list.contains(document.activeElement))
			this.focus();
	}

	#makeTiles(): void {
		const ids = new Set(this.#ids);
		for (const [id, tile] of this.#tiles) {
			if (!ids.has(id)) {
				tile.element.remove();
				this.#tiles.delete(id);
			}
		}
		if (this.#picked.some((id) => !ids.has(id)))
			this.#showPicked(this.#picked.filter((id) => ids.has(id)));
		const known = new Map(this.#sessions.map((session) => [session.id, session]));
		for (const [at, id] of this.#ids.entries()) {
			let tile = this.#tiles.get(id);
			const session = known.get(id);
			if (tile === undefined && session !== undefined) {
				tile = this.#newTile(session);
				this.#tiles.set(id, tile);
			}
			if (tile !== undefined && this.#list.children[at] !== tile.element)
				this.#putAt(tile, at);
		}
	}

	/** Move a tile and keep its focus, which moving an element loses. */
	#putAt(tile: Tile, at: number): void {
		const focused = tile.element.contains(document.activeElement) ? document.activeElement as HTMLElement : null;
		this.#list.insertBefore(tile.element, this.#list.children[at] ?? null);
		focused?.focus({ preventScroll: true });
	}

	#newTile(session: Session): Tile {
		const { api, mayType, open, openTiles } = this.#options;
		const href = api.link === null ? sessionHref(session.id) : `?${new URLSearchParams({ link: api.link })}`;
		const tile = new Tile(session, href, mayType, {
			open, chosen: (id) => this.#choose(id),
			interrupt: ({ id }) => void interrupt(this.#control, id).catch((error: unknown) => toast(messageOf(error))),
			copy: ({ id, activity }) => {
				if (activity?.block)
					void copyOutput(api, id, activity.block);
			},
			answer: (asked, text) => answerQuestion(api, this.#control, asked, text),
			pick: openTiles === null ? null : (id) => this.#pick(id),
		});
		tile.current = session.id === this.#current;
		return tile;
	}

	#pick(id: string): void {
		if (this.#picked.includes(id))
			this.#showPicked(this.#picked.filter((each) => each !== id));
		else if (this.#picked.length < TILES_MAX)
			this.#showPicked([...this.#picked, id]);
		else
			toast(`At most ${TILES_MAX} sessions can be side by side.`);
	}

	#showPicked(ids: readonly string[]): void {
		this.#picked = ids;
		for (const [id, tile] of this.#tiles)
			tile.picked = ids.includes(id);
		this.#openPicked.hidden = ids.length < 2;
		setText(this.#openPicked, `Open ${ids.length} side by side`);
	}

	#choose(id: string | null): void {
		if (id === this.#current)
			return;
		const before = this.#tiles.get(this.#current ?? ''), now = this.#tiles.get(id ?? '');
		this.#current = id;
		if (before !== undefined)
			before.current = false;
		if (now !== undefined)
			now.current = true;
	}

	/** Lay out everything for this window and these sessions. */
	#arrange(): void {
		const { clientWidth, clientHeight } = this.#scroller;
		this.#layout = layOut(this.#ids.length, clientWidth, clientHeight, this.#coarse.matches);
		this.#space.style.height = `${Math.max(this.#layout.height, clientHeight)}px`;
		for (const [at, id] of this.#ids.entries())
			this.#tiles.get(id)?.place(placeOf(this.#layout, at));
		const tile = this.#tiles.get(this.#current ?? '');
		if (tile !== undefined)
			tile.current = true;
		this.#fetchVisible();
		this.#drawAll();
	}

	#visibleRange(): { top: number; bottom: number } {
		const { scrollTop, clientHeight } = this.#scroller;
		return { top: scrollTop, bottom: scrollTop + clientHeight };
	}

	/** Fetch and draw what is visible. */
	#onScroll(): void {
		this.#fetchVisible();
		if (this.#cover())
			this.#drawAll();
	}

	#fetchVisible(): void {
		const { top, bottom } = this.#visibleRange();
		const { first, end } = tilesBetween(this.#layout, top, bottom);
		this.#feed.setVisible(document.visibilityState === 'visible' ? this.#ids.slice(first, end) : []);
	}

	#cover(): boolean {
		const { top, bottom } = this.#visibleRange();
		const { clientWidth, clientHeight } = this.#scroller;
		if (clientWidth === 0 || clientHeight === 0)
			return false;
		return this.#canvas.cover(top, bottom, clientWidth, Math.max(this.#layout.height, clientHeight));
	}

	#drawAll(): void {
		this.#cover();
		this.#canvas.clear(getComputedStyle(this.element).backgroundColor);
		this.#draw(this.#ids);
	}

	#drawSoon(id: string): void {
		this.#dirty.add(id);
		this.#drawTimer ??= window.setTimeout(() => {
			this.#drawTimer = undefined;
			this.#draw([...this.#dirty]);
		}, DRAW_MS);
	}

	#draw(ids: Iterable<string>): void {
		const { top, bottom } = this.#canvas.range;
		const places = new Map(this.#ids.map((id, at) => [id, at]));
		for (const id of ids) {
			this.#dirty.delete(id);
			const at = places.get(id);
			if (at === undefined)
				continue;
			const place = placeOf(this.#layout, at);
			if (place.y < bottom && place.y + place.height > top)
				this.#canvas.draw({ place, picture: this.#feed.picture(id) }, this.#colors);
		}
	}

	#newColors(): Colors {
		const { theme } = this.#options;
		return new Colors(theme.terminal, MINIMUM_CONTRAST);
	}

	#showStatus(): void {
		const count = this.#sessions.length, waiting = countWaiting(this.#sessions);
		const text = !this.#updated ? '' : count === 0 ? 'There are no sessions.'
			: `${count} session${count === 1 ? '' : 's'}${waiting === 0 ? '' : `, ${waiting} need${waiting === 1 ? 's' : ''} you`}`;
		setText(this.#count, this.#updated && !this.#control.open && this.#wasOpen ? 'The server cannot be reached. Trying again…' : text);
		this.#wasOpen ||= this.#control.open;
		this.element.dataset['state'] = this.#control.open ? 'live' : 'away';
	}

	#tick(): void {
		if (document.visibilityState !== 'visible')
			return;
		const { top, bottom } = this.#visibleRange();
		const { first, end } = tilesBetween(this.#layout, top, bottom);
		for (const id of this.#ids.slice(first, end))
			this.#tiles.get(id)?.tick();
	}

	#onKey(event: KeyboardEvent): void {
		if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || event.defaultPrevented)
			return;
		const { clientHeight } = this.#scroller;
		const page = Math.max(1, Math.floor(clientHeight / this.#layout.tileHeight));
		const at = this.#ids.indexOf(this.#current ?? '');
		const next = at < 0 ? null : moveBy(event.key, at, this.#layout, page);
		if (event.key === 'Escape')
			this.#options.leave();
		else if (next !== null) {
			this.#choose(this.#ids[next] ?? null);
			this.focus();
		} else {
			return;
		}
		event.preventDefault();
	}

	/** Scroll the tile into view, no further than needed. */
	#reveal(at: number): void {
		const { y, height, headHeight } = placeOf(this.#layout, at);
		const { top, bottom } = this.#visibleRange();
		const around = headHeight / 2;
		if (y < top)
			this.#scroller.scrollTop = y - around;
		else if (y + height > bottom)
			this.#scroller.scrollTop = y + height + around - (bottom - top);
	}

	/** Returns a function that removes the listeners. */
	#addListeners(): () => void {
		const { theme } = this.#options;
		const looked = () => {
			if (document.visibilityState === 'visible')
				this.#control.start();
			else
				this.#control.stop();
			this.#onScroll();
		};
		const nudge = () => this.#control.nudge();
		const arrange = () => this.#arrange(); // a mouse was attached
		const released = () => {
			this.#pressed = false;
			// After the click event, which is for the pressed element.
			window.setTimeout(() => this.#place());
		};
		// Escape without focus. Dialogs and the session list handle it first.
		const escape = (event: KeyboardEvent) => {
			if (event.key === 'Escape' && event.target === document.body && document.querySelector('dialog[open]') === null)
				this.#options.leave();
		};
		const stopTheme = theme.onChange(() => {
			this.#colors = this.#newColors();
			this.#drawAll();
		});
		document.addEventListener('visibilitychange', looked);
		document.addEventListener('keydown', escape);
		window.addEventListener('online', nudge);
		this.#coarse.addEventListener('change', arrange);
		for (const event of ['pointerup', 'pointercancel'])
			window.addEventListener(event, released);
		this.#observer.observe(this.#scroller);
		return () => {
			stopTheme();
			document.removeEventListener('visibilitychange', looked);
			document.removeEventListener('keydown', escape);
			window.removeEventListener('online', nudge);
			this.#coarse.removeEventListener('change', arrange);
			for (const event of ['pointerup', 'pointercancel'])
				window.removeEventListener(event, released);
		};
	}
}
