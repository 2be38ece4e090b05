import type { Terminal } from '@xterm/xterm';
import { isMac } from '../ui/platform';
import { TypedText } from './typed_text';

const COMPOSING_KEY = 229; // keyCode of keys that the keyboard or input method handles
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/; // beside tabs and new lines
const PASTES = ['insertFromPaste', 'insertFromPasteAsQuotation', 'insertFromDrop', 'insertFromYank'];

/** On iPhones and iPads soft keys have the codes of physical ones. Macs have no touch screens. */
const applePhone = isMac;

/** Where input comes from: a soft keyboard, or a keyboard or input method that xterm.js handles. */
type Source = 'soft' | 'hard';

export interface SoftKeyboardOptions {
	readonly terminal: Terminal;
	readonly mount: HTMLElement;
	/** Paste a text of several lines, or with control characters. */
	readonly pasteText: (text: string) => void;
	/** Ctrl or Alt of the key bar is held for the next key. */
	readonly modifierHeld: () => boolean;
}

/**
 * Input from soft keyboards. They compose words, correct them and insert several at once, so their keys are not what
 * matters: the session gets each change of the text area as it happens, as Backspaces and text. xterm.js does not see these
 * events. Keys of other keyboards, and input methods that show their text before it is sent, stay with xterm.js.
 */
export class SoftKeyboard {
	#options: SoftKeyboardOptions;
	#text: TypedText;
	#coarse = window.matchMedia('(pointer: coarse)');
	#key: Source | null = null; // of the key that is down
	#composing: Source | null = null;
	#seen = false; // a soft keyboard has been used
	#blurred = true;
	#reserved = false; // xterm.js compares contents of the text area over time, for an input method
	#sending = false;

