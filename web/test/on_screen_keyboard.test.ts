import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OnScreenKeyboard, type WindowState } from '../src/ui/on_screen_keyboard';

/** A window of a phone, and whether its keyboard seems open after each change. */
class Phone {
	readonly keyboard = new OnScreenKeyboard();
	#state: WindowState = { width: 390, height: 844, visible: 844, editing: false, touch: true, settled: true };

	constructor() {
		this.keyboard.update(this.#state);
	}

	/** The window gets this size: the keyboard makes it smaller. */
	resize(width: number, height: number): boolean {
		return this.#change({ width, height, visible: height, settled: true });
	}

	/** The keyboard covers the lower part of the window. */
	cover(visible: number): boolean {
		return this.#change({ visible, settled: true });
	}

	focus(editing: boolean): boolean {
		return this.#change({ editing, settled: false });
	}

	tap(): boolean {
		return this.#change({ settled: true });
	}

	#change(change: Partial<WindowState>): boolean {
		this.#state = { ...this.#state, ...change };
		this.keyboard.update(this.#state);
		return this.keyboard.open;
	}
}

test('a keyboard covers the window or makes it smaller', () => {
	const phone = new Phone();
	assert.equal(phone.focus(true), false);
	assert.equal(phone.resize(390, 500), true);
	assert.equal(phone.resize(390, 844), false);
	assert.equal(phone.resize(390, 780), false, 'a bar of the browser');
	assert.equal(phone.cover(450), true);
	assert.equal(phone.focus(false), true, 'it is still visible');
	assert.equal(phone.cover(780), false);
});

test('the focus moves to another field while the keyboard is open', () => {
	const phone = new Phone();
	phone.focus(true);
	phone.resize(390, 500);
	assert.equal(phone.focus(false), true);
	assert.equal(phone.focus(true), true);
	assert.equal(phone.focus(false), true);
	assert.equal(phone.resize(390, 844), false);
});

test('the phone is turned while its keyboard is open', () => {
	const phone = new Phone();
	phone.focus(true);
	phone.resize(390, 500);
	assert.equal(phone.resize(844, 190), true);
	assert.equal(phone.resize(844, 150), true, 'the keyboard has suggestions');
	assert.equal(phone.resize(844, 390), false, 'closed');
	assert.equal(phone.resize(844, 190), true);
	assert.equal(phone.resize(390, 480), true, 'the height without a keyboard is known');
	assert.equal(phone.resize(390, 844), false);
});

test('the phone is turned and the keyboard follows later', () => {
	const phone = new Phone();
	phone.focus(true);
	phone.resize(390, 500);
	phone.resize(844, 390);
	assert.equal(phone.resize(844, 190), true);
	assert.equal(phone.resize(844, 390), false);
});

test('a window that gets smaller has no keyboard', () => {
	const phone = new Phone();
	assert.equal(phone.resize(390, 420), false);
	assert.equal(phone.focus(true), false, 'half of the screen');
	assert.equal(phone.resize(390, 240), true);
	assert.equal(phone.resize(390, 420), false);
});

test('a window that gets smaller while its terminal has the focus', () => {
	const phone = new Phone();
	phone.focus(true);
	phone.keyboard.forgetHeights(); // the window has lost the focus
	assert.equal(phone.resize(390, 420), false);
	assert.equal(phone.resize(390, 240), true);
	phone.keyboard.forgetHeights();
	assert.equal(phone.resize(390, 240), true, 'the keyboard is still open');
	assert.equal(phone.resize(390, 420), false);
	phone.keyboard.reset(); // full screen
	assert.equal(phone.resize(390, 200), false);
	phone.focus(false);
	assert.equal(phone.tap(), false);
	assert.equal(phone.focus(true), false);
});

test('the keyboard closes while the window has not got the focus', () => {
	const phone = new Phone();
	phone.focus(true);
	phone.resize(390, 500);
	phone.keyboard.forgetHeights();
	assert.equal(phone.resize(390, 844), false);
	assert.equal(phone.resize(390, 500), true);
});

test('a stale height is corrected by the next tap without the focus', () => {
	const phone = new Phone();
	phone.focus(true);
	assert.equal(phone.resize(390, 420), true, 'not distinguishable');
	phone.focus(false);
	phone.tap();
	assert.equal(phone.focus(true), false);
});

test('without a touch screen there is none', () => {
	const keyboard = new OnScreenKeyboard();
	const state = { width: 900, height: 800, visible: 800, editing: true, touch: false, settled: true };
	keyboard.update(state);
	keyboard.update({ ...state, height: 300, visible: 300 });
	assert.equal(keyboard.open, false);
});
