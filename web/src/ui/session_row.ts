import { sessionHref } from '../net/address';
import type { Activity, Session } from '../net/wire';
import { fill, h } from './dom';
import { icon } from './icons';
import type { Unseen } from './inbox';
import { folderOf, shortPath, statusOf, type Kind, type SessionStatus } from './session_status';
import { relativeTime } from './time';

export const KIND_LABELS: Readonly<Record<Kind, string>> = {
	waits: 'waits for input', failed: 'failed', works: 'working', idle: 'idle', ended: 'ended', unknown: 'running',
};

export interface SessionRowEvents {
	choose(id: string): void;
	rename(session: Session): void;
	end(session: Session): void;
}

/**
 * One session in the list. Its elements are reused at every update. Updates come several times a second, and a link that
 * is replaced between press and release gets no click.
 */
export class SessionRow {
	readonly element: HTMLElement;
	#session: Session;
	#link: HTMLAnchorElement;
	#dot = h('span', { class: 'dot', role: 'img' });
	#name = h('span', { class: 'session-name' });
	#where = h('bdi');
	#bell = h('span', { class: 'session-news', role: 'img', title: 'rang', 'data-testid': 'session-bell' }, icon('bell'));
	#failed = h('span', { class: 'session-news', role: 'img', title: 'failed', 'data-testid': 'session-failed' }, '✗');
	#mark = h('span', { class: 'session-mark', 'aria-hidden': 'true' });
	#what = h('bdi');
	#whatPlace = h('span', { class: 'session-what' }, this.#what);
	#time = h('span', { class: 'session-time', 'data-testid': 'session-time' });
	#progress = h('span', { class: 'session-progress', role: 'progressbar', 'aria-label': 'progress', 'data-testid': 'session-progress' });
	#clients = h('span');
	#watchers = h('span', { class: 'watchers' }, icon('people'), this.#clients);
	#rename: HTMLButtonElement;
	#end: HTMLButtonElement;
	#drawn: readonly [Session, boolean, Unseen | undefined] | null = null;

