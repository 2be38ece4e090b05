import type { Terminal } from '@xterm/xterm';
import type { Api } from '../net/api';
import { browserClock } from '../net/clock';
import { Throttle } from '../net/throttle';
import type { BlockMessage, SnapshotMessage } from '../net/wire';
import { toast } from '../ui/toast';
import { copyCommand, copyLink, copyOutput, rerun, whyNotRerun } from './actions';
import type { Alerts } from './alerts';
import { BlockList, durationOf, type Block } from './block';
import { Card } from './card';
import { Gutter } from './gutter';
import { Header } from './header';
import { Marks } from './marks';
import { headOf, neighbour, placeBlocks, segmentsOf, type PlacedBlock } from './place';
import { requestNotifications } from './notify';
import { Ticks } from './ticks';

const AGAIN_MS = 1000;
/** Shorter commands get no header while the end of the output is visible. */
const LONG_MS = 2000;

export interface BlocksOptions {
	readonly api: Api;
	readonly id: string;
	readonly terminal: Terminal;
	readonly stage: HTMLElement;
	readonly mount: HTMLElement;
	/** Type a text; null if this page may only watch. */
	readonly paste: ((text: string) => void) | null;
	readonly alerts: Alerts;
	/** Block id of the command to scroll to once it is loaded, or null. */
	readonly targetBlock: string | null;
	/** Request the whole history. Returns false if it is loaded already or cannot be requested. */
	fetchAll(): boolean;
}

/** The commands of one session, and what the page shows of them beside the terminal. */
export class Blocks {
	#options: BlocksOptions;
	#list = new BlockList();
	#marks: Marks;
	#gutter: Gutter;
	#card: Card;
	#header: Header;
	#ticks: Ticks;
	#target: string | null; // block id to scroll to once it is loaded
	#placed: readonly PlacedBlock[] | null = null;
	#frame = 0;
	#restored = false; // a full snapshot is in the terminal
	#refreshThrottle = new Throttle(browserClock, AGAIN_MS, () => void this.#fetch());
	#headerTimer: number | undefined;
	#observer = new ResizeObserver(() => this.#drawSoon());
	#disposed = false;

