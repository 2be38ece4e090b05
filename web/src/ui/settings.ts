/* Settings of the page, in the browser's storage. Stored values are not trusted: unknown ones are ignored. */
import { BUNDLED, fontStack, isFontName } from '../term/fonts';
import { recall, remember } from './storage';

const FONT_WITHIN_MS = 3000; // a terminal waits for its font at most so long

/** The values of each setting; the first one is the default. */
export const SETTINGS = {
	fontFamily: ['', 'monospace', BUNDLED], // or the name of a font; see fontStack()
	fontSize: ['auto', '8', '9', '10', '11', '12', '13', '14', '15', '16', '17', '18', '20', '22', '24', '28', '32'],
	lineHeight: ['1.15', '1', '1.05', '1.1', '1.2', '1.3', '1.4', '1.6', '1.8', '2'],
	cursor: ['block', 'bar', 'underline'],
	blink: ['auto', 'on', 'off'],
	scrollback: ['server', '1000', '5000', '10000', '50000', '100000'], // lines of history that the page keeps; server: as many as the server
	selection: ['keep', 'copy'], // what selecting text does
	interrupt: ['copy', 'interrupt'], // what Ctrl-C does while text is selected
	digits: ['sessions', 'shell'], // the receiver of Alt+1…9
	option: ['character', 'meta'], // what the Option key of Macs is
} as const;

export type SettingName = keyof typeof SETTINGS;
export type SettingValues = { readonly [Name in Exclude<SettingName, 'fontFamily'>]: (typeof SETTINGS)[Name][number] }
	& { readonly fontFamily: string };

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
	const found = Object.entries(value).filter(([name, each]) => Object.hasOwn(SETTINGS, name) && isValid(name as SettingName, each));
	return { ...DEFAULTS, ...Object.fromEntries(found) };
}

function isValid(name: SettingName, value: unknown): boolean {
	return (SETTINGS[name] as readonly unknown[]).includes(value) || (name === 'fontFamily' && isFontName(value));
}

/** The next font size that can be set, larger (1) or smaller (-1) than a size; the last one has no next. */
export function nextFontSize(size: number, step: 1 | -1): string {
	const sizes = SETTINGS.fontSize.slice(1).map(Number);
	const next = step > 0 ? sizes.find((each) => each > size) : sizes.filter((each) => each < size).at(-1);
	return String(next ?? sizes.at(step > 0 ? -1 : 0));
}

export class Settings {
	#values = parseSettings(recall('settings'));
	#listeners = new Set<() => void>();
	#font = ''; // in use: the one before the bundled font while that is being loaded
	#bundled: 'absent' | 'loading' | 'loaded' | 'failed' = 'absent';
	#loading: Promise<void> = Promise.resolve();

	/** signal: when it is aborted, changes in other tabs are no longer followed. */
	constructor(signal: AbortSignal) {
		this.#useFont();
		window.addEventListener('storage', ({ key }) => {
			if (key === 'ringside.settings' || key === null)
				this.#apply(parseSettings(recall('settings')));
		}, { signal });
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

	/** One step larger (1) or smaller (-1), or the default (0). */
	stepFontSize(step: 1 | 0 | -1): void {
		this.set('fontSize', step === 0 ? DEFAULTS.fontSize : nextFontSize(this.fontSize, step));
	}

	/** A CSS value. It changes to the bundled font when that can be used, so that cells are measured with it. */
	get fontFamily(): string {
		return fontStack(this.#font);
	}

	/** Settles when the chosen font is in use, has failed, or takes too long. */
	get fontSettled(): Promise<void> {
		const late = new Promise<void>((resolve) => {
			window.setTimeout(resolve, FONT_WITHIN_MS);
		});
		return Promise.race([this.#loading, late]);
	}

	/** Whether the bundled font is chosen and could not be loaded. */
	get fontFailed(): boolean {
		return this.#values.fontFamily === BUNDLED && this.#bundled === 'failed';
	}

	/** Lines of history that the page keeps; null: as many as the server. */
	get scrollback(): number | null {
		const { scrollback } = this.#values;
		return scrollback === 'server' ? null : Number(scrollback);
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
		this.#useFont();
		this.#notify();
	}

	#notify(): void {
		for (const listener of this.#listeners)
			listener();
	}

	/** Use the chosen font, and load it first if it is the bundled one. */
	#useFont(): void {
		if (this.#values.fontFamily !== BUNDLED || this.#bundled === 'loaded')
			this.#font = this.#values.fontFamily;
		else if (this.#bundled !== 'loading')
			this.#loading = this.#loadBundled();
	}

	async #loadBundled(): Promise<void> {
		this.#bundled = 'loading';
		try {
			await (await import('../term/bundled_font')).loadBundledFont();
			this.#bundled = 'loaded';
		} catch {
			this.#bundled = 'failed'; // choosing it again, or another setting, tries again
		}
		if (this.#values.fontFamily !== BUNDLED)
			return;
		this.#font = this.#bundled === 'loaded' ? BUNDLED : '';
		this.#notify();
	}
}
