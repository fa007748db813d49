/** For tests: an interactive shell on a pseudo-terminal that has loaded the completion script of the built command. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ProgramScreen, startOnScreen } from "../../../test/support/screen.ts";
import { BUILT_COMMAND, type CommandFixture } from "../test-command.ts";
import { COMPLETION_SCRIPTS } from "./scripts.ts";

export type CompletedShell = keyof typeof COMPLETION_SCRIPTS;

/** Undefined if the shell is installed, else why its tests are skipped. */
export function missingShell(shell: CompletedShell): string | undefined {
  return spawnSync(shell, ["-c", "exit 0"]).status === 0 ? undefined : `${shell} is not installed`;
}

/** Resolves when the shell waits for input after the prompt `$ `. */
export async function openShell(fixture: CommandFixture, shell: CompletedShell, cwd?: string): Promise<ProgramScreen> {
  const folder = join(fixture.home, `${shell}-setup`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "rookery"), `#!/bin/sh\nexec ${process.execPath} ${BUILT_COMMAND} "$@"\n`, {
    mode: 0o755,
  });
  const script = join(folder, shell === "zsh" ? "_rookery" : `rookery.${shell}`);
  writeFileSync(script, COMPLETION_SCRIPTS[shell]);
  writeFileSync(join(folder, ".zshrc"), `PS1='$ '; fpath=(${folder} $fpath); autoload -Uz compinit; compinit -u\n`);
  writeFileSync(join(folder, ".bashrc"), `PS1='$ '; source ${script}\n`);
  // Suggestions would show a completion before TAB.
  const setup = `source ${script}; set -g fish_autosuggestion_enabled 0; function fish_prompt; echo '$ '; end; function fish_greeting; end`;
  const commands = {
    bash: ["bash", "--noprofile", "--rcfile", join(folder, ".bashrc"), "-i"],
    zsh: ["zsh", "-d", "-i"],
    fish: ["fish", "--no-config", "-i", "-C", setup],
  };
  const PATH = `${folder}:${process.env["PATH"] ?? ""}`;
  const env = { ...fixture.env, PATH, ZDOTDIR: folder, TERM: "xterm-256color" };
  const screen = startOnScreen(commands[shell], { cwd: cwd ?? fixture.repository.path, env });
  await screen.waitFor(/^\$/m);
  return screen;
}
