/* Makes links of file names in a terminal, with a menu that downloads the file. */
import { ApiError, messageOf, type Api } from '../net/api';
import { browserClock } from '../net/clock';
import { copyText } from '../ui/copy';
import { h } from '../ui/dom';
import { toast } from '../ui/toast';
import { FileLinks } from './file_links';
import { FileMenu } from './file_menu';
import { KnownFiles } from './known_files';
import { normalize } from './directories';
import type { LazyLinksOptions } from './lazy_links';

/** Returns a function that closes the menu. */
export function showLinks({ api, session, terminal, stage, mount, blockAt }: LazyLinksOptions): () => void {
	const menu = new FileMenu({
		download: (path) => void download(api, session, path),
		copy: (path) => void copyText(path, 'The path has been copied.'),
	});
	stage.append(menu.element);
	const known = new KnownFiles({
		clock: browserClock,
		stat: (paths) => api.stat(session, paths),
		isRefusal: (error) => error instanceof ApiError && [401, 403].includes(error.status),
	});
	new FileLinks({
		terminal, mount, known, blockAt,
		open: ({ absolutePath, size, modifiedAt }, event) => menu.show({ path: normalize(absolutePath), size, modifiedAt }, event),
	});
	return () => menu.close();
}

/** The browser downloads the file, of any size. Ask before, because it would show no reason for a failure. */
async function download(api: Api, session: string, path: string): Promise<void> {
	try {
		const [facts] = await api.stat(session, [path]);
		if (facts?.type === 'file' && facts.readable)
			h('a', { href: api.fileUrl(session, path), download: '' }).click();
		else
			toast('The file does not exist any more, or cannot be read.');
	} catch (error) {
		toast(messageOf(error));
	}
}
