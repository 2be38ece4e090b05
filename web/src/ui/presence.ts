import type { Client, PresenceMessage } from '../net/wire';
import { openDialog, textField } from './dialog';
import { fill, h } from './dom';
import { icon } from './icons';
import { myName } from './my_name';

const TYPING_MS = 2500;
const CHIPS_MAX = 5;
export const NO_CLIENTS: PresenceMessage = { type: 'presence', clients: [], sizeBy: null, sizePolicy: 'latest' };

export const ROLE_LABELS = { owner: 'owner', driver: 'can type', viewer: 'watching' } as const;

/** The people in the session: a chip for each, a ring around the last typist, a pulse while they type. */
export class Presence {
	readonly element = h('button', {
		type: 'button', class: 'presence', 'data-testid': 'presence', 'aria-haspopup': 'dialog',
		click: () => this.#openDialog(),
	});
	#rename: (name: string) => void;
	#message: PresenceMessage = NO_CLIENTS;
	#me: Client['id'] | null = null;
	#lastTyped: string | null = null; // newest typedAt so far; only compared for equality, since clocks differ
	#typing = false;
	#timer: number | undefined;
	#people = h('ul', { class: 'people', 'data-testid': 'people' }); // in the dialog, which stays up to date

	constructor(rename: (name: string) => void) {
		this.#rename = rename;
		this.#draw();
	}

	/** Another session is shown. */
	clear(): void {
		this.update(NO_CLIENTS, null);
	}

	update(message: PresenceMessage, me: Client['id'] | null): void {
		const empty = message.clients.length === 0;
		this.#typing &&= !empty;
		this.#message = { ...message, clients: persons(message, me) };
		this.#me = me;
		const typedAt = lastTypist(message.clients)?.typedAt ?? null;
		if (typedAt !== null && this.#lastTyped !== null && typedAt !== this.#lastTyped) {
			this.#typing = true;
			window.clearTimeout(this.#timer);
			this.#timer = window.setTimeout(() => {
				this.#typing = false;
				this.#draw();
			}, TYPING_MS);
		}
		this.#lastTyped = empty ? null : typedAt ?? this.#lastTyped ?? '';
		this.#draw();
	}

	#draw(): void {
		const clients = this.#ordered();
		const typist = lastTypist(clients);
		const chips = clients.slice(0, CHIPS_MAX).map((client) => h('span', {
			class: 'chip', 'data-color': client.color & 7,
			'data-typed': client === typist, 'data-typing': client === typist && this.#typing,
		}, initials(client.name)));
		const more = clients.length - chips.length;
		fill(this.element, ...chips, more > 0 && h('span', { class: 'chip more' }, `+${more}`),
			clients.length === 0 && icon('people'));
		const names = clients.map((client) => this.#describe(client));
		this.element.title = names.join('\n');
		this.element.ariaLabel = `Who is here: ${names.join('; ') || 'not connected'}. Change your name.`;
		this.#drawPeople(clients);
	}

	#drawPeople(clients: readonly Client[]): void {
		fill(this.#people, ...clients.map((client) => h('li', {},
			h('span', { class: 'chip', 'data-color': client.color & 7 }, initials(client.name)),
			h('span', { class: 'person' }, client.id === this.#me ? `${client.name} (you)` : client.name),
			client.id === this.#message.sizeBy && h('small', { class: 'tag' }, 'sets the size'),
			h('small', {}, ROLE_LABELS[client.role]))), clients.length === 0 && h('li', {}, 'Not connected.'));
	}

	/** This page's client first, the others in order of arrival. */
	#ordered(): Client[] {
		return [...this.#message.clients].sort((a, b) =>
			Number(b.id === this.#me) - Number(a.id === this.#me));
	}

	#describe(client: Client): string {
		const facts: string[] = [ROLE_LABELS[client.role]];
		if (client === lastTypist(this.#message.clients))
			facts.push(this.#typing ? 'typing' : 'typed last');
		const name = client.id === this.#me ? `${client.name} (you)` : client.name;
		return `${name}, ${facts.join(', ')}`;
	}

	#openDialog(): void {
		const name = textField({ label: 'Your name', value: myName(), hint: 'Other people see this name.', testId: 'my-name' });
		const dialog = openDialog({
			title: 'Who is here',
			body: [this.#people, name.row],
			actions: [h('button', {
				type: 'submit', class: 'button primary', autofocus: true, 'data-testid': 'confirm',
			}, 'Done')],
			submit: () => {
				if (name.input.value.trim() !== '')
					this.#rename(name.input.value);
				dialog.close();
			},
		});
	}
}

/**
 * One client for each person: this page's own, else the one that sets the size, else the first. Its typedAt is the newest of
 * all the person's clients.
 */
export function persons({ clients, sizeBy }: PresenceMessage, me: Client['id'] | null): Client[] {
	const found = new Map<Client['id'], Client>();
	for (const client of clients) {
		const before = found.get(client.person);
		const shown = before === undefined || client.id === me || (client.id === sizeBy && before.id !== me) ? client : before;
		const typedAt = [client.typedAt, before?.typedAt ?? null].filter((at) => at !== null).sort().pop() ?? null;
		found.set(client.person, { ...shown, typedAt });
	}
	return [...found.values()];
}

function lastTypist(clients: readonly Client[]): Client | undefined {
	return clients.filter((client) => client.typedAt !== null)
		.sort((a, b) => Date.parse(b.typedAt ?? '') - Date.parse(a.typedAt ?? ''))[0];
}

function initials(name: string): string {
	const words = name.trim().split(/\s+/);
	const letters = words.length > 1
		? [words[0], words[words.length - 1]].map((word) => [...(word ?? '')][0] ?? '')
		: [...(words[0] ?? '?')].slice(0, 2);
	return letters.join('').toUpperCase();
}
