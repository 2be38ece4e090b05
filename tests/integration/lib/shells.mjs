// The shells that have marks, blocks and commands for programs, and how each of them says what a test says.
export const shells = ['bash', 'zsh', 'fish'];

/** Its own number. */
export const pidOf = { bash: '$$', zsh: '$$', fish: '$fish_pid' };
/** The status of the command before. */
export const statusOf = { bash: '$?', zsh: '$?', fish: '$status' };

/** A test for each of them, side by side: body(shell). */
export const inEach = (body, which = shells) => Promise.all(which.map((shell) => body(shell)));
