import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Input } from '../src/term/input';
import { Sticky } from '../src/term/sticky';
import { newTerminal, write } from './terminals';

function listener() {
	const terminal = newTerminal();
	const sticky = new Sticky();
	const frames: string[] = [];
	const input = new Input(terminal, sticky, (data) => void frames.push(new TextDecoder().decode(data)));
	return { terminal, sticky, input, frames };
}

test('replies of the terminal are sent only while it is live', async () => {
	const { terminal, input, frames } = listener();
	await write(terminal, '\x1b[c\x1b[6n\x1b[?2004h');
	assert.deepEqual(frames, []);
	input.setLive(true);
	assert.deepEqual(frames, []);
	await write(terminal, '\x1b[5n');
	input.setLive(false);
	await write(terminal, '\x1b[5n');
	assert.deepEqual(frames, ['\x1b[0n']);
});

test('typed keys are sent although it is not live, but mouse input is not', async () => {
	const { terminal, frames } = listener();
	await write(terminal, '\x1b[5n\x1b[?1004h');
	terminal.input('x');
	terminal.input('\x1b[<0;1;1M');
	terminal.input('\x1b[I', false);
	await write(terminal, '\x1b[5n');
	assert.deepEqual(frames, ['x']);
});

test('focus reports have frames of their own and ignore held modifiers', async () => {
	const { terminal, sticky, input, frames } = listener();
	input.setLive(true);
	sticky.toggle('ctrl');
	terminal.input('x');
	await write(terminal, '\x1b[?1004h');
	sticky.toggle('ctrl');
	terminal.input('\x1b[I', false);
	terminal.input('y');
	assert.deepEqual(frames, ['\x18', '\x1b[O', '\x1b[I', '\x19']);
});

test('focus reports that a snapshot requests are sent after it', async () => {
	const { terminal, input, frames } = listener();
	input.setLive(true);
	input.setLive(false);
	await write(terminal, '\x18\x1bc\x1b[?1004h$ ');
	assert.deepEqual(frames, []);
	input.setLive(true);
	assert.deepEqual(frames, ['\x1b[O']);
});
