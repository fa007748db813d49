/** The checks with their stable numbers, levels and titles. */
import type { CheckLevel } from "./report.ts";

export interface CheckCatalogEntry {
  readonly level: CheckLevel;
  readonly title: string;
}

const mandatory = (title: string): CheckCatalogEntry => ({ level: "M", title });
const ifAdvertised = (title: string): CheckCatalogEntry => ({ level: "C", title });
const advisory = (title: string): CheckCatalogEntry => ({ level: "A", title });

export const CHECK_CATALOG = {
  1: mandatory("each line on stdout is one JSON-RPC message in UTF-8"),
  2: mandatory("ids are echoed exactly, integers and strings"),
  3: mandatory("a request is answered once, with either a result or an error"),
  4: mandatory("notifications are never answered"),
  5: mandatory("the initialize response is valid, and version 1 is answered with 1"),
  6: mandatory("an unknown protocol version is answered with the agent's latest version"),
  7: mandatory("all other messages match the schema"),
  8: mandatory("session/new returns unique ids that are not empty"),
  9: mandatory("a text prompt ends with a defined stop reason"),
  10: mandatory("updates carry the id of the prompted session"),
  11: mandatory("a cancelled prompt ends with the stop reason cancelled"),
  12: mandatory("no turn update follows a cancelled response"),
  13: mandatory("the agent uses no files, terminals or elicitation that the client does not offer"),
  14: mandatory("the agent offers no boolean config option if the client does not support them"),
  15: mandatory("the agent offers no terminal authentication if the client does not support it"),
  16: mandatory("an unknown request with the prefix _ is answered"),
  17: ifAdvertised("session/load replays everything before it is answered"),
  18: ifAdvertised("session/resume replays nothing"),
  19: ifAdvertised("session/list returns an array, empty for a directory without sessions"),
  20: ifAdvertised("session/delete and session/close return {}, and closing cancels a running prompt"),
  21: ifAdvertised("the current mode and option values are among those offered"),
  22: ifAdvertised("session/set_config_option returns all options"),
  23: ifAdvertised("advertised images, audio and resources are accepted in a prompt"),
  24: advisory("unknown methods get -32601, errors leave the agent usable, and it exits at the end of stdin"),
  25: mandatory("locations and diffs of tool calls have absolute paths"),
  26: advisory("a permission request for an edit has its diff"),
} as const satisfies Record<number, CheckCatalogEntry>;

export type CheckId = keyof typeof CHECK_CATALOG;

export const CHECK_IDS = Object.keys(CHECK_CATALOG).map(Number) as readonly CheckId[];
