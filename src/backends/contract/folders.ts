/** A temporary home and working directory for one agent of the contract suite. */
import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../../testing/index.ts";
import type { ContractFiles } from "./model.ts";

export interface ContractFolders extends AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly cwd: string;
  readonly files: ContractFiles;
}

export async function createContractFolders(): Promise<ContractFolders> {
  const folder = await temporaryFolder();
  const root = await realpath(folder.path);
  const [home, cwd] = [join(root, "home"), join(root, "work")];
  await Promise.all([mkdir(home), mkdir(cwd)]);
  return {
    root,
    home,
    cwd,
    files: { made: join(cwd, "made.txt"), written: join(cwd, "written.txt") },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
