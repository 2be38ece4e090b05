/**
 * Heights of the terminal without an on-screen keyboard, by its width. A keyboard is open when a session is created from the
 * palette, and the session should not stay as small as the rest of the window.
 */
export class FullHeights {
	#heights = new Map<number, number>();

	/** The present height, or the last one without a keyboard. */
	of(width: number, height: number, keyboardOpen: boolean): number {
		if (!keyboardOpen)
			this.#heights.set(width, height);
		return Math.max(height, this.#heights.get(width) ?? 0);
	}
}
