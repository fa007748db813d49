/** Which addresses are whose: the world's, this machine's or network's, or nobody's that an agent should talk to. */
import { BlockList, isIPv6 } from "node:net";

/** `forbidden`: services of the machine's own host, which give secrets to whoever asks, and addresses of no one machine. */
export type Zone = "public" | "private" | "forbidden";

const FORBIDDEN: readonly (readonly [string, number])[] = [
  ["169.254.0.0", 16],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["fe80::", 10],
  ["ff00::", 8],
  ["fd00:ec2::254", 128],
];
const PRIVATE: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["::", 128],
  ["::1", 128],
  ["64:ff9b:1::", 48],
  ["fc00::", 7],
];

const forbidden = listOf(FORBIDDEN);
const ours = listOf(PRIVATE);

export function zoneOf(address: string): Zone {
  const plain = embedded(address);
  const family = isIPv6(plain) ? "ipv6" : "ipv4";
  if (forbidden.check(plain, family)) return "forbidden";
  return ours.check(plain, family) ? "private" : "public";
}

/** An address of the older kind may be written as one of the newer. */
function embedded(address: string): string {
  const [, dotted] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (dotted !== undefined) return dotted;
  const [, high, low] = /^(?:::ffff|64:ff9b:):([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address) ?? [];
  if (high === undefined || low === undefined) return address;
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join(".");
}

function listOf(ranges: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, bits] of ranges) list.addSubnet(network, bits, isIPv6(network) ? "ipv6" : "ipv4");
  return list;
}
