/*
 * Brings files into a session, one after the other, and tells its shell where they are. The path is typed as a paste, and
 * only where the program can tell that from keys: otherwise it is offered. Loaded when the first file comes.
 */
import { ApiError, isStatus, messageOf, type Api } from '../net/api';
import { upload } from '../net/upload';
import { toast } from '../ui/toast';
import { cleanName, knownDirectory, otherName, quotePath } from './names';
import { privateDirectory } from './private_directory';
import { Tray, type TrayRow } from './tray';
import type { Brought } from './brought';

/** At once: more is an accident, or for an archive. */
const FILES_MAX = 100;
const NAMES_MAX = 100;

/** The session that they are for. It may be another in front when they have arrived. */
export interface Target {
	readonly api: Api;
	readonly session: string;
	name(): string;
	/** Why nothing may be brought now, in a sentence; null: it may. */
	whyNot(): string | null;
	/** Type it as a paste, if that can be done now. */
	paste(text: string): boolean;
}

interface Job {
	readonly target: Target;
	readonly file: File;
	readonly row: TrayRow;
	readonly place: Promise<string>; // the directory: '' or '/…', with its slash
	readonly temporary: boolean;
	readonly arrived: (path: string | null) => void;
	readonly abort: AbortController;
}

class Uploads {
	#tray = new Tray();
	#waiting: Job[] = [];
	#works = false;
	#private = new Map<string, Promise<string>>(); // by session

	bring(target: Target, { files, folders, how }: Brought): void {
		if (folders > 0)
			toast(folders === 1 ? 'A folder cannot be brought: pack it first.' : `${folders} folders cannot be brought: pack them first.`);
		if (files.length === 0)
			return;
		const room = FILES_MAX - this.#waiting.length;
		if (files.length > room) {
			toast(`${files.length} files are too many at once: at most ${FILES_MAX}. Pack them first.`);
			return;
		}
		const temporary = how === 'paste' && files.every(({ type }) => type.startsWith('image/'));
		void this.#together(target, files, temporary, false);
	}

	/** What came together is told the shell together. */
	async #together(target: Target, files: readonly File[], temporary: boolean, again: boolean): Promise<void> {
		const place = temporary ? this.#privatePlace(target, again) : directoryOf(target);
		// Each job that uses it tells of its failure; one may be cancelled before.
		place.catch(() => undefined);
		const paths = await Promise.all(files.map((file) => new Promise<string | null>((resolve) => {
			const abort = new AbortController();
			const row = this.#tray.add(file.name, file.size, target.name());
			this.#enqueue({ target, file, row, place, temporary, abort, arrived: resolve });
		})));
		const words = paths.filter((path) => path !== null).map(quotePath);
		if (words.length === 0)
			return;
		toast(words.length === 1 ? 'The file has arrived.' : `${words.length} files have arrived.`);
		const text = `${words.join(' ')} `;
		if (!target.paste(text))
			this.#tray.offer(words.length, text, () => target.paste(text));
	}

	#enqueue(job: Job): void {
		job.row.waits(() => this.#cancel(job));
		this.#waiting.push(job);
		void this.#work();
	}

	#cancel(job: Job): void {
		job.abort.abort();
		this.#waiting = this.#waiting.filter((other) => other !== job);
		job.row.remove();
		job.arrived(null);
	}

	async #work(): Promise<void> {
		if (this.#works)
			return;
		this.#works = true;
		// Who leaves the page is asked: nothing goes on without it.
		window.addEventListener('beforeunload', stay);
		for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift())
			await this.#send(job);
		window.removeEventListener('beforeunload', stay);
		this.#works = false;
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

	/** The shell is not kept waiting for what has failed: it may be tried again by itself. */
	#failed(job: Job, error: unknown): void {
		job.arrived(null);
		job.row.failed(messageOf(error), () => {
			job.row.remove();
			const why = job.target.whyNot();
			if (why !== null)
				toast(why);
			else
				void this.#together(job.target, [job.file], job.temporary, true);
		});
	}

	/** Returns the path by which the shell finds it. */
	async #put({ target, file, place, row, abort }: Job): Promise<string> {
		const directory = await place;
		const name = cleanName(file.name);
		for (let n = 0; n < NAMES_MAX; n++) {
			const path = directory + otherName(name, n);
			// A large file is not sent to hear in the end that there is one already.
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
		throw new ApiError(412, 'PRECONDITION_FAILED', `There are ${NAMES_MAX} files of that name already.`);
	}

	/** One for a session, as long as the page lives. */
	#privatePlace(target: Target, anew: boolean): Promise<string> {
		const known = this.#private.get(target.session);
		if (known !== undefined && !anew)
			return known;
		const place = makePrivate(target);
		this.#private.set(target.session, place);
		place.catch(() => this.#private.delete(target.session));
		return place;
	}
}

async function makePrivate({ api, session }: Target): Promise<string> {
	await api.directory(session); // that there is the session: files of none would make one
	const random = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
	const path = `/tmp/ringside-${random}`;
	await upload(api, { session, path, body: privateDirectory(Date.now()), archive: true, signal: new AbortController().signal });
	return `${path}/`;
}

async function directoryOf({ api, session }: Target): Promise<string> {
	const known = knownDirectory(await api.directory(session));
	return known === null ? '' : `${known}/`;
}

function stay(event: BeforeUnloadEvent): void {
	event.preventDefault();
}

let uploads: Uploads | null = null;

/** To the queue of this page. */
export function bring(target: Target, brought: Brought): void {
	uploads ??= new Uploads();
	uploads.bring(target, brought);
}
