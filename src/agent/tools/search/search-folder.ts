/** Resolves the directory of a search, and formats the paths in it. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join, relative } from "node:path";
import { confined } from "../../../stdx/index.ts";
import { ToolRefusal } from "../tool-refusal.ts";
import type { CodingToolContext } from "../tool.ts";

export interface SearchFolder {
  readonly real: string;
  /** Formats a path for the other tools: relative to the working directory, or absolute if it is outside. */
  readonly displayPath: (path: string) => string;
}

export async function resolveSearchFolder(path: string, { folders }: CodingToolContext): Promise<SearchFolder> {
  const real = await confined(folders, path);
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const folder = await open(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR") throw new ToolRefusal(`${path} is not a directory: use read for a file`);
    if (code === "ENOENT") throw new ToolRefusal(`${path} does not exist`);
    throw error;
  });
  await folder.close();
  const cwd = await confined(folders, ".");
  const below = relative(cwd, real);
  const isInside = below !== ".." && !below.startsWith("../");
  return { real, displayPath: (file) => join(isInside ? below : real, file) };
}
