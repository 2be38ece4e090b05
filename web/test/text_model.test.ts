import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PADDING, TextModel, type Program } from '../src/touch/text_model';

const DEL = '\x7f';
const EDITOR: Program = { lineEditor: true, fullScreen: false };
const KERNEL: Program = { lineEditor: false, fullScreen: false };
const FULL_SCREEN: Program = { lineEditor: true, fullScreen: true };

/** A line as a program has it that erases characters (an editor) or code points (the kernel). */
class Line {
	text = '';

	constructor(readonly editor: boolean) {}

	receive(keys: string): void {
		for (const key of keys)
			this.text = key === DEL ? this.#erased() : key === '\x17' ? this.text.replace(/\S*\s*$/, '') : key === '\x15' ? '' : this.text + key;
	}

	#erased(): string {
		const characters = [...this.text];
		while (this.editor && /[\p{Mn}\p{Me}\p{Cf}]/u.test(characters.at(-1) ?? ''))
			characters.pop();
		return characters.slice(0, -1).join('');
	}
}

/** The contents of the text area after each change, without its padding, and the line after it. */
function follow(states: readonly string[], editor = true): string[] {
	const model = new TextModel();
	const line = new Line(editor);
	model.adopt(PADDING);
	return states.map((state) => {
		const { erase, text } = model.change(PADDING + state, { lineEditor: editor, fullScreen: false }, '');
		line.receive(erase + text);
		return line.text;
	});
}

test('the line follows every change of the text area', () => {
	for (const [name, states] of [
		['composition', ['h', 'he', 'hel', 'hell', 'hello', 'hello', 'hello ']],
		['swiped words', ['git', 'git ', 'git status', 'git status ']],
		['autocorrection', ['t', 'te', 'teh', 'the ', 'the c', 'the cat']],
		['two spaces', ['done', 'done ', 'done. ', 'done. o']],
		['backspace', ['the ', 'the', 'th', 't', '', 'x']],
		['a change in the middle', ['one two three', 'one twi three', 'one two two three', 'three']],
		['emoji', ['👍', '👍🏽', '👍🏽👨‍👩‍👧', '👍🏽👨‍👩', '👍🏽', '👍', '']],
		['halves of code points', ['😀', '😁', '😁😀', '😀']],
		['marks', ['e', 'e\u0301', 'e', '❤', '❤️', '❤', 'ก', 'กี', 'ก']],
		['Korean', ['ㅎ', '하', '한', '한ㄱ', '한그', '한글', '한글 ']],
		['Japanese', ['か', 'かn', 'かん', 'かんじ', '漢字', '漢字を']],
		['repeated letters', ['aaa', 'aa', 'aaaa', 'a']],
		['spaces', ['a', 'a ', 'a  ', ' a', '  a', '']],
	] as const)
		for (const editor of [true, false])
			assert.deepEqual(follow(states, editor), [...states], `${name} ${editor}`);
});

test('only what differs is sent', () => {
	const model = new TextModel();
	model.adopt(PADDING);
	const change = (next: string) => model.change(PADDING + next, EDITOR, '');
	assert.deepEqual(change('teh'), { erase: '', text: 'teh' });
	assert.deepEqual(change('teh'), { erase: '', text: '' });
	assert.deepEqual(change('the '), { erase: DEL + DEL, text: 'he ' });
	assert.equal(model.typed, 'the ');
});

test('deleting goes on where the keyboard knows no text', () => {
	const model = new TextModel();
	const change = (next: string, type: string) => model.change(next, EDITOR, type);
	model.adopt(PADDING);
	assert.deepEqual(change(PADDING.slice(1), 'deleteContentBackward'), { erase: DEL, text: '' });
	assert.deepEqual(change(PADDING.slice(3), 'deleteContentBackward'), { erase: DEL + DEL, text: '' });
	assert.deepEqual(change(`${PADDING.slice(3)}ab`, 'insertText'), { erase: '', text: 'ab' });
	assert.deepEqual(change(PADDING.slice(4), 'deleteContentBackward'), { erase: DEL + DEL + DEL, text: '' });
	assert.deepEqual(change(PADDING.slice(8), 'deleteWordBackward'), { erase: '\x17', text: '' });
	assert.deepEqual(change(PADDING.slice(9), 'deleteSoftLineBackward'), { erase: '\x15', text: '' });
	assert.deepEqual(change('', 'deleteContentBackward'), { erase: '\x17', text: '' }, 'the whole padding is a word');
	assert.deepEqual(change('', 'deleteContentBackward'), { erase: '', text: '' });
	assert.deepEqual(change('x', 'insertText'), { erase: '', text: 'x' });
});