	constructor(options: BlocksOptions) {
		this.#options = options;
		const { api, alerts: alerts, id, terminal, stage, mount, paste } = options;
		this.#target = options.targetBlock;
		this.#marks = new Marks(terminal, () => this.#drawSoon());
		this.#card = new Card({
			copyCommand,
			copyOutput: (block) => void copyOutput(api, id, block),
			copyLink,
			rerun: paste && ((block) => rerun(terminal, paste, block)),
			whyNotRerun: (block) => whyNotRerun(terminal, this.#list.running, block),
			alertWhenDone: (block) => {
				alerts.add(id, block);
				requestNotifications();
				toast('You will be notified when the command is done.');
			},
			hasAlert: (block) => alerts.has(id, block.id),
		});
		this.#gutter = new Gutter({
			point: (block, at) => this.#card.point(block, at),
			open: (block, at, byKey) => this.#card.open(block, at, byKey),
			beyond: (where) => this.#step(where),
			leave: () => terminal.focus(),
		});
		this.#header = new Header((block) => void this.#goTo(block.id), paste && (() => terminal.input('\x03', true)));
		this.#ticks = new Ticks(terminal);
		stage.append(this.#gutter.element, this.#gutter.codes, this.#header.element, this.#card.element);
		mount.addEventListener('keydown', (event) => this.#onKey(event), { capture: true });
		// These events may move rows.
		terminal.onRender(() => this.#drawSoon());
		terminal.onScroll(() => this.#drawSoon());
		terminal.onResize(() => this.#drawSoon());
		terminal.buffer.onBufferChange(() => this.#drawSoon());
		mount.addEventListener('scroll', () => this.#drawSoon());
		this.#observer.observe(mount);
	}

	/** Lies over the first rows of the terminal. */
	get header(): HTMLElement {
		return this.#header.element;
	}

	dispose(): void {
		this.#disposed = true;
		this.#refreshThrottle.dispose();
		window.clearTimeout(this.#headerTimer);
		this.#observer.disconnect();
		cancelAnimationFrame(this.#frame);
		this.#card.dispose();
		this.#header.dispose();
	}

	/** See Marks.pass(). */
	pass(data: Uint8Array, offset: number, pass: (data: Uint8Array, offset: number) => void,
		whenParsed: (run: () => void) => void): void {
		this.#marks.pass(data, offset, pass, whenParsed);
	}

	beginSnapshot(): void {
		this.#marks.beginSnapshot();
	}

	endSnapshot(snapshot: SnapshotMessage): void {
		this.#restored ||= snapshot.partial !== true;
		this.#marks.endSnapshot(snapshot);
	}

	/** The session was replaced by another with the same id, so old offsets are invalid. */
	reset(): void {
		this.#list.clear();
		this.#marks.clear();
	}

	onMessage({ event, block }: BlockMessage): void {
		if (event === 'missed' || block === undefined) {
			this.refresh();
			return;
		}
		this.#list.put(block);
		this.#options.alerts.report(this.#options.id, block);
		this.#card.update(block);
		this.#drawSoon();
	}

	/** Focus the commands beside the terminal. Returns false if none is visible. */
	focus(): boolean {
		return !this.#gutter.element.hidden && this.#gutter.focus();
	}

	/** The command that has printed this row of the active buffer; null: unknown, or none. */
	at(row: number): Block | null {
		if (this.#options.terminal.buffer.active.type === 'alternate')
			return this.#list.running;
		return this.placed.find((each) => each.row <= row && row <= each.endRow)?.block ?? null;
	}

	/** Shows the details of the command with this row of the buffer; null if there is none. */
	commandAt(row: number): (() => void) | null {
		const block = this.#gutter.element.hidden ? undefined
			: this.placed.find((each) => each.row <= row && row <= each.endRow)?.block;
		const at = block === undefined ? null : this.#gutter.stretchOf(block.id);
		return block === undefined || at === null ? null : () => this.#card.open(block, at);
	}

	/** Scroll to the command, once it is loaded. */
	show(id: string): void {
		this.#target = id;
		this.#drawSoon();
	}

	/** Fetch all commands, since messages may have been missed. */
	refresh(): void {
		this.#refreshThrottle.request();
	}

	async #fetch(): Promise<void> {
		const { api, alerts: alerts, id } = this.#options;
		const blocks = await api.blocks(id).catch(() => null);
		if (blocks === null || this.#disposed)
			return; // fetched again after the next reconnect
		this.#list.replace(blocks);
		for (const block of blocks)
			alerts.report(id, block);
		this.#drawSoon();
	}

	#drawSoon(): void {
		this.#placed = null;
		if (this.#frame === 0 && !this.#disposed)
			this.#frame = requestAnimationFrame(() => {
				this.#frame = 0;
				this.#draw();
			});
	}

	get placed(): readonly PlacedBlock[] {
		const { normal } = this.#options.terminal.buffer;
		this.#placed ??= placeBlocks(this.#list.all, (offset) => this.#marks.find(offset), normal.baseY + normal.cursorY);
		return this.#placed;
	}

	#draw(): void {
		const { terminal, stage, mount } = this.#options;
		const { active } = terminal.buffer;
		const screen = terminal.element?.querySelector('.xterm-screen');
		const full = active.type === 'alternate' || screen === null || screen === undefined;
		this.#gutter.element.hidden = this.#gutter.codes.hidden = full;
		if (full) {
			this.#card.close();
			this.#header.show(null);
			return;
		}
		const outer = stage.getBoundingClientRect();
		const inner = screen.getBoundingClientRect(), visible = mount.getBoundingClientRect();
		const above = Math.max(0, visible.top - inner.top), below = Math.max(0, inner.bottom - visible.bottom);
		this.#gutter.frame(inner.left - outer.left, inner.top - outer.top, inner.width, inner.height, { above, below });
		this.#gutter.draw(segmentsOf(this.placed, { top: active.viewportY, rows: terminal.rows }), inner.height / terminal.rows);
		this.#header.frame(inner.left - outer.left, inner.top - outer.top + above, inner.width, inner.height / terminal.rows);
		this.#header.show(this.#head());
		this.#ticks.update(this.placed, (offset) => this.#marks.markerAt(offset));
		this.#scrollToTarget();
	}

	#head(): Block | null {
		const { viewportY, baseY } = this.#options.terminal.buffer.active;
		const head = headOf(this.placed, viewportY)?.block ?? null;
		if (viewportY < baseY || head?.state !== 'running')
			return viewportY < baseY ? head : null;
		const left = LONG_MS - (durationOf(head, Date.now()) ?? 0);
		if (left <= 0)
			return head;
		window.clearTimeout(this.#headerTimer);
		this.#headerTimer = window.setTimeout(() => this.#drawSoon(), Math.min(left, LONG_MS));
		return null;
	}

	/** Alt+Up and Alt+Down scroll to the previous and the next command. */
	#onKey(event: KeyboardEvent): void {
		const { terminal } = this.#options;
		const arrow = event.key === 'ArrowUp' || event.key === 'ArrowDown';
		if (!arrow || !event.altKey || event.ctrlKey || event.shiftKey || event.metaKey
			|| terminal.buffer.active.type !== 'normal' || this.placed.length === 0)
			return;
		event.preventDefault();
		event.stopPropagation();
		this.#step(event.key === 'ArrowUp' ? 'before' : 'after');
	}

	#step(where: 'before' | 'after'): void {
		const { terminal, fetchAll } = this.#options;
		const row = neighbour(this.placed, terminal.buffer.active.viewportY, where);
		if (row !== null)
			terminal.scrollToLine(row);
		else if (where === 'after')
			terminal.scrollToBottom();
		else if (!fetchAll())
			terminal.scrollToTop();
	}

	/** Scroll to the command. Returns the row of its first line, or null if it is not in the terminal. */
	#goTo(id: string): number | null {
		const { terminal } = this.#options;
		const found = this.placed.find(({ block, begins }) => begins && block.id === id);
		if (found !== undefined)
			terminal.scrollToLine(found.row);
		return found?.row ?? null;
	}

	/** Scroll to the wanted command. Its lines may have to be requested first. */
	#scrollToTarget(): void {
		const target = this.#target;
		if (target === null || this.#list.find(target) === undefined)
			return;
		const row = this.#goTo(target);
		if (row !== null) {
			// In the first frame after a resize xterm.js may scroll to a wrong row. If so, retry in the next frame.
			const { viewportY, baseY } = this.#options.terminal.buffer.active;
			if (viewportY === Math.min(row, baseY))
				this.#target = null;
		} else if (this.#restored && !this.#options.fetchAll()) {
			this.#target = null;
			toast('The output of the command is no longer in the terminal.');
		}
	}
}
