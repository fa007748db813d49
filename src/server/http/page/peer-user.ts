/** Finds which user of this machine is at the other end of a loopback connection. */
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";

/**
 * Returns undefined if it is unknown: outside Linux, and for connections from other machines. Other users can see the
 * arguments of the command that opens the browser, and so a ticket, but they cannot connect as somebody else.
 */
export async function findPeerUser({ remotePort, remoteFamily }: Socket): Promise<number | undefined> {
  if (remotePort === undefined) return undefined;
  const table = remoteFamily === "IPv6" ? "/proc/net/tcp6" : "/proc/net/tcp";
  const text = await readFile(table, "utf8").catch(() => "");
  return parsePeerUser(text, remotePort);
}

/** The table has the peer's socket too, as the one whose own port is `port`. Exported for its test. */
export function parsePeerUser(table: string, port: number): number | undefined {
  const hexPort = port.toString(16).toUpperCase().padStart(4, "0");
  for (const line of table.split("\n").slice(1)) {
    const [, local = "", , , , , , uid] = line.trim().split(/\s+/);
    if (local.endsWith(`:${hexPort}`) && LOOPBACK_ADDRESS.test(local)) return Number(uid);
  }
  return undefined;
}

/** 127.0.0.0/8, ::1 and the same IPv4 addresses in IPv6, as the kernel writes them. */
const LOOPBACK_ADDRESS = /^(?:[\dA-F]{6}7F|0{24}01000000|0{16}FFFF0000[\dA-F]{6}7F):/;
