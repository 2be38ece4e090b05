import { h, keepFocusOutside } from '../ui/dom';
import { authorOf, durationOf, kindOf, showDuration, type Block } from './block';

const TICK_MS = 500;

/** Names the command whose output is at the top of the window when its own line has scrolled away. */
export class Header {
	readonly element: HTMLElement;
	#go: HTMLElement;
	#command = h('code', {});
	#facts = h('span', { class: 'block-facts' });
	#stop: HTMLElement | null;
	#block: Block | null = null;
	#timer: number | undefined;

	/** go: scroll to the command's line; stop: interrupt it, null for viewers. */
	constructor(go: (block: Block) => void, stop: (() => void) | null) {
		const withBlock = (use: (block: Block) => void) => () => {
			if (this.#block !== null)
				use(this.#block);
		};
		this.#go = h('button', { type: 'button', class: 'block-go', title: 'Scroll to the command', click: withBlock(go) }, this.#command);
		this.#stop = stop === null ? null
			: h('button', { type: 'button', class: 'button small', 'data-testid': 'block-stop', click: withBlock(stop) }, 'Stop');
		this.element = h('div', { class: 'block-header', hidden: true, 'data-testid': 'block-header' },
			this.#go, this.#facts, this.#stop);
		keepFocusOutside(this.element);
	}

	dispose(): void {
		window.clearInterval(this.#timer);
	}

	frame(left: number, top: number, width: number, rowHeight: number): void {
		Object.assign(this.element.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${rowHeight}px` });
	}

	show(block: Block | null): void {
		this.#block = block;
		window.clearInterval(this.#timer);
		this.element.hidden = block === null;
		if (block === null)
			return;
		this.element.dataset['state'] = kindOf(block);
		this.#command.textContent = block.command ?? 'A command';
		if (this.#stop !== null)
			this.#stop.hidden = block.state !== 'running';
		this.#showFacts(block);
		if (block.state === 'running')
			this.#timer = window.setInterval(() => this.#showFacts(block), TICK_MS);
	}

	#showFacts(block: Block): void {
		const duration = durationOf(block, Date.now());
		const code = kindOf(block) === 'failed' ? `failed with ${block.exitCode} · ` : '';
		this.#facts.textContent = `${code}${duration === null ? '' : `${showDuration(duration)} · `}${authorOf(block)}`;
	}
}
