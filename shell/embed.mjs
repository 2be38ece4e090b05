// embed.mjs FILE NAME HEADER OUTPUT: a text file as an array of char that ends with a NUL.
import { readFileSync, writeFileSync } from 'node:fs';

const [file, name, header, output] = process.argv.slice(2);
const bytes = [...readFileSync(file), 0];
const lines = [];
for (let at = 0; at < bytes.length; at += 24) lines.push(`\t${bytes.slice(at, at + 24).join(', ')},`);
writeFileSync(output, `#include "${header}"\n\nconst char ${name}[] = {\n${lines.join('\n')}\n};\n`);
