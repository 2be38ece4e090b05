import { h } from '../ui/dom';
import { durationOf, showDuration, wasInterrupted, type Block } from './block';
import type { Segment } from './place';

export interface GutterEvents {
	/** The pointer has entered the stretch of a command, or left it (null). */
	point(block: Block | null, at: HTMLElement | null): void;
	/** byKey: opened by the keyboard, so the focus moves into the card. */
	open(block: Block, at: HTMLElement, byKey: boolean): void;
	/** An arrow key moved beyond the visible commands. */
	beyond(where: 'before' | 'after'): void;
	/** The focus goes back to the terminal. */
	leave(): void;
}

/** The strip beside the terminal: a stretch for each visible command, and the exit codes of failed ones. */
export class Gutter {
	readonly element = h('div', {
		class: 'gutter', 'data-testid': 'gutter', role: 'group', 'aria-label': 'Commands',
		keydown: (event: KeyboardEvent) => this.#onKey(event),
	});
	readonly codes = h('div', { class: 'block-codes', 'aria-hidden': 'true' });
	#events: GutterEvents;
	#drawn = new Map<string, { segment: Segment; stretch: HTMLElement; code: HTMLElement | null }>();
	#rowHeight = 0;
	#stop: string | null = null; // block id of the only stretch that Tab reaches

	constructor(events: GutterEvents) {
		this.#events = events;
	}

	/**
	 * left, top: position of the terminal's first cell in the stage. above, below: pixels of it that are not visible, because
	 * it is larger than the window.
	 */
	frame(left: number, top: number, width: number, height: number, { above, below }: { above: number; below: number }): void {
		this.element.style.clipPath = this.codes.style.clipPath = `inset(${above}px 0 ${below}px)`;
		const stripWidth = Math.max(3, Math.min(6, left - 2));
		Object.assign(this.element.style, {
			left: `${Math.max(0, left - stripWidth - 2)}px`, top: `${top}px`, width: `${stripWidth}px`, height: `${height}px`,
		});
		Object.assign(this.codes.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
	}

	draw(segments: readonly Segment[], rowHeight: number): void {
		const stay = new Set(segments.map(({ id }) => id));
		const focused = this.element.contains(document.activeElement);
		for (const [id, { stretch, code }] of this.#drawn) {
			if (stay.has(id))
				continue;
			stretch.remove();
			code?.remove();
			this.#drawn.delete(id);
		}
		for (const segment of segments) {
			const before = this.#drawn.get(segment.id);
			if (before === undefined || rowHeight !== this.#rowHeight || !isSame(before.segment, segment))
				this.#drawOne(segment, rowHeight);
		}
		this.#rowHeight = rowHeight;
		this.#settle(focused);
	}

	/** Focus the newest visible command. Returns false if there is none. */
	focus(): boolean {
		const last = this.#inOrder().at(-1);
		if (last === undefined)
			return false;
		this.#moveTo(last.segment.id);
		return true;
	}

	/** The stretch of a command, if it is visible. */
	stretchOf(id: string): HTMLElement | null {
		return this.#drawn.get(id)?.stretch ?? null;
	}

	#inOrder(): { segment: Segment; stretch: HTMLElement }[] {
		return [...this.#drawn.values()].sort((a, b) => a.segment.top - b.segment.top);
	}

	/** Let Tab reach exactly one stretch. focused: a stretch had the focus and may have been removed. */
	#settle(focused: boolean): void {
		const all = this.#inOrder();
		const gone = this.#stop === null || !this.#drawn.has(this.#stop);
		const stop = gone ? all.at(-1) : this.#drawn.get(this.#stop ?? '');
		this.#stop = stop?.segment.id ?? null;
		for (const { stretch } of all)
			stretch.tabIndex = stretch === stop?.stretch ? 0 : -1;
		if (focused && !this.element.contains(document.activeElement))
			stop === undefined ? this.#events.leave() : stop.stretch.focus();
	}

	#moveTo(id: string): void {
		this.#stop = id;
		this.#settle(false);
		this.#drawn.get(id)?.stretch.focus();
	}

	#onKey(event: KeyboardEvent): void {
		if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey)
			return;
		const all = this.#inOrder();
		const at = all.findIndex(({ stretch }) => stretch === document.activeElement);
		const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
		if (event.key === 'Escape') {
			this.#events.leave();
		} else if (step !== undefined && at >= 0) {
			const next = all[at + step];
			if (next === undefined)
				this.#events.beyond(step < 0 ? 'before' : 'after');
			else
				this.#moveTo(next.segment.id);
		} else {
			return;
		}
		event.preventDefault();
		event.stopPropagation();
	}

	#drawOne(segment: Segment, rowHeight: number): void {
		const { id, block, kind, color } = segment;
		const before = this.#drawn.get(id);
		before?.code?.remove();
		const stretch = before?.stretch ?? this.#newStretch(id);
		stretch.setAttribute('aria-label', describe(block));
		stretch.dataset['state'] = kind;
		stretch.dataset['rows'] = `${segment.top}+${segment.height}`;
		stretch.classList.toggle('interrupted', wasInterrupted(block));
		stretch.classList.toggle('begins', segment.begins);
		if (color === null)
			delete stretch.dataset['color'];
		else
			stretch.dataset['color'] = String(color);
		stretch.style.top = `${segment.top * rowHeight}px`;
		stretch.style.height = `${segment.height * rowHeight}px`;
		let code: HTMLElement | null = null;
		if (kind === 'failed' && segment.begins) {
			code = h('span', { class: 'block-code', 'data-testid': 'block-code' }, String(block.exitCode));
			code.classList.toggle('interrupted', wasInterrupted(block));
			code.style.top = `${segment.top * rowHeight}px`;
			code.style.lineHeight = `${rowHeight}px`;
			this.codes.append(code);
		}
		this.#drawn.set(id, { segment, stretch, code });
	}

	#newStretch(id: string): HTMLElement {
		const block = () => this.#drawn.get(id)?.segment.block ?? null;
		const stretch = h('button', {
			type: 'button', tabindex: -1, class: 'stretch', 'data-testid': 'block', 'data-block-id': id, 'aria-haspopup': 'dialog',
			pointerenter: () => this.#events.point(block(), stretch),
			pointerleave: () => this.#events.point(null, null),
			mousedown: (event: MouseEvent) => event.preventDefault(), // keep the focus in the terminal
			click: (event: MouseEvent) => {
				const clicked = block();
				if (clicked !== null)
					this.#events.open(clicked, stretch, event.detail === 0);
			},
		});
		this.element.append(stretch);
		return stretch;
	}
}

function isSame(a: Segment, b: Segment): boolean {
	return a.block === b.block && a.top === b.top && a.height === b.height && a.begins === b.begins;
}

export function describe(block: Block): string {
	const duration = durationOf(block, Date.now());
	const took = duration === null ? '' : `, ${showDuration(duration)}`;
	const ended = block.state === 'running' ? 'running'
		: block.exitCode === null ? 'ended' : block.exitCode === 0 ? 'succeeded' : `failed with ${block.exitCode}`;
	return `${block.command ?? 'A command'}: ${ended}${block.state === 'running' ? '' : took}`;
}
