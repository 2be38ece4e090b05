import type { Point, Scroller } from './scroller';

const SLOP = 8; // pixels that a resting finger may move
const HOLD_MS = 500;
const FRICTION = 0.95; // of the speed left after a 60th of a second
const SLOWEST = 0.02; // pixels per millisecond
const REST_MS = 60; // a finger that has not moved for so long does not throw the text
const THROW_MS = 100; // its speed is that of the last so many milliseconds

/** What a long press selects. */
export interface LongPress {
	/** The text is selected, or its menu is open. */
	readonly active: boolean;
	begin(at: Point): void;
	extend(to: Point): void;
	/** The finger has left the terminal. */
	finish(): void;
	clear(): void;
}

interface Movement extends Point {
	readonly time: number;
}

/**
 * One finger on the terminal: it scrolls, with momentum, or after a long press it selects. A tap is left to xterm.js as a
 * click of the mouse. The touches themselves do not reach xterm.js, which would scroll as well.
 */
export class Gestures {
	#mount: HTMLElement;
	#scroller: Scroller;
	#press: LongPress;
	#start: Movement | null = null;
	#last: Movement | null = null;
	#recent: Movement[] = []; // of the last THROW_MS
	#moved = false; // farther than a resting finger may
	#selecting = false;
	#stopped = false; // this touch has stopped the text, so it is not a tap
	#speed = { x: 0, y: 0 }; // pixels per millisecond
	#coasting = 0;
	#holding: number | undefined;

	/** cover: lies over the terminal; a finger scrolls there too. */
	constructor(mount: HTMLElement, cover: HTMLElement, scroller: Scroller, press: LongPress, signal: AbortSignal) {
		this.#mount = mount;
		this.#scroller = scroller;
		this.#press = press;
		for (const element of [mount, cover]) {
			element.addEventListener('touchstart', (event) => this.#onStart(event), { passive: true, signal });
			element.addEventListener('touchmove', (event) => this.#onMove(event), { passive: false, signal });
			element.addEventListener('touchend', (event) => this.#onEnd(event), { passive: false, signal });
			element.addEventListener('touchcancel', (event) => {
				event.stopPropagation();
				this.#abandon();
			}, { signal });
		}
		// Android's menu of a long press. xterm.js would focus its text area for it, which opens the keyboard.
		mount.addEventListener('contextmenu', (event) => {
			if (this.#start === null && (event as Partial<PointerEvent>).pointerType !== 'touch')
				return;
			event.preventDefault();
			event.stopPropagation();
		}, { capture: true, signal });
		signal.addEventListener('abort', () => this.#abandon());
	}

	#onStart(event: TouchEvent): void {
		event.stopPropagation();
		this.#stopped = this.#coasting !== 0;
		this.#abandon();
		const touch = event.touches[0];
		if (touch === undefined || event.touches.length !== 1)
			return;
		this.#start = this.#last = movementOf(touch, event.timeStamp);
		this.#recent = [this.#start];
		this.#moved = false;
		if (!this.#stopped && this.#mount.contains(touch.target as Node))
			this.#holding = window.setTimeout(() => this.#select(), HOLD_MS);
	}

	#select(): void {
		if (this.#start === null)
			return;
		this.#selecting = true;
		this.#press.begin(this.#start);
	}

	#onMove(event: TouchEvent): void {
		event.stopPropagation();
		const touch = event.touches[0];
		if (this.#start === null || this.#last === null || touch === undefined || event.touches.length !== 1)
			return;
		event.preventDefault();
		if (this.#selecting) {
			this.#press.extend(touch);
			return;
		}
		// Nothing is lost by waiting: the first movement begins where the finger came down.
		this.#moved ||= Math.hypot(touch.clientX - this.#start.clientX, touch.clientY - this.#start.clientY) > SLOP;
		if (!this.#moved)
			return;
		window.clearTimeout(this.#holding);
		const right = this.#last.clientX - touch.clientX, down = this.#last.clientY - touch.clientY;
		const now = this.#last = movementOf(touch, event.timeStamp);
		this.#recent = [...this.#recent.filter(({ time }) => now.time - time <= THROW_MS), now];
		this.#scroller.move(right, down, touch);
	}

	#onEnd(event: TouchEvent): void {
		event.stopPropagation();
		const last = this.#last;
		const tap = last !== null && !this.#moved && !this.#selecting;
		const onTerminal = this.#mount.contains(event.target as Node);
		// Otherwise the browser makes a click of the touch, which focuses the terminal and opens the keyboard.
		if (this.#selecting || (tap && onTerminal && (this.#stopped || this.#press.active)))
			event.preventDefault();
		if (this.#selecting)
			this.#press.finish();
		else if (tap && !this.#stopped)
			this.#press.clear();
		const thrown = this.#moved && !this.#selecting && last !== null && event.timeStamp - last.time <= REST_MS;
		this.#speed = this.#speedOf(this.#recent);
		this.#abandon();
		if (thrown && this.#scroller.coasts && !matchMedia('(prefers-reduced-motion: reduce)').matches)
			this.#coast(performance.now(), last);
	}

	/** Of the view, in pixels per millisecond. */
	#speedOf(movements: readonly Movement[]): { x: number; y: number } {
		const first = movements[0], last = movements.at(-1);
		const elapsed = first === undefined || last === undefined ? 0 : last.time - first.time;
		return first === undefined || last === undefined || elapsed <= 0 ? { x: 0, y: 0 }
			: { x: (first.clientX - last.clientX) / elapsed, y: (first.clientY - last.clientY) / elapsed };
	}

	#coast(before: number, at: Point): void {
		this.#coasting = requestAnimationFrame((now) => {
			this.#coasting = 0;
			const elapsed = Math.min(50, Math.max(0, now - before));
			const { x, y } = this.#speed, left = FRICTION ** (elapsed * 60 / 1000);
			this.#speed = { x: x * left, y: y * left };
			if (Math.hypot(x, y) < SLOWEST || !this.#mount.isConnected || !this.#scroller.coasts)
				return;
			if (this.#scroller.move(x * elapsed, y * elapsed, at))
				this.#coast(now, at);
		});
	}

	#abandon(): void {
		window.clearTimeout(this.#holding);
		cancelAnimationFrame(this.#coasting);
		this.#coasting = 0;
		this.#start = this.#last = null;
		this.#selecting = false;
	}
}

function movementOf({ clientX, clientY }: Point, time: number): Movement {
	return { clientX, clientY, time };
}
