import { PADDING, TextModel, type Program } from './text_model';

const TYPED_MAX = 500; // characters in the text area, so that each change is cheap to find

/** The text area that a soft keyboard changes, and the model of its text. */
export class TypedText {
	#area: HTMLTextAreaElement;
	#mayEmpty: () => boolean;
	#model = new TextModel();
	#stale = true; // the text area has text of before; it is emptied when that is possible, unless it has new text
	#timer: number | undefined;

	/** mayEmpty: the keyboard is used, and not in the middle of a word. */
	constructor(area: HTMLTextAreaElement, mayEmpty: () => boolean) {
		this.#area = area;
		this.#mayEmpty = mayEmpty;
	}

	dispose(): void {
		window.clearTimeout(this.#timer);
	}

	/** There is text before the session's cursor. */
	get isTyped(): boolean {
		return this.#model.typed !== '';
	}

	/** The keys for the change of the text area. inputType: of the InputEvent, or empty. */
	change(program: Program, inputType: string): { erase: string; text: string } {
		return this.#model.change(this.#area.value, program, inputType);
	}

	/** xterm.js, too, changes the text area. Returns whether it has. */
	adopt(): boolean {
		const changed = this.#area.value !== this.#model.text;
		if (changed)
			this.#model.adopt(this.#area.value);
		return changed;
	}

	/** The session got this text in another way, at its cursor. This ends a composition. */
	append(text: string): void {
		this.adopt();
		const { length } = this.#area.value;
		this.#area.setRangeText(text, length, length, 'end');
		this.#model.append(text);
		this.tidySoon();
	}

	/** What is in the text area is no longer before the session's cursor. */
	settle(): void {
		this.#model.settle();
		this.#stale = true;
		this.tidySoon();
	}

	/** Empty the text area. This ends a composition: the keyboard begins anew. */
	empty(): void {
		this.#stale = false;
		this.#model.adopt(PADDING); // first: some browsers report the end of the composition while the value changes
		this.#area.value = PADDING;
		this.#area.setSelectionRange(PADDING.length, PADDING.length);
	}

	/** Empty the text area if that is due. Not at once: the keyboard may be in the middle of several changes. */
	tidySoon(): void {
		this.#timer ??= window.setTimeout(() => {
			this.#timer = undefined;
			const padded = this.#model.text.startsWith(PADDING.slice(PADDING.length / 2));
			if ((this.isTyped ? this.#model.text.length > TYPED_MAX : this.#stale || !padded) && this.#mayEmpty())
				this.empty();
		});
	}
}
