/*
 * The supervisor: what a holder runs in place of a shell when its session is a process (a
 * long-running command). It is the holder's program, executed as
 *
 *   ringside-holder --supervise none|pipe COMMAND ARGUMENT...
 *
 * The command's standard output and standard error are the holder's FIFOs; its standard input is
 * /dev/null, or with `pipe` the FIFO SUPERVISE_STDIN. It has its own kernel session and no
 * terminal.
 *
 * The supervisor writes to the holder's sentinel FIFO "p PID\n" when the command has been started
 * and "x STATUS\n" (wait(2) status) when it has ended. Background processes of the command live on
 * and may write output; when the last one has ended, the supervisor exits as the command did.
 *
 * Until SIGUSR1 the supervisor keeps the FIFO of standard input open, so that servers may close and
 * reopen it; SIGUSR1 closes it. Other signals are ignored, except SIGHUP after the holder has died.
 */
#pragma once

#define SUPERVISE_OPTION "--supervise"
#define SUPERVISE_DIRECTORY_FD 3  /* descriptor of the directory, in holder and supervisor */
#define SUPERVISE_STDIN "shell/i" /* the FIFO in the directory */
#define SUPERVISE_EXIT_SETUP 126  /* exit status when the set-up fails */

/* Run the supervisor. argv: "none" or "pipe", then the command. */
_Noreturn void supervise(char **argv);
