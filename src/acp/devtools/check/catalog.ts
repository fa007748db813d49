/** The checks: numbers that stay, how binding each is, and what it asks. */
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
  5: mandatory("the answer to initialize is valid, and version 1 is answered with 1"),
  6: mandatory("an unknown protocol version is answered with the agent's own latest"),
  7: mandatory("all other messages are valid by the schema"),
  8: mandatory("session/new gives ids that are not empty and differ"),
  9: mandatory("a text prompt ends with a defined stop reason"),
  10: mandatory("updates carry the id of the session that was prompted"),
  11: mandatory("a cancelled prompt ends with the stop reason cancelled"),
  12: mandatory("no update of a turn comes after it was answered as cancelled"),
  13: mandatory("files, terminals and elicitation are left alone if the client does not offer them"),
  14: mandatory("no boolean config option if the client does not offer them"),
  15: mandatory("no terminal authentication if the client does not offer it"),
  16: mandatory("an unknown request with _ in front is answered"),
  17: ifAdvertised("session/load replays everything before it is answered"),
  18: ifAdvertised("session/resume replays nothing"),
  19: ifAdvertised("session/list gives an array, and an empty one for a folder without sessions"),
  20: ifAdvertised("session/delete and session/close give {}, and closing cancels a running prompt"),
  21: ifAdvertised("the current mode and option values are among those offered"),
  22: ifAdvertised("session/set_config_option gives the complete list"),
  23: ifAdvertised("advertised images, audio and resources are accepted in a prompt"),
  24: advisory("unknown methods get -32601, errors leave the agent usable, it exits at the end of stdin"),
} as const satisfies Record<number, CheckCatalogEntry>;

export type CheckId = keyof typeof CHECK_CATALOG;

export const CHECK_IDS = Object.keys(CHECK_CATALOG).map(Number) as readonly CheckId[];
