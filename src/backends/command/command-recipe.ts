/** The recipe type, shared by the parts of the `command` backend. */
import type { TaskValues } from "../../domain/task/values.ts";
import type { JsonPath } from "./json-path.ts";

/** How to start the program and read its output. */
export interface CommandRecipe {
  readonly command: readonly string[];
  readonly resumeCommand: readonly string[] | undefined;
  readonly pty: boolean;
  readonly task?: TaskValues | undefined;
  readonly sessionPath: JsonPath | undefined;
  readonly textPath: JsonPath | undefined;
}
