import type { Terminal } from '@xterm/xterm';

const MODE = 2027;
const COLUMNS = '11';
const CLUSTERS = '15-graphemes'; // what the addon calls them

/**
 * Switches the width of characters between the Unicode 11 tables and grapheme clusters. The session says which one a reset
 * selects, and programs switch by mode 2027. The addon is loaded when it is first needed; parsing waits for it.
 */
export class Clusters {
	#terminal: Terminal;
	#failed: () => void;
	#sessionDefault = false;
	#loading: Promise<void> | null = null;

	/** failed: the addon could not be loaded, so lines may look wrong. */
	constructor(terminal: Terminal, failed: () => void) {
		this.#terminal = terminal;
		this.#failed = failed;
		for (const [final, on] of [['h', true], ['l', false]] as const)
			terminal.parser.registerCsiHandler({ prefix: '?', final }, (params) => (params.includes(MODE) ? this.#use(on) : false));
		terminal.parser.registerEscHandler({ final: 'c' }, () => this.#use(this.#sessionDefault));
	}

	/** The width table of the session, from the next reset on. */
	setSession(unicode: string): void {
		this.#sessionDefault = unicode === 'graphemes';
		if (this.#sessionDefault)
			void this.#load();
	}

	/** Returns false, possibly later, so that other handlers see the sequence too. */
	#use(on: boolean): boolean | Promise<boolean> {
		const { unicode } = this.#terminal;
		if (on && !unicode.versions.includes(CLUSTERS))
			return this.#load().then(() => this.#choose(on));
		return this.#choose(on);
	}

	#choose(on: boolean): false {
		const { unicode } = this.#terminal;
		const version = on && unicode.versions.includes(CLUSTERS) ? CLUSTERS : COLUMNS;
		if (unicode.activeVersion !== version)
			unicode.activeVersion = version;
		return false;
	}

	#load(): Promise<void> {
		this.#loading ??= this.#fetch();
		return this.#loading;
	}

	async #fetch(): Promise<void> {
		try {
			const { UnicodeGraphemesAddon } = await import('@xterm/addon-unicode-graphemes');
			const before = this.#terminal.unicode.activeVersion;
			this.#terminal.loadAddon(new UnicodeGraphemesAddon());
			this.#terminal.unicode.activeVersion = before;
		} catch {
			this.#loading = null;
			this.#failed();
		}
	}
}
