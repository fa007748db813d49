/** The folder that a search is about, and how paths in it are said. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join, relative } from "node:path";
import { confined } from "../../../stdx/index.ts";
import { ToolRefusal, type CallContext } from "../tool.ts";

export interface SearchedFolder {
  readonly real: string;
  /** As the other tools take it: relative to the working folder, or absolute where it is beside it. */
  readonly shown: (path: string) => string;
}

export async function searchedFolder(path: string, { folders }: CallContext): Promise<SearchedFolder> {
  const real = await confined(folders, path);
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const folder = await open(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR") throw new ToolRefusal(`${path} is no folder: use read for a file`);
    if (code === "ENOENT") throw new ToolRefusal(`there is no folder ${path}`);
    throw error;
  });
  await folder.close();
  const cwd = await confined(folders, ".");
  const below = relative(cwd, real);
  const isWithin = below !== ".." && !below.startsWith("../");
  return { real, shown: (file) => join(isWithin ? below : real, file) };
}
