import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { say } from "../../testing/index.ts";
import { type CommandFixture, openCommandFixture } from "../test-command.ts";
import { missingShell, openShell } from "./test-shell.ts";

let fixture: CommandFixture;
beforeAll(async () => {
  fixture = await openCommandFixture([say("Done.")], { files: { "trace one.ndjson": "" } });
  await fixture.rookery(["run", "Go"]);
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** What is typed before TAB, and what the line becomes. */
const LINES: readonly (readonly [string, string | RegExp])[] = [
  ["rookery sessions sh", "rookery sessions show"],
  ["rookery tasks mer", "rookery tasks merge"],
  ["rookery task merge --how sq", "rookery task merge --how squash"],
  ["rookery run --agent=clau", "rookery run --agent=claude"],
  ["rookery run -a clau", "rookery run -a claude"],
  ["rookery sessions show las", "rookery sessions show last"],
  ["rookery sessions show --last 2 las", "rookery sessions show --last 2 last"],
  ["rookery run --json --perm", "rookery run --json --permissions"],
  ["rookery config set worktree.qu", "rookery config set worktree.quota_gb"],
  ["rookery acp trace tra", /rookery acp trace (trace\\ one|'trace one)\.ndjson/],
  ["rookery acp serve --trace=tra", /rookery acp serve --trace=(trace\\ one|'trace one)\.ndjson/],
  ["rookery run --cwd .gi", "rookery run --cwd .git/"],
];

describe.for(["bash", "zsh", "fish"] as const)("%s", { timeout: 120_000 }, (shell) => {
  const missing = missingShell(shell);

  it.for(LINES)("completes %s to %s", async ([typed, expected], { skip }) => {
    skip(missing !== undefined, missing);
    await using screen = await openShell(fixture, shell);
    screen.type(`${typed}\t`);
    await screen.waitFor(expected);
  });

  it("lists the words that are possible", async ({ skip }) => {
    skip(missing !== undefined, missing);
    await using screen = await openShell(fixture, shell);
    screen.type("rookery task merge --how \t\t");
    await screen.waitFor(/(merge|rebase|squash) +(merge|rebase|squash) +(merge|rebase|squash) *$/m);
  });

  it("offers no files where none are possible", async ({ skip }) => {
    skip(missing !== undefined, missing);
    await using screen = await openShell(fixture, shell);
    screen.type("rookery task start tra\t");
    screen.type("ck");
    await screen.waitFor("rookery task start track");
    expect(screen.visible()).not.toContain("trace one");
  });
});

it("zsh can source the script without compinit", async ({ skip }) => {
  const missing = missingShell("zsh");
  skip(missing !== undefined, missing);
  await using screen = await openShell(fixture, "zsh");
  const folder = join(fixture.home, "zsh-setup");
  writeFileSync(join(folder, ".zshrc"), `PS1='> '; source <(rookery completion zsh)\n`);
  screen.type("exec zsh -d -i\r");
  await screen.waitFor(/^>/m);
  screen.type("rookery sessions sh\t");
  await screen.waitFor("> rookery sessions show");
});
