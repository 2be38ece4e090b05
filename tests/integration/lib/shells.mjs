// The shells with marks, blocks and commands for programs, and their syntax.
export const shells = ['bash', 'zsh', 'fish'];

/** The shell's own pid. */
export const pidOf = { bash: '$$', zsh: '$$', fish: '$fish_pid' };
/** The status of the previous command. */
export const statusOf = { bash: '$?', zsh: '$?', fish: '$status' };

/** Run body(shell) for each, concurrently. */
export const inEach = (body, which = shells) => Promise.all(which.map((shell) => body(shell)));
