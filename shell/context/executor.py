"""The executor for Python: `python3 -c` reads it from the protocol descriptor and executes it.

Frames (shell/context/executor_record.h) use that descriptor only; standard output and error belong to the user's code. A
thread reads requests, and kills the process group when the server closes the socket. Code runs in the main thread, so that
SIGINT interrupts it. Displayed values are sent as result frames, one for each format. A second frame of source, ipython.py,
is executed when a cell is not valid Python or calls get_ipython(), if IPython is installed: IPython runs all cells then.
"""
import sys
path = list(sys.path)
sys.path[:] = [each for each in path if each]  # without the working directory: its files could shadow these modules
import ast
import base64
import builtins
import fcntl
import importlib.util
import json
import linecache
import os
import queue
import signal
import socket
import threading
import traceback

HEADER = 8
RECORD_MAX = 8 << 20  # bytes, as EXECUTOR_RECORD_MAX
OVERHEAD = 4096  # bytes of a record around a result
REPR_MAX = 1 << 20  # characters of a text
DEPTH_MAX = 100
INTEGER_MAX = 1 << 63
AGAIN_S = 0.3  # seconds after which a signal without effect is sent again
OWN = '<ringside>'

# In the order in which they are sent; text comes last.
METHODS = (('png', '_repr_png_'), ('jpeg', '_repr_jpeg_'), ('svg', '_repr_svg_'), ('html', '_repr_html_'),
    ('json', '_repr_json_'), ('latex', '_repr_latex_'), ('markdown', '_repr_markdown_'),
    ('javascript', '_repr_javascript_'))
TYPES = {'image/png': 'png', 'image/jpeg': 'jpeg', 'image/svg+xml': 'svg', 'text/html': 'html',
    'application/json': 'json', 'text/latex': 'latex', 'text/markdown': 'markdown',
    'application/javascript': 'javascript', 'text/plain': 'text'}
IMAGES = ('png', 'jpeg')


