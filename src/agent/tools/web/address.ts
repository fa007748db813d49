/** Classifies IP addresses: public, private to this machine or network, or forbidden for an agent. */
import { BlockList, isIPv6 } from "node:net";

/**
 * `forbidden`: link-local addresses, where cloud metadata services give secrets to anyone, and multicast and reserved
 * addresses.
 */
export type AddressZone = "public" | "private" | "forbidden";

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

const forbiddenAddresses = createBlockList(FORBIDDEN);
const privateAddresses = createBlockList(PRIVATE);

export function classifyAddress(address: string): AddressZone {
  const plainAddress = extractIPv4(address);
  const family = isIPv6(plainAddress) ? "ipv6" : "ipv4";
  if (forbiddenAddresses.check(plainAddress, family)) return "forbidden";
  return privateAddresses.check(plainAddress, family) ? "private" : "public";
}

/** Extracts the IPv4 address from an IPv6 address that contains one. */
function extractIPv4(address: string): string {
  const [, dotted] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (dotted !== undefined) return dotted;
  const [, high, low] = /^(?:::ffff|64:ff9b:):([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address) ?? [];
  if (high === undefined || low === undefined) return address;
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join(".");
}

function createBlockList(ranges: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, bits] of ranges) list.addSubnet(network, bits, isIPv6(network) ? "ipv6" : "ipv4");
  return list;
}
