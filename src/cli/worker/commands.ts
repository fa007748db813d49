/** The subcommands of `rookery workers`. */
import { JSON_OPTION } from "../command-options.ts";
import type { ArgumentSpec, CommandSpec } from "../command.ts";

const TARGET: ArgumentSpec = { name: "worker", summary: "the id of a worker, or a host for all workers on it" };

export const workerCommands: readonly CommandSpec[] = [
  {
    name: "list",
    summary: "list the workers of all hosts: what they run, ready agents, labels, version and state",
    options: [JSON_OPTION],
    notes:
      "A worker that has not renewed its record for half of lease.ttl is lost: its host or process is gone, or cut off.\n" +
      "Its tasks continue on another worker when their leases have expired.",
    examples: ["rookery workers", "rookery workers list --json"],
    load: async () => (await import("./workers.ts")).listWorkersCommand,
  },
  {
    name: "drain",
    summary: "take no new work, finish what runs, then exit",
    arguments: [TARGET],
    options: [JSON_OPTION],
    notes: "A drained server keeps answering requests. The worker notices within seconds.",
    examples: ["rookery workers drain build-1"],
    load: async () => (await import("./workers.ts")).askWorkersCommand("drain"),
  },
  {
    name: "stop",
    summary: "hand over what runs, then exit",
    arguments: [TARGET],
    options: [JSON_OPTION],
    notes: "Its tasks are queued again and continue on another worker that can run them.",
    examples: ["rookery workers stop build-1"],
    load: async () => (await import("./workers.ts")).askWorkersCommand("stop"),
  },
];