class Wire:
    """The protocol descriptor, which processes started by user code do not inherit."""

    def __init__(self, fd):
        self.fd = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 64)
        os.close(fd)
        self.lock = threading.RLock()
        self.acknowledgement = threading.Condition()
        self.sent = self.acknowledged = 0
        self.pid = os.getpid()
        self.busy = self.interrupted = False  # the main thread sends a frame; SIGINT came meanwhile

    def read(self, length):
        parts = []
        while length > 0:
            part = os.read(self.fd, min(length, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            length -= len(part)
        return b''.join(parts)

    def receive(self):
        header = self.read(HEADER)
        return chr(header[2]), self.read(int.from_bytes(header[4:], 'big'))

    def show(self, record):
        """Send a result and wait for the acknowledgement, so that later output stays behind it."""
        with DeferInterrupt(self), self.lock:
            self.send('R', record)
            self.sent += 1
            number = self.sent
        with self.acknowledgement:
            while self.acknowledged < number and os.getpid() == self.pid:
                self.acknowledgement.wait()

    def acknowledge(self):
        with self.acknowledgement:
            self.acknowledged += 1
            self.acknowledgement.notify_all()

    def send(self, kind, record):
        if os.getpid() != self.pid:
            return
        # UTF-8 cannot encode unpaired surrogates.
        body = json.dumps(record, ensure_ascii=False, allow_nan=False).encode('utf-8', 'replace')
        frame = b'rs' + kind.encode() + b'1' + len(body).to_bytes(4, 'big') + body
        view = memoryview(frame)
        with self.lock:
            while view:
                try:
                    view = view[os.write(self.fd, view):]
                except OSError:
                    os._exit(1)


class DeferInterrupt:
    """Raise KeyboardInterrupt only after the whole frame is written: half a frame would corrupt the stream."""

    def __init__(self, own):
        self.own = own if threading.current_thread() is threading.main_thread() else None

    def __enter__(self):
        if self.own:
            self.own.busy = True

    def __exit__(self, *_):
        if not self.own:
            return
        self.own.busy = False
        if self.own.interrupted:
            self.own.interrupted = False
            raise KeyboardInterrupt


class State:
    run = None  # number of the running code
    count = 0
    name = None  # of the cell, as a file name
    shell = None  # IPython's shell, once it is started
    wanted = True  # IPython is installed, and was not started yet
    value = None  # the value that IPython would display
    interrupted = False  # SIGINT had an effect
    again = None  # the run that is interrupted again


def plain(value, depth=0):
    """Copy a value for JSON; ValueError if JSON cannot represent it exactly."""
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int and -INTEGER_MAX <= value < INTEGER_MAX:
        return value
    if kind is float and value - value == 0:
        return value
    if depth >= DEPTH_MAX:
        raise ValueError('too deep')
    if isinstance(value, dict):
        if not all(type(key) in (str, int, float, bool, type(None)) for key in value):
            raise ValueError('a key')
        return {key: plain(each, depth + 1) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each, depth + 1) for each in value]
    raise ValueError(kind.__name__)


def text_of(value):
    text = repr(value)
    if len(text) > REPR_MAX:
        text = f'{text[:REPR_MAX]}… ({len(text) - REPR_MAX} more characters)'
    return text


def image(data):
    return base64.b64encode(data).decode() if isinstance(data, (bytes, bytearray)) else str(data).replace('\n', '')


def figure_png(figure):
    import io
    with io.BytesIO() as file:
        figure.savefig(file, format='png', bbox_inches='tight')
        return file.getvalue()


def is_figure(value):
    return 'matplotlib.figure' in sys.modules and isinstance(value, sys.modules['matplotlib.figure'].Figure)


def bundle_of(value, found, metadata):
    """Add the formats of _repr_mimebundle_, which take precedence."""
    method = getattr(value, '_repr_mimebundle_', None)
    bundle = method(include=None, exclude=None) if callable(method) else None
    if isinstance(bundle, tuple):
        metadata.update(bundle[1] if len(bundle) > 1 and isinstance(bundle[1], dict) else {})
        bundle = bundle[0]
    for name, data in (bundle or {}).items():
        if name in TYPES:
            found[TYPES[name]] = data


def formats(value):
    """The formats to display a value in: {format: data}, metadata."""
    found, metadata = {}, {}
    if is_figure(value):
        return {'png': image(figure_png(value))}, metadata
    # A class has the methods of its instances.
    if not isinstance(value, type):
        try:
            bundle_of(value, found, metadata)
        except Exception:
            traceback.print_exc()
        for name, method in METHODS:
            if name in found or not callable(getattr(value, method, None)):
                continue
            try:
                data = getattr(value, method)()
            except NotImplementedError:
                continue
            except Exception:
                traceback.print_exc()
                continue
            if isinstance(data, tuple) and len(data) == 2 and isinstance(data[1], dict):
                data = data[0]
            if data is not None:
                found[name] = data
        if State.shell:
            try:
                found.update((TYPES[name], data) for name, data in registered(State.shell, value) if data is not None)
            except Exception:
                traceback.print_exc()
    if not found and isinstance(value, (dict, list)):
        found['json'] = value
    if 'json' in found:
        try:
            found['json'] = plain(found['json'])
        except (ValueError, RecursionError):
            del found['json']
    for name in found:
        if name in IMAGES:
            found[name] = image(found[name])
        elif name != 'json':
            found[name] = str(found[name])
    if not found or 'html' in found:
        found.setdefault('text', text_of(value))
    else:
        found.pop('text', None)
    return found, metadata


def send_formats(value_formats, metadata):
    flush()
    try:
        metadata = plain(metadata)
    except (ValueError, RecursionError):
        metadata = {}
    order = [name for name, _ in METHODS] + ['text']
    for name in order:
        if name not in value_formats:
            continue
        data = value_formats[name]
        record = {'run': State.run, name: data, 'metadata': metadata}
        size = len(json.dumps(data, ensure_ascii=False).encode('utf-8', 'replace'))
        if size > RECORD_MAX - OVERHEAD:
            record = {'run': State.run, 'text': f'<{name} of {size} bytes left out: more than {RECORD_MAX - OVERHEAD}>',
                'metadata': {'omitted': {name: size}}}
        wire.show(record)


def show(value):
    send_formats(*formats(value))


def display(*values, raw=False, metadata=None, display_id=None, **_):
    """Show values, each in every format that it has."""
    for value in values:
        if raw and isinstance(value, dict):
            found = {TYPES[name]: data for name, data in value.items() if name in TYPES}
            for name in IMAGES:
                if name in found:
                    found[name] = image(found[name])
            if len(found) > 1 and 'html' not in found:
                found.pop('text', None)
            send_formats(found, metadata or {})
        else:
            show(value)
    if display_id:
        # Updates through the handle are displayed as new results.
        from IPython.display import DisplayHandle
        return DisplayHandle(None if display_id is True else display_id)
    return None


def publish(data, metadata=None, **_):
    display(data, raw=True, metadata=metadata)


def show_figures(*_, **__):
    """Display all open figures and close them. Returns them."""
    pyplot = sys.modules.get('matplotlib.pyplot')
    if pyplot is None:
        return []
    figures = []
    try:
        for number in pyplot.get_fignums():
            figures.append(pyplot.figure(number))
            send_formats({'png': image(figure_png(figures[-1]))}, {})
    finally:
        pyplot.close('all')
    return figures


def show_and_close(*_, **__):
    show_figures()


def patch_pyplot(module):
    module.show = show_and_close


def patch_ipython(module):
    module.display = display
    module.publish_display_data = publish
    module.clear_output = lambda wait=False: None


def patch_get_ipython(module):
    module.get_ipython = get_ipython


class Patches:
    """Patches modules on import, so that they display through the protocol."""

    patches = {'matplotlib.pyplot': patch_pyplot, 'IPython.core.display_functions': patch_ipython,
        'IPython.core.getipython': patch_get_ipython}

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        patch = cls.patches.get(name)
        if patch is None:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, 'find_spec', None)
            spec = find(name, path, target) if find and finder is not cls else None
            if spec is not None and spec.loader is not None:
                cls.wrap(spec.loader, patch)
                return spec
        return None

    @staticmethod
    def wrap(loader, patch):
        execute = loader.exec_module

        def exec_module(module):
            execute(module)
            patch(module)
        try:
            loader.exec_module = exec_module
        except AttributeError:
            pass


