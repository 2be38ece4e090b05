const MOST = 4;

/** Two fingers make the terminal larger, up to four times, and smaller again, down to what fits. */
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
		zoom = Math.min(MOST, Math.max(1, start.zoom * distanceOf(event.touches) / start.distance));
		// Another font is dear: once a frame is enough.
		cancelAnimationFrame(drawing);
		drawing = requestAnimationFrame(() => zoomed(zoom));
	}, { passive: false });
}

function distanceOf(touches: TouchList): number {
	const [a, b] = touches;
	return a === undefined || b === undefined ? 1 : Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY));
}
