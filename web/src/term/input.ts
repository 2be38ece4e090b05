import type { Terminal } from '@xterm/xterm';

const MOUSE = /^\x1b\[(?:M|<)/;

/** Called before input that comes from the user. xterm.js has this event only internally. */
function onUserInput(terminal: Terminal, listener: () => void): void {
	const { _core } = terminal as unknown as {
		readonly _core: { readonly coreService: { onUserInput(listener: () => void): unknown } };
	};
	_core.coreService.onUserInput(listener);
}

/** Modifiers that the phone's key bar holds for the next key. */
export interface StickyModifiers {
	/** Apply the held modifiers to the key and release them. */
	apply(data: string): string;
}

/**
 * Sends input from xterm.js to the session, each event in a frame of its own: keys, pastes, mouse, focus. While history or a
 * snapshot is parsed, only what the user types is sent: replies of the terminal itself would be typed into the shell.
 */
export class Input {
	#terminal: Terminal;
	#live = false;
	#typed = false; // the next input comes from the user

	/** typed: the user typed it, so it may be sent later; other input is valid only now. */
	constructor(terminal: Terminal, sticky: StickyModifiers,
		send: (data: Uint8Array<ArrayBuffer>, typed: boolean) => void) {
		this.#terminal = terminal;
		onUserInput(terminal, () => {
			this.#typed = true;
		});
		const encoder = new TextEncoder();
		terminal.onData((data) => {
			// Mouse input refers to the current screen, so it must not be sent later.
			const typed = this.#typed && !MOUSE.test(data);
			this.#typed = false;
			if (this.#live || (typed && !terminal.options.disableStdin))
				send(encoder.encode(sticky.apply(data)), typed);
		});
		// Old mouse protocols: each character is one byte.
		terminal.onBinary((data) => {
			this.#typed = false;
			if (this.#live)
				send(Uint8Array.from(data, (character) => character.charCodeAt(0)), false);
		});
	}

	get live(): boolean {
		return this.#live;
	}

	/** live: the terminal parses live output, not history. */
	setLive(live: boolean): void {
		this.#live = live;
		// A program may have requested focus reports in the history. xterm.js did not send one then.
		if (live && this.#terminal.modes.sendFocusMode) {
			const focused = this.#terminal.element?.classList.contains('focus');
			this.#terminal.input(focused ? '\x1b[I' : '\x1b[O', false);
		}
	}
}
