import type { Terminal } from '@xterm/xterm';
import { keySequence, type CursorKey } from '../term/key_codes';
import type { Modifier, Sticky } from '../term/sticky';
import { h } from './dom';

const REPEAT_AFTER_MS = 400;
const REPEAT_EVERY_MS = 70;

/** A bar with keys that phone keyboards lack. type: sends keys to the session. */
export function keyBar(terminal: Terminal, sticky: Sticky, type: (keys: string) => void, paste: () => void): HTMLElement {
	const text = (label: string, data = label, name = label) =>
		key(label, name, () => type(sticky.apply(data)));
	const cursor = (label: string, which: CursorKey) =>
		key(label, which, () => type(
			keySequence(which, sticky.release(), terminal.modes.applicationCursorKeysMode)), true);
	const modifier = (label: string, which: Modifier) => {
		const button = key(label, label, () => sticky.toggle(which));
		button.setAttribute('aria-pressed', 'false');
		button.dataset['modifier'] = which;
		return button;
	};
	const bar = h('div', {
		class: 'key-bar', role: 'toolbar', 'aria-label': 'Terminal keys', 'data-testid': 'key-bar',
	},
	// In pairs: the upper and the lower key of each column. In wide windows, which have one row, key_bar.css moves End.
	text('Esc', '\x1b'), text('Tab', '\t'), modifier('Ctrl', 'ctrl'), modifier('Alt', 'alt'),
	text('^C', '\x03', 'Interrupt'), clickKey('Paste', paste), cursor('Home', 'Home'), cursor('←', 'Left'),
	cursor('↑', 'Up'), cursor('↓', 'Down'), cursor('End', 'End'), cursor('→', 'Right'), cursor('PgUp', 'PgUp'), cursor('PgDn', 'PgDn'),
	text('/', '/', 'Slash'), text('-', '-', 'Minus'), text('|', '|', 'Pipe'), text('~', '~', 'Tilde'));
	sticky.onChange(() => {
		for (const button of bar.querySelectorAll<HTMLElement>('[data-modifier]'))
			button.setAttribute('aria-pressed', String(sticky.isHeld(button.dataset['modifier'] as Modifier)));
	});
	return bar;
}

/** A key that acts on click, because browsers require a click for access to the clipboard. */
function clickKey(label: string, click: () => void): HTMLButtonElement {
	return h('button', {
		type: 'button', class: 'key word', 'aria-label': label, click,
		pointerdown: (event: PointerEvent) => event.preventDefault(),
	}, label);
}

/**
 * A key that acts when it is released, because a finger that scrolls the bar presses a key first. repeats: repeats while it
 * is held.
 */
function key(label: string, name: string, press: () => void, repeats = false): HTMLButtonElement {
	let timer: number | undefined;
	let pressed = false, repeated = false;
	const again = () => {
		repeated = true;
		press();
		timer = window.setTimeout(again, REPEAT_EVERY_MS);
	};
	const stop = () => {
		window.clearTimeout(timer);
		pressed = false;
	};
	const button = h('button', {
		type: 'button', class: label.length > 1 ? 'key word' : 'key', 'aria-label': name,
		// Keep the focus in the terminal, or the phone's keyboard would close.
		pointerdown: (event: PointerEvent) => {
			event.preventDefault();
			pressed = event.button === 0;
			repeated = false;
			if (repeats && pressed)
				timer = window.setTimeout(again, REPEAT_AFTER_MS);
		},
		pointerup: (event: PointerEvent) => {
			// A finger that has moved away still sends its events here.
			const inside = document.elementFromPoint(event.clientX, event.clientY) === button;
			if (pressed && !repeated && inside)
				press();
			stop();
		},
		pointercancel: stop, pointerleave: stop,
		// Clicks by keyboard or screen reader only: pointers are handled above.
		click: (event: MouseEvent) => {
			if (event.detail === 0)
				press();
		},
	}, label);
	return button;
}
