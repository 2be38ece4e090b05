import { h } from './dom';

const SHOWN_MS = 4000;
let area: HTMLElement | null = null;

export interface Toast {
	/** Say something else instead, for as long again; false if it is already gone. */
	change(text: string): boolean;
}

/** A short message in passing; screen readers say it. */
export function toast(text: string): Toast {
	const message = h('div', { class: 'toast' }, text);
	const remove = () => message.remove();
	let timer = window.setTimeout(remove, SHOWN_MS);
	openArea().append(message);
	return {
		change(other) {
			if (!message.isConnected)
				return false;
			message.textContent = other;
			window.clearTimeout(timer);
			timer = window.setTimeout(remove, SHOWN_MS);
			return true;
		},
	};
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
