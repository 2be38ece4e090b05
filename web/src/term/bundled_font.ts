/* The font that is part of the page: JetBrains Mono NL, with box drawing, arrows and Powerline symbols. Loaded when it is chosen. */
import bold from 'jetbrains-mono/fonts/webfonts/JetBrainsMonoNL-Bold.woff2?url';
import regular from 'jetbrains-mono/fonts/webfonts/JetBrainsMonoNL-Regular.woff2?url';
import { BUNDLED_FAMILY } from './fonts';

/** Load the font. It can be used afterwards, and not before: a page never has one weight only. */
export async function loadBundledFont(): Promise<void> {
	const faces = [[regular, '400'], [bold, '700']].map(([url, weight]) => new FontFace(BUNDLED_FAMILY, `url("${url}")`, { weight }));
	await Promise.all(faces.map((face) => face.load()));
	for (const face of faces)
		document.fonts.add(face);
}
