// A new link: its text, its QR code, and a warning if other machines cannot open it.
import assert from 'node:assert/strict';
import { scenario } from '../integration/lib/server.mjs';
import { launch, open, skip } from './lib/browser.mjs';

const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });

scenario('a link has a QR code, and a warning if its address is local to this machine', { skip, timeout: 90_000 }, async (server) => {
	await server.session({ id: 'main' });
	const page = await open(await (await launch(server)).newContext({ colorScheme: 'dark' }), server.loginUrl);
	const wrong = [];
	page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
	const fetched = () => page.evaluate(() => performance.getEntriesByType('resource').some(({ name }) => /qr_picture.*\.js/.test(name)));
	assert.equal(await fetched(), false, 'the QR code is loaded at once');
	await page.getByTestId('share').click();
	await page.getByTestId('share-create').click();
	const picture = page.getByTestId('share-qr');
	await picture.waitFor();
	assert.equal(await fetched(), true);
	const { width, height } = await picture.boundingBox();
	assert.ok(width >= 150 && Math.abs(width - height) < 1, `${width} × ${height}`);
	const modules = await picture.locator('path').evaluate((path) => path.getAttribute('d').split('z').length - 1);
	assert.ok(modules > 1000, `${modules} dark modules`);
	await page.getByTestId('share-loopback').waitFor();
	await shot(page, 'share-dark');
	await page.emulateMedia({ colorScheme: 'light' });
	await page.setViewportSize({ width: 390, height: 740 });
	await picture.scrollIntoViewIfNeeded();
	await shot(page, 'share-phone');
	assert.deepEqual(wrong, []);
});
