import type { Terminal } from '@xterm/xterm';

const MOUSE = /^\x1b\[(?:M|<)/;

/** xterm.js says of each input whether it comes from somebody, but not to the public. */
function onUserInput(terminal: Terminal, heard: () => void): void {
	const { _core } = terminal as unknown as {
		readonly _core: { readonly coreService: { onUserInput(listener: () => void): unknown } };
	};
	_core.coreService.onUserInput(heard);
}

/** Modifier keys that the phone's key bar holds for the next key. */
export interface StickyModifiers {
	/** The key with the held modifiers; lets go of them. */
	apply(data: string): string;
}

/**
 * What xterm.js has to say goes to the session, each utterance in a frame of its own: keys, pastes,
 * the mouse, its focus. While history or a snapshot is being read in, only what somebody types
 * passes: what the terminal says by itself is said to the past, and would be typed into the shell.
 */
export class Input {
	#terminal: Terminal;
	#live = false;
	#typed = false; // what is said next comes from somebody

	/** typed: somebody means it, at any time; otherwise it is for now alone. */
	constructor(terminal: Terminal, sticky: StickyModifiers,
		send: (data: Uint8Array<ArrayBuffer>, typed: boolean) => void) {
		this.#terminal = terminal;
		onUserInput(terminal, () => {
			this.#typed = true;
		});
		const encoder = new TextEncoder();
		terminal.onData((data) => {
			// The mouse points at what is on the screen now.
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
