import type { Terminal } from '@xterm/xterm';

/** Modifier keys that the phone's key bar holds for the next key. */
export interface StickyModifiers {
	/** The key with the held modifiers; lets go of them. */
	apply(data: string): string;
}

/**
 * What xterm.js has to say goes to the session: keys, pastes, the mouse, and its answers to
 * programs' questions. Nothing passes while history is being read in: those questions were
 * answered long ago, and the answers would be typed into the shell.
 */
export class Input {
	/** History is done and everything parsed so far is live. */
	live = false;

	constructor(terminal: Terminal, sticky: StickyModifiers,
		send: (data: Uint8Array<ArrayBuffer>) => void) {
		const encoder = new TextEncoder();
		terminal.onData((data) => {
			if (this.live)
				send(encoder.encode(sticky.apply(data)));
		});
		// Old mouse protocols: each character is one byte.
		terminal.onBinary((data) => {
			if (this.live)
				send(Uint8Array.from(data, (character) => character.charCodeAt(0)));
		});
	}
}
