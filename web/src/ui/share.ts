import { messageOf, type Api, type ShareLink } from '../net/api';
import { isLoopback } from '../net/loopback';
import { shareUrl } from '../net/address';
import { copyText } from './copy';
import { openDialog, textField } from './dialog';
import { fill, h } from './dom';
import { icon } from './icons';
import { ROLE_LABELS } from './presence';
import { relativeTime } from './time';

const HOUR_MS = 3_600_000;
const EXPIRIES = [['1 hour', HOUR_MS], ['1 day', 24 * HOUR_MS], ['7 days', 168 * HOUR_MS],
	['30 days', 720 * HOUR_MS]] as const;

/** Share links of one session: create, copy and revoke them. */
export function openShareDialog(api: Api, session: { readonly id: string; readonly name: string }): void {
	const name = textField({ label: 'For', placeholder: 'Ada, or “stand-up”', testId: 'share-name' });
	const expiry = h('select', { 'data-testid': 'share-expiry' }, ...EXPIRIES.map(([label, ms]) =>
		h('option', { value: ms, selected: ms === 24 * HOUR_MS }, label)));
	const made = h('div', { class: 'made-link', hidden: true });
	const links = h('ul', { class: 'links', 'aria-label': 'Links' });
	const problem = h('p', { class: 'problem', role: 'alert' });
	const fieldset = h('fieldset', { class: 'choice' }, h('legend', {}, 'People with the link'),
		roleChoice('viewer', 'can watch', 'Sees everything, types nothing.', true),
		roleChoice('driver', 'can type', 'Can do everything that you can do in this shell.', false));

	async function attempt(task: () => Promise<void>): Promise<void> {
		problem.textContent = '';
		try {
			await task();
		} catch (error) {
			problem.textContent = messageOf(error);
		}
	}

	const refresh = () => attempt(async () => {
		const all = await api.links(session.id);
		fill(links, ...all.map((link) => linkRow(link, () => attempt(async () => {
			await api.revokeLink(session.id, link.id);
			await refresh();
		}))));
	});

	async function create(): Promise<void> {
		const role = fieldset.querySelector<HTMLInputElement>('input:checked')?.value;
		const label = name.input.value.trim();
		const { path } = await api.createLink(session.id, {
			role: role === 'driver' ? 'driver' : 'viewer',
			expiresInMs: Number(expiry.value),
			...(label === '' ? {} : { name: label }),
		});
		showCreated(made, shareUrl(path));
		await refresh();
	}

	openDialog({
		title: `Share “${session.name}”`,
		testId: 'share-dialog',
		body: [fieldset,
			h('div', { class: 'row' }, name.row,
				h('label', { class: 'field' }, h('span', {}, 'Expires after'), expiry),
				h('button', { type: 'submit', class: 'button primary', 'data-testid': 'share-create' }, 'Create link')),
			made, problem, links],
		submit: () => attempt(create),
	});
	void refresh();
}

function roleChoice(value: ShareLink['role'], label: string, hint: string, checked: boolean): HTMLElement {
	return h('label', {},
		h('input', { type: 'radio', name: 'role', value, checked, 'data-testid': `share-role-${value}` }),
		h('span', {}, h('b', {}, label), h('small', {}, hint)));
}

function showCreated(area: HTMLElement, url: string): void {
	const field = h('input', {
		type: 'text', readonly: true, value: url, class: 'mono', 'aria-label': 'The link',
		'data-testid': 'share-link', focus: () => field.select(),
	});
	const copy = () => void copyText(url, 'Link copied.');
	area.hidden = false;
	const picture = h('div', { class: 'made-picture', hidden: true });
	fill(area, field, h('button', { type: 'button', class: 'button', click: copy }, icon('copy'), 'Copy'),
		h('small', {}, 'The link is shown only once. It gives access without a password, so keep it private.'),
		isLoopback(new URL(url).hostname) && h('small', { class: 'warning', role: 'alert', 'data-testid': 'share-loopback' },
			'This address works only on this machine. Open this page by an address that other machines can reach, or through a '
				+ 'tunnel, and share from there.'), picture);
	copy();
	void showPicture(picture, url);
}

/** If the code cannot be loaded, there is only the link. */
async function showPicture(area: HTMLElement, url: string): Promise<void> {
	const made = await import('./qr_picture').catch(() => null);
	const picture = made?.qrPicture(url, 'QR code of the link') ?? null;
	area.hidden = picture === null;
	fill(area, picture);
}

function linkRow(link: ShareLink, revoke: () => void): HTMLElement {
	return h('li', { 'data-testid': 'share-item' },
		icon(link.role === 'driver' ? 'keyboard' : 'eye'),
		h('span', { class: 'person' }, link.name || 'Unnamed link'),
		h('small', {}, `${ROLE_LABELS[link.role]} · expires ${relativeTime(link.expiresAt)}`),
		h('button', { type: 'button', class: 'button small', click: revoke, 'data-testid': 'share-revoke' }, 'Revoke'));
}
