// Runs in a terminal under test: relays bytes from the socket to the terminal, and the terminal's replies back.
import net from 'node:net';

process.stdin.setRawMode(true);
const socket = net.connect(process.argv[2]);
socket.on('data', (bytes) => process.stdout.write(bytes));
socket.on('error', () => process.exit(1));
socket.on('close', () => process.exit(0));
process.stdin.on('data', (bytes) => socket.write(bytes));
