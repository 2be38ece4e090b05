import { isStatus, type Api } from '../net/api';
import type { Session, Size } from '../net/wire';
import { toast } from './toast';

/** At once, where the shell of that session is; null: anywhere. */
export async function newSession(api: Api, here: string | null, name: string, size: Size | null): Promise<Session> {
	const wanted = { name, ...size };
	const cwd = here === null ? null : await api.directory(here).catch(() => null);
	try {
		return await api.create(typeof cwd === 'string' ? { ...wanted, cwd } : wanted);
	} catch (error) {
		// The folder may be gone, or closed to new shells, or not be text.
		if (!isStatus(error, 400))
			throw error;
	}
	const session = await api.create(wanted);
	toast('The folder of this session cannot be entered: the new one is where the server starts them.');
	return session;
}
