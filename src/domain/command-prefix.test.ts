import { describe, expect, it } from "vitest";
import { growthCase, superlinearGrowth } from "../../test/linear/growth.ts";
import { findPrefixMismatch, isCommandGranted, normalizePrefix, suggestCommandPrefix } from "./command-prefix.ts";

const CWD = "/project";
const GRANTS = [{ tool: "bash", prefix: "npm test" }];

function isGranted(input: unknown, { tool = "bash", kind = "execute" as const, grants = GRANTS } = {}): boolean {
  return isCommandGranted(grants, { tool, kind, input }, CWD);
}

/** Characters that a reader cannot see in a source file. */
const character = (code: number): string => String.fromCodePoint(code);

describe("a grant for npm test", () => {
  it.each([
    "npm test",
    "npm  test ",
    "npm test -- --watch=false",
    "npm test src/a.test.ts",
    "npm test 'src/a b.test.ts'",
    'npm test -- -t "keeps the order"',
    "npm test src/*.test.ts ~/x.ts a?.ts",
    "npm test --workspace=@scope/name",
  ])("covers %j", (command) => {
    expect(isGranted({ command })).toBe(true);
  });

  it.each([
    // another command after, before or inside it
    "npm test; rm -rf ~",
    "npm test;rm -rf ~",
    "npm test && rm -rf ~",
    "npm test || rm -rf ~",
    "npm test & rm -rf ~",
    "npm test &",
    "npm test | sh",
    "npm test |& sh",
    "npm test\nrm -rf ~",
    "npm test\r\nrm -rf ~",
    "npm test\rrm -rf ~",
    "\nnpm test",
    "npm test \\\n; rm -rf ~",
    "npm test \\\n--watch",
    "npm test \\; rm",
    "npm test `rm -rf ~`",
    "npm test $(rm -rf ~)",
    'npm test "$(rm -rf ~)"',
    'npm test "`rm -rf ~`"',
    "npm test ${x:-$(rm -rf ~)}",
    "npm test ${x@P}",
    "npm test $HOME",
    "npm test $'\\x3b' rm",
    'npm test $"x"',
    "npm test $((a[$(rm -rf ~)]))",
    "npm test $[1]",
    "npm test <(rm -rf ~)",
    "npm test >(rm -rf ~)",
    "npm test =(rm -rf ~)",
    "npm test (rm -rf ~)",
    "npm test *(e:'rm -rf ~':)",
    "npm test {a,b}",
    "npm test [a]",
    // files written or read by the shell
    "npm test > ~/.bashrc",
    "npm test >> ~/.bashrc",
    "npm test >| ~/.bashrc",
    "npm test &> out",
    "npm test 2>&1",
    "npm test 2>out",
    "npm test < ~/.ssh/id_rsa",
    "npm test <<EOF",
    "npm test <<< x",
    // history, comments, extended globs and pipes of other shells
    "npm test !rm",
    "! npm test",
    "npm test # a comment",
    "npm test ^ sh",
    // quotes that are not closed, or that hide where words end
    "npm test 'a",
    'npm test "a',
    "npm test 'a' \"b",
    "'npm test'",
    '"npm test" x',
    "npm' 'test",
    "'npm' test",
    "n'p'm test",
    "npm te''st",
    "\\npm test",
    // something in front
    "X=1 npm test",
    "PATH=. npm test",
    "NODE_OPTIONS=--require=./x.js npm test",
    "env npm test",
    "sudo npm test",
    "time npm test",
    "command npm test",
    "exec npm test",
    "./npm test",
    "/tmp/npm test",
    "cd /tmp npm test",
    "- npm test",
    // other words
    "npm",
    "npm testx",
    "npm test-x",
    "npm test:x",
    "npm test/x",
    "npmtest",
    "npm run test",
    "npm --prefix /tmp test",
    "npm -- test",
    "NPM test",
    "npm Test",
    "",
    " ",
    // characters that cannot be seen, or that look like others
    "npm\ttest",
    "npm test\u0000; rm",
    "npm test \u001b[2K",
    "npm test \u0007",
    `npm test ${character(0x00a0)}x`,
    `npm test ${character(0x200b)}`,
    `npm test ${character(0x202e)}x`,
    `npm test ${character(0x2028)}rm -rf ~`,
    `npm test ${character(0x85)}rm`,
    `npm test ${character(0xfeff)}`,
    `npm test ${character(0x3000)}x`,
    `npm test ${character(0xe0041)}`,
    `npm test ${character(0xff1b)} rm`,
    `npm test ${character(0x3164)}`,
    `n${character(0x440)}m test`,
    "npm test \ud800",
    `npm test ${"x".repeat(1_000)}`,
  ])("does not cover %j", (command) => {
    expect(isGranted({ command })).toBe(false);
  });

  it.each<[string, unknown]>([
    ["no object", "npm test"],
    ["null", null],
    ["a list", ["npm", "test"]],
    ["no command", {}],
    ["a command that is no text", { command: 5 }],
    ["an environment", { command: "npm", args: ["test"], env: [{ name: "PATH", value: "." }] }],
    ["an environment by name", { command: "npm test", env: { PATH: "." } }],
    ["another directory", { command: "npm test", cwd: "/tmp/evil" }],
    ["a directory inside", { command: "npm test", cwd: "/project/packages/a" }],
    ["a directory that goes back", { command: "npm test", cwd: "/project/../tmp" }],
    ["two directories", { command: "npm test", cwd: "/project", workdir: "/tmp" }],
    ["a directory that is no text", { command: "npm test", cwd: ["/tmp"] }],
    ["an unknown argument", { command: "npm test", host: "production" }],
    ["an argument that leaves the sandbox", { command: "npm test", dangerouslyDisableSandbox: true }],
    ["arguments that are no list", { command: "npm test", args: "; rm -rf ~" }],
    ["arguments that are no texts", { command: "npm test", args: [{}] }],
    ["arguments after a list", { command: ["npm", "test"], args: [";", "rm"] }],
    ["a list with another command", { command: ["rm", "npm", "test"] }],
    ["a list with shell syntax", { command: ["npm", "test", ";", "rm"] }],
    ["a list with a line break", { command: ["npm", "test", "a\nrm"] }],
    ["a list with a quote", { command: ["npm", "test", "'"] }],
    ["a list whose first word is a line", { command: ["npm test"] }],
    ["a list whose line has syntax", { command: ["bash", "-lc", "npm test; rm -rf ~"] }],
    ["a list with a shell that is not known", { command: ["./bash", "-c", "npm test"] }],
    ["a list with more than a line", { command: ["bash", "-c", "npm test", "x"] }],
    ["a list with another flag", { command: ["bash", "-ic", "npm test"] }],
    ["an empty list", { command: [] }],
    ["an empty word", { command: ["npm", "test", ""] }],
  ])("does not cover a call with %s", (_, input) => {
    expect(isGranted(input)).toBe(false);
  });

  it.each<[string, unknown]>([
    ["the built-in agent", { command: "npm test", timeout_ms: 1_000, background: false }],
    ["Claude Code", { command: "npm test", description: "Runs the tests", timeout: 1_000, run_in_background: true }],
    ["Codex", { command: "npm test", cwd: "/project" }],
    ["Codex as a list", { command: ["/bin/bash", "-lc", "npm test"], cwd: "/project/" }],
    ["Gemini CLI", { command: "npm test", description: "x", is_background: false, dir_path: "/project" }],
    ["a terminal of ACP", { sessionId: "s", command: "npm", args: ["test", "a b"], env: [], cwd: null }],
    ["a list of words", { command: ["npm", "test", "--", "a"] }],
  ])("covers the form of %s", (_, input) => {
    expect(isGranted(input)).toBe(true);
  });

  it("covers only the tool it was given for, and only shell commands", () => {
    expect(isGranted({ command: "npm test" }, { tool: "Monitor" })).toBe(false);
    expect(isGranted({ command: "npm test" }, { kind: "other" as "execute" })).toBe(false);
  });
});

