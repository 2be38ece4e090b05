import type { Terminal } from '@xterm/xterm';
import { graphemes, wcwidth } from './unicode';

const MODE = 2027;

/**
 * Switches the width of characters between wcwidth and grapheme clusters: mode 2027 does so, and a reset selects that of the
 * session.
 */
export class Clusters {
	#terminal: Terminal;
	#sessionDefault = false;

	constructor(terminal: Terminal) {
		this.#terminal = terminal;
		for (const [final, on] of [['h', true], ['l', false]] as const)
			terminal.parser.registerCsiHandler({ prefix: '?', final }, (params) => params.includes(MODE) && this.#use(on));
		terminal.parser.registerEscHandler({ final: 'c' }, () => this.#use(this.#sessionDefault));
	}

	/** The session's width of characters, from the next reset on. */
	setSession(unicode: string): void {
		this.#sessionDefault = unicode === graphemes.version;
	}

	/** Returns false, so that other handlers see the sequence too. */
	#use(on: boolean): false {
		const { unicode } = this.#terminal;
		const { version } = on ? graphemes : wcwidth;
		if (unicode.activeVersion !== version)
			unicode.activeVersion = version;
		return false;
	}
}
