/** The subcommands of `rookery config`. */
import { JSON_OPTION, REPOSITORY_OPTION } from "../command-options.ts";
import type { CommandSpec } from "../command.ts";

const KEY = { name: "key", summary: "a key of rookery.toml, such as defaults.agent" };

export const configCommands: readonly CommandSpec[] = [
  {
    name: "path",
    summary: "print the paths of the configuration files",
    options: [JSON_OPTION],
    examples: ["rookery config", "rookery config path --json"],
    load: async () => (await import("./config.ts")).configPathCommand,
  },
  {
    name: "get",
    summary: "print a value: the repository's, or else yours; without a key, all values",
    arguments: [{ ...KEY, optional: true }],
    options: [JSON_OPTION],
    examples: ["rookery config get", "rookery config get defaults.agent"],
    load: async () => (await import("./config.ts")).getConfigCommand,
  },
  {
    name: "set",
    summary: "change a value and keep comments and formatting; an invalid value is refused",
    arguments: [KEY, { name: "value", summary: "a TOML value, or plain text" }],
    options: [REPOSITORY_OPTION, JSON_OPTION],
    examples: ["rookery config set defaults.agent claude", 'rookery config set merge.gate "npm test" --repository'],
    load: async () => (await import("./config.ts")).setConfigCommand,
  },
  {
    name: "edit",
    summary: "open the file in your editor, and check it afterwards",
    options: [REPOSITORY_OPTION],
    notes: "Uses VISUAL or EDITOR.",
    examples: ["rookery config edit", "rookery config edit --repository"],
    load: async () => (await import("./config.ts")).editConfigCommand,
  },
];
