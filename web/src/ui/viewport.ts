/**
 * Keep the page in what can really be seen. A phone's keyboard covers the lower half of the
 * window without making it smaller (always on iOS), and the cursor with it.
 */
export function followVisualViewport(): void {
	const viewport = window.visualViewport;
	if (viewport === null)
		return;
	const root = document.documentElement;
	const apply = () => {
		// Pinch zoom also shrinks it; then the reader wants to look closer, not a smaller page.
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
