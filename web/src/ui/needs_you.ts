/* The inbox, its panel, and browser notifications of new items. */
import { answerPrompt } from '../net/answer';
import type { Api } from '../net/api';
import type { Session } from '../net/wire';
import { addedItems, dropItem, EMPTY, nextInbox, type Inbox } from './inbox';
import { InboxPanel } from './inbox_panel';
import { Notifier } from './notifier';

export class NeedsYou {
	#inbox = EMPTY;
	#notifier: Notifier;
	#panel: InboxPanel;
	#changed: (inbox: Inbox) => void;

	constructor(api: Api, choose: (id: string) => void, changed: (inbox: Inbox) => void) {
		this.#changed = changed;
		this.#notifier = new Notifier(choose);
		this.#panel = new InboxPanel({
			choose,
			drop: (key) => this.#show(dropItem(this.#inbox, key)),
			answer: (item, secret) => answerPrompt(api, item.sessionId, item.block, secret),
		}, this.#notifier.element);
	}

	get element(): HTMLElement {
		return this.#panel.element;
	}

	/** seen: ids of visible sessions, which are not reported. */
	update(sessions: readonly Session[], seen: ReadonlySet<string>): void {
		this.#show(nextInbox(this.#inbox, sessions, seen));
	}

	#show(inbox: Inbox): void {
		this.#notifier.notify(addedItems(this.#inbox, inbox));
		this.#inbox = inbox;
		this.#panel.show(inbox.items);
		this.#changed(inbox);
	}
}
