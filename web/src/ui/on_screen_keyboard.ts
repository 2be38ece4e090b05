/* Whether an on-screen keyboard is open, which browsers do not report. Pure. */

const KEYBOARD_MIN = 120; // pixels; less is the browser's own bars

export interface WindowState {
	readonly width: number;
	readonly height: number; // with what the keyboard covers; some browsers make the window smaller instead
	readonly visible: number; // height of its visible part
	/** The focus is where a keyboard types. A keyboard may be closed even so. */
	readonly editing: boolean;
	readonly touch: boolean;
	/** Without editing, this is a height without a keyboard. Right after the focus has left, a keyboard may still be there. */
	readonly settled: boolean;
}

export class OnScreenKeyboard {
	#open = false;
	#tallest = new Map<number, number>(); // heights of the window without a keyboard, by its width
	#least: number | null = null; // height with a keyboard that was open before; the height without one is unknown
	#last = { width: 0, height: 0 };

	get open(): boolean {
		return this.#open;
	}

	update({ width, height, visible, editing, touch, settled }: WindowState): void {
		// It stays open for the next field, or closes, which changes the height.
		const typing = editing || (this.#open && !settled);
		if (!typing)
			this.#least = null;
		else if (this.#open && !this.#tallest.has(width))
			this.#least = width === this.#last.width ? this.#last.height : height;
		this.#last = { width, height };
		const known = this.#tallest.get(width) ?? 0;
		this.#tallest.set(width, !editing && settled ? height : Math.max(height, known));
		const smaller = (this.#tallest.get(width) ?? 0) - visible > KEYBOARD_MIN;
		if (smaller || (this.#least !== null && height - this.#least > KEYBOARD_MIN))
			this.#least = null; // now it is known
		const covered = height - visible > KEYBOARD_MIN;
		this.#open = covered || (touch && typing && (smaller || this.#least !== null));
	}

	/** The window may get another height at the same width. An open keyboard stays open until the window grows. */
	forgetHeights(): void {
		this.#tallest.clear();
	}

	/** The window gets another height. */
	reset(): void {
		this.#tallest.clear();
		this.#least = null;
		this.#open = false;
	}
}
