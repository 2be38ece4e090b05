import { sessionHref } from '../net/place';
import type { Session } from '../net/wire';
import { fill, h } from './dom';
import { icon } from './icons';
import { relativeTime } from './time';

export interface SessionRowEvents {
	choose(id: string): void;
	rename(session: Session): void;
	end(session: Session): void;
}

/**
 * One session in the list. The same elements stay for as long as the session does, and only their
 * contents change: the list is told news several times a second, and a link that was replaced
 * between press and release is never clicked.
 */
export class SessionRow {
	readonly element: HTMLElement;
	#session: Session;
	#link: HTMLAnchorElement;
	#dot = h('span', { class: 'dot', role: 'img' });
	#name = h('span', { class: 'session-name' });
	#facts = h('span', { class: 'session-facts' });
	#watchers = h('span', { class: 'watchers' });
	#rename: HTMLButtonElement;
	#end: HTMLButtonElement;

	constructor(session: Session, events: SessionRowEvents) {
		this.#session = session;
		this.#link = h('a', {
			href: sessionHref(session.id),
			click: (event: MouseEvent) => {
				// With a modifier it is a link as any other, to a new tab.
				if (event.ctrlKey || event.metaKey || event.shiftKey)
					return;
				event.preventDefault();
				events.choose(session.id);
			},
		}, this.#dot, this.#name, this.#facts);
		this.#rename = button('edit', () => events.rename(this.#session));
		this.#end = button('close', () => events.end(this.#session));
		this.element = h('li', { 'data-testid': 'session-item', 'data-session-id': session.id },
			this.#link, this.#watchers, h('span', { class: 'session-actions' }, this.#rename, this.#end));
		this.update(session, false);
	}

	update(session: Session, current: boolean): void {
		this.#session = session;
		const ended = session.state === 'exited';
		const name = session.name || session.id;
		this.element.dataset['state'] = session.state;
		this.#link.title = `${session.shell} in ${session.cwd}`;
		if (current)
			this.#link.setAttribute('aria-current', 'page');
		else
			this.#link.removeAttribute('aria-current');
		this.#dot.ariaLabel = ended ? 'ended' : 'running';
		this.#name.textContent = name;
		this.#facts.textContent =
			`${session.cols}×${session.rows} · ${ended ? 'ended ' : ''}${relativeTime(session.lastActivityAt)}`;
		this.#watchers.hidden = session.clients === 0;
		this.#watchers.title = `${session.clients} attached`;
		fill(this.#watchers, icon('people'), String(session.clients));
		describe(this.#rename, 'Rename', name);
		describe(this.#end, ended ? 'Delete' : 'End', name);
	}

	focus(): void {
		this.#link.focus();
	}
}

function button(name: Parameters<typeof icon>[0], click: () => void): HTMLButtonElement {
	return h('button', { type: 'button', class: 'icon-button small', click }, icon(name));
}

function describe(element: HTMLButtonElement, verb: string, name: string): void {
	element.title = verb;
	element.ariaLabel = `${verb} ${name}`;
	element.dataset['testid'] = `session-${verb.toLowerCase()}`;
}
