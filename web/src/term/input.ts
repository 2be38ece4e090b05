import type { Terminal } from '@xterm/xterm';

/** Modifier keys that the phone's key bar holds for the next key. */
export interface StickyModifiers {
	/** The key with the held modifiers; lets go of them. */
	apply(data: string): string;
}

/**
 * What xterm.js has to say goes to the session, each utterance in a frame of its own: keys, pastes,
 * the mouse, its focus. Nothing passes while history or a snapshot is being read in: what the
 * terminal says then is said to the past, and would be typed into the shell.
 */
export class Input {
	#terminal: Terminal;
	#live = false;

	constructor(terminal: Terminal, sticky: StickyModifiers,
		send: (data: Uint8Array<ArrayBuffer>) => void) {
		this.#terminal = terminal;
		const encoder = new TextEncoder();
		terminal.onData((data) => {
			if (this.#live)
				send(encoder.encode(sticky.apply(data)));
		});
		// Old mouse protocols: each character is one byte.
		terminal.onBinary((data) => {
			if (this.#live)
				send(Uint8Array.from(data, (character) => character.charCodeAt(0)));
		});
	}

	get live(): boolean {
		return this.#live;
	}

	/** live: everything parsed so far is happening now, and so is what follows. */
	setLive(live: boolean): void {
		this.#live = live;
		// In what was read in a program may have asked for the focus, and xterm.js told nobody.
		if (live && this.#terminal.modes.sendFocusMode) {
			const focused = this.#terminal.element?.classList.contains('focus');
			this.#terminal.input(focused ? '\x1b[I' : '\x1b[O', false);
		}
	}
}
