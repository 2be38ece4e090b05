/* Settings of the page, in the browser's storage. Stored values are not trusted: unknown ones are ignored. */
import { recall, remember } from './storage';

/** The values of each setting; the first one is the default. */
export const SETTINGS = {
	fontSize: ['auto', '8', '9', '10', '11', '12', '13', '14', '15', '16', '17', '18', '20', '22', '24', '28', '32'],
	lineHeight: ['1.15', '1', '1.05', '1.1', '1.2', '1.3', '1.4', '1.6', '1.8', '2'],
	cursor: ['block', 'bar', 'underline'],
	blink: ['auto', 'on', 'off'],
	interrupt: ['copy', 'interrupt'], // what Ctrl-C does while text is selected
	digits: ['sessions', 'shell'], // the receiver of Alt+1…9
} as const;

export type SettingName = keyof typeof SETTINGS;
export type SettingValues = { readonly [Name in SettingName]: (typeof SETTINGS)[Name][number] };

export const DEFAULTS = Object.fromEntries(
	Object.entries(SETTINGS).map(([name, [value]]) => [name, value])) as unknown as SettingValues;

/** Parse stored settings. An invalid value does not affect the others. */
export function parseSettings(stored: string | null): SettingValues {
	let value: unknown = null;
	try {
		value = JSON.parse(stored ?? 'null');
	} catch {
		// Not JSON.
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
		// Changed in another tab.
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

	/** In CSS pixels. The default is smaller on narrow screens. */
	get fontSize(): number {
		const { fontSize } = this.#values;
		return fontSize !== 'auto' ? Number(fontSize) : window.matchMedia('(max-width: 700px)').matches ? 13 : 14;
	}

	get lineHeight(): number {
		return Number(this.#values.lineHeight);
	}

	/** By default the cursor does not blink for viewers or with reduced motion. */
	blinks(readOnly: boolean): boolean {
		const { blink } = this.#values;
		return blink === 'auto' ? !readOnly && !window.matchMedia('(prefers-reduced-motion: reduce)').matches : blink === 'on';
	}

	/** Returns a function that removes the listener. */
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
