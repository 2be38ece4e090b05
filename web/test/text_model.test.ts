import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PADDING, TextModel } from '../src/touch/text_model';

const DEL = '\x7f';

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
		const { erase, text } = model.change(PADDING + state, editor, '');
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
	const change = (next: string) => model.change(PADDING + next, true, '');
	assert.deepEqual(change('teh'), { erase: '', text: 'teh' });
	assert.deepEqual(change('teh'), { erase: '', text: '' });
	assert.deepEqual(change('the '), { erase: DEL + DEL, text: 'he ' });
	assert.equal(model.typed, 'the ');
});

test('deleting goes on where the keyboard knows no text', () => {
	const model = new TextModel();
	const change = (next: string, type: string) => model.change(next, true, type);
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
	assert.deepEqual(model.change(`${PADDING}old new`, true, ''), { erase: '', text: ' new' });
	assert.deepEqual(model.change(`${PADDING}other new`, true, ''), { erase: '', text: 'ther' }, 'a change before the text that was sent');
	assert.equal(model.typed, ' new');
	model.settle();
	assert.deepEqual(model.change(`${PADDING}other n`, true, 'deleteContentBackward'), { erase: DEL + DEL, text: '' });
	model.adopt(PADDING);
	assert.deepEqual(model.change('x', true, 'insertText'), { erase: '', text: 'x' }, 'everything was selected and replaced');
	model.adopt(PADDING);
	model.change(`${PADDING}abc`, true, '');
	assert.deepEqual(model.change('x', true, 'insertText'), { erase: DEL + DEL + DEL, text: 'x' });
});

test('a word that replaces text of an earlier line is sent whole', () => {
	const model = new TextModel();
	model.adopt(PADDING);
	model.change(`${PADDING}ab cd`, false, '');
	model.settle();
	assert.deepEqual(model.change(`${PADDING}ab swiped`, false, 'insertCompositionText'), { erase: '', text: 'swiped' });
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
