/* xterm.js without a window. */
import { Terminal } from '@xterm/xterm';
import type { Feed } from '../src/term/feed';

export function newTerminal(): Terminal {
	return new Terminal({ cols: 40, rows: 10, scrollback: 10_000, allowProposedApi: true });
}

export const bytes = (text: string) => new TextEncoder().encode(text);

/** The bytes of a snapshot that shows these lines. */
export const snapshotOf = (lines: readonly string[]) => bytes(`\x18\x1bc${lines.join('\r\n')}`);

export const numbered = (from: number, to: number) =>
	Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`);

/** Wait until everything fed so far is parsed. */
export function parsed(feed: Feed): Promise<void> {
	return new Promise((resolve) => feed.whenParsed(resolve));
}

export function write(terminal: Terminal, text: string): Promise<void> {
	return new Promise((resolve) => terminal.write(text, resolve));
}

export function row(terminal: Terminal, at: number): string | undefined {
	return terminal.buffer.active.getLine(at)?.translateToString(true);
}

export function topRow(terminal: Terminal): string | undefined {
	return row(terminal, terminal.buffer.active.viewportY);
}
