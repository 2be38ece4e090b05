// A slow connection between a client and the server: small kernel buffers, and a limited pace. It is a process, so that
// nothing in the test reads ahead.
import { spawn } from 'node:child_process';
import { until } from './until.mjs';

const BUFFER = 64 << 10;

/*
 * Arguments: port of the server, initial bytes per 10 ms (0: none), whether there is more than one connection. Lines on stdin
 * change the pace. Of a browser's many connections only terminals are slow, each by itself.
 */
const relay = `use strict; use Socket; use IO::Select; use Time::HiRes "time";
$SIG{PIPE} = "IGNORE"; $| = 1;
my ($port, $pace, $many) = @ARGV;
sub small { my $s; socket($s, PF_INET, SOCK_STREAM, 0) or die; setsockopt($s, SOL_SOCKET, SO_RCVBUF, ${BUFFER / 2}); $s }
my $listener = small();
bind($listener, sockaddr_in(0, INADDR_LOOPBACK)) or die; listen($listener, $many ? 64 : 1) or die;
print((sockaddr_in(getsockname($listener)))[0], "\\n");
my $client;
if ($many) { $SIG{CHLD} = "IGNORE" }
do { accept($client, $listener) or die } while ($many && fork);
my $server = small();
connect($server, sockaddr_in($port, INADDR_LOOPBACK)) or die;
if ($many) {
	exit unless sysread($client, my $head, 65536);
	$pace = 1 << 20 unless $head =~ m{^GET /ws/(pty|mux)};
	syswrite($server, $head);
}
my $due = time;
for (;;) {
	my $now = time;
	my $open = $pace > 0 && $now >= $due;
	my $select = IO::Select->new($client, $many ? () : \\*STDIN, $open ? $server : ());
	my $wait = $pace > 0 ? ($open ? 1 : $due - $now) : undef;
	for my $ready ($select->can_read($wait)) {
		if ($ready == \\*STDIN) {
			exit unless sysread(STDIN, my $text, 100);
			($pace) = $text =~ /(\\d+)\\n$/; $due = time;
			next;
		}
		next if $ready == $server && $pace == 0;
		my $most = $ready == $server && $pace < 65536 ? $pace : 65536;
		exit unless sysread($ready, my $bytes, $most);
		$due = time + 0.01 if $ready == $server && $pace < 65536;
		my $to = $ready == $server ? $client : $server;
		for (my $at = 0; $at < length $bytes;) { my $n = syswrite($to, $bytes, 65536, $at); exit unless $n; $at += $n }
	}
}`;

export class Road {
	/** pace: bytes per second; 0: nothing passes, Infinity: everything. */
	static build(server, pace) {
		return Road.#lay(server, pace, false);
	}

	/** For a browser: any number of connections; those of terminals have this constant pace. */
	static buildWide(server, pace) {
		return Road.#lay(server, pace, true);
	}

	static async #lay(server, pace, wide) {
		const road = new Road();
		road.server = server;
		road.child = spawn('perl', ['-e', relay, String(server.port), String(Road.#perStep(pace)), wide ? '1' : ''],
			{ detached: true, stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, RINGSIDE_TEST_ROOT: server.root } });
		server.clients.add(road);
		let port = '';
		road.child.stdout.setEncoding('latin1').on('data', (text) => { port += text; });
		road.child.stdin.on('error', () => {});
		await until('the port of the road', () => port.endsWith('\n'));
		road.base = `http://127.0.0.1:${Number(port)}`;
		return road;
	}

	static #perStep(pace) {
		return Number.isFinite(pace) ? Math.ceil(pace / 100) : 1 << 20;
	}

	set pace(pace) {
		this.child.stdin.write(`${Road.#perStep(pace)}\n`);
	}

	/** A client at the other end. */
	client(options) {
		const { server } = this;
		const client = server.client({ headers: { Host: server.host }, ...options });
		client.server = { base: this.base, api: server.api, get token() { return server.token; } };
		return client;
	}

	terminate() {
		try {
			process.kill(-this.child.pid, 'SIGKILL');
		} catch {
			// it has ended
		}
	}
}
