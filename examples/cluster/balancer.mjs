// A load balancer: forwards each TCP connection to the first of some servers that accepts it.
import { once } from "node:events";
import { connect, createServer } from "node:net";

/** `ports`: of the servers on this machine. Resolves when it listens. */
export async function startBalancer(ports) {
  const open = new Set();
  const balancer = createServer(async (client) => {
    client.on("error", () => {});
    const server = await connectFirst(ports);
    if (server === undefined) return client.destroy();
    for (const [one, other] of [
      [client, server],
      [server, client],
    ]) {
      open.add(one);
      one.on("error", () => {});
      one.once("close", () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  balancer.listen(0, "127.0.0.1");
  await once(balancer, "listening");
  return {
    url: `http://127.0.0.1:${balancer.address().port}`,
    close() {
      balancer.close();
      for (const socket of open) socket.destroy();
    },
  };
}

async function connectFirst(ports) {
  for (const port of ports) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await Promise.race([
      once(socket, "connect").then(() => true),
      once(socket, "close").then(() => false),
    ]).catch(() => false);
    if (isOpen) return socket;
  }
  return undefined;
}