test('text that the session does not have is not erased', () => {
	const model = new TextModel();
	model.adopt(`${PADDING}old`);
	assert.equal(model.typed, '');
	assert.deepEqual(model.change(`${PADDING}old new`, EDITOR, ''), { erase: '', text: ' new' });
	assert.deepEqual(model.change(`${PADDING}other new`, EDITOR, ''), { erase: '', text: 'other' }, 'a change before the text that was sent');
	assert.equal(model.typed, ' new');
	model.settle();
	assert.deepEqual(model.change(`${PADDING}other n`, EDITOR, 'deleteContentBackward'), { erase: DEL + DEL, text: '' });
	model.adopt(PADDING);
	assert.deepEqual(model.change('x', EDITOR, 'insertText'), { erase: '', text: 'x' }, 'everything was selected and replaced');
	model.adopt(PADDING);
	model.change(`${PADDING}abc`, EDITOR, '');
	assert.deepEqual(model.change('x', EDITOR, 'insertText'), { erase: DEL + DEL + DEL, text: 'x' });
});

test('a full-screen program gets one Backspace instead of keys for words and lines', () => {
	const model = new TextModel();
	const change = (next: string, type: string) => model.change(next, FULL_SCREEN, type);
	model.adopt(PADDING);
	assert.deepEqual(change('', 'deleteContentBackward'), { erase: DEL, text: '' });
	model.adopt(PADDING);
	assert.deepEqual(change(PADDING.slice(4), 'deleteWordBackward'), { erase: DEL, text: '' });
	assert.deepEqual(change(PADDING.slice(5), 'deleteSoftLineBackward'), { erase: DEL, text: '' });
	assert.deepEqual(change(PADDING.slice(7), 'deleteContentBackward'), { erase: DEL + DEL, text: '' });
	model.adopt(PADDING);
	change(`${PADDING}word`, 'insertText');
	assert.deepEqual(change(PADDING, 'deleteWordBackward'), { erase: DEL.repeat(4), text: '' }, 'typed text');
});

test('a word that replaces text of an earlier line is sent whole', () => {
	for (const word of ['swiped', 'cable', 'cdr']) {
		const model = new TextModel();
		model.adopt(PADDING);
		model.change(`${PADDING}ab cx`, KERNEL, '');
		model.settle();
		assert.deepEqual(model.change(`${PADDING}ab ${word}`, KERNEL, 'insertCompositionText'), { erase: '', text: word });
		assert.deepEqual(model.change(`${PADDING}ab ${word}s`, KERNEL, ''), { erase: '', text: 's' });
		assert.deepEqual(model.change(`${PADDING}ab x`, KERNEL, ''), { erase: DEL.repeat(word.length + 1), text: 'x' });
	}
});

test('a word that goes on after another key goes on', () => {
	const model = new TextModel();
	model.adopt(PADDING);
	model.change(`${PADDING}c`, EDITOR, '');
	model.settle();
	assert.deepEqual(model.change(`${PADDING}cat`, EDITOR, 'insertCompositionText'), { erase: '', text: 'at' });
});

test('a key beside the keyboard is text before the cursor', () => {
	const model = new TextModel();
	model.adopt(PADDING);
	model.change(`${PADDING}foo`, EDITOR, '');
	model.append('/');
	assert.equal(model.typed, 'foo/');
	assert.deepEqual(model.change(`${PADDING}foo/bar`, EDITOR, ''), { erase: '', text: 'bar' });
	assert.deepEqual(model.change(`${PADDING}foo/baz `, EDITOR, ''), { erase: DEL, text: 'z ' });
});

test('random changes', () => {
	let seed = Number(process.env['SEED'] ?? Date.now() % 1e9);
	console.log(`SEED=${seed}`);
	const random = (n: number) => {
		seed = (seed * 48271) % 0x7fffffff;
		return seed % n;
	};
	const alphabet = ['a', 'b', ' ', 'é', '字', '😀', '👍🏽', 'e\u0301', '한'];
	const states: string[] = [];
	let state: string[] = [];
	for (let step = 0; step < 3000; step++) {
		const at = random(state.length + 1), gone = random(3);
		state = [...state.slice(0, at), ...Array.from({ length: random(4) }, () => alphabet[random(alphabet.length)] ?? ''), ...state.slice(at + gone)].slice(0, 40);
		states.push(state.join(''));
	}
	for (const editor of [true, false])
		assert.deepEqual(follow(states, editor), states);
});
