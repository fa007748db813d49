/** `--add-dir`: folders that the built-in agent's file tools reach beside the working one. */
import { resolve } from "node:path";
import { realFolder } from "../config/root.ts";
import type { CommandCall } from "./command.ts";
import { usageError } from "./exit.ts";
import { listOption } from "./options.ts";

/** Their real paths. Rejects with `usage` where one is no folder. */
export function parseAddedFolders({ io, options }: Pick<CommandCall, "io" | "options">): Promise<string[]> {
  return Promise.all(
    listOption(options, "addDir").map((folder) => {
      const path = resolve(io.cwd(), folder);
      return realFolder(path).catch(() => {
        throw usageError(`--add-dir takes a folder, and ${path} is none`);
      });
    }),
  );
}
