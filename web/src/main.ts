/*
 * Entry point: checks the login, then shows the app or the sign-in card.
 *
 * Handles for browser tests only:
 *   window.ringside      read-only { terminal, connection, whenParsed } of the session in front, or null each.
 *                        terminal is xterm.js's Terminal; connection has state, epoch, offset;
 *                        whenParsed(run) calls run when the terminal has parsed all output that has arrived.
 *   data-testid          session-list, session-item (data-session-id, data-state, data-kind: see ui/session_status.ts),
 *                        session-facts, session-where, session-time, session-bell, session-failed,
 *                        session-filter, session-count, new-session, new-session-as,
 *                        palette, palette-input, palette-list, palette-item (data-kind), palette-count,
 *                        inbox, inbox-item (data-kind, data-session-id), inbox-drop, inbox-secret, notify,
 *                        session-rename, session-end (session-delete once it has ended),
 *                        session-name, session-cwd, session-shell, confirm (a dialog's main button),
 *                        terminal, status (data-state of the connection, or behind), latency, presence, people, my-name,
 *                        share, share-dialog, share-role-viewer, share-role-driver, share-expiry,
 *                        share-name, share-create, share-qr, share-loopback, share-link (an input's value), share-item,
 *                        share-revoke, banner, pasting, paste-cancel, lease-badge, lease-frame, size-badge,
 *                        size-policy (a select), size-cols, size-rows,
 *                        gutter, block (data-block-id, data-state, data-rows), block-code, block-card, block-copy-command,
 *                        block-copy-output, block-rerun, block-copy-link, block-tell, block-header, block-stop,
 *                        blocks-panel, panel-text, panel-author, panel-kind, panel-session, panel-count, panel-row (data-block-id),
 *                        wall-button, wall (data-state live or away), wall-close, wall-count, wall-tile (data-session-id, data-kind), wall-open,
 *                        wall-facts, wall-answer, wall-answer-form, wall-answer-text, wall-send, wall-interrupt, wall-copy, wall-pick, wall-together,
 *                        pane (data-session-id, data-front), pane-close,
 *                        uploads, upload (data-state), upload-path, file-menu, file-download, file-copy, open-settings, settings, setting-NAME (a select), setting-font-name,
 *                        setting-font-hint, settings-reset, shortcuts, key-bar, role-badge (data-role),
 *                        search, search-input, search-count, search-case, search-regex, search-problem,
 *                        answer, answer-command, answer-secret, answer-over,
 *                        new-output, touch-menu, touch-handle-start, touch-handle-end, read, read-text, text, sign-in, sign-in-token.
 */
import { App } from './app';
import { Api, isStatus, messageOf, type Identity } from './net/api';
import { linkInAddress, showLinkInAddress, consumeCredential } from './net/address';
import './styles/main.css';
import { adoptStyleElements } from './term/style_sheets';
import { showAnswerPage } from './ui/answer_page';
import { useLinkName } from './ui/my_name';
import { preventFileDrops } from './ui/paste';
import { showSignIn } from './ui/sign_in';
import { Theme } from './ui/theme';
import { followVisualViewport } from './ui/viewport';

const RETRY_MS = 2000;

declare global {
	interface Window {
		readonly ringside: object;
	}
}

// First of all, remove the secret from the address bar.
const credential = consumeCredential();
adoptStyleElements(document);
const theme = new Theme();
const api = new Api();
let app: App | null = null;

async function signIn(secret: string): Promise<Identity> {
	const identity = await api.login(secret);
	if (identity.link !== null)
		showLinkInAddress(identity.link);
	return identity;
}

/** Show the sign-in card. Signing in reloads the page, so that no state is left over. */
function askToSignIn(why: string): void {
	app?.dispose();
	app = null;
	showSignIn(why, async (token) => {
		api.link = null;
		await signIn(token);
		window.location.reload();
	});
}

async function start(secret: string | null): Promise<void> {
	api.link = linkInAddress();
	let identity: Identity;
	try {
		identity = secret === null ? await api.whoami() : await signIn(secret);
		api.link = identity.link;
	} catch (error) {
		if (isStatus(error, 401) || isStatus(error, 429) || isStatus(error, 403))
			askToSignIn(whyNot(error, secret !== null));
		else
			waitForServer(secret, messageOf(error));
		return;
	}
	if (identity.answers) {
		showAnswerPage(api, identity, identity.answers);
		return;
	}
	if (identity.link !== null)
		useLinkName(identity.link, identity.name);
	app = new App({ api, identity, theme, signedOut: askToSignIn });
	await app.start().catch((error: unknown) => waitForServer(null, messageOf(error)));
}

function whyNot(error: unknown, tried: boolean): string {
	if (isStatus(error, 429))
		return 'Too many failed attempts. Wait a moment, then sign in again.';
	if (isStatus(error, 403))
		return messageOf(error);
	if (api.link !== null)
		return 'This link is no longer valid. Ask for a new one, or sign in with a token.';
	return tried ? 'The token or link in the address is not valid.' : 'Shells that stay, shared live.';
}

function waitForServer(secret: string | null, why: string): void {
	const message = document.createElement('p');
	message.className = 'waiting';
	message.setAttribute('role', 'status');
	message.textContent = `${why} Trying again…`;
	document.body.replaceChildren(message);
	window.setTimeout(() => void start(secret), RETRY_MS);
}

Object.defineProperty(window, 'ringside', {
	value: Object.freeze({
		get terminal() {
			return app?.view?.terminal ?? null;
		},
		get connection() {
			return app?.view?.connection ?? null;
		},
		get whenParsed() {
			const view = app?.view ?? null;
			return view && ((run: () => void) => view.whenParsed(run));
		},
	}),
});

// Another address was pasted into this tab. Only its fragment differs, so the browser does not reload.
window.addEventListener('hashchange', () => {
	const other = consumeCredential();
	if (other !== null)
		void signIn(other).then(() => window.location.reload(),
			(error: unknown) => askToSignIn(messageOf(error)));
});

followVisualViewport();
preventFileDrops();
void start(credential);
