import type { Terminal } from '@xterm/xterm';

const FRICTION = 0.95; // of the speed left after a 60th of a second
const SLOWEST = 0.02; // pixels per millisecond

/**
 * Touch scrolling. In the normal buffer it scrolls the history, with momentum. Otherwise it sends wheel events, which
 * xterm.js turns into what the program has requested. The touches do not reach xterm.js, which would scroll as well.
 */
export function scrollByTouch(terminal: Terminal, mount: HTMLElement): void {
	let last: { x: number; y: number; time: number } | null = null;
	let speed = 0;
	let rest = 0; // pixels, less than a line
	let coasting = 0;

	function scroll(pixels: number, at: Touch | null): void {
		const normal = terminal.buffer.active.type === 'normal'
			&& terminal.modes.mouseTrackingMode === 'none';
		if (!normal) {
			if (at !== null)
				at.target.dispatchEvent(new WheelEvent('wheel', {
					deltaY: pixels, clientX: at.clientX, clientY: at.clientY,
					bubbles: true, cancelable: true,
				}));
			return;
		}
		const lineHeight = mount.clientHeight / terminal.rows;
		rest += pixels;
		const lines = Math.trunc(rest / lineHeight);
		rest -= lines * lineHeight;
		if (lines !== 0)
			terminal.scrollLines(lines);
	}

	function coast(before: number): void {
		coasting = requestAnimationFrame((now) => {
			const elapsed = Math.min(50, now - before);
			speed *= FRICTION ** (elapsed * 60 / 1000);
			if (Math.abs(speed) < SLOWEST)
				return;
			scroll(speed * elapsed, null);
			coast(now);
		});
	}

	mount.addEventListener('touchstart', (event) => {
		event.stopPropagation();
		cancelAnimationFrame(coasting);
		const touch = event.touches[0];
		last = touch !== undefined && event.touches.length === 1
			? { x: touch.clientX, y: touch.clientY, time: event.timeStamp } : null;
		speed = 0;
		rest = 0;
	}, { passive: true });

	mount.addEventListener('touchmove', (event) => {
		event.stopPropagation();
		const touch = event.touches[0];
		if (last === null || touch === undefined || event.touches.length !== 1)
			return;
		event.preventDefault();
		const dy = last.y - touch.clientY;
		const elapsed = Math.max(1, event.timeStamp - last.time);
		speed = 0.6 * speed + 0.4 * (dy / elapsed);
		// First pan a terminal that is larger than the window.
		const before = mount.scrollTop;
		mount.scrollLeft += last.x - touch.clientX;
		mount.scrollTop += dy;
		last = { x: touch.clientX, y: touch.clientY, time: event.timeStamp };
		scroll(dy - (mount.scrollTop - before), touch);
	}, { passive: false });

	mount.addEventListener('touchend', (event) => {
		event.stopPropagation();
		const resting = last === null || event.timeStamp - last.time > 60;
		last = null;
		if (!resting && !matchMedia('(prefers-reduced-motion: reduce)').matches)
			coast(performance.now());
	}, { passive: true });
}
