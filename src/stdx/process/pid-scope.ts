/**
 * The scope in which a pid is unique: one PID namespace, on one machine, since its last boot. A container that shares
 * our files, or another machine, is another scope, and its processes cannot be inspected from here. Copies of a virtual
 * machine can repeat all of that, so a declared host ID is a part of the scope.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** The hosts that this process is on: one, unless a test has several in one process. */
const declaredHosts = new Set<string | undefined>();
let lastDeclared: string | undefined;

/**
 * Declares which host this process is on. Call it before the process creates an owner text. Undefined: no host ID is
 * configured. A host ID has letters, digits, `-`, `_` and `.`.
 */
export function declareHost(host: string | undefined): void {
  declaredHosts.add(host);
  lastDeclared = host;
}

let machineScope: string | undefined;

/**
 * `hMACHINE-BOOT-NAMESPACE`, and `-HOST` if a host ID is declared: safe in file names and variables, without dots and
 * commas. Default of `host`: the host that was declared last.
 */
export function ownPidScope(host: string | undefined = lastDeclared): string {
  return host === undefined ? machinePidScope() : `${machinePidScope()}-${host.replaceAll(".", "~")}`;
}

/** Whether the processes of this scope can be inspected from here. */
export function isOwnPidScope(scope: string): boolean {
  const isPlain = scope === machinePidScope();
  return isPlain ? declaredHosts.size === 0 || declaredHosts.has(undefined) : isDeclaredScope(scope);
}

/** The host ID in a scope. Undefined if it has none. */
export function hostOfScope(scope: string): string | undefined {
  return /^h[^-]*-[^-]*-[^-]*-(.+)$/.exec(scope)?.[1]?.replaceAll("~", ".");
}

/** The host name and a part of the machine ID, as the host ID of machines without a configured one. */
export function deriveHostId(): string {
  const name = hostname()
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .replaceAll(/^[^A-Za-z0-9]+/g, "");
  return `${name.slice(0, 50) || "host"}-${shortHash(machineId())}`;
}

function isDeclaredScope(scope: string): boolean {
  return Array.from(declaredHosts).some((host) => host !== undefined && scope === ownPidScope(host));
}

/** The scope without the host ID, for files that never leave the machine. */
export function machinePidScope(): string {
  machineScope ??= `h${shortHash(machineId())}-${bootId() ?? `u${shortHash(hostname())}`}-${pidNamespace()}`;
  return machineScope;
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
