/* Where names in the output of a command are looked for. Pure. */
import type { Block } from '../blocks/block';
import { isClean } from './names';

const PATH_MAX = 1300; // characters: fewer than 4096 bytes

/** A directory; null: the one in which the shell is now. */
export type Directory = string | null;

/**
 * Directories in which relative names in the output of a command may be, the most likely first. A command that ends in
 * another directory than it started in, such as `cd a && make`, usually prints names of the last one.
 */
export function directoriesOf(block: Pick<Block, 'state' | 'cwd' | 'cwdAfter'> | null): Directory[] {
	if (block === null)
		return [null];
	const { cwd, cwdAfter, state } = block;
	return [...new Set(state === 'running' ? [null, cwd] : [cwdAfter ?? cwd, cwd])].filter((each) => each === null || isClean(each));
}

/** The paths that a name can mean: absolute, relative to the shell's directory, or below `~`. */
export function pathsOf(name: string, directories: readonly Directory[]): string[] {
	const paths = name.startsWith('/') ? [normalize(name)]
		: name.startsWith('~/') ? [`~/${normalize(name.slice(2))}`]
			: directories.map((directory) => (directory === null ? `./${normalize(name)}` : normalize(`${directory}/${name}`)));
	return paths.filter((path) => path.length <= PATH_MAX);
}

/**
 * The path without `.`, `..` and empty parts. Browsers do the same in the path of an address, so what is looked up is also
 * what is downloaded. A relative path keeps `..` at its beginning.
 */
export function normalize(path: string): string {
	const absolute = path.startsWith('/');
	const parts: string[] = [];
	for (const part of path.split('/')) {
		if (part === '..' && parts.length > 0 && parts.at(-1) !== '..')
			parts.pop();
		else if (part === '..' ? !absolute : part !== '' && part !== '.')
			parts.push(part);
	}
	return (absolute ? '/' : '') + parts.join('/');
}
