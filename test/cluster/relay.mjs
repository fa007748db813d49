// Forwards TCP connections to a Unix socket: node relay.mjs SOCKET ADDRESS PORT. Prints a line when it listens.
// PostgreSQL listens on a socket of the file system, which is the same in every network namespace.
import { connect, createServer } from "node:net";

const [, , socketPath, address, port] = process.argv;
const server = createServer((incoming) => {
  const outgoing = connect(socketPath);
  incoming.pipe(outgoing).pipe(incoming);
  for (const [one, other] of [
    [incoming, outgoing],
    [outgoing, incoming],
  ]) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
});
server.listen(Number(port), address, () => console.log("listening"));
