#!/usr/bin/env python3
"""Record real programs' terminal output: see README.md.

    ./record.py [NAME…]     all scenes of scenes.py, or those whose names begin with NAME; as root
    ./record.py --list

Each scene is played in an interactive bash on a PTY of its own. All run in namespaces of their own, with another host name,
an empty /tmp and no other processes, so that recordings contain nothing of the machine. Those that still do are refused.
"""
import base64
import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
HOME = '/tmp/home'
PATH = '/usr/bin:/bin:/usr/sbin:/sbin:/usr/libexec/ncurses-examples:/usr/games'

# Replies of a terminal, for programs that hang otherwise; %s is the scene's cursor position.
ANSWERS = [
    (rb'\x1b\[0?c', '\x1b[?62;1;6;22c'),
    (rb'\x1b\[>0?c', '\x1b[>0;276;0c'),
    (rb'\x1b\[5n', '\x1b[0n'),
    (rb'\x1b\[6n', '\x1b[%sR'),
]


def set_size(fd, cols, rows):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, cols, 0, 0))


def end_processes():
    """Kill all other processes in our pid namespace, where we are process 1."""
    assert os.getpid() == 1
    try:
        os.kill(-1, signal.SIGKILL)
        while True:
            os.wait()
    except (ChildProcessError, ProcessLookupError):
        pass


class Recorder:
    """One program on a PTY, and its output."""

    def __init__(self, scene):
        self.scene = scene
        self.events = []
        self.pending = b''  # output since the last event
        self.last = b''  # output of the last step
        self.total = 0
        self.ended = False
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            set_size(0, scene.cols, scene.rows)
            os.chdir(HOME)
            env = {'HOME': HOME, 'PATH': PATH, 'PS1': '$ ', 'LANG': 'C.UTF-8', 'TZ': 'UTC',
                   'TERM': 'xterm-256color', 'USER': 'user', 'SHELL': '/bin/bash', 'PAGER': 'less',
                   **scene.env}
            os.execve('/bin/bash', ['bash', '--noprofile', '--norc', '-i'], env)

    def flush(self):
        if self.pending:
            self.events.append({'o': base64.b64encode(self.pending).decode()})
        self.pending = b''

    def resize(self, cols, rows):
        self.flush()
        set_size(self.fd, cols, rows)
        self.events.append({'r': [cols, rows]})

    def type(self, keys):
        while keys and not self.ended:
            done = os.write(self.fd, keys)
            keys = keys[done:]

    def press(self, keys):
        """Type one key after the other, so that the program does not see a paste."""
        for key in re.findall(r'\x1b(?:\[[0-9;]*[A-Za-z~]|O.|.)|.', keys, re.DOTALL):
            self.type(key.encode())
            self.read(self.scene.pace, self.scene.pace)

    def answer(self, data):
        found = [(m.start(), said) for query, said in ANSWERS for m in re.finditer(query, data)]
        for _, said in sorted(found):
            self.type((said % self.scene.cursor if '%' in said else said).encode())

    def read(self, quiet, limit):
        """Read until there is no output for `quiet` seconds, at most for `limit` seconds."""
        end = time.monotonic() + limit
        while not self.ended and time.monotonic() < end:
            wait = min(quiet, end - time.monotonic())
            if not select.select([self.fd], [], [], max(wait, 0))[0]:
                return
            try:
                data = os.read(self.fd, 65536)
            except OSError:  # EIO: the shell has exited
                data = b''
            data = data[:self.scene.most - self.total]
            self.pending += data
            self.total += len(data)
            self.ended = not data or self.total >= self.scene.most
            if self.scene.answers:
                self.answer(data)

    def play_step(self, step):
        """One step of a scene: see scenes.py."""
        quiet, limit = self.scene.quiet, self.scene.patience
        if isinstance(step, tuple):
            self.resize(*step)
        elif isinstance(step, float):
            quiet = limit = step
        elif callable(step):
            for keys in step(lambda: self.last):
                self.play_step(keys)
            return
        elif self.scene.pace:
            self.press(step)
        else:
            self.type(step.encode())
        self.read(quiet, limit)
        self.last = self.pending
        self.flush()

    def play(self):
        self.read(0.3, 5)
        for step in self.scene.steps:
            self.play_step(step)
            if self.ended:
                break
        self.flush()
        os.close(self.fd)
        end_processes()


