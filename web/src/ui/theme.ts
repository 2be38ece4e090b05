import type { ITheme } from '@xterm/xterm';
import { recall, remember } from './storage';
import { TERMINAL_THEMES } from './terminal_themes';

export type ThemeName = 'dark' | 'light';

const system = window.matchMedia('(prefers-color-scheme: light)');

/** Dark or light: what the system says, until the reader says otherwise. */
export class Theme {
	#chosen: ThemeName | null;
	#listeners = new Set<() => void>();

	constructor() {
		const kept = recall('theme');
		this.#chosen = kept === 'dark' || kept === 'light' ? kept : null;
		system.addEventListener('change', () => this.#apply());
		this.#apply();
	}

	get name(): ThemeName {
		return this.#chosen ?? systemTheme();
	}

	get terminal(): ITheme {
		return TERMINAL_THEMES[this.name];
	}

	/** Programs choose their colours for dark terminals; on paper-white some need help. */
	get minimumContrast(): number {
		return this.name === 'light' ? 4.5 : 1;
	}

	toggle(): void {
		const other: ThemeName = this.name === 'dark' ? 'light' : 'dark';
		// Back at the system's choice, follow the system again.
		this.#chosen = other === systemTheme() ? null : other;
		remember('theme', this.#chosen);
		this.#apply();
	}

	/** Returns how to stop listening. */
	onChange(listener: () => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	#apply(): void {
		document.documentElement.dataset['theme'] = this.name;
		const background = this.terminal.background ?? '';
		for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]'))
			meta.content = background;
		for (const listener of this.#listeners)
			listener();
	}
}

function systemTheme(): ThemeName {
	return system.matches ? 'light' : 'dark';
}
