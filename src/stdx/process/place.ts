/**
 * Where a process number means what it means here: one boot of one machine, and one PID namespace of it. A container
 * that shares our files, or another machine, is another place, and its processes cannot be judged from here.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

let place: string | undefined;

/** `hHOST-BOOT-NAMESPACE`: safe in a file name, in a variable, and without a dot or a comma. */
export function ownPlace(): string {
  place ??= `h${shortHash(machineId())}-${bootId() ?? `u${shortHash(hostname())}`}-${pidNamespace()}`;
  return place;
}

let boot: string | undefined;

/** The first eight digits; undefined where the system does not tell. */
export function bootId(): string | undefined {
  boot ??= process.platform === "linux" ? linuxBootId() : macBootId();
  return boot;
}

function linuxBootId(): string | undefined {
  return firstDigits(readText("/proc/sys/kernel/random/boot_id"));
}

/** Written for macOS and not tried there. */
function macBootId(): string | undefined {
  try {
    const options = { encoding: "utf8", stdio: "pipe" } as const;
    return firstDigits(execFileSync("sysctl", ["-n", "kern.bootsessionuuid"], options));
  } catch {
    return undefined;
  }
}

function firstDigits(text: string | undefined): string | undefined {
  return /^[0-9a-f]{8}/.exec(text?.trim().toLowerCase() ?? "")?.[0];
}

/** Copies of one machine may share it, so nobody is judged by it alone. */
function machineId(): string {
  return readText("/etc/machine-id")?.trim() || hostname();
}

/** The number that the kernel has for it; 0 where there are no namespaces. */
function pidNamespace(): string {
  if (process.platform !== "linux") return "0";
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  } catch {
    return `u${shortHash(hostname())}`; // containers have different host names
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
