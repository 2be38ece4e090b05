import { isStatus, type Api } from './api';
import type { Diagnosis } from './connection';

/** Find out why the server refused to attach us. Browsers do not reveal the HTTP status of a refused WebSocket. */
export async function diagnose(api: Api, sessionId: string): Promise<Diagnosis> {
	try {
		await api.whoami();
		await api.session(sessionId);
		return 'unknown';
	} catch (error) {
		if (isStatus(error, 401))
			return 'signed-out';
		if (isStatus(error, 403)) // a link whose session was replaced by another
			return 'access-ended';
		return isStatus(error, 404) ? 'deleted' : 'unknown';
	}
}
