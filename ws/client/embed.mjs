// embed.mjs FILE NAME OUTPUT: a text file as a C string.
import { readFileSync, writeFileSync } from 'node:fs';

const [file, name, output] = process.argv.slice(2);
const lines = readFileSync(file, 'utf8').split(/(?<=\n)/).map((line) =>
	`\t"${line.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('?', '\\?')}"`);
writeFileSync(output, `#include "ws/client/completion.h"\n\nconst char ${name}[] =\n${lines.join('\n')};\n`);
