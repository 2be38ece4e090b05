/* The page after sign-in: creates its parts and connects them. */
import { messageOf, type Api, type Identity } from './net/api';
import { blockInAddress, sessionInAddress, showLinkInAddress, showSessionInAddress, tilesInAddress, wallInAddress } from './net/address';
import { SessionEvents } from './net/session_events';
import type { Session, SizePolicy } from './net/wire';
import { Alerts } from './blocks/alerts';
import { LazyPanel } from './blocks/lazy_panel';
import { showAlert } from './blocks/notify';
import { chooseFiles } from './files/file_selection';
import { Panes } from './panes';
import { SessionView, type SessionViewEvents } from './session_view';
import { copyText } from './ui/copy';
import { h } from './ui/dom';
import { canFullScreen, toggleFullScreen } from './ui/full_screen';
import { anyUnseen } from './ui/inbox';
import { setMyName } from './ui/my_name';
import { NeedsYou } from './ui/needs_you';
import { newSession } from './ui/new_session';
import { PageTitle } from './ui/page_title';
import { LeaseBadge } from './ui/lease_badge';
import { Ports } from './ui/ports';
import { Presence } from './ui/presence';
import {
	createSessionDialog, endSessionDialog, fixedSizeDialog, renameSessionDialog,
} from './ui/session_dialogs';
import { mostRecent, SessionList } from './ui/session_list';
import { openShareDialog } from './ui/share';
import { listenForShortcuts, type Shortcut } from './ui/shortcuts';
import { Sidebar } from './ui/sidebar';
import { countWaiting } from './ui/session_status';
import { SizeMenu } from './ui/size_menu';
import { StatusBar } from './ui/status_bar';
import { Settings } from './ui/settings';
import type { Theme } from './ui/theme';
import { toast } from './ui/toast';
import { TopBar } from './ui/top_bar';
import { LazyWall } from './wall/lazy_wall';

const FIRST_SESSION = 'main';
const ALERT_BLOCKS_MAX = 1000;

export interface AppOptions {
	readonly api: Api;
	readonly identity: Identity;
	readonly theme: Theme;
	/** The login is no longer valid. why: a sentence for the sign-in card. */
	signedOut(why: string): void;
}

