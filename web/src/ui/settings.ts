/* How somebody wants the page to be, kept by the browser. What is kept may be anything: only what is known counts. */
import { recall, remember } from './storage';

/** What each may be, first what it is unless somebody says otherwise. */
export const SETTINGS = {
	fontSize: ['auto', '8', '9', '10', '11', '12', '13', '14', '15', '16', '17', '18', '20', '22', '24', '28', '32'],
	lineHeight: ['1.15', '1', '1.05', '1.1', '1.2', '1.3', '1.4', '1.6', '1.8', '2'],
	cursor: ['block', 'bar', 'underline'],
	blink: ['auto', 'on', 'off'],
	interrupt: ['copy', 'interrupt'], // what Ctrl-C does where something is selected
	digits: ['sessions', 'shell'], // whose Alt+1…9 are
} as const;

export type SettingName = keyof typeof SETTINGS;
export type SettingValues = { readonly [Name in SettingName]: (typeof SETTINGS)[Name][number] };

export const DEFAULTS = Object.fromEntries(
	Object.entries(SETTINGS).map(([name, [value]]) => [name, value])) as unknown as SettingValues;

/** Each by itself: one that makes no sense takes none of the others along. */
export function parseSettings(kept: string | null): SettingValues {
	let value: unknown = null;
	try {
		value = JSON.parse(kept ?? 'null');
	} catch {
		// Of somebody else, or cut.
	}
	if (typeof value !== 'object' || value === null)
		return DEFAULTS;
	const found = Object.entries(value).filter(([name, each]) =>
		Object.hasOwn(SETTINGS, name) && (SETTINGS[name as SettingName] as readonly unknown[]).includes(each));
	return { ...DEFAULTS, ...Object.fromEntries(found) };
}

export class Settings {
	#values = parseSettings(recall('settings'));
	#listeners = new Set<() => void>();

	constructor() {
		// Of another tab.
		window.addEventListener('storage', ({ key }) => {
			if (key === 'ringside.settings' || key === null)
				this.#apply(parseSettings(recall('settings')));
		});
	}

	get values(): SettingValues {
		return this.#values;
	}

	set(name: SettingName, value: string): void {
		this.#keep(parseSettings(JSON.stringify({ ...this.#values, [name]: value })));
	}

	reset(): void {
		this.#keep(DEFAULTS);
	}

	/** In CSS pixels; on a narrow screen a little less unless somebody says. */
	get fontSize(): number {
		const { fontSize } = this.#values;
		return fontSize !== 'auto' ? Number(fontSize) : window.matchMedia('(max-width: 700px)').matches ? 13 : 14;
	}

	get lineHeight(): number {
		return Number(this.#values.lineHeight);
	}

	/** readOnly: of who types nothing it shows no more than a place. */
	blinks(readOnly: boolean): boolean {
		const { blink } = this.#values;
		return blink === 'auto' ? !readOnly && !window.matchMedia('(prefers-reduced-motion: reduce)').matches : blink === 'on';
	}

	/** Returns how to stop listening. */
	onChange(listener: () => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	#keep(values: SettingValues): void {
		const other = Object.entries(values).filter(([name, value]) => value !== DEFAULTS[name as SettingName]);
		remember('settings', other.length === 0 ? null : JSON.stringify(Object.fromEntries(other)));
		this.#apply(values);
	}

	#apply(values: SettingValues): void {
		this.#values = values;
		for (const listener of this.#listeners)
			listener();
	}
}
