"""The part of executor.py that uses IPython; executed in its globals when a cell needs IPython. InteractiveShell runs cells.

IPython's own prompts and tracebacks are not printed; results and errors are sent as frames. `!command` writes to the user's
descriptors. Nothing is written into the user's home directory.
"""


def begin():
    import subprocess
    import tempfile
    import warnings
    from IPython.core import page
    from IPython.core.displayhook import DisplayHook
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class Hook(DisplayHook):
        def __call__(self, result=None):
            State.value = None if result is None or self.quiet() else result
            if State.value is not None:
                self.update_user_ns(result)

    class Shell(InteractiveShell):
        displayhook_class = Hook

        def showtraceback(self, *_, **__):
            pass  # it is sent as a frame

        showsyntaxerror = showindentationerror = showtraceback

        def ask_exit(self):
            raise SystemExit

    def system(command):
        flush()
        command = interactive.var_expand(command, depth=1)
        status = subprocess.call(command, shell=True, executable=os.environ.get('SHELL') or None)
        interactive.user_ns['_exit_code'] = status

    warnings.filterwarnings('ignore', 'To exit: use')
    config = Config()
    config.HistoryManager.enabled = False
    with tempfile.TemporaryDirectory() as directory:
        kept = dict(space)
        interactive = Shell.instance(config=config, user_module=sys.modules['__main__'], user_ns=space, colors='nocolor',
            ipython_dir=directory)
        space.update(kept)
    interactive.loop_runner = finish
    interactive.system = system
    interactive.display_pub.publish = publish
    interactive.display_pub.clear_output = lambda wait=False: None
    interactive.compile.get_code_name = lambda raw, transformed, number: State.name
    interactive.set_hook('show_in_pager', page.as_hook(page.display_page), 99)
    return interactive


def run_cell(interactive, text):
    State.value = None
    interactive.execution_count = State.count
    result = interactive.run_cell(text, store_history=True)
    error = result.error_before_exec or result.error_in_exec
    if error is not None:
        raise error
    value, State.value = State.value, None
    return value


def registered(interactive, value):
    """Format a value by the formatters that the user has registered: (MIME type, data)."""
    for name, formatter in interactive.display_formatter.formatters.items():
        if name == 'text/plain' or name not in TYPES:
            continue
        try:
            function = formatter.lookup(value)
        except KeyError:
            continue
        yield name, function(value)
