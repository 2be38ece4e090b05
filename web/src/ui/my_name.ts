import { randomId } from './random_id';
import { recall, remember } from './storage';

const QUALITIES = ['Brave', 'Bright', 'Calm', 'Clever', 'Gentle', 'Jolly', 'Keen', 'Lively', 'Lucky',
	'Merry', 'Nimble', 'Patient', 'Quick', 'Quiet', 'Sunny', 'Swift', 'Warm', 'Witty'];
const ANIMALS = ['Badger', 'Beaver', 'Crane', 'Dolphin', 'Falcon', 'Finch', 'Fox', 'Hare', 'Heron',
	'Ibex', 'Kestrel', 'Lynx', 'Marten', 'Otter', 'Owl', 'Puffin', 'Robin', 'Seal', 'Stork', 'Wren'];

let key = 'name'; // in storage
let linkName: string | null = null;

/** Use the name of the share link, until the user chooses another. */
export function useLinkName(link: string, name: string | null): void {
	linkName = name;
	if (name !== null)
		key = `name.${link}`;
}

/** The name that other people see. A random one until the user chooses. */
export function myName(): string {
	const known = recall(key) ?? linkName;
	if (known !== null)
		return known;
	const name = `${pick(QUALITIES)} ${pick(ANIMALS)}`;
	remember(key, name);
	return name;
}

/** Store the name without control characters, cut to 128 characters. Returns the result. */
export function setMyName(name: string): string {
	const clean = [...name.replace(/\p{Cc}/gu, '').trim()].slice(0, 128).join('');
	if (clean !== '')
		remember(key, clean);
	return myName();
}

/** An id that is the same in all tabs of this browser, so that they count as one person. */
export function personId(): string {
	const known = recall('person');
	if (known !== null && /^[a-z0-9]{8,64}$/.test(known))
		return known;
	const id = randomId();
	remember('person', id);
	return id;
}

function pick(words: readonly string[]): string {
	return words[Math.floor(Math.random() * words.length)] ?? 'Guest';
}