describe("a prefix", () => {
  const BROAD = [
    ...["", " ", "sudo", "sudo npm test", "env", "env X=1 npm", "sh", "bash", "bash -c", "/bin/bash -c", "BASH", "zsh"],
    ...["xargs", "xargs rm", "eval", "exec", "nohup", "nohup npm", "time", "time npm", "timeout", "timeout 5 npm"],
    ...["node", "node -e", "node --eval", "python", "python3", "python3.12", "python -c", "python -m", "/usr/bin/node"],
    ...["conda run", "rustup run", "yarn workspace", "yarn node", "pnpm node", "docker compose", "docker container"],
    ...["npx cross-env", "uv tool", "bun exec", "wsl.exe", "powershell.exe", "/mnt/c/Windows/cmd.exe", "fakeroot"],
    ...["perl -e", "ruby", "php", "git", "git -c", "git config", "git rebase", "npm", "npm run", "npm exec", "npm x"],
    ...["npx", "npx -y", "npx sh", "npx node", "uv run", "uv run python", "pnpm dlx", "docker run", "docker"],
    ...["find", "find .", "sed", "awk", "ssh", "ssh host", "cd", "source", ".", "export", "alias", "make", "if", "su"],
    ...["X=1", "X=1 npm test", "-", "-x", "npm;", "npm test;", "npm $x", "npm 'test'", "npm *", "~/x", "npm\ttest"],
    ...[
      "npm test\n",
      "deno eval",
      "deno run",
      "kubectl exec",
      "go run",
      "nice",
      "watch",
      "command",
      "busybox",
      "a".repeat(201),
    ],
  ];
  it.each(BROAD)("that is as broad as %j is refused, and covers nothing", (prefix) => {
    const command = prefix.trim() === "" ? "npm test" : `${prefix} x`;
    const request = { tool: "bash", kind: "execute" as const, input: { command } };
    expect(findPrefixMismatch(request, prefix)).toMatch(/a prefix is|not specific/);
    expect(isCommandGranted([{ tool: "bash", prefix }], request, CWD)).toBe(false);
  });

  it.each([
    ["npm test", "npm test"],
    ["npm  test  -- -t x", "npm test --"],
    ["node scripts/build.mjs", "node scripts/build.mjs"],
    ["python3 -m pytest -q", "python3 -m pytest"],
    ["npx vitest run", "npx vitest"],
    ["uv run pytest", "uv run pytest"],
    ["rm -r build", "rm -r build"],
  ])("of %j may be %j", (command, prefix) => {
    expect(findPrefixMismatch({ kind: "execute", input: { command } }, prefix)).toBeUndefined();
  });

  it.each<[string, string, unknown, RegExp]>([
    ["a request of another kind", "edit", { command: "npm test" }, /not about a shell command/],
    ["a request with syntax", "execute", { command: "npm test | sh" }, /one simple command without shell syntax/],
    ["a request without a command", "execute", { handle: "bash-1" }, /one simple command/],
    ["another command", "execute", { command: "npm run build" }, /does not start with the words "npm test"/],
    ["a longer word", "execute", { command: "npm testx" }, /does not start/],
    ["a shorter command", "execute", { command: "npm" }, /does not start/],
  ])("does not fit %s", (_, kind, input, message) => {
    expect(findPrefixMismatch({ kind: kind as "execute", input }, "npm test")).toMatch(message);
  });

  it("is stored with one space between its words", () => {
    expect(normalizePrefix("  npm   test ")).toBe("npm test");
  });
});