def betrays(events, forbidden):
    """The forbidden words in the output; escape sequences may split them."""
    data = b''.join(base64.b64decode(e['o']) for e in events if 'o' in e)
    text = re.sub(rb'\x1b(\[[0-9:;<=>?]*[ -/]*[@-~]|[ -/]*[0-Z\\^-~])', b'', data)
    return [w for w in forbidden if re.search(rb'(?<![\w.-])' + re.escape(w.encode()) + rb'(?![\w-])',
                                              data + b'\n' + text)]


def hide_machine():
    """Set a common host name, and make a root with only the system in it. Our own directory stays the current one."""
    def mount(*arguments):
        subprocess.run(['mount', *arguments], check=True)

    subprocess.run(['hostname', 'localhost'], check=True)
    root = '/mnt'
    mount('-t', 'tmpfs', 'tmpfs', root)
    for name in ('usr', 'etc', 'var', 'dev', 'proc', 'tmp', 'run', 'root'):
        os.mkdir(f'{root}/{name}')
        if os.path.exists(f'/{name}') and name not in ('tmp', 'run', 'root'):
            mount('--rbind', f'/{name}', f'{root}/{name}')
    for name in ('bin', 'sbin', 'lib', 'lib64'):
        os.symlink(f'usr/{name}', f'{root}/{name}')
    os.chmod(f'{root}/tmp', 0o1777)
    # Of apt's settings keep only the mirror.
    source = '/etc/apt/sources.list.d/debian.sources'
    kept = b''
    if os.path.exists(source):
        with open(source, 'rb') as file:
            kept = file.read()
    mount('-t', 'tmpfs', 'tmpfs', f'{root}/etc/apt/apt.conf.d')
    mount('-t', 'tmpfs', 'tmpfs', f'{root}/etc/apt/sources.list.d')
    with open(root + source, 'wb') as file:
        file.write(kept)
    os.chroot(root)


def record(scene, forbidden):
    recorder = Recorder(scene)
    recorder.play()
    found = betrays(recorder.events, forbidden)
    if found:
        print(f'{scene.name}: not written, it mentions {", ".join(found)}', file=sys.stderr)
        return False
    head = {'cols': scene.cols, 'rows': scene.rows, 'program': scene.program}
    with open(f'recordings/{scene.name}.rec', 'w', encoding='ascii') as file:
        for line in [head, *recorder.events]:
            file.write(json.dumps(line, separators=(',', ':')) + '\n')
    print(f'{scene.name}: {recorder.total} bytes')
    return True


def main():
    os.chdir(HERE)
    if sys.argv[1:2] != ['--inside']:
        # Paths and names of this machine that must not be in a recording.
        forbidden = {socket.gethostname(), HERE, os.path.expanduser('~'), os.environ.get('SUDO_USER', '')}
        forbidden |= {'/' + part for part in HERE.split('/')[1:-2]}
        forbidden -= {'', '/', '/root', 'localhost'}
        command = ['unshare', '--uts', '--ipc', '--pid', '--mount', '--fork', '--mount-proc',
                   '--kill-child', 'python3', 'record.py', '--inside']
        os.execvpe('unshare', command + sys.argv[1:],
                   {'PATH': PATH, 'LANG': 'C.UTF-8', 'FORBIDDEN': json.dumps(sorted(forbidden))})
    sys.dont_write_bytecode = True
    import home
    import scenes
    wanted = sys.argv[2:]
    chosen = [s for s in scenes.SCENES if not wanted or any(s.name.startswith(w) for w in wanted)]
    if wanted == ['--list']:
        print('\n'.join(f'{s.name}: {s.program}' for s in scenes.SCENES))
        return 0
    forbidden = json.loads(os.environ['FORBIDDEN'])
    hide_machine()
    failed = 0
    for scene in chosen:
        home.prepare(HOME)
        failed += not record(scene, forbidden)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
