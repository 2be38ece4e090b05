/* Bytes that keys send, as in xterm: ctlseqs, "PC-Style Function Keys". */

const LETTERS = { Up: 'A', Down: 'B', Right: 'C', Left: 'D', Home: 'H', End: 'F' } as const;
const NUMBERS = { PgUp: 5, PgDn: 6 } as const;

export type CursorKey = keyof typeof LETTERS | keyof typeof NUMBERS;

/** modifiers: 1 for none; application: application cursor keys (DECCKM) are on. */
export function keySequence(key: CursorKey, modifiers: number, application: boolean): string {
	if (key in NUMBERS) {
		const number = NUMBERS[key as keyof typeof NUMBERS];
		return modifiers === 1 ? `\x1b[${number}~` : `\x1b[${number};${modifiers}~`;
	}
	const letter = LETTERS[key as keyof typeof LETTERS];
	if (modifiers !== 1)
		return `\x1b[1;${modifiers}${letter}`;
	return application ? `\x1bO${letter}` : `\x1b[${letter}`;
}