def flush():
    for stream in {sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__}:
        try:
            stream.flush()
        except Exception:
            pass


def frames(trace):
    """Skip the frames of the executor and of IPython."""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name != OWN and not (State.shell and name.endswith(('/IPython/core/interactiveshell.py', '/IPython/core/compilerop.py'))):
            break
        trace = trace.tb_next
    return trace


def error_of(error):
    try:
        value = str(error)
    except Exception:
        value = '<error in __str__>'
    try:
        lines = traceback.format_exception(type(error), error, frames(error.__traceback__))
    except Exception:
        lines = [type(error).__name__]
    lines = [line for each in lines for line in each.rstrip('\n').split('\n')]
    return {'ename': type(error).__name__, 'evalue': value[:REPR_MAX],
        'traceback': [line[:OVERHEAD] for line in lines[:200]]}


def finish(coroutine):
    import asyncio
    global loop
    if loop is None or loop.is_closed():
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
    return loop.run_until_complete(coroutine)


def step(tree, kind, name):
    code = compile(tree, name, kind, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    value = eval(code, space)
    # CO_COROUTINE: the code itself awaits. Its value may be a coroutine too, which is not awaited.
    return finish(value) if code.co_flags & 0x80 else value


def run_code(text, name):
    tree = compile(text, name, 'exec', ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    if tree.body:
        step(tree, 'exec', name)
    if last is None:
        return None
    value = step(ast.Expression(last.value), 'eval', name)
    return None if text.rstrip().endswith(';') else value


def get_ipython():
    """IPython's shell, which is started first; None if IPython is not installed."""
    if State.shell is None and State.wanted:
        State.wanted = False
        try:
            exec(more, globals())
            State.shell = begin()
        except ImportError:
            pass
    return State.shell


def is_python(text, name):
    """Whether a cell is Python. A single undefined name may be a magic of IPython."""
    try:
        tree = compile(text, name, 'exec', ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError:
        return False
    alone = tree.body[0].value if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) else None
    return not isinstance(alone, ast.Name) or alone.id in space or hasattr(builtins, alone.id)


def run_text(text, name):
    if State.shell is None and State.wanted and not is_python(text, name):
        get_ipython()
    return run_cell(State.shell, text) if State.shell else run_code(text, name)


def execute(request):
    State.count += 1
    State.interrupted = False
    State.run = request['run']
    text, error = request['code'], None
    name = f'<cell {State.count}>'
    State.name = name
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    running.set()
    try:
        value = run_text(text, name)
        if any(value is each for each in show_figures()):
            value = None
        if value is not None:
            space['_'] = value
            show(value)
    except BaseException as caught:
        running.clear()
        error = error_of(caught)
    running.clear()
    if os.getpid() != wire.pid:
        flush()
        os._exit(0 if error is None else 1)
    end(error)


def end(error):
    if error is not None:
        try:
            show_figures()
        except BaseException:
            pass
    flush()
    record = {'run': State.run, 'count': State.count}
    if error is not None:
        record['error'] = error
    State.run = None
    wire.send('D', record)


def on_interrupt(signo, frame):
    again, State.again = State.again, None
    if not running.is_set() or again not in (None, State.run):
        return
    State.interrupted = True
    if wire.busy:
        wire.interrupted = True
    else:
        raise KeyboardInterrupt


def interrupt_again(run):
    """Send SIGINT again: the first one may have come before the code had begun."""
    if State.run == run and not State.interrupted and signal.getsignal(signal.SIGINT) is on_interrupt:
        State.again = run
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def in_child():
    try:
        os.close(wire.fd)
    except OSError:
        pass


def read_requests():
    try:
        while True:
            kind, body = wire.receive()
            if kind == 'X':
                requests.put(json.loads(body))
            elif kind == 'A':
                wire.acknowledge()
            elif kind == 'I':
                later = threading.Timer(AGAIN_S, interrupt_again, [json.loads(body)['run']])
                later.daemon = True
                later.start()
    except BaseException:
        # The server has closed the socket.
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(1)


wire = Wire(3)
more = compile(wire.receive()[1], OWN, 'exec')
State.wanted = importlib.util.find_spec('IPython') is not None
sys.path[:] = path
loop = None
requests = queue.SimpleQueue()
running = threading.Event()
space = sys.modules['__main__'].__dict__
for each in [name for name in space if not name.startswith('__')]:
    del space[each]
space['__builtins__'] = builtins
builtins.display = display
if State.wanted:
    builtins.get_ipython = get_ipython
os.environ.setdefault('MPLBACKEND', 'Agg')
os.register_at_fork(after_in_child=in_child)
sys.meta_path.insert(0, Patches)
for stream in (sys.stdout, sys.stderr):
    stream.reconfigure(encoding='utf-8', errors='backslashreplace')
signal.signal(signal.SIGINT, on_interrupt)
threading.Thread(target=read_requests, name='ringside', daemon=True).start()
wire.send('H', {'version': sys.version.split()[0]})
while True:
    try:
        execute(requests.get())
    except KeyboardInterrupt as late:
        # SIGINT came just after the code had ended, or after another SIGINT.
        running.clear()
        if State.run is not None:
            end(error_of(late))
