import type { Terminal } from '@xterm/xterm';

const MOUSE_MODES = new Set([9, 1000, 1001, 1002, 1003, 1005, 1006, 1015, 1016]);

/**
 * Ignore mouse modes, for viewers. Their input is not sent anyway, and the mouse stays free for selecting and scrolling.
 */
export function ignoreMouseModes(terminal: Terminal): void {
	terminal.parser.registerCsiHandler({ prefix: '?', final: 'h' }, (modes) =>
		modes.every((mode) => typeof mode === 'number' && MOUSE_MODES.has(mode)));
}

/** Call `hint` when the user types, which xterm.js ignores. */
export function onTyping(mount: HTMLElement, hint: () => void): void {
	mount.addEventListener('keydown', ({ key, ctrlKey, metaKey, altKey, isComposing }) => {
		const types = [...key].length === 1 || key === 'Enter' || key === 'Backspace';
		if (types && !ctrlKey && !metaKey && !altKey && !isComposing)
			hint();
	});
}
