import type { ITheme } from '@xterm/xterm';
import { recall, remember } from './storage';
import { isPalette, PALETTES, type PaletteName } from './terminal_themes';

export type ThemeName = 'dark' | 'light';

const system = window.matchMedia('(prefers-color-scheme: light)');

/** The theme: the system's until the user chooses a palette. Each palette is dark or light. */
export class Theme {
	#chosen: PaletteName | null;
	#listeners = new Set<() => void>();

	constructor() {
		this.#chosen = storedPalette();
		// Changed in another tab.
		window.addEventListener('storage', ({ key }) => {
			if (key === 'ringside.theme' || key === null) {
				this.#chosen = storedPalette();
				this.#apply();
			}
		});
		system.addEventListener('change', () => this.#apply());
		this.#apply();
	}

	get name(): ThemeName {
		return PALETTES[this.#palette].base;
	}

	/** null: the system's theme. */
	get chosen(): PaletteName | null {
		return this.#chosen;
	}

	get terminal(): ITheme {
		return PALETTES[this.#palette].colors;
	}

	toggle(): void {
		const other: ThemeName = this.name === 'dark' ? 'light' : 'dark';
		// If this is the system's theme, follow the system again.
		this.choose(other === systemTheme() ? null : other);
	}

	/** name: of a palette; anything else selects the system's theme. */
	choose(name: string | null): void {
		this.#chosen = name !== null && isPalette(name) ? name : null;
		remember('theme', this.#chosen);
		this.#apply();
	}

	get #palette(): PaletteName {
		return this.#chosen ?? systemTheme();
	}

	/** Returns a function that removes the listener. */
	onChange(listener: () => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	#apply(): void {
		document.documentElement.dataset['theme'] = this.name;
		const background = this.terminal.background ?? '';
		document.documentElement.style.setProperty('--terminal', background);
		for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]'))
			meta.content = background;
		for (const listener of this.#listeners)
			listener();
	}
}

function storedPalette(): PaletteName | null {
	const name = recall('theme');
	return name !== null && isPalette(name) ? name : null;
}

function systemTheme(): ThemeName {
	return system.matches ? 'light' : 'dark';
}
