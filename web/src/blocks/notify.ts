import { notice } from '../ui/toast';
import type { Alert } from './alerts';

/** Ask for permission to notify. Call it only from a click, or the question would come as a surprise. */
export function requestNotifications(): void {
	if ('Notification' in window && Notification.permission === 'default')
		void Notification.requestPermission();
}

/** Show an alert on the page and as a system notification. open: called when the notification is clicked. */
export function showAlert({ title, text, session, block }: Alert, open: (session: string, block: string) => void): void {
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
		// On phones only service workers can show notifications.
	}
}
