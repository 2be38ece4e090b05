/* The page of somebody who is signed in: puts the parts together and passes between them. */
import { messageOf, type Api, type Identity } from './net/api';
import { sessionInAddress, showSessionInAddress } from './net/place';
import { SessionEvents } from './net/session_events';
import type { Session, SizePolicy } from './net/wire';
import { SessionView, type SessionViewEvents } from './session_view';
import { copyText } from './ui/copy';
import { h } from './ui/dom';
import { setMyName } from './ui/my_name';
import { PageTitle } from './ui/page_title';
import { LeaseBadge } from './ui/lease_badge';
import { Presence } from './ui/presence';
import {
	createSessionDialog, endSessionDialog, fixedSizeDialog, renameSessionDialog,
} from './ui/session_dialogs';
import { mostRecent, SessionList } from './ui/session_list';
import { openShareDialog } from './ui/share';
import { listenForShortcuts, showShortcuts, type Shortcut } from './ui/shortcuts';
import { Sidebar } from './ui/sidebar';
import { SizeMenu } from './ui/size_menu';
import { StatusBar } from './ui/status_bar';
import type { Theme } from './ui/theme';
import { toast } from './ui/toast';
import { TopBar } from './ui/top_bar';

const FIRST_SESSION = 'main';

export interface AppOptions {
	readonly api: Api;
	readonly identity: Identity;
	readonly theme: Theme;
	/** The server no longer knows us; why, in a sentence. */
	signedOut(why: string): void;
}

export class App {
	#options: AppOptions;
	#owner: boolean;
	#view: SessionView | null = null;
	#events: SessionEvents | null = null;
	#name = '';
	#place = h('div', { class: 'place' });
	#title = new PageTitle();
	#list: SessionList;
	#sidebar: Sidebar;
	#presence: Presence;
	#lease: LeaseBadge;
	#topBar: TopBar;
	#sizeMenu = new SizeMenu((policy) => this.#setSizePolicy(policy));
	#status: StatusBar;

