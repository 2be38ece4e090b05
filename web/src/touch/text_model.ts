/*
 * The text that a soft keyboard sees in the text area, and what it means for the session when the keyboard changes it. No
 * DOM, so that unit tests cover it.
 */

/**
 * Spaces at the start of the text area. Without text before the cursor, many keyboards send nothing for Backspace. Letters
 * would become part of a word that the keyboard corrects.
 */
export const PADDING = ' '.repeat(32);

const ERASE = '\x7f'; // Backspace
const ERASE_WORD = '\x17'; // Ctrl-W
const ERASE_LINE = '\x15'; // Ctrl-U
const MARK = /[\p{Mn}\p{Me}\p{Cf}]/u; // no column of its own

/** The program that reads the keys. */
export interface Program {
	/** It edits lines itself, and erases a character with its marks; the kernel erases a code point. */
	readonly lineEditor: boolean;
	/** It fills the screen. Its keys for words and lines are its own: Ctrl-W searches, cuts or is the start of a command. */
	readonly fullScreen: boolean;
}

export class TextModel {
	#text = '';
	#floor = 0; // text before it is not the text before the session's cursor

	get text(): string {
		return this.#text;
	}

	/** The text that was sent to the session and is before its cursor. */
	get typed(): string {
		return this.#text.slice(this.#floor);
	}

	/** The text area contains this, and the session does not. */
	adopt(text: string): void {
		this.#text = text;
		this.#floor = text.length;
	}

	/** The session's line has changed in another way: nothing in the text area is before the cursor any more. */
	settle(): void {
		this.#floor = this.#text.length;
	}

	/** The text area has this text more, at its end, and the session got it as well. */
	append(text: string): void {
		this.#text += text;
	}

	/**
	 * The keyboard has changed the text area. Returns the keys that do the same to the session's line.
	 * inputType: of the InputEvent, or empty.
	 */
	change(next: string, program: Program, inputType: string): { erase: string; text: string } {
		const { lineEditor } = program;
		const before = this.#text, floor = this.#floor;
		const start = lineEditor ? startOfCharacter(before, commonStart(before, next), floor) : commonStart(before, next);
		const typed = before.slice(floor);
		this.#text = next;
		if (start < floor && next.length >= start + typed.length && next.endsWith(typed)) {
			// Only text that the session does not have has changed.
			const keys = beyond({ before, start, end: floor, text: next.slice(start, next.length - typed.length) }, program, inputType);
			this.#floor = next.length - (typed === '' ? keys.text.length : typed.length);
			return keys;
		}
		this.#floor = Math.min(floor, start);
		const erase = ERASE.repeat(count(before.slice(Math.max(start, floor)), lineEditor));
		const more = beyond({ before, start, end: floor, text: next.slice(start) }, program, inputType);
		return { erase: erase + more.erase, text: more.text };
	}
}

/** A change of text that the session does not have: `before` from start to end is replaced by the text. */
interface Change {
	readonly before: string;
	readonly start: number;
	readonly end: number;
	readonly text: string;
}

function beyond({ before, start, end, text }: Change, program: Program, inputType: string): { erase: string; text: string } {
	const deleted = before.slice(start, end);
	if (deleted === '')
		return { erase: '', text };
	if (text !== '')
		return { erase: '', text: before.slice(startOfWord(before, start), start) + text }; // the session needs the whole word
	// Deleting goes on in the session, where there may be more text than the keyboard knows.
	const line = /^delete(?:Soft|Hard)Line/.test(inputType);
	const word = inputType.startsWith('deleteWord') || deleted.length >= PADDING.length / 2;
	if (line || word)
		return { erase: program.fullScreen ? ERASE : line ? ERASE_LINE : ERASE_WORD, text };
	return { erase: ERASE.repeat(count(deleted, false)), text };
}

function startOfWord(text: string, end: number): number {
	let at = end;
	while (at > 0 && !/\s/.test(text[at - 1] ?? ' '))
		at--;
	return at;
}

/** How many times Backspace erases the text. */
function count(text: string, lineEditor: boolean): number {
	const characters = [...text];
	return lineEditor ? characters.filter((character) => !MARK.test(character)).length : characters.length;
}

/** Length of the common start, in whole code points. */
function commonStart(a: string, b: string): number {
	let at = 0;
	while (at < a.length && at < b.length && a[at] === b[at])
		at++;
	return isInPair(a, at) || isInPair(b, at) ? at - 1 : at;
}

/** Whether a position is between the two halves of a code point. */
function isInPair(text: string, at: number): boolean {
	return at > 0 && /[\ud800-\udbff]/.test(text[at - 1] ?? '') && /[\udc00-\udfff]/.test(text[at] ?? '');
}

/** A mark cannot be erased alone: the start of the character that it belongs to, at `least` or after it. */
function startOfCharacter(text: string, start: number, least: number): number {
	let at = start;
	while (at > least && MARK.test(String.fromCodePoint(text.codePointAt(at) ?? 0x20)))
		at -= isInPair(text, at - 1) ? 2 : 1;
	return at;
}
