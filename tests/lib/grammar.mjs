/*
 * Random terminal output, made of meaningful pieces: mostly what programs send, with numbers at and beyond the limits.
 * The same seed makes the same output.
 */

/** Uniform integers from 0 to n - 1. */
export class Random {
	constructor(seed) {
		this.state = seed >>> 0;
	}

	below(n) {
		this.state = (Math.imul(this.state, 1103515245) + 12345) >>> 0;
		return Math.floor((this.state >>> 8) / 16777216 * n);
	}

	pick(from) {
		return from[this.below(from.length)];
	}

	fork() {
		return new Random(this.state ^ 0x5bd1e995);
	}
}

const WORDS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const NUMBERS = ['', '0', '1', '2', '3', '4', '5', '8', '10', '20', '79', '80', '99', '300'];
const CONTROLS = ['\n', '\r', '\b', '\t', '\v', '\f', '\x0e', '\x0f', '\x00', '\x7f', '\x07'];
const CHARACTERS = ['你好', '世', '😀', 'e\u0301', '\u0301', '한국어', 'ｆ', '\u200d', '👨‍👩‍👧', 'ㄱ', '€', '\u00a0',
	'─│┌', '\u{1fae0}'];
const PENS = ['0', '1', '2', '3', '4', '5', '7', '8', '9', '21', '22', '23', '24', '25', '27', '28', '29', '31', '42',
	'95', '106', '39', '49', '53', '55', '38;5;200', '48;5;17', '38;2;1;2;3', '48;2;9;8;7', '4:3', '4:0', '58:5:3',
	'58;2;1;2;3', '38:2::4:5:6', '38:2:4:5:6', '48:5:77', '1;31;44', '0;7', '59', ''];
const MODES = ['1', '4', '6', '7', '20', '25', '45', '66', '12', '1000', '1002', '1006', '2004', '1004', '2026', '9',
	'1016', '1003'];
const ESCAPES = ['7', '8', 'D', 'E', 'H', 'M', '=', '>', 'n', 'o', '|', '}', '~', '(0', '(B', ')0', '*A', '+K', '(4',
	'-H', '.R', '[?6l\x1b#8', '%G', '%@'];
const OTHERS = ['s', 'u', 'g', '3g', '!p', '2 q', '5 q', ' q', '7 q', '1"q', '0"q', '2"q'];
const COLORS = ['4;1;#123456', '4;200;rgb:1/2/3', '104;1', '104', '10;#abcdef', '11;#012345', '12;#fff', '110', '111'];
const TITLES = ['22;0', '23;0', '22;2', '23;1'];
const C1 = ['\x84', '\x85', '\x88', '\x8d', '\x9b5n', '\x9d0;x\x9c'];
/* Sequences that chance rarely makes. */
const SEVERAL = ['\x1b[4m\x1b7\x1b[m\x1b8', '\x1b7\x1b[4m\x1b8', '\0\x1b[?7l世世世世世世世世世世世世世世世世', '\0世世世\b\b\b\x1b[@',
	'\x1b[999C世\x1b[3b', '\x1b[999C\x1b[2D世\x1b[D\x1b[P'];

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAQ'; // the start of one of 8 by 16 pixels

/** Sixel graphics, or a file of iTerm2. */
function image(random) {
	const side = () => random.pick(['', 'auto', '1', '3', '20px', '40%', '200%']);
	return random.pick([
		() => `\x1bPq"1;1;${1 + random.below(200)};${1 + random.below(200)}#1~\x1b\\`,
		() => `\x1bP0;1q#1!1\n${random.below(99)}~-~~$-?\x1b\\`,
		() => `\x1b]1337;File=inline=1;width=${side()};height=${side()};preserveAspectRatio=${random.below(2)}:${PNG}\x07`,
	])();
}

/** A piece of output. images: there may be some. */
export function piece(random, images = false) {
	const pick = (from) => random.pick(from);
	const number = () => pick(NUMBERS);
	const word = () => pick([() => WORDS.slice(0, 1 + random.below(30)), () => 'x'.repeat(random.below(60)),
		() => pick(CHARACTERS)])();
	/* A NUL, which does nothing: xterm.js behaves differently depending on where a run of text is cut. */
	const text = () => `\0${Array.from({ length: 1 + random.below(3) }, word).join('')}`;
	const makers = [
		text,
		text,
		text,
		text,
		() => '\r\n',
		() => pick(CONTROLS),
		() => `\x1b[${number()}${pick([...'ABCDEFGHIZ`ade'])}`,
		() => `\x1b[${number()}${pick([...'ABCDEFGHIZ`ade'])}`,
		() => `\x1b[${1 + random.below(12)};${1 + random.below(22)}H`,
		() => `\x1b[${pick(['', '?'])}${pick(['', '0', '1', '2', '3'])}${pick([...'JK'])}`,
		() => `\x1b[${number()}${pick([...'LM@PXST'])}`,
		() => `\x1b[${pick(PENS)}m`,
		() => `\x1b[${pick(PENS)}m`,
		() => `\x1b[${1 + random.below(10)};${1 + random.below(14)}r`,
		() => `\x1b[${pick(['', '?'])}${pick(MODES)}${pick([...'hl'])}`,
		() => `\x1b[?${pick(['47', '1047', '1049', '1048'])}${pick([...'hl'])}`,
		() => `\x1b${pick(ESCAPES)}`,
		() => `\x1b[${pick(OTHERS)}`,
		() => `\x1b[${pick(['', 1 + random.below(20)])}b`,
		() => `\x1b]${pick([...'012'])};title${random.below(5)}${pick(['\x07', '\x1b\\'])}`,
		() => `\x1b]8;${pick(['', 'id=x', 'id=y:k=v'])};${pick([`http://a/${random.below(3)}`, ''])}\x1b\\`,
		() => `\x1b[${number()}${pick([' @', ' A', "'}", "'~"])}`,
		() => pick(C1),
		() => pick(SEVERAL),
		() => `\x1b[${pick(TITLES)}t`,
		() => `\x1b]${pick(COLORS)}\x1b\\`,
		() => (random.below(10) === 0 ? '\x1bc' : ''),
		/* The NUL at the end finishes an incomplete character. */
		() => [0, ...Array.from({ length: 1 + random.below(6) }, () => random.below(256)), 0],
	];
	if (images)
		makers.push(() => image(random), () => image(random));
	return Buffer.from(pick(makers)());
}

/** A step of a session: output or, if resizes are allowed, sometimes a resize. */
export function step(random, resizes, images) {
	if (resizes && random.below(14) === 0)
		return { resize: [2 + random.below(30), 1 + random.below(14)] };
	return { bytes: piece(random, images) };
}
