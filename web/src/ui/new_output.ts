import type { Terminal } from '@xterm/xterm';
import { h } from './dom';
import { icon } from './icons';

/** A button that appears when there is new output below a scrolled-up terminal. It scrolls to the end. */
export class NewOutput {
	readonly element = h('button', {
		type: 'button', class: 'button new-output', hidden: true, 'data-testid': 'new-output',
		click: () => {
			this.#terminal.scrollToBottom();
			this.element.hidden = true;
			this.#terminal.focus();
		},
	}, 'New output', icon('down'));
	#terminal: Terminal;
	#shownUntil = 0; // offset

	constructor(terminal: Terminal) {
		this.#terminal = terminal;
		terminal.onScroll(() => {
			if (this.#atEnd)
				this.element.hidden = true;
		});
	}

	/** The session was replaced by another with the same id, so old offsets are invalid. */
	reset(): void {
		this.#shownUntil = 0;
	}

	/** The terminal has the output up to this offset. Output that is shown again after a resume is not new. */
	reach(offset: number): void {
		if (offset <= this.#shownUntil)
			return;
		this.#shownUntil = offset;
		this.element.hidden = this.#atEnd;
	}

	get #atEnd(): boolean {
		const { viewportY, baseY } = this.#terminal.buffer.active;
		return viewportY >= baseY;
	}
}
