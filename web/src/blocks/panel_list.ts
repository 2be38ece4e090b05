import { h } from '../ui/dom';
import { setText } from '../ui/session_row';
import { relativeTime } from '../ui/time';
import { authorOf, colorOf, durationOf, kindOf, showDuration } from './block';
import { windowOf, type Entry } from './panel_rows';

const ROW_HEIGHT = 46; // as in blocks.css

/** One command. Its element is reused while it is shown, so that focus and clicks are not lost. */
class Row {
	readonly element: HTMLElement;
	#command = h('code', {});
	#facts = h('span', { class: 'block-facts' });
	#button: HTMLElement;

	constructor({ session, block }: Entry, show: (session: string, block: string) => void) {
		this.#button = h('button', {
			type: 'button', 'data-testid': 'panel-row', 'data-block-id': block.id, 'data-color': block.by === 'exec' ? colorOf(block) : null,
			click: () => show(session, block.id),
		}, this.#command, this.#facts);
		this.element = h('li', {}, this.#button);
	}

	/** at: index among count rows; named: show the name of the session. */
	update({ name, block }: Entry, at: number, count: number, named: boolean): void {
		const duration = durationOf(block, Date.now());
		const kind = kindOf(block);
		const facts = [
			kind === 'failed' ? `failed with ${block.exitCode}` : kind === 'running' ? 'running' : null,
			duration === null ? null : showDuration(duration), authorOf(block), named ? name : null,
			block.startedAt === null ? null : relativeTime(block.startedAt),
		].filter((fact) => fact !== null);
		this.#button.dataset['state'] = kind;
		setText(this.#command, block.command ?? 'A command');
		setText(this.#facts, facts.join(' · '));
		this.element.ariaSetSize = String(count);
		this.element.ariaPosInSet = String(at + 1);
		this.element.style.top = `${at * ROW_HEIGHT}px`;
	}

	get hasFocus(): boolean {
		return this.element.contains(document.activeElement);
	}
}

export interface PanelListOptions {
	/** Show the names of sessions. */
	readonly named: boolean;
	show(session: string, block: string): void;
}

/** A list of any number of commands. Elements exist only for visible rows and for the row with the focus. */
export class PanelList {
	readonly element: HTMLElement;
	#options: PanelListOptions;
	#entries: readonly Entry[] = [];
	#rowsByKey = new Map<string, Row>();
	#rows = h('ol', { class: 'panel-rows' });
	#observer = new ResizeObserver(() => this.draw());

	constructor(options: PanelListOptions) {
		this.#options = options;
		this.element = h('div', { class: 'panel-list', tabindex: 0, role: 'group', 'aria-label': 'Commands', scroll: () => this.draw() }, this.#rows);
		this.#observer.observe(this.element);
	}

	dispose(): void {
		this.#observer.disconnect();
	}

	show(entries: readonly Entry[]): void {
		this.#entries = entries;
		this.draw();
	}

	/** Update relative times and visible rows. */
	draw(): void {
		const { named, show } = this.#options;
		const count = this.#entries.length;
		const { first, end } = windowOf(count, ROW_HEIGHT, this.element.scrollTop, this.element.clientHeight);
		this.#rows.style.height = `${count * ROW_HEIGHT}px`;
		const focused = [...this.#rowsByKey].find(([, row]) => row.hasFocus)?.[0];
		const wanted = new Map<string, Row>();
		for (const at of this.#indices(first, end, focused)) {
			const entry = this.#entries[at] as Entry;
			const key = keyOf(entry);
			const row = this.#rowsByKey.get(key) ?? new Row(entry, show);
			row.update(entry, at, count, named);
			wanted.set(key, row);
		}
		if (focused !== undefined && !wanted.has(focused))
			this.element.focus();
		for (const [key, row] of this.#rowsByKey)
			if (!wanted.has(key))
				row.element.remove();
		this.#rowsByKey = wanted;
		// Move only rows that are out of place: moving an element loses its focus and clicks.
		for (const [place, { element }] of [...wanted.values()].entries())
			if (this.#rows.children[place] !== element)
				this.#rows.insertBefore(element, this.#rows.children[place] ?? null);
	}

	/** Indices from first to end (exclusive), and that of the row with the focus, in order. */
	#indices(first: number, end: number, focused: string | undefined): number[] {
		const indices = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);
		const at = focused === undefined ? -1 : this.#entries.findIndex((entry) => keyOf(entry) === focused);
		if (at >= 0 && at < first)
			indices.unshift(at);
		else if (at >= end)
			indices.push(at);
		return indices;
	}
}

function keyOf({ session, block }: Entry): string {
	return `${session} ${block.id}`;
}
