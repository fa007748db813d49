// Runs the real programs as a person does, without Rookery, so that they keep sessions which Rookery can adopt.
import { spawn } from "node:child_process";

/** The arguments after the program, by name of the program. `resume` is the ID of an earlier session. */
const ARGUMENTS = {
  claude: (prompt, resume) => [
    ...["-p", prompt, "--model", "claude-sonnet-4-5", "--permission-mode", "acceptEdits", "--allowedTools", "Bash"],
    ...(resume === undefined ? [] : ["--resume", resume]),
  ],
  codex: (prompt, resume) => [
    ...["exec", ...(resume === undefined ? [] : ["resume", resume]), "--skip-git-repo-check"],
    ...["-m", "fake-model", "-c", 'sandbox_mode="danger-full-access"', prompt],
  ],
  gemini: (prompt, resume) => [
    ...["--skip-trust", "-m", "gemini-2.5-flash", "-y", "-p", prompt],
    ...(resume === undefined ? [] : ["--resume", resume]),
  ],
  opencode: (prompt, resume) => ["run", "--auto", ...(resume === undefined ? [] : ["-s", resume]), prompt],
};

/** How long one prompt may take. */
const PROMPT_MS = 90_000;

/** Runs one prompt in a folder. Resolves with what the program printed. Rejects if it fails. */
export function promptOutside({ name, command, env, cwd, prompt, resume }) {
  const [file, ...own] = command;
  const extra = name === "gemini" ? { GEMINI_CLI_NO_RELAUNCH: "true" } : {};
  const options = { cwd, env: { ...env, ...extra }, stdio: ["ignore", "pipe", "pipe"], timeout: PROMPT_MS };
  return new Promise((resolve, reject) => {
    const child = spawn(file, [...own, ...ARGUMENTS[name](prompt, resume)], options);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${name} ended with ${code ?? signal}: ${output.slice(-2_000)}`));
    });
  });
}
