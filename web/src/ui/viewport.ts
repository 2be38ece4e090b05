/**
 * Keep the page in the visible part of the window. A phone's keyboard may cover its lower half without resizing it (always on
 * iOS).
 */
export function followVisualViewport(): void {
	const viewport = window.visualViewport;
	if (viewport === null)
		return;
	const root = document.documentElement;
	const apply = () => {
		// Pinch zoom shrinks the viewport too, but must not shrink the page.
		if (viewport.scale > 1.01)
			return;
		root.style.setProperty('--visible-height', `${viewport.height}px`);
		root.style.setProperty('--visible-top', `${viewport.offsetTop}px`);
		root.classList.toggle('keyboard-open', window.innerHeight - viewport.height > 120);
	};
	viewport.addEventListener('resize', apply);
	viewport.addEventListener('scroll', apply);
	apply();
}
