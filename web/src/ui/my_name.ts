import { recall, remember } from './storage';

const QUALITIES = ['Brave', 'Bright', 'Calm', 'Clever', 'Gentle', 'Jolly', 'Keen', 'Lively', 'Lucky',
	'Merry', 'Nimble', 'Patient', 'Quick', 'Quiet', 'Sunny', 'Swift', 'Warm', 'Witty'];
const ANIMALS = ['Badger', 'Beaver', 'Crane', 'Dolphin', 'Falcon', 'Finch', 'Fox', 'Hare', 'Heron',
	'Ibex', 'Kestrel', 'Lynx', 'Marten', 'Otter', 'Owl', 'Puffin', 'Robin', 'Seal', 'Stork', 'Wren'];

/** The name others see. A friendly one by chance until the reader chooses. */
export function myName(): string {
	const known = recall('name');
	if (known !== null)
		return known;
	const name = `${pick(QUALITIES)} ${pick(ANIMALS)}`;
	remember('name', name);
	return name;
}

/** Returns the name as it is kept: no control characters, at most 128 characters. */
export function setMyName(name: string): string {
	const clean = [...name.replace(/\p{Cc}/gu, '').trim()].slice(0, 128).join('');
	if (clean !== '')
		remember('name', clean);
	return myName();
}

function pick(words: readonly string[]): string {
	return words[Math.floor(Math.random() * words.length)] ?? 'Guest';
}
