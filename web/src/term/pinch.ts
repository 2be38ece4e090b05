const ZOOM_MAX = 4;

/** Zoom the terminal with two fingers, from 1 (it fits) to 4. */
export function zoomByPinch(mount: HTMLElement, zoomed: (zoom: number) => void): void {
	let zoom = 1;
	let start: { distance: number; zoom: number } | null = null;
	let drawing = 0;

	mount.addEventListener('touchstart', (event) => {
		start = event.touches.length === 2 ? { distance: distanceOf(event.touches), zoom } : null;
	}, { passive: true });

	mount.addEventListener('touchmove', (event) => {
		if (start === null || event.touches.length !== 2)
			return;
		event.preventDefault();
		zoom = Math.min(ZOOM_MAX, Math.max(1, start.zoom * distanceOf(event.touches) / start.distance));
		// Changing the font is expensive, so do it once in a frame.
		cancelAnimationFrame(drawing);
		drawing = requestAnimationFrame(() => zoomed(zoom));
	}, { passive: false });
}

function distanceOf(touches: TouchList): number {
	const [a, b] = touches;
	return a === undefined || b === undefined ? 1 : Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY));
}
