// How much a test does: enough to show that it works each time, and in the suite soak (RINGSIDE_SOAK=1) as much as it
// takes to meet what is rare.

export const long = Boolean(process.env.RINGSIDE_SOAK);

/** `few` in an ordinary run, `many` in a long one; the variable of that name in the environment overrides both. */
export function times(few, many, name) {
	return Number(process.env[name] ?? (long ? many : few));
}
