/** Whether the keyboard has the keys of a Mac: Option and Cmd. */
export const isMac = /^(Mac|iP)/.test(navigator.platform);
