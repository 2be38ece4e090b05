// The amount of work in a test: enough to show that it works, or with RINGSIDE_SOAK=1 (suite soak) enough to find rare
// failures.

export const long = Boolean(process.env.RINGSIDE_SOAK);

/** `few` in an ordinary run, `many` in a long one; the environment variable `name` overrides both. */
export function times(few, many, name) {
	return Number(process.env[name] ?? (long ? many : few));
}
