/**
 * The scope in which a pid is unique: one PID namespace, on one machine, since its last boot. A container that shares
 * our files, or another machine, is another scope, and its processes cannot be inspected from here.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

let ownScope: string | undefined;

/** `hHOST-BOOT-NAMESPACE`: safe in file names and variables, without dots and commas. */
export function ownPidScope(): string {
  ownScope ??= `h${shortHash(machineId())}-${bootId() ?? `u${shortHash(hostname())}`}-${pidNamespace()}`;
  return ownScope;
}

let boot: string | undefined;

/** The first eight digits of the boot id. Undefined if the system has none. */
export function bootId(): string | undefined {
  boot ??= process.platform === "linux" ? linuxBootId() : macBootId();
  return boot;
}

function linuxBootId(): string | undefined {
  return firstDigits(readText("/proc/sys/kernel/random/boot_id"));
}

/** For macOS. Not tested there. */
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

/** Copies of a virtual machine may share it, so it is never compared by itself. */
function machineId(): string {
  return readText("/etc/machine-id")?.trim() || hostname();
}

/** The inode number of the namespace, or 0 if the system has no namespaces. */
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
