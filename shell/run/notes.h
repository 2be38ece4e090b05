/*
 * Notes of what runs, on disk: an empty file for each run, by the mark that its processes carry, so that a
 * server can end what an earlier one has left when it was killed. Notes that cannot be made are done
 * without.
 */
#pragma once

/*
 * Kill those who carry a mark that is noted below dir in "runs" (which is made), with the variable that ends
 * with '='; then forget the notes. Returns a descriptor for the notes of this server, or a negative errno.
 */
int run_notes_open(const char *dir, const char *variable);

/* Note that the run of this mark goes on, or no more. */
void run_note(int notes, const char *mark);
void run_note_remove(int notes, const char *mark);