export class App {
	#options: AppOptions;
	#owner: boolean;
	#view: SessionView | null = null;
	#events: SessionEvents | null = null;
	#ports: Ports;
	#name = '';
	#panesElement = h('div', { class: 'place' });
	#title = new PageTitle();
	#list: SessionList;
	#needsYou: NeedsYou;
	#sidebar: Sidebar;
	#presence: Presence;
	#lease: LeaseBadge;
	#topBar: TopBar;
	#sizeMenu = new SizeMenu((policy) => this.#setSizePolicy(policy));
	#status: StatusBar;
	#panel: LazyPanel;
	#wall: LazyWall;
	#disposed = new AbortController();
	#alerts: Alerts;
	#panes = new Panes({
		container: this.#panesElement,
		make: (parent, id, events) => new SessionView(parent, {
			api: this.#options.api, id, role: this.#options.identity.role, theme: this.#options.theme, events,
			name: () => this.#nameOf(id), settings: this.#settings, alerts: this.#alerts,
			targetBlock: id === (this.#options.identity.sessionId ?? sessionInAddress()) ? blockInAddress() : null,
		}),
		events: (id) => this.#viewEvents(id),
		activated: (id) => {
			this.#show(id);
			this.#showInAddress('replace');
		},
		close: (id) => this.#closePane(id),
	});
	#settings = new Settings(this.#disposed.signal);
	#shortcuts: readonly Shortcut[];

	constructor(options: AppOptions) {
		this.#options = options;
		this.#owner = options.identity.role === 'owner';
		this.#shortcuts = this.#makeShortcuts();
		this.#alerts = new Alerts({
			blocks: (session, after) => options.api.blocks(session, ALERT_BLOCKS_MAX, after),
			show: (alert) => showAlert(alert, (session, block) => this.#showBlock(session, block)),
		});
		this.#list = new SessionList({
			choose: (id) => this.#choose(id),
			rename: (session) => renameSessionDialog(options.api, session),
			end: (session) => this.#attempt(() => this.#end(session)),
		});
		this.#needsYou = new NeedsYou(options.api, (id) => this.#choose(id), (inbox) => {
			this.#list.showUnseen(inbox.unseen);
			this.#title.setUnseen(anyUnseen(inbox));
		});
		this.#ports = new Ports(options.api, (task) => this.#attempt(task));
		this.#panel = new LazyPanel({
			api: options.api, only: options.identity.sessionId,
			show: (session, block) => this.#showBlock(session, block),
			closed: () => this.#view?.terminal.focus(),
		});
		this.#sidebar = new Sidebar({
			list: this.#list.element, filter: this.#list.filter, inbox: this.#needsYou.element,
			create: () => this.#attempt(() => this.#create()), createFromDialog: () => this.#createFromDialog(),
			openWall: () => this.#wall.open(this.#view?.id ?? null),
			signOut: options.identity.authRequired === false ? null : () => this.#attempt(() => this.#signOut()),
		});
		this.#presence = new Presence((name) => {
			this.#view?.connection.setName(setMyName(name));
		});
		this.#lease = new LeaseBadge(this.#owner ? {
			take: (when) => void this.#view?.keyboard.acquire(when),
			giveBack: (note) => void this.#view?.keyboard.giveBack(note),
		} : null);
		this.#topBar = new TopBar({
			owner: this.#owner, theme: options.theme, presence: this.#presence.element,
			toggleSidebar: () => this.#sidebar.toggle(),
			rename: () => this.#withSession((session) => renameSessionDialog(options.api, session)),
			palette: () => this.#attempt(() => this.#openPalette()),
			commands: () => this.#attempt(() => this.#panel.toggle()),
			search: () => this.#attempt(() => this.#openSearch()),
			read: () => this.#view?.read(),
			share: () => this.#withSession((session) => openShareDialog(options.api, session)),
		});
		this.#status = new StatusBar({
			sizeMenu: this.#owner ? this.#sizeMenu.element : null,
			showShortcuts: () => this.#attempt(() => this.#showShortcuts()), openSettings: () => this.#attempt(() => this.#openSettings()),
		});
		this.#status.setLease(this.#lease.element);
		this.#status.setPorts(this.#ports.element);
		listenForShortcuts(this.#shortcuts, {
			go: (n) => this.#showNth(n), stepFontSize: (step) => this.#settings.stepFontSize(step),
		}, this.#disposed.signal);
		this.#checkNetwork();
		if (!this.#owner)
			this.#sidebar.close();
		const main = h('main', { class: 'main' }, this.#topBar.element, this.#panesElement, this.#status.element);
		this.#wall = new LazyWall({
			api: options.api, role: options.identity.role, theme: options.theme, main, follow: options.identity.sessionId !== null,
			open: (id) => this.#choose(id), openTiles: options.identity.sessionId === null ? (ids) => this.#openTiles(ids) : null,
			leave: () => this.#attempt(() => this.#leaveWall()),
			refused: () => void this.#checkLogin(), changed: (open) => this.#onWallToggled(open),
		});
		document.body.replaceChildren(h('div', { class: 'app' },
			...(this.#owner ? [this.#sidebar.element, this.#sidebar.backdrop] : []), main));
	}

	/** Used by window.ringside in browser tests. */
	get view(): SessionView | null {
		return this.#view;
	}

	dispose(): void {
		this.#disposed.abort();
		this.#events?.stop();
		this.#ports.stop();
		this.#list.dispose();
		this.#panel.dispose();
		this.#wall.close();
		this.#panes.dispose();
		this.#title.dispose();
		this.#view = null;
	}

	async start(): Promise<void> {
		const { api, identity } = this.#options;
		if (identity.sessionId !== null) {
			this.#topBar.setRole(identity.role);
			if (wallInAddress())
				this.#wall.open(identity.sessionId);
			else
				this.#show(identity.sessionId);
			return;
		}
		const { signal } = this.#disposed;
		window.addEventListener('popstate', () => this.#applyAddress(), { signal });
		document.addEventListener('visibilitychange', () => this.#updateInbox(), { signal });
		this.#events = new SessionEvents(api, (sessions) => this.#update(sessions), () => void this.#checkLogin());
		if (wallInAddress()) {
			this.#wall.open(null);
			return;
		}
		const sessions = await api.sessions();
		const session = await this.#firstSession(sessions);
		this.#showWithTiles(session.id, tilesInAddress().filter((id) => sessions.some((each) => each.id === id)));
		this.#showInAddress('replace');
	}

	/** Check the connection when the network may have changed. The views and the wall, which come later, then check theirs. */
	#checkNetwork(): void {
		const { signal } = this.#disposed;
		const nudge = () => {
			if (document.visibilityState === 'visible')
				this.#options.api.mux.nudge();
		};
		window.addEventListener('online', nudge, { signal });
		document.addEventListener('visibilitychange', nudge, { signal });
	}

	/** Show the wall or the sessions that the address names. */
	#applyAddress(): void {
		const id = sessionInAddress();
		if (wallInAddress()) {
			this.#wall.open(this.#view?.id ?? null);
			return;
		}
		this.#wall.close();
		if (id !== null)
			this.#showWithTiles(id, tilesInAddress());
	}

	/** Show these sessions side by side, with session id in front. */
	#showWithTiles(id: string, tiles: readonly string[]): void {
		const ids = tiles.includes(id) ? tiles : [id];
		if (String(ids) !== String(this.#panes.tiles))
			this.#panes.setSessions(ids);
		if (id !== this.#view?.id)
			this.#show(id);
		this.#namePanes();
		this.#updateInbox();
		if (ids.length > 1 && matchMedia('(hover: hover)').matches)
			this.#view?.terminal.focus();
	}

	#namePanes(): void {
		this.#panes.setNames((id) => this.#nameOf(id));
	}

	#nameOf(id: string): string {
		return this.#list.find(id)?.name || id;
	}

	#showInAddress(how: 'push' | 'replace'): void {
		if (this.#view !== null && this.#options.identity.sessionId === null)
			showSessionInAddress(this.#view.id, how, this.#panes.tiles);
	}

	#nextPane(): void {
		const { tiles } = this.#panes;
		const next = tiles[(tiles.indexOf(this.#view?.id ?? '') + 1) % tiles.length];
		if (next !== undefined && !this.#wall.isOpen)
			this.#goToPane(next);
	}

	#goToPane(id: string): void {
		this.#show(id);
		this.#showInAddress('replace');
		this.#view?.terminal.focus();
	}

	#closePane(id: string): void {
		const next = this.#panes.close(id);
		if (next !== null)
			this.#goToPane(next);
	}

	/** The session in the address, else the most recently active one, else a new one. */
	async #firstSession(sessions: readonly Session[]): Promise<Session> {
		this.#update(sessions);
		const wanted = sessionInAddress();
		const found = sessions.find((session) => session.id === wanted);
		if (found === undefined && wanted !== null)
			toast(`There is no session “${wanted}”.`);
		return found ?? mostRecent(sessions) ?? await this.#options.api.open({ id: FIRST_SESSION });
	}

	#update(sessions: readonly Session[]): void {
		this.#list.update(sessions);
		this.#wall.update(sessions);
		this.#alerts.update(sessions);
		this.#panel.update(sessions);
		this.#namePanes();
		this.#title.setWaiting(countWaiting(sessions));
		this.#updateInbox();
	}

	/** Sessions that are visible on this page get no inbox items. */
	#updateInbox(): void {
		const visible = document.visibilityState === 'visible' && !this.#wall.isOpen ? this.#panes.visible : [];
		this.#needsYou.update(this.#list.sessions, new Set(visible));
	}

	#show(id: string): void {
		this.#presence.clear();
		this.#lease.show({ type: 'lease', lease: null });
		this.#title.clear();
		if (this.#owner) // only owners can open ports
			this.#ports.follow(id);
		this.#setName(this.#list.find(id)?.name ?? id);
		this.#list.choose(id);
		this.#view = this.#panes.show(id);
		this.#status.setBadge(this.#view.sizeBadge);
		this.#updateInbox();
	}

	#viewEvents(id: string): SessionViewEvents {
		return {
			attached: () => {
				// A page opened by a share link has no session list, so it fetches the name.
				if (this.#list.find(id) === undefined)
					this.#attempt(async () => this.#setName((await this.#options.api.session(id)).name || id));
			},
			role: (role) => this.#topBar.setRole(role),
			connection: (state, behind, silentMs) => this.#status.showConnection(state, behind, silentMs),
			latency: (ms) => this.#status.showLatency(ms),
			presence: (message, me) => {
				this.#presence.update(message, me);
				this.#sizeMenu.show(message.sizePolicy);
			},
			lease: (message) => this.#lease.show(message),
			size: (size) => this.#status.showSize(size),
			renamed: (name) => this.#setName(name),
			title: (title) => this.#title.setProgram(title),
			bell: () => this.#title.ring(),
			signedOut: () => this.#onLoginEnded(),
			startAgain: () => this.#attempt(() => this.#startAgain(id)),
			remove: () => this.#withSession((session) => this.#attempt(() => this.#end(session))),
		};
	}

	#toggleWall(): void {
		if (this.#wall.isOpen)
			this.#attempt(() => this.#leaveWall());
		else
			this.#wall.open(this.#view?.id ?? null);
	}

	async #openPalette(): Promise<void> {
		const [{ openPalette }, { actionsFor }] = await Promise.all([import('./palette/palette'), import('./palette/actions')]);
		if (document.querySelector('dialog[open]') !== null)
			return;
		const { api, identity, theme } = this.#options;
		openPalette({
			api, only: identity.sessionId, current: this.#view?.id ?? null, sessions: this.#owner ? this.#list.sessions : [],
			actions: actionsFor(identity, this.#shortcuts, {
				createAs: () => this.#createFromDialog(),
				rename: () => this.#withSession((session) => renameSessionDialog(api, session)),
				end: () => this.#withSession((session) => this.#attempt(() => this.#end(session))),
				share: () => this.#withSession((session) => openShareDialog(api, session)),
				upload: () => chooseFiles((selection) => void this.#view?.upload(selection)),
				read: () => this.#attempt(() => this.#withVisibleView((view) => view.read())),
				fullScreen: canFullScreen() ? () => this.#attempt(toggleFullScreen) : null,
				toggleTheme: () => theme.toggle(), settings: () => this.#attempt(() => this.#openSettings()),
				shortcuts: () => this.#attempt(() => this.#showShortcuts()), signOut: () => this.#attempt(() => this.#signOut()),
			}),
			choose: (id) => this.#choose(id), show: (session, block) => this.#showBlock(session, block),
			type: identity.role === 'viewer' ? null : (text) => this.#attempt(() => this.#withVisibleView((view) => {
				if (!view.paste(text))
					toast('The command cannot be typed now: the shell is not at its prompt.');
			})),
		});
	}

	async #showShortcuts(): Promise<void> {
		const { showShortcuts } = await import('./ui/shortcuts_dialog');
		if (document.querySelector('dialog[open]') !== null)
			return;
		showShortcuts({
			shortcuts: this.#shortcuts, settings: this.#settings.values, sessions: this.#owner,
			changed: (on) => {
				if (this.#view !== null)
					this.#view.terminal.options.screenReaderMode = on;
			},
		});
	}

	async #openSettings(): Promise<void> {
		const { openSettings } = await import('./ui/settings_dialog');
		if (document.querySelector('dialog[open]') === null)
			openSettings(this.#settings, this.#options.theme);
	}

	/** Show the n-th session of the list. Returns false if there is none. */
	#showNth(n: number): boolean {
		const session = this.#owner && this.#settings.values.digits === 'sessions' ? this.#list.sessions[n - 1] : undefined;
		if (session === undefined)
			return false;
		this.#choose(session.id);
		return true;
	}

	/** Show the next (1) or the previous (-1) session of the list. */
	#showNext(step: 1 | -1): void {
		const { sessions } = this.#list;
		const at = sessions.findIndex(({ id }) => id === this.#view?.id);
		const next = sessions.at(at < 0 ? 0 : (at + step) % sessions.length);
		if (next !== undefined)
			this.#choose(next.id);
	}

	#showBlock(session: string, block: string): void {
		if (session !== this.#view?.id || this.#wall.isOpen)
			this.#choose(session);
		this.#view?.blocks.show(block);
	}

	#openSearch(): Promise<void> {
		return this.#withVisibleView((view) => view.search.open());
	}

	/** Close the wall first, so that the view is visible. */
	async #withVisibleView(use: (view: SessionView) => void | Promise<void>): Promise<void> {
		if (this.#wall.isOpen)
			await this.#leaveWall();
		if (this.#view !== null)
			await use(this.#view);
	}

	#setName(name: string): void {
		this.#name = name;
		this.#topBar.setSession(name);
		this.#title.setSession(name);
	}

	#choose(id: string): void {
		this.#sidebar.closeDrawer();
		this.#wall.close();
		const hadPane = this.#panes.has(id);
		if (this.#options.identity.sessionId === null)
			showSessionInAddress(id, 'push', this.#panes.tilesWith(id));
		else if (this.#options.api.link !== null)
			showLinkInAddress(this.#options.api.link);
		if (id !== this.#view?.id)
			this.#show(id);
		if (hadPane)
			this.#view?.terminal.focus();
	}

	#openTiles(ids: readonly string[]): void {
		this.#wall.close();
		const first = ids.find((id) => id === this.#view?.id) ?? ids[0];
		if (first === undefined)
			return;
		this.#showWithTiles(first, ids);
		this.#showInAddress('push');
	}

	/** Show the session that was shown before the wall. If it no longer exists, show another. */
	async #leaveWall(): Promise<void> {
		const id = this.#view?.id ?? this.#options.identity.sessionId;
		this.#choose(id ?? (await this.#firstSession(await this.#options.api.sessions())).id);
	}

	#onWallToggled(open: boolean): void {
		this.#sidebar.closeDrawer();
		if (open)
			this.#title.setSession('All sessions');
		else if (this.#view !== null)
			this.#setName(this.#name);
		this.#updateInbox();
	}

	async #create(): Promise<void> {
		const view = this.#view;
		const session = await newSession(this.#options.api, view?.id ?? null, this.#list.freeName(), view?.wantedSize() ?? null);
		this.#choose(session.id);
		this.#setName(session.name || session.id);
	}

	#createFromDialog(): void {
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

	/** Ask, then delete the session. If it was in front, show the most recently active one. */
	async #end(session: Session): Promise<void> {
		if (!await endSessionDialog(this.#options.api, session))
			return;
		if (this.#panes.tiles.includes(session.id)) {
			this.#closePane(session.id);
			return;
		}
		if (session.id !== this.#view?.id)
			return;
		const next = this.#list.mostRecentExcept(session.id) ?? await this.#options.api.open({ id: FIRST_SESSION });
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

	async #checkLogin(): Promise<void> {
		await this.#options.api.whoami().catch((error: { status?: number }) => {
			if (error.status === 401)
				this.#onLoginEnded();
		});
	}

	/** The server has refused our credentials. */
	#onLoginEnded(): void {
		this.#options.signedOut(this.#options.identity.link === null
			? 'You are signed out.' : 'This link is no longer valid. Ask for a new one.');
	}

	#attempt(task: () => Promise<void>): void {
		task().catch((error: unknown) => toast(messageOf(error)));
	}

	#makeShortcuts(): Shortcut[] {
		const shortcuts: Shortcut[] = [
			{ key: 'C', label: 'Copy the selection', run: () => this.#copy() },
			{ key: 'E', label: 'Commands of all sessions', run: () => this.#attempt(() => this.#panel.toggle()) },
			{ key: 'F', label: 'Search the history', run: () => this.#attempt(() => this.#openSearch()) },
			{ key: 'G', label: 'Go to the commands beside the terminal (arrows, Enter, Esc)', run: () => this.#focusBlocks() },
			{ key: 'P', label: 'Command palette', run: () => this.#attempt(() => this.#openPalette()) },
		];
		if (this.#owner)
			shortcuts.push({
				key: 'Enter', label: 'New session here', run: () => this.#attempt(() => this.#create()),
			}, {
				key: ']', label: 'Next session', run: () => this.#showNext(1),
			}, {
				key: '[', label: 'Previous session', run: () => this.#showNext(-1),
			}, {
				key: 'B', label: 'Go to the session list, and back', run: () => this.#toggleFocus(),
			}, {
				key: 'L', label: 'Show all sessions, and back', run: () => this.#toggleWall(),
			}, {
				key: 'O', label: 'Go to the next terminal side by side', run: () => this.#nextPane(),
			});
		return shortcuts;
	}

	#focusBlocks(): void {
		if (this.#view !== null && !this.#wall.isOpen && !this.#view.blocks.focus())
			toast('No command is visible.');
	}

	#copy(): void {
		const text = this.#view?.terminal.getSelection() ?? '';
		if (text !== '')
			void copyText(text, 'Copied.');
	}

	/** Move the focus between the terminal, where Tab belongs to the shell, and the session list. */
	#toggleFocus(): void {
		if (this.#sidebar.isOpen && this.#sidebar.element.contains(document.activeElement)) {
			this.#sidebar.closeDrawer();
			this.#view?.terminal.focus();
		} else {
			this.#sidebar.open();
			this.#list.focus();
		}
	}
}
