/*
 * The rows of the table. Each is called once per round, measures one thing by all available ways, adds values to the
 * figures of the scene, and leaves nothing running.
 */
#pragma once

struct scene;

/* Echo of keys: by the terminal and by readline, beside one flood and ten, and beside expensive output. */
void row_echo(struct scene *s);
void row_readline(struct scene *s);
void row_echo_flood(struct scene *s);
void row_echo_floods(struct scene *s);
void row_neighbour(struct scene *s);

/* Output: to one client, of other kinds, beside a slow client, to no client, to ten clients of one session, of ten sessions. */
void row_flood(struct scene *s);
void row_kinds(struct scene *s);
void row_slow(struct scene *s);
void row_unwatched(struct scene *s);
void row_clients(struct scene *s);
void row_sessions(struct scene *s);

/* Commands: the first prompt, in a session's shell, on their own. */
void row_prompt(struct scene *s);
void row_execute(struct scene *s);
void row_exec(struct scene *s);
void row_run(struct scene *s);

/* Files: small ones, a large one down and up, a large directory; events. */
void row_small(struct scene *s);
void row_download(struct scene *s);
void row_upload(struct scene *s);
void row_list(struct scene *s);
void row_watch(struct scene *s);

/* Code in a context. */
void row_code(struct scene *s);

/* Many: memory of idle sessions, viewers, a thousand sessions, clients that attach during a flood. */
void row_memory(struct scene *s);
void row_viewers(struct scene *s);
void row_idle(struct scene *s);
void row_attach(struct scene *s);
