// The shells that have marks, blocks and commands for programs, and how each of them says what a test says.
export const shells = ['bash', 'zsh', 'fish'];

/** Its own number. */
export const pidOf = { bash: '$$', zsh: '$$', fish: '$fish_pid' };
/** The status of the command before. */
export const statusOf = { bash: '$?', zsh: '$?', fish: '$status' };
/** What is for each of them, or, without such names, the same for all. */
export const saidIn = (shell, text) => (typeof text === 'object' ? text[shell] : text);

/** A test for each of them, side by side: body(shell). */
export const inEach = (body, which = shells) => Promise.all(which.map((shell) => body(shell)));
