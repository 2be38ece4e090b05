import { OnScreenKeyboard } from './on_screen_keyboard';

const TIGHT = 360; // pixels that are left for the page, as in landscape
const OPEN = 'keyboard-open';

/**
 * Keep the page in the visible part of the window. A phone's keyboard covers the lower part of the window (always on iOS) or
 * makes the window smaller. While it is open, the root element has the class `keyboard-open`, and `keyboard-tight` if little
 * space is left.
 */
export function followVisualViewport(): void {
	const viewport = window.visualViewport;
	if (viewport === null)
		return;
	const root = document.documentElement;
	const coarse = window.matchMedia('(pointer: coarse)');
	const keyboard = new OnScreenKeyboard();
	const show = () => {
		root.classList.toggle(OPEN, keyboard.open);
		root.classList.toggle('keyboard-tight', keyboard.open && viewport.height < TIGHT);
	};
	const apply = (settled: boolean) => {
		// Pinch zoom shrinks the viewport too, but must not shrink the page.
		if (viewport.scale > 1.01)
			return;
		root.style.setProperty('--visible-height', `${viewport.height}px`);
		root.style.setProperty('--visible-top', `${viewport.offsetTop}px`);
		keyboard.update({
			width: window.innerWidth, height: window.innerHeight, visible: viewport.height, editing: isEditing(), touch: coarse.matches, settled,
		});
		show();
	};
	viewport.addEventListener('resize', () => apply(true));
	viewport.addEventListener('scroll', () => apply(false));
	document.addEventListener('focusin', () => apply(false));
	document.addEventListener('focusout', () => apply(false));
	document.addEventListener('pointerdown', () => apply(true), { capture: true });
	// The user may divide the screen between two apps meanwhile.
	window.addEventListener('blur', () => keyboard.forgetHeights());
	document.addEventListener('fullscreenchange', () => {
		keyboard.reset();
		show();
	});
	apply(true);
}

/** Whether a phone's keyboard makes the page smaller. */
export function keyboardIsOpen(): boolean {
	return document.documentElement.classList.contains(OPEN);
}

/** Whether the focus is where a keyboard types. */
function isEditing(): boolean {
	return document.activeElement?.matches('input, textarea') ?? false;
}
