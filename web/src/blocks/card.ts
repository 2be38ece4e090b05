import { fill, h, keepFocusOutside } from '../ui/dom';
import { authorOf, colorOf, durationOf, showDuration, type Block } from './block';

const OPEN_MS = 120;
const CLOSE_MS = 300;

export interface CardActions {
	copyCommand(block: Block): void;
	copyOutput(block: Block): void;
	copyLink(block: Block): void;
	/** Types the command; null for viewers. */
	readonly rerun: ((block: Block) => void) | null;
	/** Why the command cannot be typed now; null if it can. */
	whyNotRerun(block: Block): string | null;
	alertWhenDone(block: Block): void;
	hasAlert(block: Block): boolean;
}

/** Details of one command and buttons for it. Shown beside its stretch of the gutter while the pointer is there. */
export class Card {
	readonly element = h('div', {
		class: 'block-card', hidden: true, 'data-testid': 'block-card', role: 'dialog', 'aria-label': 'Command',
		pointerenter: () => window.clearTimeout(this.#timer),
		pointerleave: ({ pointerType }: PointerEvent) => {
			if (pointerType !== 'touch') // a finger leaves it after each tap
				this.point(null, null);
		},
		keydown: (event: KeyboardEvent) => {
			if (event.key !== 'Escape')
				return;
			event.stopPropagation();
			this.close();
		},
		focusout: ({ relatedTarget }: FocusEvent) => {
			if (relatedTarget instanceof Node && !this.element.contains(relatedTarget))
				this.close();
		},
	});
	#actions: CardActions;
	#timer: number | undefined;
	#block: Block | null = null;
	#at: HTMLElement | null = null; // the stretch that the card belongs to; gets the focus back
	#onPress = ({ target }: Event) => {
		if (!this.element.contains(target as Node))
			this.close();
	};

	constructor(actions: CardActions) {
		this.#actions = actions;
		keepFocusOutside(this.element);
	}

	dispose(): void {
		window.clearTimeout(this.#timer);
		document.removeEventListener('touchstart', this.#onPress, { capture: true });
	}

	/** The pointer has entered a stretch of the gutter, or left it (null). */
	point(block: Block | null, at: HTMLElement | null): void {
		window.clearTimeout(this.#timer);
		if (this.#hasFocus)
			return;
		this.#timer = window.setTimeout(() => {
			if (block === null || at === null)
				this.close();
			else
				this.open(block, at);
		}, block === null ? CLOSE_MS : this.element.hidden ? OPEN_MS : 0);
	}

	/** byKey: move the focus into the card; close() moves it back. */
	open(block: Block, at: HTMLElement, byKey = false): void {
		window.clearTimeout(this.#timer);
		this.#at = at;
		this.#block = block;
		this.#fill(block);
		this.element.hidden = false;
		document.addEventListener('touchstart', this.#onPress, { passive: true, capture: true });
		const stage = this.element.parentElement;
		if (stage === null)
			return;
		const outer = stage.getBoundingClientRect();
		const inner = at.getBoundingClientRect();
		const space = outer.height - this.element.offsetHeight - 4;
		this.element.style.top = `${Math.max(4, Math.min(inner.top - outer.top, space))}px`;
		this.element.style.left = `${inner.right - outer.left + 4}px`;
		if (byKey)
			this.element.querySelector<HTMLElement>('button:enabled')?.focus();
	}

	close(): void {
		window.clearTimeout(this.#timer);
		const back = this.#hasFocus ? this.#at : null;
		document.removeEventListener('touchstart', this.#onPress, { capture: true });
		this.#block = null;
		this.#at = null;
		this.element.hidden = true;
		back?.focus();
	}

	get #hasFocus(): boolean {
		return this.element.contains(document.activeElement);
	}

	update(block: Block): void {
		if (this.#block?.id !== block.id)
			return;
		this.#block = block;
		const focused = this.#hasFocus ? (document.activeElement as HTMLElement).dataset['testid'] : undefined;
		this.#fill(block);
		if (focused !== undefined)
			(this.element.querySelector<HTMLElement>(`[data-testid="${focused}"]:enabled`)
				?? this.element.querySelector<HTMLElement>('button:enabled'))?.focus();
	}

	#fill(block: Block): void {
		const actions = this.#actions;
		const duration = durationOf(block, Date.now());
		const result = block.state === 'running' ? 'Running' : block.exitCode === null ? 'Ended'
			: block.exitCode === 0 ? 'Succeeded' : `Failed with ${block.exitCode}`;
		const whyNot = actions.whyNotRerun(block);
		const { rerun } = actions;
		fill(this.element,
			h('code', { class: 'block-command' }, block.command ?? 'A command'),
			h('p', { class: 'block-facts' }, h('b', { 'data-state': block.state }, result),
				duration === null || block.state === 'running' ? null : ` after ${showDuration(duration)}`, ' · ',
				h('span', { class: 'block-author', 'data-color': block.by === 'exec' ? colorOf(block) : null }, authorOf(block))),
			h('div', { class: 'block-actions' },
				this.#button('Copy command', 'copy-command', () => actions.copyCommand(block), block.command === null),
				this.#button('Copy output', 'copy-output', () => actions.copyOutput(block)),
				rerun !== null && this.#button('Type again', 'rerun', () => rerun(block), whyNot !== null, whyNot),
				this.#button('Copy link', 'copy-link', () => actions.copyLink(block)),
				block.state === 'running' && this.#button('Notify me when done', 'tell', () => actions.alertWhenDone(block),
					actions.hasAlert(block))));
	}

	#button(label: string, name: string, click: () => void, disabled = false, title: string | null = null): HTMLElement {
		return h('button', {
			type: 'button', class: 'button small', 'data-testid': `block-${name}`, disabled, title,
			click: () => {
				click();
				this.close();
			},
		}, label);
	}
}
