/** Options that several commands share. */
import { PERMISSION_POLICIES } from "../domain/enums.ts";
import type { OptionSpec } from "./command.ts";

export const JSON_OPTION: OptionSpec = { flags: "--json", summary: "print JSON, one value per line" };

export const ADD_DIR_OPTION: OptionSpec = {
  flags: "--add-dir <dir>",
  summary: "another directory that the built-in agent's file tools may access",
  repeatable: true,
};

export const PERMISSIONS_OPTION: OptionSpec = {
  flags: "--permissions <policy>",
  summary: "ask for each change, allow only reads, allow all, or allow none",
  choices: PERMISSION_POLICIES,
};

export const REPOSITORY_OPTION: OptionSpec = {
  flags: "--repository",
  summary: "change the rookery.toml of the repository instead of yours",
};

export const SERVER_OPTION: OptionSpec = {
  flags: "--server <url>",
  summary: "the URL of a server on another machine; ROOKERY_TOKEN holds its token",
};
