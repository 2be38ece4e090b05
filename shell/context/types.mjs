/*
 * Strips the types from TypeScript for executor.cjs, with Sucrase; bundled by web/bundle_file.mjs. Line numbers do not change.
 * Enums and parameter properties are compiled as by tsc. Namespaces that contain values are refused, since Sucrase would drop
 * them silently.
 */
import { transform } from 'sucrase';
import { parse } from 'sucrase/dist/esm/parser';
import { ContextualKeyword } from 'sucrase/dist/esm/parser/tokenizer/keywords';
import { TokenType as tt } from 'sucrase/dist/esm/parser/tokenizer/types';

const VALUES = new Set([tt._var, tt._let, tt._const, tt._function, tt._class, tt._enum]);
const DECLARATIONS = new Set([ContextualKeyword._type, ContextualKeyword._interface, ContextualKeyword._declare,
	ContextualKeyword._namespace, ContextualKeyword._module]);
const WITHIN = new Set([tt._as, tt._export, tt._default, tt._import, tt.braceL, tt.comma]);

/** The index of the brace that matches the one at `open`. */
function closing(tokens, open) {
	let depth = 0;
	for (let at = open; at < tokens.length; at += 1) {
		if (tokens[at].type === tt.braceL) depth += 1;
		else if (tokens[at].type === tt.braceR && --depth === 0) return at;
	}
	return tokens.length;
}

function refuseNamespaces(tokens, code) {
	for (let at = 0; at < tokens.length; at += 1) {
		const { contextualKeyword: word, isType, start } = tokens[at];
		if (!isType || (word !== ContextualKeyword._namespace && word !== ContextualKeyword._module)) continue;
		const open = tokens.findIndex(({ type }, index) => index > at && type === tt.braceL);
		if (open < 0) return;
		const end = closing(tokens, open);
		const declared = tokens[at - 1]?.contextualKeyword === ContextualKeyword._declare;
		if (!declared && tokens.slice(open, end).some(({ type }) => VALUES.has(type))) {
			const line = code.slice(0, start).split('\n').length;
			throw new SyntaxError(`A namespace that holds values cannot be run: an object or a module can (line ${line})`);
		}
		at = end;
	}
}

/** Put a semicolon before a type declaration on a new line: it ends the statement before it, also after it is stripped. */
function endStatements(tokens, code) {
	const pieces = [];
	let from = 0;
	let depth = 0; // of braces inside types
	for (const [index, { type, isType, contextualKeyword, start }] of tokens.entries()) {
		if (isType && type === tt.braceL) depth += 1;
		if (isType && type === tt.braceR) depth -= 1;
		const before = tokens[index - 1];
		if (!isType || depth > 0 || !DECLARATIONS.has(contextualKeyword) || !before || WITHIN.has(before.type)
			|| !code.slice(before.end, start).includes('\n')) continue;
		pieces.push(code.slice(from, start), ';');
		from = start;
	}
	return pieces.join('') + code.slice(from);
}

export function stripTypes(code) {
	const { tokens } = parse(code, false, true, false);
	refuseNamespaces(tokens, code);
	return transform(endStatements(tokens, code), { transforms: ['typescript'], disableESTransforms: true, keepUnusedImports: true }).code;
}
