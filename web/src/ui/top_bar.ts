import type { Role } from '../net/wire';
import { h, keepFocusOutside } from './dom';
import { iconButton } from './icon_button';
import { icon } from './icons';
import { ROLE_LABELS } from './presence';
import type { Theme } from './theme';

export interface TopBarOptions {
	readonly owner: boolean;
	readonly theme: Theme;
	readonly presence: HTMLElement;
	toggleSidebar(): void;
	rename(): void;
	palette(): void;
	commands(): void;
	search(): void;
	read(): void;
	share(): void;
}

/** The line at the top: name of the session, role, people, buttons. */
export class TopBar {
	readonly element: HTMLElement;
	#name: HTMLElement;
	#role = h('span', { class: 'badge', 'data-testid': 'role-badge', hidden: true });

	constructor(options: TopBarOptions) {
		this.#name = options.owner
			? h('button', { type: 'button', class: 'session-title', title: 'Rename', click: options.rename })
			: h('span', { class: 'session-title' });
		const themeButton = iconButton('Switch between dark and light', 'moon', () => options.theme.toggle());
		const commands = iconButton('Commands (Ctrl+Shift+E)', 'commands', options.commands);
		for (const other of [themeButton, commands])
			other.classList.add('in-palette');
		const showTheme = () =>
			themeButton.replaceChildren(icon(options.theme.name === 'dark' ? 'sun' : 'moon'));
		options.theme.onChange(showTheme);
		showTheme();
		const menu = iconButton('Sessions (Ctrl+Shift+B)', 'panel', options.toggleSidebar);
		menu.setAttribute('aria-controls', 'sidebar');
		menu.classList.add('menu');
		const share = h('button', {
			type: 'button', class: 'button accent', click: options.share, 'data-testid': 'share',
			'aria-label': 'Share this session', 'aria-haspopup': 'dialog',
		}, icon('share'), h('span', {}, 'Share'));
		this.element = h('header', { class: 'top-bar' },
			options.owner && menu, h('h1', {}, this.#name), this.#role, h('span', { class: 'spring' }),
			options.presence,
			iconButton('Command palette (Ctrl+Shift+P)', 'go', options.palette),
			commands,
			iconButton('Search the history (Ctrl+Shift+F)', 'search', options.search),
			iconButton('Read and select the text', 'text', options.read), themeButton,
			options.owner && share);
		keepFocusOutside(this.element);
	}

	setSession(name: string): void {
		this.#name.textContent = name;
	}

	/** Show the role, except to owners; null: none. */
	setRole(role: Role | null): void {
		this.#role.hidden = role === null || role === 'owner';
		if (role === null)
			return;
		this.#role.dataset['role'] = role;
		this.#role.replaceChildren(icon(role === 'viewer' ? 'eye' : 'keyboard'), ROLE_LABELS[role]);
	}
}
