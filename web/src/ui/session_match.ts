/* Which sessions match the filter of the list. No DOM, so that unit tests cover it. */
import type { Session } from '../net/wire';
import { folderOf, statusOf } from './session_status';

/** Whether each word of the query is in what the row shows: name, directory, command; or in the id or the title. */
export function matchesFilter(session: Session, query: string): boolean {
	const words = plain(query).split(/\s+/).filter((word) => word !== '');
	if (words.length === 0)
		return true;
	const text = textOf(session);
	return words.every((word) => text.includes(word));
}

function textOf(session: Session): string {
	const { activity, cwd, id, name } = session;
	return plain([name, id, folderOf(session), activity === null ? cwd : activity.cwd, statusOf(session, 0).text,
		activity?.foreground?.name, activity?.title].filter(Boolean).join('\n'));
}

/** Text in one form: some systems write é as two characters. */
function plain(text: string): string {
	return text.normalize('NFC').toLowerCase();
}
