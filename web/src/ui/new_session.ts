import { isStatus, type Api } from '../net/api';
import type { Session, Size } from '../net/wire';
import { toast } from './toast';

/** Create a session in the directory of the session `here` (null: the server's default). */
export async function newSession(api: Api, here: string | null, name: string, size: Size | null): Promise<Session> {
	const wanted = { name, ...size };
	const cwd = here === null ? null : await api.directory(here).catch(() => null);
	try {
		return await api.create(typeof cwd === 'string' ? { ...wanted, cwd } : wanted);
	} catch (error) {
		// The directory may be deleted, inaccessible or not valid UTF-8.
		if (!isStatus(error, 400))
			throw error;
	}
	const session = await api.create(wanted);
	toast('The directory of this session cannot be entered. The new session starts in the default directory.');
	return session;
}
