import { Unicode11Addon } from '@xterm/addon-unicode11';
import type { IUnicodeVersionProvider, Terminal } from '@xterm/xterm';

let provider: IUnicodeVersionProvider | undefined;
// Extract the width table of the addon, which terminals and server use too. The addon does not export it.
new Unicode11Addon().activate({
	unicode: { register: (given: IUnicodeVersionProvider) => { provider = given; } },
} as unknown as Terminal);

/** Columns of a character; 0 for combining ones. */
export function widthOf(character: string): 0 | 1 | 2 {
	return provider?.wcwidth(character.codePointAt(0) ?? 0) ?? 1;
}
