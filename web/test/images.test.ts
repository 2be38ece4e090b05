import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageAt, ImageCells } from '../src/images/image_cells';
import { decodeSixel } from '../src/images/sixel';
import { fileSize, sixelSize, type PixelSize } from '../src/images/size';
import { newTerminal, row, write } from './terminals';

/* Files of 8 by 16 (PNG), 300 by 200 (GIF) and 640 by 480 pixels (JPEG), as far as sizes need them. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAQ';
const GIF = 'R0lGODlhLAHIAPAAAP8AAAAAACH5BAAA';
const JPEG = '/9j/4AAQSkZJRgABAQAAAQABAAD/wAARCAHgAoADASIAAhEBAxEB';

const shown = (size: PixelSize | null) => (size === null ? '-' : `${size.width} x ${size.height}`);

// The same rows as in tests/unit/ring/screen/test_image.c: the server must come to the same sizes.
test('sizes of sixel graphics', () => {
	for (const [data, wanted] of [
		['"1;1;30;40#0;2;0;0;0~', '30 x 40'],
		['"1;1;30;40', '30 x 40'],
		['"1;1', '-'],
		['"1;1#1~~', '2 x 6'],
		['"1;1;0;9~~', '2 x 6'],
		['~~"1;1;30;40', '2 x 6'],
		['#1~~~$#2~~-~~~~~$', '5 x 12'],
		['!100~', '100 x 6'],
		['!100~!3?', '103 x 6'],
		['!~', '-'],
		['!', '-'],
		['', '-'],
		['---', '-'],
		['--~', '1 x 18'],
		['~---', '1 x 6'],
		['!4096~', '4096 x 6'],
		['!4097~', '-'],
		['"0000000000000000000000000000000000000000000000000000000000000000000001;1;30;40', '30 x 40'],
		['"1;1;30;40;50;60', '30 x 40'],
		['"1;1;30;40Ü', '-'],
		['!99999999999999999999~!99999999999999999999~', '-'],
		['"1;1;4096;4097', '-'],
		['"1;1;4096;4096', '4096 x 4096'],
		['"1;1;4294967297;1', '-'],
	] as const)
		assert.equal(shown(sixelSize(data)), wanted, data);
});

test('sizes of files', () => {
	for (const [data, wanted] of [
		[`File=inline=1:${PNG}`, '8 x 16'],
		[`File=name=eA==;size=9;inline=1:${PNG}`, '8 x 16'],
		[`File=inline=1:${GIF}`, '300 x 200'],
		[`File=inline=1:${JPEG}`, '640 x 480'],
		[`File=name=Ü;inline=1:${PNG}`, '-'],
		[`File=inline=1;inline=0:${PNG}`, '-'],
		[`File=inline=1;width==4:${PNG}`, '8 x 16'],
		[`File=inline=0:${PNG}`, '-'],
		[`File=:${PNG}`, '-'],
		['File=inline=1', '-'],
		['File=inline=1:', '-'],
		['File=inline=1:iVBORw0KGgoAAAANSUhEUgAAAAgAAAA', '-'],
		['File=inline=1:iVBORw0KGgoAAAANSUhEUg AAAAgAAAAQ', '-'],
		['File=inline=1:/9j/wAARCAHg', '-'],
		['File=inline=1:/9j/4AAA', '-'],
		['File=inline=1:aGVsbG8gd29ybGQ=', '-'],
		[`MultipartFile=inline=1:${PNG}`, '-'],
		[`FilePart=${PNG}`, '-'],
		[`File=inline=1;width=4:${PNG}`, '32 x 64'],
		[`File=inline=1;height=4:${PNG}`, '32 x 64'],
		[`File=inline=1;width=20px:${PNG}`, '20 x 40'],
		[`File=inline=1;width=50%:${PNG}`, '320 x 640'],
		[`File=inline=1;height=50%:${PNG}`, '96 x 192'],
		[`File=inline=1;width=4;height=4:${PNG}`, '32 x 64'],
		[`File=inline=1;width=4;height=4;preserveAspectRatio=0:${PNG}`, '32 x 64'],
		[`File=inline=1;width=4;height=8;preserveAspectRatio=0:${PNG}`, '32 x 128'],
		[`File=inline=1;width=4;height=8:${PNG}`, '32 x 64'],
		[`File=inline=1;width=auto;height=auto:${PNG}`, '8 x 16'],
		[`File=inline=1;width=81:${PNG}`, '640 x 1280'],
		[`File=inline=1;width=200%;height=1;preserveAspectRatio=0:${PNG}`, '640 x 8'],
		[`File=inline=1;width=x;height=-1:${PNG}`, '8 x 16'],
		[`File=inline=1;width=99999999999999999999px:${PNG}`, '640 x 1280'],
	] as const)
		assert.equal(shown(fileSize(data, 80, 24)), wanted, data);
});

test('an image is in cells that text replaces, and that only a snapshot can name', async () => {
	const terminal = newTerminal();
	let added = 0;
	const cells = new ImageCells(terminal, () => { added += 1; });
	await write(terminal, 'ab\x1bPq"1;1;17;20\x1b\\x');
	assert.deepEqual([row(terminal, 0), row(terminal, 1)], ['ab   ', '  x  ']);
	assert.equal(imageAt(terminal, 1, 0), null);
	assert.deepEqual([imageAt(terminal, 4, 0)?.row, imageAt(terminal, 4, 0)?.first], [0, 2]);
	assert.equal(imageAt(terminal, 2, 1), null);
	assert.equal(imageAt(terminal, 3, 1)?.image, imageAt(terminal, 2, 0)?.image);
	await write(terminal, '\x1b]7007;i5,17,17,20,1,0,3\x07');
	assert.equal(imageAt(terminal, 4, 1)?.first, 2);
	assert.equal(added, 1);
	cells.beginSnapshot();
	await write(terminal, '\x1bca\x1b]7007;i5,17,17,20,0,1,3\x07\r\n\x1b]7007;i5,17,17,20,1,1,3\x07\x1b]7007;ix\x07');
	cells.endSnapshot();
	assert.deepEqual(imageAt(terminal, 2, 1)?.image, { width: 17, height: 20, source: { from: 5, to: 22 } });
	assert.equal(imageAt(terminal, 2, 0)?.image, imageAt(terminal, 2, 1)?.image);
	assert.equal(added, 2);
});

test('sixels become pixels', () => {
	const pixels = (data: string, width: number, height: number) => {
		const all = decodeSixel(data, { width, height });
		return Array.from({ length: width * height }, (_, i) => [...all.slice(i * 4, i * 4 + 4)].join());
	};
	const red = '255,0,0,255', green = '0,255,0,255', none = '0,0,0,0';
	// The lowest bit is the upper pixel.
	assert.deepEqual(pixels('#1;2;100;0;0@#2;2;0;100;0A', 2, 2), [red, none, none, green]);
	assert.deepEqual(pixels('#1;2;100;0;0!2@$#2;2;0;100;0@', 3, 1), [green, red, none]);
	assert.deepEqual(pixels('#1;2;100;0;0~-@', 1, 7), Array(7).fill(red));
	// A photo's band has a pass for each of its colours; painting everything again and again is refused.
	assert.deepEqual(pixels(`#1;2;100;0;0${'!2?$'.repeat(1000)}!2@`, 2, 1), [red, red]);
	assert.throws(() => pixels('!4096~$'.repeat(5000), 4096, 6), RangeError);
	assert.deepEqual(pixels('#1;1;120;50;100@#2;1;240;50;100@#3;1;0;50;100@', 3, 1), [red, green, '0,0,255,255']);
	assert.deepEqual(pixels('#1;2;100;0;0!99999999~-----!9~', 2, 1), [red, red]);
});
