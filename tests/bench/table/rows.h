/*
 * The rows of the table: each measures one thing by all ways that there are to it, once in a round, and adds what it has
 * found to the figures of the scene. It leaves nothing running.
 */
#pragma once

struct scene;

/* Echo of keystrokes: alone, beside one flood and ten, and beside output that is made to be expensive. */
void row_echo(struct scene *s);
void row_echo_flood(struct scene *s);
void row_echo_floods(struct scene *s);
void row_neighbour(struct scene *s);

/* Output: to one client, to nobody, to ten clients of one session, of ten sessions. */
void row_flood(struct scene *s);
void row_unwatched(struct scene *s);
void row_clients(struct scene *s);
void row_sessions(struct scene *s);

/* Commands: the first prompt, in a session's shell, on their own. */
void row_prompt(struct scene *s);
void row_execute(struct scene *s);
void row_exec(struct scene *s);
void row_run(struct scene *s);

/* Files: small ones, a large one down and up, a directory with much in it; what is told of them. */
void row_small(struct scene *s);
void row_download(struct scene *s);
void row_upload(struct scene *s);
void row_list(struct scene *s);
void row_watch(struct scene *s);

/* Code that keeps what it has made. */
void row_code(struct scene *s);

/* Many: what an idle session weighs, clients that look on, a thousand sessions, clients that come during a flood. */
void row_memory(struct scene *s);
void row_viewers(struct scene *s);
void row_idle(struct scene *s);
void row_attach(struct scene *s);