	constructor(session: Session, events: SessionRowEvents) {
		this.#session = session;
		this.#link = h('a', {
			href: sessionHref(session.id),
			click: (event: MouseEvent) => {
				// With a modifier the browser opens a new tab.
				if (event.ctrlKey || event.metaKey || event.shiftKey)
					return;
				event.preventDefault();
				events.choose(session.id);
			},
		}, this.#dot, h('span', { class: 'session-head' }, this.#name, this.#failed, this.#bell,
			h('span', { class: 'session-where path', 'data-testid': 'session-where' }, this.#where)),
		h('span', { class: 'session-facts', 'data-testid': 'session-facts' }, this.#mark, this.#whatPlace, this.#time), this.#progress);
		this.#rename = button('edit', () => events.rename(this.#session));
		this.#end = button('close', () => events.end(this.#session));
		this.element = h('li', { 'data-testid': 'session-item', 'data-session-id': session.id },
			this.#link, this.#watchers, h('span', { class: 'session-actions' }, this.#rename, this.#end));
		this.reachable = false;
		this.update(session, false, undefined);
	}

	/** Whether Tab reaches this row. */
	set reachable(reachable: boolean) {
		for (const element of [this.#link, this.#rename, this.#end])
			element.tabIndex = reachable ? 0 : -1;
	}

	/** unseen: what happened in the session since it was visible. */
	update(session: Session, current: boolean, unseen: Unseen | undefined): void {
		if (this.#drawn?.[0] === session && this.#drawn[1] === current && this.#drawn[2] === unseen)
			return;
		this.#drawn = [session, current, unseen];
		this.#session = session;
		const ended = session.state === 'exited';
		const name = session.name || session.id;
		this.element.dataset['state'] = session.state;
		if (current)
			this.#link.setAttribute('aria-current', 'page');
		else
			this.#link.removeAttribute('aria-current');
		setText(this.#name, name);
		const what = statusOf(session, Date.now());
		this.#show(what, session);
		this.#showUnseen(unseen, what.kind);
		this.#watchers.hidden = session.clients === 0;
		this.#watchers.title = `${session.clients} attached`;
		setText(this.#clients, String(session.clients));
		describe(this.#rename, 'Rename', name);
		describe(this.#end, ended ? 'Delete' : 'End', name);
	}

	/** Update the elapsed time. */
	tick(): void {
		setText(this.#time, statusOf(this.#session, Date.now()).time);
	}

	/** Update the age in the tooltip. */
	describe(): void {
		this.#link.title = describeSession(this.#session);
	}

	#show(what: SessionStatus, session: Session): void {
		this.element.dataset['kind'] = what.kind;
		this.element.dataset['unread'] = String(session.activity?.unread ?? false);
		this.#dot.ariaLabel = session.state === 'unreachable' ? 'unreachable' : KIND_LABELS[what.kind];
		showMark(this.#mark, what.mark);
		setText(this.#what, what.text);
		setText(this.#time, what.time);
		this.#showProgress(session.state === 'exited' ? null : session.activity?.progress ?? null);
		const folder = what.kind === 'ended' ? '' : shortPath(folderOf(session));
		setText(this.#where, folder === what.text ? '' : folder);
		this.#whatPlace.classList.toggle('path', folder === what.text);
		this.describe();
	}

	/** What the program reports: a bar of that length, or a moving one. */
	#showProgress(progress: Activity['progress']): void {
		const bar = this.#progress;
		bar.hidden = progress === null;
		if (progress === null)
			return;
		bar.dataset['progress'] = progress.state;
		bar.ariaValueNow = progress.percent === null ? null : String(progress.percent);
		bar.title = `${progress.percent === null ? 'working' : `${progress.percent} %`}${progress.state === 'error' || progress.state === 'paused' ? `, ${progress.state}` : ''}`;
		bar.style.setProperty('--percent', `${progress.percent ?? 100}%`);
	}

	/** A failure that the facts show already only makes the name bold. */
	#showUnseen(unseen: Unseen | undefined, kind: Kind): void {
		this.#bell.hidden = unseen?.bell !== true;
		this.#failed.hidden = unseen?.failed !== true || kind === 'failed';
		this.element.dataset['news'] = String(unseen !== undefined && (unseen.bell || unseen.failed));
	}

	focus(): void {
		this.#link.focus();
	}
}

/** Details for the tooltip. */
export function describeSession({ activity, cols, cwd, lastActivityAt, node, rows, shell, state }: Session): string {
	if (state === 'unreachable')
		return `Its node, ${node ?? ''}, is away`;
	const block = activity?.block;
	const author = block?.label ?? block?.author;
	return [
		block?.command, author && `by ${author}`, activity?.lease && `${activity.lease.owner} has the keyboard`,
		activity?.cwd ?? cwd, activity?.title, `${shell}, ${cols}×${rows}, ${relativeTime(lastActivityAt)}`,
	].filter(Boolean).join('\n');
}

/** Emoji look different on each system, so icons replace them. */
export function showMark(element: HTMLElement, mark: string): void {
	if (element.dataset['mark'] === mark)
		return;
	element.dataset['mark'] = mark;
	fill(element, mark === '🔒' ? icon('lock') : mark === '⌨' ? icon('keyboard') : mark);
}

/** Setting the same text again would make screen readers repeat it. */
export function setText(element: HTMLElement, text: string): void {
	if (element.textContent !== text)
		element.textContent = text;
}

function button(name: Parameters<typeof icon>[0], click: () => void): HTMLButtonElement {
	return h('button', { type: 'button', class: 'icon-button small', click }, icon(name));
}

function describe(element: HTMLButtonElement, verb: string, name: string): void {
	element.title = verb;
	element.ariaLabel = `${verb} ${name}`;
	element.dataset['testid'] = `session-${verb.toLowerCase()}`;
}
