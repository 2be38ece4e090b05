import type { Api } from '../net/api';
import type { Session, Size } from '../net/wire';
import { confirmDialog, formDialog } from './dialog';

/** size: of the new session; freeName: the default name. */
export function createSessionDialog(api: Api, size: Size | null, freeName: string,
	created: (session: Session) => void): void {
	let session: Session | null = null;
	formDialog({
		title: 'New session',
		action: 'Create',
		fields: [
			{ label: 'Name', placeholder: freeName, testId: 'session-name' },
			{ label: 'Directory', placeholder: 'the server’s home directory', mono: true, testId: 'session-cwd' },
			{ label: 'Shell', placeholder: '/bin/bash', mono: true, testId: 'session-shell' },
		],
		save: async ([name, cwd, shell]) => {
			session = await api.create({
				name: name || freeName, ...(cwd ? { cwd } : {}), ...(shell ? { shell } : {}),
				...(size === null ? {} : { cols: size.cols, rows: size.rows }),
			});
		},
		done: () => session !== null && created(session),
	});
}

export function renameSessionDialog(api: Api, session: { id: string; name: string }): void {
	formDialog({
		title: 'Rename session',
		action: 'Rename',
		fields: [{ label: 'Name', value: session.name, required: true, testId: 'session-name' }],
		save: ([name]) => api.rename(session.id, name ?? ''),
	});
}

/** size: the initial values. */
export function fixedSizeDialog(api: Api, id: string, size: Size): void {
	formDialog({
		title: 'Fixed size',
		action: 'Set',
		fields: [
			{ label: 'Columns', value: String(size.cols), required: true, testId: 'size-cols' },
			{ label: 'Rows', value: String(size.rows), required: true, testId: 'size-rows' },
		],
		save: ([cols, rows]) => api.setSizePolicy(id, 'fixed', { cols: Number(cols), rows: Number(rows) }),
	});
}

/** The same for a session whose node is away. */
async function forgetSessionDialog(api: Api, session: Session): Promise<boolean> {
	const yes = await confirmDialog({
		title: `Forget “${session.name}”?`,
		text: 'Its node is away. Its id can be used again at once; the session itself will be ended when its node comes back.',
		action: 'Forget', danger: true,
	});
	if (yes)
		await api.remove(session.id, true);
	return yes;
}

/** Ask, then delete the session. Returns false if the user cancels. */
export async function endSessionDialog(api: Api, session: Session): Promise<boolean> {
	if (session.state === 'unreachable')
		return forgetSessionDialog(api, session);
	const others = session.clients > 1 ? ` ${session.clients} clients are attached to it.` : '';
	const text = session.state === 'exited'
		? 'Its history will be deleted. This cannot be undone.'
		: 'Its shell and everything that runs in it will be stopped, and its history deleted. '
			+ `This cannot be undone.${others}`;
	const yes = await confirmDialog({
		title: session.state === 'exited' ? `Delete “${session.name}”?` : `End “${session.name}”?`,
		text, action: session.state === 'exited' ? 'Delete' : 'End session', danger: true,
	});
	if (yes)
		await api.remove(session.id);
	return yes;
}
