/* What to search for in a line of text. No DOM. */

export interface Query {
	readonly text: string;
	readonly caseSensitive: boolean;
	readonly regex: boolean;
}

/** Throws an Error if the text is an invalid regular expression, or one that is likely to take for ever. */
export function compile({ text, caseSensitive, regex }: Query): RegExp {
	const flags = caseSensitive ? 'g' : 'gi';
	if (!regex)
		return new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), `${flags}u`);
	const pattern = compileExpression(text, flags);
	if (repeatsRepetition(text))
		throw new Error('Invalid expression: a repetition of a repetition can take for ever');
	return pattern;
}

function compileExpression(text: string, flags: string): RegExp {
	try {
		return new RegExp(text, `${flags}u`);
	} catch {
		// It may have escapes that only the older syntax permits.
	}
	try {
		return new RegExp(text, flags);
	} catch (error) {
		const why = error instanceof Error ? error.message.split(': ').at(-1) : String(error);
		throw new Error(`Invalid expression: ${why}`);
	}
}

/** A character or class, the start or end of a group, or an alternative; then what repeats it. */
const TOKEN = /(\[(?:\\.|[^\]\\])*\]|\\.|\((?:\?(?:[:=!]|<[=!]|<\w+>))?|[^])([*+]|\{\d+,\}|\?|\{[\d,]+\})?/gu;

interface Group {
	repeats: boolean; // something in it is repeated without a limit
	literal: boolean; // this alternative has a character that separates repetitions
	literals: boolean; // so have the alternatives before
	any: boolean; // an alternative is any character
	alternatives: number;
}

const newGroup = (): Group => ({ repeats: false, literal: false, literals: true, any: false, alternatives: 1 });

/**
 * Whether a group is repeated in which something is repeated, with nothing to separate the repetitions, as in (a+)+, or which
 * has any character as an alternative, as in (.|x)*. If such an expression does not match, the time that this takes doubles
 * with each character. This does not find all slow expressions.
 */
function repeatsRepetition(text: string): boolean {
	const groups = [newGroup()];
	for (const [, token = '', repeat = ''] of text.matchAll(TOKEN)) {
		const unlimited = /^([*+]|\{\d+,\})$/.test(repeat), group = groups.at(-1);
		if (group === undefined)
			return false;
		if (token.startsWith('(')) {
			groups.push(newGroup());
		} else if (token === ')') {
			const outer = groups.at(-2), separated = group.literal && group.literals;
			if (unlimited && ((group.repeats && !separated) || (group.any && group.alternatives > 1)))
				return true;
			groups.pop();
			if (outer !== undefined) {
				outer.repeats ||= unlimited || group.repeats;
				outer.literal ||= separated && repeat === '';
			}
		} else if (token === '|') {
			group.literals &&= group.literal;
			group.literal = false;
			group.alternatives++;
		} else {
			group.repeats ||= unlimited;
			group.any ||= token === '.';
			group.literal ||= repeat === '' && /^([^.^$[\\]|\\\W)$/u.test(token);
		}
	}
	return false;
}

/** Call found with the offset and the length of each match that is not empty. */
export function findMatches(pattern: RegExp, line: string, found: (offset: number, length: number) => void): void {
	for (const { index, 0: { length } } of line.matchAll(pattern))
		if (length > 0)
			found(index, length);
}
