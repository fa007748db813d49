/** The subcommands of `rookery acp`. */
import { JSON_OPTION } from "../command-options.ts";
import type { CommandSpec, OptionSpec } from "../command.ts";

const TRACE_OPTION: OptionSpec = {
  flags: "--trace <file>",
  summary: "record every message in a file, for `rookery acp trace`",
};
export const acpCommands: readonly CommandSpec[] = [
  {
    name: "serve",
    summary: "run as an ACP agent on stdio; an editor starts it",
    options: [
      { flags: "--agent <name>", summary: "the agent of new sessions (default: the configured one)" },
      TRACE_OPTION,
    ],
    notes:
      "Sessions of the editor are in the log like all others: `rookery sessions` lists them, and `rookery answer` answers\n" +
      "their requests. stdout carries only the protocol.",
    examples: ["rookery acp", "rookery acp --agent reviewer"],
    load: async () => (await import("./serve.ts")).serveAcpCommand,
  },
  {
    name: "proxy",
    summary: "run as a proxy between an editor and an agent that adds MCP servers to every session",
    arguments: [
      {
        name: "command",
        summary: "the command that starts the agent; omit it if a conductor starts the agent",
        optional: true,
        rest: true,
      },
    ],
    options: [
      { flags: "--mcp <file>", summary: "a .mcp.json file with servers to add to every session", repeatable: true },
      TRACE_OPTION,
    ],
    examples: ["rookery acp proxy --mcp .mcp.json -- gemini --acp"],
    load: async () => (await import("./proxy.ts")).proxyCommand,
  },
  {
    name: "conductor",
    summary: "run a chain of proxies and an agent as one agent",
    arguments: [
      {
        name: "command",
        summary: "the command that starts the agent; without it, the chain is itself a proxy",
        optional: true,
        rest: true,
      },
    ],
    options: [
      {
        flags: "--proxy <command>",
        summary: "the quoted command of a proxy; the first one is next to the editor",
        repeatable: true,
      },
      TRACE_OPTION,
    ],
    examples: ['rookery acp conductor --proxy "rookery acp proxy --mcp .mcp.json" -- opencode acp'],
    load: async () => (await import("./conductor.ts")).conductorCommand,
  },
  {
    name: "check",
    summary: "check whether an agent conforms to the protocol",
    arguments: [{ name: "command", summary: "the command that starts the agent", rest: true }],
    options: [
      { flags: "--only <ids>", summary: "only these checks, for example 1,5,9" },
      { flags: "--timeout <seconds>", summary: "timeout of each request (default: 30)" },
      { flags: "--prompt <text>", summary: "a prompt with a short turn" },
      { flags: "--slow-prompt <text>", summary: "a prompt with a turn long enough to cancel" },
      { flags: "--authenticate <method>", summary: "the authentication method to use first" },
      JSON_OPTION,
    ],
    notes:
      "Sends real prompts to the agent, in the current directory. The exit code is 1 if a mandatory check fails, or a check\n" +
      "of a capability that the agent advertises.",
    examples: ["rookery acp check -- rookery acp", "rookery acp check --json -- gemini --acp"],
    load: async () => (await import("./check.ts")).checkCommand,
  },
  {
    name: "trace",
    summary: "print a connection that was recorded with --trace",
    arguments: [{ name: "file", summary: "the file, or `-` for stdin" }],
    examples: ["rookery acp trace acp.ndjson"],
    load: async () => (await import("./trace.ts")).traceCommand,
  },
  {
    name: "registry",
    summary: "list known agents, or print the command that starts one",
    arguments: [{ name: "id", summary: "the id of an agent in the registry", optional: true }],
    options: [{ flags: "--file <file>", summary: "a registry index (default: the built-in one)" }, JSON_OPTION],
    examples: ["rookery acp registry", "rookery acp registry gemini"],
    load: async () => (await import("./registry.ts")).registryCommand,
  },
  {
    name: "mcp-bridge",
    summary: "connect MCP on stdio to a server of the proxy that started this process",
    hidden: true,
    examples: ["rookery acp mcp-bridge"],
    load: async () => (await import("./mcp-bridge.ts")).mcpBridgeCommand,
  },
];
