import type { StickyModifiers } from './input';

export type Modifier = 'ctrl' | 'alt';

/** Ctrl and Alt for phone keyboards: a tap holds them, the next key releases them. */
export class Sticky implements StickyModifiers {
	#held = new Set<Modifier>();
	#changed: () => void = () => undefined;

	onChange(changed: () => void): void {
		this.#changed = changed;
	}

	isHeld(modifier: Modifier): boolean {
		return this.#held.has(modifier);
	}

	toggle(modifier: Modifier): void {
		if (!this.#held.delete(modifier))
			this.#held.add(modifier);
		this.#changed();
	}

	/** Release the modifiers. Returns their code in CSI 1;N sequences: 1, plus 2 for Alt, plus 4 for Ctrl. */
	release(): number {
		const number = 1 + (this.isHeld('alt') ? 2 : 0) + (this.isHeld('ctrl') ? 4 : 0);
		if (this.#held.size > 0) {
			this.#held.clear();
			this.#changed();
		}
		return number;
	}

	apply(data: string): string {
		// Sequences come from the terminal or from the key bar, which has applied the modifiers.
		if (this.#held.size === 0 || [...data].length !== 1)
			return data;
		const modifiers = this.release();
		const key = (modifiers - 1) & 4 ? control(data) : data;
		return (modifiers - 1) & 2 ? `\x1b${key}` : key;
	}
}

/** The control character of a key, or the key itself if it has none. */
function control(key: string): string {
	if (key === '?')
		return '\x7f';
	if (key === ' ')
		return '\0';
	const code = key.toUpperCase().charCodeAt(0);
	return code >= 0x40 && code <= 0x5f ? String.fromCharCode(code & 0x1f) : key;
}
