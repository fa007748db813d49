// own process: connects sockets
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { findPeerUser, parsePeerUser } from "./peer-user.ts";

describe.runIf(process.platform === "linux")("the user at the other end", () => {
  it.each(["127.0.0.1", "::1"])("of a connection to %s is found", async (host) => {
    const server = createServer().listen(0, host);
    await once(server, "listening");
    const accepted = once(server, "connection") as Promise<[Socket]>;
    const client = connect((server.address() as AddressInfo).port, host);
    const [socket] = await accepted;
    expect(await findPeerUser(socket)).toBe(process.getuid?.());
    client.destroy();
    server.close();
  });
});

const HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
const row = (local: string, uid: number) =>
  `   0: ${local} 0100007F:1D09 01 00000000:00000000 00:00000000 00000000  ${uid}        0 1`;

it.each([
  ["IPv4", "0100007F:C350"],
  ["another loopback address", "0A00007F:C350"],
  ["IPv6", "00000000000000000000000001000000:C350"],
  ["IPv4 in IPv6", "0000000000000000FFFF00000100007F:C350"],
])("reads a row with %s", (_, local) => {
  expect(parsePeerUser([HEAD, row("0100007F:C351", 7), row(local, 1000)].join("\n"), 50_000)).toBe(1000);
});

it("ignores sockets of other interfaces, other ports and an unreadable table", () => {
  expect(parsePeerUser([HEAD, row("0500000A:C350", 1000)].join("\n"), 50_000)).toBeUndefined();
  expect(parsePeerUser([HEAD, row("0100007F:C351", 1000)].join("\n"), 50_000)).toBeUndefined();
  expect(parsePeerUser("", 50_000)).toBeUndefined();
});
