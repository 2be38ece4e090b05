/*
 * The supervisor: what a holder runs in place of a shell when its session is a process (a command with a
 * life of its own). It is the same program as the holder, started as
 *
 *   ringside-holder --supervise none|pipe COMMAND ARGUMENT...
 *
 * and lets the command's standard output and standard error go to the holder's FIFOs, and its standard
 * input come from nowhere, or from a FIFO in the process's directory. The command has a kernel session
 * of its own and no terminal. To the holder's sentinel FIFO the supervisor writes "p PID\n" once the
 * command has been started, and "x STATUS\n" (as wait(2) has it) when it has ended. Whoever the command has
 * left behind lives on, and may write; when the last is gone the supervisor ends as the command has.
 *
 * SIGUSR1 is the end of the standard input: until then the supervisor keeps the FIFO open, so that the
 * servers that write to it may come and go. It heeds no other signal.
 */
#pragma once

#define SUPERVISE_OPTION "--supervise"
#define SUPERVISE_DIRECTORY 3 /* descriptor of the directory, in the holder and in the supervisor */
#define SUPERVISE_STDIN "shell/i" /* the FIFO in the directory */
#define SUPERVISE_EXIT_SETUP 126  /* it could not even begin */

/* argv: "none" or "pipe", then the command. */
_Noreturn void supervise(char **argv);
