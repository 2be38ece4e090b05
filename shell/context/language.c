/*
 * bash moves the protocol from standard input to descriptor 3, and executes the program in a process group of
 * its own, for SIGINT, and with PR_SET_PDEATHSIG, so that it dies with the server. Its arguments are a short
 * loader that reads the executor from descriptor 3: the whole text would clutter lists of processes.
 */
#include "shell/context/language.h"

#include "shell/context/executor_text.h"

#include <string.h>
#include <strings.h>

#define BECOME(program)                                                         \
	"exec 3<&0 </dev/null; command -v " program " >/dev/null || exit 127; " \
	"read -r -a stat </proc/$$/stat; words=(); "                            \
	"[ \"${stat[4]}\" = $$ ] || words+=(setsid); "                          \
	"command -v setpriv >/dev/null && words+=(setpriv --pdeathsig KILL); "  \
	"unset stat; exec \"${words[@]}\" " program " "

static const char python_command[] = BECOME(
	"python3") "-u -c '"
		   "import os\n"
		   "def take(n):\n"
		   " b = b\"\"\n"
		   " while len(b) < n:\n"
		   "  c = os.read(3, n - len(b))\n"
		   "  if not c: os._exit(1)\n"
		   "  b += c\n"
		   " return b\n"
		   "n = int.from_bytes(take(8)[4:], \"big\")\n"
		   "exec(compile(take(n), \"<ringside>\", \"exec\"), {\"__name__\": \"ringside\"})'";

#define NODE(argument)                                                                              \
	BECOME("node")                                                                              \
	"--no-force-async-hooks-checks " /* else terminating a timer's callback aborts node */      \
	"-e '"                                                                                      \
	"const take = (n) => { const b = Buffer.alloc(n); let a = 0; "                              \
	"while (a < n) { const c = require(\"fs\").readSync(3, b, a, n - a); "                      \
	"if (c === 0) process.exit(1); a += c; } return b; }; "                                     \
	"require(\"vm\").compileFunction(take(take(8).readUInt32BE(4)).toString(), [\"require\"], " \
	"{ filename: \"ringside:executor\" })(require);' " argument

static const char javascript_command[] = NODE("javascript");
static const char typescript_command[] = NODE("typescript");

static const struct {
	const char *name;
	enum language language;
} names[] = {
	{"python", LANGUAGE_PYTHON},
	{"python3", LANGUAGE_PYTHON},
	{"py", LANGUAGE_PYTHON},
	{"javascript", LANGUAGE_JAVASCRIPT},
	{"js", LANGUAGE_JAVASCRIPT},
	{"node", LANGUAGE_JAVASCRIPT},
	{"typescript", LANGUAGE_TYPESCRIPT},
	{"ts", LANGUAGE_TYPESCRIPT},
};

bool language_parse(const char *name, enum language *ret_language)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcasecmp(names[i].name, name) == 0) {
			*ret_language = names[i].language;
			return true;
		}
	return false;
}

const char *language_name(enum language language)
{
	static const char *const words[] = {"python", "javascript", "typescript"};
	return words[language];
}

const char *language_program(enum language language)
{
	return language == LANGUAGE_PYTHON ? "python3" : "node";
}

const char *language_command(enum language language)
{
	static const char *const commands[] = {
		python_command, javascript_command, typescript_command};
	return commands[language];
}

const char *language_source(enum language language, size_t *ret_length)
{
	bool python = language == LANGUAGE_PYTHON;
	*ret_length = python ? executor_python_length : executor_node_length;
	return python ? executor_python : executor_node;
}

const char *language_extra_source(enum language language, size_t *ret_length)
{
	bool python = language == LANGUAGE_PYTHON;
	*ret_length = python ? executor_ipython_length : executor_types_length;
	return language == LANGUAGE_JAVASCRIPT ? NULL : python ? executor_ipython : executor_types;
}
