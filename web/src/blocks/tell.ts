import { notice } from '../ui/toast';
import type { Told } from './awaited';

/** To be called by a click: the browser's question comes unbidden otherwise. */
export function askToNotify(): void {
	if ('Notification' in window && Notification.permission === 'default')
		void Notification.requestPermission();
}

/** On the page, and by the system, for who is elsewhere. open: they want to see the command. */
export function tellOfEnd({ title, text, session, block }: Told, open: (session: string, block: string) => void): void {
	notice(title, text);
	if (!('Notification' in window) || Notification.permission !== 'granted')
		return;
	try {
		const shown = new Notification(title, { body: text });
		shown.onclick = () => {
			window.focus();
			open(session, block);
			shown.close();
		};
	} catch {
		// phones have them for service workers alone
	}
}
