/* The actions of the palette, by role. */
import type { Identity } from '../net/api';
import type { Shortcut } from '../ui/shortcuts';
import type { Action } from './palette';

export interface ActionHandlers {
	createAs(): void;
	rename(): void;
	end(): void;
	share(): void;
	signOut(): void;
	upload(): void;
	read(): void;
	/** null if the browser does not support it. */
	readonly fullScreen: (() => void) | null;
	toggleTheme(): void;
	settings(): void;
	shortcuts(): void;
}

/** The actions that the login allows. */
export function actionsFor({ role, authRequired }: Identity, shortcuts: readonly Shortcut[], handlers: ActionHandlers): Action[] {
	const { fullScreen } = handlers;
	const owners: Action[] = [
		{ label: 'New session …', run: () => handlers.createAs() },
		{ label: 'Rename this session', run: () => handlers.rename() },
		{ label: 'End this session', run: () => handlers.end() },
		{ label: 'Share this session', run: () => handlers.share() },
	];
	return [
		...shortcuts.filter(({ key }) => key !== 'P').map(({ key, label, run }) => ({ label, run, keys: `Ctrl+Shift+${key}` })),
		...(role === 'owner' ? owners : []),
		...(role === 'viewer' ? [] : [{ label: 'Upload files', run: () => handlers.upload() }]),
		{ label: 'Read and select the text', run: () => handlers.read() },
		...(fullScreen === null ? [] : [{ label: 'Full screen with all keys, on or off', run: () => fullScreen() }]),
		{ label: 'Switch between dark and light', run: () => handlers.toggleTheme() },
		{ label: 'Settings', run: () => handlers.settings() },
		{ label: 'Keyboard shortcuts and screen reader (?)', keys: '?', run: () => handlers.shortcuts() },
		...(role === 'owner' && authRequired !== false ? [{ label: 'Sign out', run: () => handlers.signOut() }] : []),
	];
}
