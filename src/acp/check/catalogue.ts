/** The checks: numbers that stay, how binding each is, and what it asks. */
import type { CheckLevel } from "./report.ts";

export interface CatalogueEntry {
  readonly level: CheckLevel;
  readonly title: string;
}

const M = (title: string): CatalogueEntry => ({ level: "M", title });
const C = (title: string): CatalogueEntry => ({ level: "C", title });
const A = (title: string): CatalogueEntry => ({ level: "A", title });

export const CATALOGUE = {
  1: M("each line on stdout is one JSON-RPC message in UTF-8"),
  2: M("ids are echoed exactly, integers and strings"),
  3: M("a request is answered once, with either a result or an error"),
  4: M("notifications are never answered"),
  5: M("the answer to initialize is valid, and version 1 is answered with 1"),
  6: M("an unknown protocol version is answered with the agent's own latest"),
  7: M("all other messages are valid by the schema"),
  8: M("session/new gives ids that are not empty and differ"),
  9: M("a text prompt ends with a defined stop reason"),
  10: M("updates carry the id of the session that was prompted"),
  11: M("a cancelled prompt ends with the stop reason cancelled"),
  12: M("no update of a turn comes after it was answered as cancelled"),
  13: M("files, terminals and elicitation are left alone if the client does not offer them"),
  14: M("no boolean config option if the client does not offer them"),
  15: M("no terminal authentication if the client does not offer it"),
  16: M("an unknown request with _ in front is answered"),
  17: C("session/load replays everything before it is answered"),
  18: C("session/resume replays nothing"),
  19: C("session/list gives an array, and an empty one for a folder without sessions"),
  20: C("session/delete and session/close give {}, and closing cancels a running prompt"),
  21: C("the current mode and option values are among those offered"),
  22: C("session/set_config_option gives the complete list"),
  23: C("advertised images, audio and resources are accepted in a prompt"),
  24: A("unknown methods get -32601, errors leave the agent usable, it exits at the end of stdin"),
} as const satisfies Record<number, CatalogueEntry>;

export type CheckId = keyof typeof CATALOGUE;

export const CHECK_IDS = Object.keys(CATALOGUE).map(Number) as readonly CheckId[];
