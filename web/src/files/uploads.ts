/*
 * Uploads files to a session, one at a time, and types their paths. Paths are pasted, and only while the program uses
 * bracketed paste; otherwise the tray offers them. Loaded for the first upload.
 */
import { ApiError, isStatus, messageOf, type Api } from '../net/api';
import { upload } from '../net/upload';
import { toast } from '../ui/toast';
import { cleanName, knownDirectory, alternativeName, quotePath } from './names';
import { privateDirectory } from './private_directory';
import { Tray, type TrayRow } from './tray';
import type { FileSelection } from './file_selection';

const FILES_MAX = 100; // waiting at once
const NAMES_MAX = 100; // alternatives that are tried if a name is in use

/** The session that gets the files. Another session may be in front when they have arrived. */
export interface Target {
	readonly api: Api;
	readonly session: string;
	name(): string;
	/** A sentence that says why files cannot be uploaded now; null if they can. */
	whyNot(): string | null;
	/** Paste the text. Returns false if that is not possible now. */
	paste(text: string): boolean;
}

interface Job {
	readonly target: Target;
	readonly file: File;
	readonly row: TrayRow;
	readonly directory: Promise<string>; // '' or an absolute path that ends with a slash
	readonly temporary: boolean;
	readonly arrived: (path: string | null) => void;
	readonly abort: AbortController;
}

class Uploads {
	#tray = new Tray();
	#waiting: Job[] = [];
	#working = false;
	#private = new Map<string, Promise<string>>(); // by session id

	add(target: Target, { files, directories, how }: FileSelection): void {
		if (directories > 0)
			toast('Directories cannot be uploaded. Pack them into an archive first.');
		if (files.length === 0)
			return;
		const free = FILES_MAX - this.#waiting.length;
		if (files.length > free) {
			toast(`${files.length} files are too many at once: at most ${FILES_MAX}. Pack them into an archive first.`);
			return;
		}
		const temporary = how === 'paste' && files.every(({ type }) => type.startsWith('image/'));
		void this.#uploadAndPaste(target, files, temporary, false);
	}

	/** Upload files and then paste all their paths at once. */
	async #uploadAndPaste(target: Target, files: readonly File[], temporary: boolean, again: boolean): Promise<void> {
		const directory = temporary ? this.#privateDirectory(target, again) : directoryOf(target);
		// Each job reports the failure; without this handler a cancelled job would leave the rejection unhandled.
		directory.catch(() => undefined);
		const paths = await Promise.all(files.map((file) => new Promise<string | null>((resolve) => {
			const abort = new AbortController();
			const row = this.#tray.add(file.name, file.size, target.name());
			this.#enqueue({ target, file, row, directory, temporary, abort, arrived: resolve });
		})));
		const words = paths.filter((path) => path !== null).map(quotePath);
		if (words.length === 0)
			return;
		toast(words.length === 1 ? 'The file was uploaded.' : `${words.length} files were uploaded.`);
		const text = `${words.join(' ')} `;
		if (!target.paste(text))
			this.#tray.offerPaths(words.length, text, () => target.paste(text));
	}

	#enqueue(job: Job): void {
		job.row.showWaiting(() => this.#cancel(job));
		this.#waiting.push(job);
		void this.#run();
	}

	#cancel(job: Job): void {
		job.abort.abort();
		this.#waiting = this.#waiting.filter((other) => other !== job);
		job.row.remove();
		job.arrived(null);
	}

	async #run(): Promise<void> {
		if (this.#working)
			return;
		this.#working = true;
		// Uploads stop when the page is left, so the browser asks first.
		window.addEventListener('beforeunload', preventUnload);
		for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift())
			await this.#send(job);
		window.removeEventListener('beforeunload', preventUnload);
		this.#working = false;
	}

	async #send(job: Job): Promise<void> {
		try {
			const path = await this.#put(job);
			job.row.arrived(path);
			job.arrived(path);
		} catch (error) {
			if (job.abort.signal.aborted)
				return;
			this.#failed(job, error);
		}
	}

	/** A failed upload does not delay the paths of the others. It can be retried on its own. */
	#failed(job: Job, error: unknown): void {
		job.arrived(null);
		job.row.failed(messageOf(error), () => {
			job.row.remove();
			const why = job.target.whyNot();
			if (why !== null)
				toast(why);
			else
				void this.#uploadAndPaste(job.target, [job.file], job.temporary, true);
		});
	}

	/** Upload the file under a free name. Returns the path for the shell. */
	async #put({ target, file, directory: pending, row, abort }: Job): Promise<string> {
		const directory = await pending;
		const name = cleanName(file.name);
		for (let n = 0; n < NAMES_MAX; n++) {
			const path = directory + alternativeName(name, n);
			// Check first: otherwise a large file would be sent only to be refused at the end.
			if (await target.api.fileExists(target.session, path))
				continue;
			try {
				await upload(target.api, {
					session: target.session, path, body: file, signal: abort.signal, progress: (sent) => row.progress(sent),
				});
				return directory === '' ? `./${path}` : path;
			} catch (error) {
				if (!isStatus(error, 412))
					throw error;
			}
		}
		throw new ApiError(412, 'PRECONDITION_FAILED', `There are ${NAMES_MAX} files with this name already.`);
	}

	/** The private directory of the session. It is created once for each page. */
	#privateDirectory(target: Target, again: boolean): Promise<string> {
		const known = this.#private.get(target.session);
		if (known !== undefined && !again)
			return known;
		const directory = createPrivateDirectory(target);
		this.#private.set(target.session, directory);
		directory.catch(() => this.#private.delete(target.session));
		return directory;
	}
}

async function createPrivateDirectory({ api, session }: Target): Promise<string> {
	await api.directory(session); // fails if the session is gone; an upload would create it
	const random = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
	const path = `/tmp/ringside-${random}`;
	await upload(api, { session, path, body: privateDirectory(Date.now()), archive: true, signal: new AbortController().signal });
	return `${path}/`;
}

async function directoryOf({ api, session }: Target): Promise<string> {
	const known = knownDirectory(await api.directory(session));
	return known === null ? '' : `${known}/`;
}

function preventUnload(event: BeforeUnloadEvent): void {
	event.preventDefault();
}

let uploads: Uploads | null = null;

/** Add the files to the queue of this page. */
export function uploadFiles(target: Target, selection: FileSelection): void {
	uploads ??= new Uploads();
	uploads.add(target, selection);
}
