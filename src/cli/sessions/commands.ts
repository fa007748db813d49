/** The subcommands of `rookery sessions`. */
import { ADOPTABLE_BACKENDS } from "../../domain/enums.ts";
import { JSON_OPTION } from "../command-options.ts";
import type { CommandSpec } from "../command.ts";
import { SHOWN_SESSION_STATUSES } from "./shown-status.ts";

const SESSION = {
  name: "session",
  summary: "the start of a session id, or `last` for your newest session in this repository",
};
export const sessionCommands: readonly CommandSpec[] = [
  {
    name: "list",
    summary: "list sessions, last active first",
    options: [
      { flags: "--agent <name>", summary: "only sessions of this agent" },
      { flags: "--cwd <dir>", summary: "only sessions in this directory" },
      {
        flags: "--status <status>",
        summary: "only sessions with this status",
        choices: SHOWN_SESSION_STATUSES,
      },
      { flags: "--limit <count>", summary: "at most this many (default: 20)" },
      JSON_OPTION,
    ],
    examples: ["rookery sessions", "rookery sessions list --status waiting --json"],
    load: async () => (await import("./list.ts")).listSessionsCommand,
  },
  {
    name: "show",
    summary: "show the state of a session, what was said and done in it, and its open requests",
    arguments: [SESSION],
    options: [
      { flags: "--last <turns>", summary: "show this many turns (default: 5)" },
      { flags: "--all", summary: "show all turns; with --events, include the raw events of the agent" },
      { flags: "--events", summary: "print the log instead, one line per event" },
      { flags: "--json", summary: "print the state as JSON; with --events, the events" },
    ],
    examples: ["rookery sessions show last", "rookery sessions show last --all"],
    load: async () => (await import("./show.ts")).showSessionCommand,
  },
  {
    name: "events",
    summary: "print the log of a session",
    arguments: [SESSION],
    options: [
      { flags: "--after <seq>", summary: "only events after this one" },
      { flags: "--limit <count>", summary: "at most this many" },
      { flags: "--follow", summary: "wait for new events, until Ctrl-C" },
      { flags: "--all", summary: "include the raw events of the agent" },
      JSON_OPTION,
    ],
    examples: ["rookery sessions events last", "rookery sessions events last --follow --json"],
    load: async () => (await import("./events.ts")).sessionEventsCommand,
  },
  {
    name: "close",
    summary: "close a session; its log is kept",
    arguments: [SESSION],
    options: [JSON_OPTION],
    examples: ["rookery sessions close last"],
    load: async () => (await import("./close.ts")).closeSessionCommand,
  },
  {
    name: "fork",
    summary: "copy a session into a new one; the original does not change",
    arguments: [SESSION],
    options: [
      { flags: "--through <seq>", summary: "only turns that ended at or before this event (default: all that ended)" },
      JSON_OPTION,
    ],
    examples: ["rookery sessions fork last", "rookery sessions fork last --through 120"],
    load: async () => (await import("./fork.ts")).forkSessionCommand,
  },
  {
    name: "adopt",
    summary:
      "continue a session that Claude Code, Codex or Gemini CLI keeps; without an id, list those of this directory",
    arguments: [{ name: "id", summary: "the program's own session id, or its start", optional: true }],
    options: [
      { flags: "--backend <backend>", summary: "only sessions of this program", choices: ADOPTABLE_BACKENDS },
      { flags: "--agent <name>", summary: "the agent that continues it (default: the one of its program)" },
      { flags: "--cwd <dir>", summary: "the directory to list, or to continue in (default: the session's own)" },
      { flags: "--title <title>", summary: "the title of the session (default: the program's)" },
      JSON_OPTION,
    ],
    examples: ["rookery sessions adopt", "rookery sessions adopt 3548c3f5"],
    load: async () => (await import("./adopt.ts")).adoptSessionCommand,
  },
  {
    name: "delete",
    summary: "delete a session and its log",
    arguments: [SESSION],
    options: [JSON_OPTION],
    examples: ["rookery sessions delete last"],
    load: async () => (await import("./delete.ts")).deleteSessionCommand,
  },
];
