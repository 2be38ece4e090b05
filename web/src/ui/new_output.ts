import type { Terminal } from '@xterm/xterm';
import { h } from './dom';
import { icon } from './icons';

/** Who has scrolled up sees that there is more at the end, and gets there by one press. */
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
	#seen = 0; // offset

	constructor(terminal: Terminal) {
		this.#terminal = terminal;
		terminal.onScroll(() => {
			if (this.#atEnd)
				this.element.hidden = true;
		});
	}

	/** Another session of the same name: its offsets mean something else. */
	begin(): void {
		this.#seen = 0;
	}

	/** The terminal shows the session's output up to here. What has been there before is not new, however it comes again. */
	reach(offset: number): void {
		if (offset <= this.#seen)
			return;
		this.#seen = offset;
		this.element.hidden = this.#atEnd;
	}

	get #atEnd(): boolean {
		const { viewportY, baseY } = this.#terminal.buffer.active;
		return viewportY >= baseY;
	}
}
