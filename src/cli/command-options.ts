/** Options that many commands have. */
import { PERMISSION_POLICIES } from "../domain/enums.ts";
import type { OptionSpec } from "./command.ts";

export const JSON_OPTION: OptionSpec = { flags: "--json", summary: "print JSON, one value per line" };

export const ADD_DIR_OPTION: OptionSpec = {
  flags: "--add-dir <dir>",
  summary: "a folder that the built-in agent's file tools reach beside the working one",
  repeatable: true,
};

export const PERMISSIONS_OPTION: OptionSpec = {
  flags: "--permissions <policy>",
  summary: "for each change ask, or allow only reading, all, or nothing",
  choices: PERMISSION_POLICIES,
};
