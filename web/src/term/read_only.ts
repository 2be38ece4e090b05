import type { Terminal } from '@xterm/xterm';

const MOUSE_MODES = new Set([9, 1000, 1001, 1002, 1003, 1005, 1006, 1015, 1016]);

/**
 * For those who only watch. A program that asks for the mouse would take selecting and scrolling
 * away from them, and they have nothing to tell it: so the terminal does not hear of it.
 */
export function keepMouse(terminal: Terminal): void {
	terminal.parser.registerCsiHandler({ prefix: '?', final: 'h' }, (modes) =>
		modes.every((mode) => typeof mode === 'number' && MOUSE_MODES.has(mode)));
}