	constructor(options: AppOptions) {
		this.#options = options;
		this.#owner = options.identity.role === 'owner';
		const shortcuts = this.#shortcuts();
		this.#list = new SessionList({
			choose: (id) => this.#choose(id),
			rename: (session) => renameSessionDialog(options.api, session),
			end: (session) => this.#attempt(() => this.#end(session)),
		});
		this.#sidebar = new Sidebar(this.#list.element, () => this.#create(),
			options.identity.authRequired === false ? null : () => this.#attempt(() => this.#signOut()));
		this.#presence = new Presence((name) => {
			this.#view?.connection.setName(setMyName(name));
		});
		this.#lease = new LeaseBadge(this.#owner ? () => this.#attempt(async () => {
			if (this.#view !== null)
				await options.api.endLease(this.#view.id);
		}) : null);
		this.#topBar = new TopBar({
			owner: this.#owner, theme: options.theme, presence: this.#presence.element,
			toggleSidebar: () => this.#sidebar.toggle(),
			rename: () => this.#withSession((session) => renameSessionDialog(options.api, session)),
			search: () => this.#view?.search.open(),
			share: () => this.#withSession((session) => openShareDialog(options.api, session)),
		});
		this.#status = new StatusBar(this.#owner ? this.#sizeMenu.element : null,
			() => showShortcuts(shortcuts, (on) => {
				if (this.#view !== null)
					this.#view.terminal.options.screenReaderMode = on;
			}));
		this.#status.lease(this.#lease.element);
		listenForShortcuts(shortcuts);
		if (!this.#owner)
			this.#sidebar.close();
		document.body.replaceChildren(h('div', { class: 'app' },
			...(this.#owner ? [this.#sidebar.element, this.#sidebar.backdrop] : []),
			h('main', { class: 'main' }, this.#topBar.element, this.#place, this.#status.element)));
	}

	/** For the browser tests' window.ringside. */
	get view(): SessionView | null {
		return this.#view;
	}

	/** Nothing is fetched, sent or called any more. */
	dispose(): void {
		this.#events?.stop();
		this.#view?.dispose();
		this.#view = null;
	}

	async start(): Promise<void> {
		const { api, identity } = this.#options;
		if (identity.sessionId !== null) {
			this.#topBar.role(identity.role);
			this.#show(identity.sessionId);
			return;
		}
		window.addEventListener('popstate', () => {
			const id = sessionInAddress();
			if (id !== null && id !== this.#view?.id)
				this.#show(id);
		});
		this.#events = new SessionEvents(api, (sessions) => this.#list.update(sessions), () => void this.#stillKnown());
		const session = await this.#firstSession(await api.sessions());
		showSessionInAddress(session.id, 'replace');
		this.#show(session.id);
	}

	/** The one in the address; else where something last happened; else a new one. */
	async #firstSession(sessions: readonly Session[]): Promise<Session> {
		this.#list.update(sessions);
		const wanted = sessionInAddress();
		const found = sessions.find((session) => session.id === wanted);
		if (found === undefined && wanted !== null)
			toast(`There is no session “${wanted}” any more.`);
		return found ?? mostRecent(sessions) ?? await this.#options.api.open({ id: FIRST_SESSION });
	}

	#show(id: string): void {
		this.#view?.dispose();
		this.#presence.clear();
		this.#lease.show(null);
		this.#title.clear();
		this.#setName(this.#list.find(id)?.name ?? id);
		this.#list.choose(id);
		this.#view = new SessionView(this.#place, {
			api: this.#options.api, id, role: this.#options.identity.role, theme: this.#options.theme,
			events: this.#viewEvents(id),
		});
		this.#status.badge(this.#view.sizeBadge);
	}

	#viewEvents(id: string): SessionViewEvents {
		return {
			attached: () => {
				// A share link has no list to look the name up in.
				if (this.#list.find(id) === undefined)
					this.#attempt(async () => this.#setName((await this.#options.api.session(id)).name || id));
			},
			connection: (state, behind) => this.#status.connection(state, behind),
			latency: (ms) => this.#status.latency(ms),
			presence: (message, me) => {
				this.#presence.update(message, me);
				this.#sizeMenu.show(message.sizePolicy);
			},
			lease: (lease) => this.#lease.show(lease),
			size: (size) => this.#status.size(size),
			renamed: (name) => this.#setName(name),
			title: (title) => this.#title.program(title),
			bell: () => this.#title.bell(),
			signedOut: () => this.#options.signedOut(this.#options.identity.link === null
				? 'You are signed out.' : 'This link is no longer valid. Ask for a new one.'),
			startAgain: () => this.#attempt(() => this.#startAgain(id)),
			remove: () => this.#withSession((session) => this.#attempt(() => this.#end(session))),
		};
	}

	#setName(name: string): void {
		this.#name = name;
		this.#topBar.session(name);
		this.#title.session(name);
	}

	#choose(id: string): void {
		this.#sidebar.chosen();
		if (id === this.#view?.id) {
			this.#view.terminal.focus();
			return;
		}
		showSessionInAddress(id, 'push');
		this.#show(id);
	}

	#create(): void {
		const size = this.#view?.wantedSize() ?? null;
		createSessionDialog(this.#options.api, size, this.#list.freeName(), (session) => {
			this.#choose(session.id);
			this.#setName(session.name || session.id);
		});
	}

	async #startAgain(id: string): Promise<void> {
		const before = this.#list.find(id);
		const size = this.#view?.wantedSize();
		await this.#options.api.create({
			id, name: this.#name, ...size,
			...(before === undefined ? {} : { cwd: before.cwd, shell: before.shell }),
		});
		if (this.#view?.id === id)
			this.#view.connection.restart();
	}

	/** End it after a question; if it was in front, go to where something last happened. */
	async #end(session: Session): Promise<void> {
		if (!await endSessionDialog(this.#options.api, session) || session.id !== this.#view?.id)
			return;
		const next = this.#list.best(session.id) ?? await this.#options.api.open({ id: FIRST_SESSION });
		showSessionInAddress(next.id, 'replace');
		this.#show(next.id);
	}

	#setSizePolicy(policy: SizePolicy): void {
		const { api } = this.#options;
		if (this.#view === null)
			return;
		const { id, terminal } = this.#view;
		if (policy === 'fixed')
			fixedSizeDialog(api, id, terminal);
		else
			this.#attempt(() => api.setSizePolicy(id, policy));
	}

	#withSession(use: (session: Session) => void): void {
		const id = this.#view?.id;
		if (id !== undefined)
			this.#attempt(async () => use(this.#list.find(id) ?? await this.#options.api.session(id)));
	}

	async #signOut(): Promise<void> {
		await this.#options.api.logout();
		this.#options.signedOut('You have signed out.');
	}

	async #stillKnown(): Promise<void> {
		await this.#options.api.whoami().catch((error: { status?: number }) => {
			if (error.status === 401)
				this.#options.signedOut('You are signed out.');
		});
	}

	#attempt(task: () => Promise<void>): void {
		task().catch((error: unknown) => toast(messageOf(error)));
	}

	#shortcuts(): Shortcut[] {
		const shortcuts: Shortcut[] = [
			{ letter: 'C', what: 'Copy the selection', run: () => this.#copy() },
			{ letter: 'F', what: 'Search the history', run: () => this.#view?.search.open() },
		];
		if (this.#owner)
			shortcuts.push({
				letter: 'B', what: 'To the list of sessions and back', run: () => this.#toggleFocus(),
			});
		return shortcuts;
	}

	#copy(): void {
		const text = this.#view?.terminal.getSelection() ?? '';
		if (text !== '')
			void copyText(text, 'Copied.');
	}

	/** The way out of the terminal, which keeps Tab for the shell, and the way back. */
	#toggleFocus(): void {
		if (this.#sidebar.isOpen && this.#sidebar.element.contains(document.activeElement)) {
			this.#sidebar.chosen();
			this.#view?.terminal.focus();
		} else {
			this.#sidebar.open();
			this.#list.focus();
		}
	}
}
