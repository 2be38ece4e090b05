const KEYBOARD_MIN = 120; // pixels; less is the browser's own bars
const TIGHT = 360; // pixels that are left for the page, as in landscape

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
	const tallest = new Map<number, number>(); // heights of the window without a keyboard, by its width
	const apply = () => {
		// Pinch zoom shrinks the viewport too, but must not shrink the page.
		if (viewport.scale > 1.01)
			return;
		const { innerWidth, innerHeight } = window, { height } = viewport;
		root.style.setProperty('--visible-height', `${height}px`);
		root.style.setProperty('--visible-top', `${viewport.offsetTop}px`);
		tallest.set(innerWidth, Math.max(innerHeight, tallest.get(innerWidth) ?? 0));
		const covered = innerHeight - height > KEYBOARD_MIN;
		const smaller = coarse.matches && (tallest.get(innerWidth) ?? 0) - height > KEYBOARD_MIN && isEditing();
		root.classList.toggle('keyboard-open', covered || smaller);
		root.classList.toggle('keyboard-tight', (covered || smaller) && height < TIGHT);
	};
	viewport.addEventListener('resize', apply);
	viewport.addEventListener('scroll', apply);
	document.addEventListener('focusin', apply);
	document.addEventListener('focusout', apply);
	apply();
}

/** Whether the focus is where a keyboard types. */
function isEditing(): boolean {
	return document.activeElement?.matches('input, textarea') ?? false;
}
