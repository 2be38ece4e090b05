/** Whether the keyboard has the keys of a Mac: Option and Cmd. False without a browser, as in unit tests. */
export const isMac = typeof navigator !== 'undefined' && /^(Mac|iP)/.test(navigator.platform);
