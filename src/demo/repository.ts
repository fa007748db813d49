/** Creates the repository of the demo: a function with a mistake, and a test that fails because of it. */
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DEMO_FILES } from "../providers/demo/script.ts";
import { git, type GitOptions } from "../worktrees/index.ts";

/** A new user may have no identity, and git cannot commit without one. */
const GIT_CONFIG = "[user]\n\tname = Rookery demo\n\temail = demo@rookery.invalid\n[commit]\n\tgpgsign = false\n";

/** Creates the folder, which must not exist or be empty. Rejects with `git_missing` or `git_failed`. */
export async function createDemoRepository(folder: string, options: GitOptions): Promise<void> {
  await mkdir(folder, { recursive: true });
  await git(folder, ["init", "--quiet", "--initial-branch=main"], options);
  await appendFile(join(folder, ".git", "config"), GIT_CONFIG);
  for (const [name, text] of Object.entries(DEMO_FILES)) await writeFile(join(folder, name), text);
  await git(folder, ["add", "--all"], options);
  await git(folder, ["commit", "--quiet", "--message=Add a sum that subtracts"], options);
}
