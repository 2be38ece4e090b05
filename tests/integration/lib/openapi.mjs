// The API description: errors of each route, and parameters.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
export const description = JSON.parse(readFileSync(path.join(here, '../../../ws/api/openapi.json'), 'utf8'));

function resolve(reference) {
	return reference.slice(2).split('/').reduce((node, key) => node[key], description);
}

/** A node with its reference resolved. */
export const followed = (node) => (node?.$ref ? { ...resolve(node.$ref), ...node, $ref: undefined } : node);

/** All routes: {method, path, operation}. */
export const operations = Object.entries(description.paths).flatMap(([path_, item]) =>
	Object.entries(item).map(([method, operation]) => ({ method, path: path_, operation })));

/** The documented codes for this status of this route. */
export function documented(method, route, status) {
	const response = description.paths[route]?.[method]?.responses[status];
	return [...(response?.description ?? '').matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code);
}
