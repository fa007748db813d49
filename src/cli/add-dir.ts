/** `--add-dir`: further directories that the built-in agent's file tools may access. */
import { resolve } from "node:path";
import { realFolder } from "../config/root.ts";
import type { CommandCall } from "./command.ts";
import { usageError } from "./exit.ts";
import { listOption } from "./options.ts";

/** Returns real paths. Rejects with `usage` if one is not a directory. */
export function parseAddedFolders({ io, options }: Pick<CommandCall, "io" | "options">): Promise<string[]> {
  return Promise.all(
    listOption(options, "addDir").map((folder) => {
      const path = resolve(io.cwd(), folder);
      return realFolder(path).catch(() => {
        throw usageError(`--add-dir must be a directory, and ${path} is not one`);
      });
    }),
  );
}
