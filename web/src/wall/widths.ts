import { Unicode11Addon } from '@xterm/addon-unicode11';
import type { IUnicodeVersionProvider, Terminal } from '@xterm/xterm';

let provider: IUnicodeVersionProvider | undefined;
// The addon is asked for its table, which it keeps to itself: the one by which terminals and server count.
new Unicode11Addon().activate({
	unicode: { register: (given: IUnicodeVersionProvider) => { provider = given; } },
} as unknown as Terminal);

/** Columns of a character: 0 for what stands on the one before. */
export function widthOf(character: string): 0 | 1 | 2 {
	return provider?.wcwidth(character.codePointAt(0) ?? 0) ?? 1;
}
