import type { Terminal } from '@xterm/xterm';
import type { Place } from './lines';

interface Box {
	readonly left: number;
	readonly right: number;
	readonly top: number;
	readonly bottom: number;
}

/**
 * Scroll so that the place is visible: not outside of the view, not below a box over the terminal, and not outside of the
 * mount, which shows only a part of a large terminal. Returns whether the box covers it even so.
 */
export function revealPlace(terminal: Terminal, mount: HTMLElement, place: Place, box: () => Box): boolean {
	const { viewportY, baseY } = terminal.buffer.active;
	const inView = place.row >= viewportY && place.row < viewportY + terminal.rows;
	if (!inView || overlap(boxOf(terminal, place), box()))
		terminal.scrollToLine(Math.max(0, Math.min(baseY, place.row - Math.floor(terminal.rows / 2))));
	pan(mount, boxOf(terminal, place));
	return overlap(boxOf(terminal, place), box());
}

function pan(mount: HTMLElement, { left, right, top, bottom }: Box): void {
	const visible = mount.getBoundingClientRect();
	if (top < visible.top || bottom > visible.bottom)
		mount.scrollTop += (top + bottom - visible.top - visible.bottom) / 2;
	if (left < visible.left || right > visible.right)
		mount.scrollLeft += Math.min(left - visible.left, right - visible.right);
}

/** The place's first row in the window. */
function boxOf(terminal: Terminal, { row, column, size }: Place): Box {
	const screen = terminal.element?.querySelector('.xterm-screen')?.getBoundingClientRect() ?? new DOMRect();
	const width = screen.width / terminal.cols, height = screen.height / terminal.rows;
	const top = screen.top + (row - terminal.buffer.active.viewportY) * height;
	return {
		left: screen.left + column * width, right: screen.left + Math.min(terminal.cols, column + size) * width, top, bottom: top + height,
	};
}

function overlap(a: Box, b: Box): boolean {
	return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
