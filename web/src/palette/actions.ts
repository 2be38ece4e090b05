/* The actions of the palette, by role. */
import type { Identity } from '../net/api';
import type { Shortcut } from '../ui/shortcuts';
import type { Action } from './palette';

export interface Doer {
	create(): void;
	createAs(): void;
	rename(): void;
	end(): void;
	share(): void;
	signOut(): void;
	bring(): void;
	read(): void;
	/** null if the browser does not support it. */
	readonly fullScreen: (() => void) | null;
	toggleTheme(): void;
	settings(): void;
	shortcuts(): void;
}

/** The actions that the login allows. */
export function actionsFor({ role, authRequired }: Identity, shortcuts: readonly Shortcut[], doer: Doer): Action[] {
	const { fullScreen } = doer;
	const owners: Action[] = [
		{ what: 'New session here', run: () => doer.create() },
		{ what: 'New session …', run: () => doer.createAs() },
		{ what: 'Rename this session', run: () => doer.rename() },
		{ what: 'End this session', run: () => doer.end() },
		{ what: 'Share this session', run: () => doer.share() },
	];
	return [
		...shortcuts.filter(({ letter }) => letter !== 'P').map(({ letter, what, run }) => ({ what, run, keys: `Ctrl+Shift+${letter}` })),
		...(role === 'owner' ? owners : []),
		...(role === 'viewer' ? [] : [{ what: 'Upload files', run: () => doer.bring() }]),
		{ what: 'Read and select the text', run: () => doer.read() },
		...(fullScreen === null ? [] : [{ what: 'Full screen with all keys, on or off', run: () => fullScreen() }]),
		{ what: 'Switch between dark and light', run: () => doer.toggleTheme() },
		{ what: 'Settings', run: () => doer.settings() },
		{ what: 'Keyboard and screen reader', run: () => doer.shortcuts() },
		...(role === 'owner' && authRequired !== false ? [{ what: 'Sign out', run: () => doer.signOut() }] : []),
	];
}
