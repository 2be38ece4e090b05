import { h } from './dom';

const SHOWN_MS = 4000;
const NOTICE_MS = 12_000; // longer, because a notice is not the result of a user's action
const NOTICES_MAX = 5;
let area: HTMLElement | null = null;

const timers = new Map<string, number>(); // of visible toasts, by text

/** Show a short message, also to screen readers. A message that is already visible is shown longer. */
export function toast(text: string): void {
	const before = timers.get(text);
	window.clearTimeout(before);
	const message = before === undefined ? h('div', { class: 'toast' }, text) : findToast(text);
	timers.set(text, window.setTimeout(() => {
		timers.delete(text);
		message?.remove();
	}, SHOWN_MS));
	if (before === undefined && message !== undefined)
		openArea().append(message);
}

function findToast(text: string): HTMLElement | undefined {
	return [...area?.querySelectorAll<HTMLElement>('.toast:not(.notice)') ?? []].find((shown) => shown.textContent === text);
}

/** Show a message from a program in the session. A text that is an address becomes a link. */
export function notice(title: string | null, text: string): void {
	const message = h('div', { class: 'toast notice' });
	if (title)
		message.append(h('strong', {}, title), ' ');
	message.append(/^https?:\/\/\S+$/.test(text)
		? h('a', { href: text, target: '_blank', rel: 'noopener noreferrer' }, text) : text);
	window.setTimeout(() => message.remove(), NOTICE_MS);
	const all = openArea();
	all.append(message);
	for (const old of [...all.querySelectorAll('.notice')].slice(0, -NOTICES_MAX))
		old.remove();
}

/** Reopen the popover, so that it is above dialogs that were opened since. */
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