	constructor(options: SoftKeyboardOptions, area: HTMLTextAreaElement, signal: AbortSignal) {
		this.#options = options;
		this.#text = new TypedText(area, () => this.#composing === null && this.#mayWrite);
		for (const [name, value] of [['enterkeyhint', 'enter'], ['inputmode', 'text'], ['writingsuggestions', 'false']] as const)
			area.setAttribute(name, value);
		const listen = <T extends Event>(type: string, handle: (event: T) => void) =>
			options.mount.addEventListener(type, (event) => {
				if (event.target === area)
					handle(event as T);
			}, { capture: true, signal });
		listen('keydown', (event: KeyboardEvent) => this.#onKeyDown(event));
		listen('keypress', (event) => this.#hide(event, this.#key));
		listen('keyup', (event) => {
			this.#hide(event, this.#key);
			this.#key = null;
		});
		listen('beforeinput', (event: InputEvent) => this.#onBeforeInput(event));
		listen('input', (event: InputEvent) => {
			if (this.#hide(event, this.#source))
				this.#send(event.inputType);
			else
				this.#text.adopt();
		});
		listen('compositionstart', (event) => {
			this.#composing = this.#source;
			this.#hide(event, this.#composing);
		});
		listen('compositionupdate', (event) => this.#hide(event, this.#composing));
		listen('compositionend', (event) => this.#onCompositionEnd(event));
		listen('focus', () => {
			this.#blurred = this.#reserved = false;
			this.#composing = this.#key = null;
			this.#text.settle();
		});
		// On Linux and Android, xterm.js puts a word in it that the user has selected. Backspace would erase as many characters.
		listen('select', () => {
			if (this.#coarse.matches && this.#text.adopt())
				this.#text.settle();
		});
		// xterm.js empties the text area then. What the keyboard finishes after that has been sent.
		listen('blur', () => {
			this.#blurred = true;
		});
		const typed = options.terminal.onData(() => {
			if (!this.#sending)
				this.#text.settle();
		});
		signal.addEventListener('abort', () => {
			typed.dispose();
			this.#text.dispose();
		});
		this.#blurred = document.activeElement !== area;
		this.#text.tidySoon();
	}

	/** Type a key beside the keyboard. If it is a character, the keyboard sees it after its word. */
	type(keys: string): void {
		this.#type(keys);
		if ([...keys].length !== 1 || CONTROL.test(keys)) {
			this.restart();
		} else if (this.#mayWrite) {
			this.#composing = null;
			this.#text.append(keys);
		} else {
			this.#text.settle();
		}
	}

	/** The session got other input, for example a paste: a word that the keyboard composes ends. */
	restart(): void {
		if (this.#sending || !this.#mayWrite) {
			this.#text.settle();
			return;
		}
		this.#composing = null;
		this.#text.empty();
	}

	/** A soft keyboard is used, and the text area may be changed, which ends a composition. */
	get #mayWrite(): boolean {
		return !this.#blurred && !this.#reserved && this.#composing !== 'hard' && (this.#seen || this.#coarse.matches);
	}

	/** Where the current event comes from. Without a key it is a choice of the user on a soft keyboard, if there is one. */
	get #source(): Source {
		return this.#composing ?? this.#key ?? (this.#coarse.matches ? 'soft' : 'hard');
	}

	/** Hide an event of a soft keyboard from xterm.js. Returns whether it is one. */
	#hide(event: Event, source: Source | null): boolean {
		if (source !== 'soft')
			return false;
		this.#seen = true;
		this.#reserved = false;
		event.stopPropagation();
		return true;
	}

	#onKeyDown(event: KeyboardEvent): void {
		this.#key = this.#sourceOf(event);
		if (this.#hide(event, this.#key)) {
			// An input method's Enter may choose a candidate; if it is a new line, it comes as input.
			if (event.key === 'Enter' && event.keyCode !== COMPOSING_KEY) {
				event.preventDefault();
				this.#enter();
			}
		} else if (event.keyCode === COMPOSING_KEY) {
			this.#reserved = true;
		} else if (!['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) {
			this.#text.settle();
		}
	}

	#sourceOf({ altKey, code, ctrlKey, key, keyCode, metaKey }: KeyboardEvent): Source {
		// Chrome and Firefox on Android know no code for soft keys. Physical keys and those of desktops have one.
		const soft = code === '' || code === 'Unidentified' || applePhone;
		if (this.#composing !== null && (keyCode === COMPOSING_KEY || key === 'Enter' || key === 'Backspace'))
			return this.#composing;
		if (keyCode === COMPOSING_KEY)
			return soft ? 'soft' : 'hard';
		if (!soft || altKey || ctrlKey || metaKey || usesKittyProtocol(this.#options.terminal))
			return 'hard';
		// The keyboard corrects only text that it finds in the text area.
		return [...key].length === 1 || (key === 'Backspace' && this.#text.isTyped) ? 'soft' : 'hard';
	}

	#onBeforeInput(event: InputEvent): void {
		if (this.#source !== 'soft')
			return;
		this.#text.adopt();
		if (event.inputType === 'insertLineBreak' || event.inputType === 'insertParagraph') {
			event.preventDefault();
			this.#enter();
		} else if (PASTES.includes(event.inputType)) {
			event.preventDefault();
			this.#paste(event.data ?? event.dataTransfer?.getData('text/plain') ?? '');
		} else if (event.inputType.startsWith('history')) {
			event.preventDefault();
		}
	}

	#onCompositionEnd(event: Event): void {
		const soft = this.#hide(event, this.#source); // also if a key beside the keyboard has ended the composition
		this.#composing = null;
		if (soft)
			this.#send('');
	}

	/** Send the change of the text area. */
	#send(inputType: string): void {
		if (this.#blurred) {
			this.#text.adopt();
			return;
		}
		const { terminal, modifierHeld } = this.#options;
		const fullScreen = terminal.buffer.active.type === 'alternate';
		const { erase, text } = this.#text.change({ lineEditor: terminal.modes.bracketedPasteMode, fullScreen }, inputType);
		const lines = text.replaceAll('\r\n', '\n').split('\n'), last = lines.pop() ?? '';
		const modified = modifierHeld();
		if (lines.length > 1 || (lines.length === 1 && last !== '') || CONTROL.test((lines[0] ?? '') + last)) {
			this.#type(erase);
			this.#paste(text);
		} else {
			this.#type(erase + (lines[0] ?? last));
			if (lines.length === 1)
				this.#enter();
			else if (modified && !modifierHeld())
				this.#text.settle(); // it was a control character
		}
		this.#text.tidySoon();
	}

	#paste(text: string): void {
		this.#sending = true;
		this.#options.pasteText(text);
		this.#sending = false;
		this.#text.settle();
	}

	#enter(): void {
		this.#type('\r');
		this.#text.settle();
	}

	#type(keys: string): void {
		if (keys === '')
			return;
		this.#sending = true;
		this.#options.terminal.input(keys);
		this.#sending = false;
	}
}

/** The program wants escape sequences for keys. */
function usesKittyProtocol(terminal: Terminal): boolean {
	const { _core } = terminal as unknown as {
		readonly _core: { readonly coreService: { readonly kittyKeyboard: { readonly flags: number } } };
	};
	return _core.coreService.kittyKeyboard.flags !== 0;
}
