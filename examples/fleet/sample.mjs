// Creates the sample: a repository with a small program, a user configuration, and a directory for the agents' notes.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));

export const SAMPLE_FILES = {
  "README.md": "# hello\n\nA program that says hello.\n",
  "hello.mjs": 'const name = "world";\n\nconsole.log(`Hello, ${name}!`);\n',
  "check.mjs": [
    'import { existsSync, readFileSync } from "node:fs";',
    "",
    'const text = (file) => (existsSync(file) ? readFileSync(file, "utf8") : "");',
    'if (text("RELEASE.md") !== "" && !/^\\d+\\.\\d+\\.\\d+$/.test(text("VERSION").trim())) {',
    '  console.log("VERSION does not say which version RELEASE.md is about");',
    "  process.exit(1);",
    "}",
    "",
  ].join("\n"),
  ".gitignore": ".env\n.ready\n",
};

/** The agents, the setup of worktrees and the pipelines. `copy` and `setup` replace those of the file. */
export function sampleConfig({ notes, copy, setup }) {
  const filled = { "{node}": process.execPath, "{agent}": join(HERE, "agent.mjs"), "{notes}": notes };
  const config = readFileSync(join(HERE, "rookery.toml"), "utf8")
    .replaceAll(/\{(?:node|agent|notes)\}/g, (name) => filled[name])
    .replace(/^copy = .*$/m, (line) => (copy === undefined ? line : `copy = ${JSON.stringify(copy)}`));
  return setup === undefined ? config : config.replace(/^setup = .*$/m, () => `setup = ${JSON.stringify(setup)}`);
}

/** `env` is the environment for everything that works with the sample. Does not touch the user's own files. */
export function makeSample(folder, env) {
  const repository = join(folder, "hello");
  const notes = join(folder, "notes");
  const write = (file, text) => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  const git = (...args) => execFileSync("git", args, { cwd: repository, env, encoding: "utf8", stdio: "pipe" });
  mkdirSync(repository, { recursive: true });
  git("init", "--quiet", "--initial-branch=main");
  git("config", "user.name", "Fleet");
  git("config", "user.email", "fleet@example.invalid");
  for (const [file, text] of Object.entries(SAMPLE_FILES)) write(join(repository, file), text);
  write(join(repository, "rookery.toml"), sampleConfig({ notes }));
  git("add", "--all");
  git("commit", "--quiet", "--message=Say hello");
  write(join(repository, ".env"), "GREETING=Hello\n");
  write(join(env.XDG_CONFIG_HOME, "rookery", "rookery.toml"), "[defaults]\nmax_running = 4\n");
  return { repository, notes };
}
