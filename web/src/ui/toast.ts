import { h } from './dom';

const SHOWN_MS = 4000;
let area: HTMLElement | null = null;

/** A short message in passing; screen readers say it. */
export function toast(text: string): void {
	const message = h('div', { class: 'toast' }, text);
	window.setTimeout(() => message.remove(), SHOWN_MS);
	openArea().append(message);
}

/** Opened anew each time, it lies above a dialog that was opened since. Older browsers keep it below. */
function openArea(): HTMLElement {
	area ??= document.body.appendChild(h('div', {
		class: 'toasts', role: 'status', 'aria-live': 'polite', popover: 'manual',
	}));
	if (typeof area.showPopover === 'function') {
		if (area.matches(':popover-open'))
			area.hidePopover();
		area.showPopover();
	}
	return area;
}