describe("the suggestion", () => {
  it.each([
    ["npm test", "npm test"],
    ["npm test -- -t x", "npm test"],
    ["npm run lint", "npm run lint"],
    ["npm run lint:fix -- --quiet", "npm run lint:fix"],
    ["git status --short", "git status"],
    ["cargo build --release", "cargo build"],
    ["go test ./...", "go test"],
    ["make check", "make check"],
    ["ls", "ls"],
    ["ls -la src", "ls"],
    ["ls src", "ls"],
    ["cat README.md", "cat"],
    ["echo one", "echo"],
    ["tsc --noEmit", "tsc"],
    ["npx vitest run src", "npx vitest"],
    ["npx tsc --noEmit", "npx tsc"],
    ["pnpm exec eslint .", "pnpm exec eslint"],
    ["uv run pytest -q", "uv run pytest"],
    ["node scripts/build.mjs --all", "node scripts/build.mjs"],
    ["python -m pytest -q", "python -m pytest"],
    ["./gradlew test", "./gradlew test"],
    ["./check.sh --all", "./check.sh"],
    ["touch 'a b'", "touch"],
  ])("for %j is %j", (command, prefix) => {
    const request = { kind: "execute" as const, input: { command } };
    expect(suggestCommandPrefix(request)).toBe(prefix);
    expect(findPrefixMismatch(request, prefix)).toBeUndefined();
    expect(isCommandGranted([{ tool: "bash", prefix }], { ...request, tool: "bash" }, CWD)).toBe(true);
  });

  it.each([
    ...["npm", "npm --version", "npm run", "git -C /tmp status", "node", "node -e 1", "python3 -c 1", "sudo ls", "env"],
    ...[
      "bash x.sh",
      "timeout 5 npm test",
      "xargs rm",
      "rm -rf build",
      "rm build",
      "mv a b",
      "curl https://x",
      "kill 1",
    ],
    ...["git push", "git reset --hard", "git rebase main", "find . -name x", "sed -n 1p a", "cd src", "X=1 npm test"],
    ...[
      "npm test && npm run lint",
      "npm test | tail",
      "npm test > out",
      "make",
      "make -j4",
      "npx sh",
      "'ls'",
      "",
      "npm test\n",
    ],
  ])("does not exist for %j", (command) => {
    expect(suggestCommandPrefix({ kind: "execute", input: { command } })).toBeUndefined();
  });
});

describe("a long request", () => {
  it("is judged in linear time if its directory has many slashes", async () => {
    const input = (size: number) => ({ command: "npm test", cwd: `${"/".repeat(size)}x` });
    expect(await superlinearGrowth(growthCase("cwd", input, isGranted), 32 * 1024)).toBeUndefined();
  });

  it("with 20,000 arguments is never a simple command", () => {
    const request = { kind: "execute", input: { command: "npx", args: Array<string>(20_000).fill("npx") } } as const;
    expect(suggestCommandPrefix(request)).toBeUndefined();
    expect(isGranted({ command: "npm", args: ["test", ...Array<string>(500).fill("ab")] })).toBe(false);
  });
});
