import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../testing/index.ts";
import { type CommandSpec, shortFlag } from "./command.ts";
import { COMMAND_NAMES } from "./command-names.ts";
import { COMMANDS, PROGRAM } from "./commands.ts";
import { formatHelp } from "./help.ts";
import { withCommandPrefix } from "./io.ts";
import { parseArgs } from "./parse.ts";

it.each<[string[], string, (string | undefined)[], Record<string, unknown>]>([
  [["run", "x"], "run", ["x"], {}],
  [["run"], "run", [undefined], {}],
  [["run", "-"], "run", ["-"], {}],
  [["run", "--json", "x", "--agent", "a"], "run", ["x"], { json: true, agent: "a" }],
  [["run", "--agent=a", "--model=p/m=1", "x"], "run", ["x"], { agent: "a", model: "p/m=1" }],
  [["run", "--agent", "a", "--agent", "b"], "run", [undefined], { agent: "b" }],
  [["run", "--", "--json"], "run", ["--json"], {}],
  [["run", "x", "--cwd", "-odd"], "run", ["x"], { cwd: "-odd" }],
  [
    ["run", "x", "-a", "a", "-m", "p/m", "-s", "last", "-p", "all"],
    "run",
    ["x"],
    { agent: "a", model: "p/m", session: "last", permissions: "all" },
  ],
  [["run", "-c", "x"], "run", ["x"], { continue: true }],
  [["-m", "p/m", "run", "hi"], "run", ["hi"], { model: "p/m" }],
  [["-c", "run", "hi", "--json"], "run", ["hi"], { continue: true, json: true }],
  [["--model=p/m", "-p", "all", "run", "hi"], "run", ["hi"], { model: "p/m", permissions: "all" }],
  [["-a", "x", "task", "start", "hi"], "start", ["hi"], { agent: "x" }],
  [["task", "-a", "x", "start", "hi"], "start", ["hi"], { agent: "x" }],
  [["--json", "tasks"], "list", [], { json: true }],
  [["acp", "--json", "check", "run", "--json"], "check", ["run", "--json"], { json: true }],
  [["-m", "run"], "chat", [undefined, undefined], { model: "run" }],
  [["fix the bug"], "chat", ["fix the bug", undefined], {}],
  [["-c", "and the docs"], "chat", ["and the docs", undefined], { continue: true }],
  [["fix the bug", "-m", "p/m"], "chat", ["fix the bug", undefined], { model: "p/m" }],
  [["chat", "k3v9", "go on"], "chat", ["k3v9", "go on"], {}],
  [["task", "start", "x", "-a", "a"], "start", ["x"], { agent: "a" }],
  [["session", "show", "last"], "show", ["last"], {}],
  [["tasks"], "list", [], {}],
  [["agent"], "agents", [], {}],
  [["answer", "allow"], "answer", ["allow", undefined, undefined], {}],
  [["sessions"], "list", [], {}],
  [["sessions", "--json"], "list", [], { json: true }],
  [["sessions", "show", "last"], "show", ["last"], {}],
  [["answer", "s", "r", "deny", "--message", ""], "answer", ["s", "r", "deny"], { message: "" }],
  [["task"], "list", [], {}],
  [["task", "logs", "x", "-f"], "logs", ["x"], { follow: true }],
  [
    ["task", "start", "x", "--needs", "a", "--needs=b", "--priority", "-5"],
    "start",
    ["x"],
    { needs: ["a", "b"], priority: "-5" },
  ],
  [["task", "merge", "x", "--no-gate", "--dry-run"], "merge", ["x"], { noGate: true, dryRun: true }],
  [["serve", "--allow-host", "a", "--port", "0"], "serve", [], { allowHost: ["a"], port: "0" }],
  [["acp"], "serve", [], {}],
  [["acp", "--agent", "a"], "serve", [], { agent: "a" }],
  [["acp", "proxy"], "proxy", [undefined], {}],
  [["acp", "proxy", "--mcp", "a", "--mcp=b", "--", "x", "--mcp"], "proxy", ["x", "--mcp"], { mcp: ["a", "b"] }],
  [["acp", "check", "--json", "x", "y", "--json", "--", "z"], "check", ["x", "y", "--json", "--", "z"], { json: true }],
])("parses %j as %s with %j and %j", (words, command, args, options) => {
  expect(parseArgs(PROGRAM, words)).toMatchObject({ kind: "run", command: { name: command }, args, options });
});

it.each<[string[], string]>([
  [["--help"], "rookery"],
  [["help"], "rookery"],
  [["-h"], "rookery"],
  [["help", "run"], "rookery run"],
  [["run", "--help"], "rookery run"],
  [["run", "x", "--json", "-h"], "rookery run"],
  [["sessions", "--help"], "rookery sessions"],
  [["sessions", "events", "--help"], "rookery sessions events"],
  [["help", "sessions", "events"], "rookery sessions events"],
])("%j shows the help of %s", (words, path) => {
  const parsed = parseArgs(PROGRAM, words);
  expect(parsed.kind === "help" && parsed.path.map(({ name }) => name).join(" ")).toBe(path);
});

it.each<[string[], string]>([
  [["run", "--json=yes"], "--json takes no value; see rookery run --help"],
  [["run", "--agent", "--json"], "--agent <name> needs a value; see rookery run --help"],
  [["-r", "run", "hi"], "unknown option -r; see rookery run --help"],
  [["--verison"], "unknown option --verison (did you mean --version?)"],
  [["run", "-j"], "unknown option -j"],
  [["task", "logs", "x", "-f=yes"], "--follow takes no value; see rookery task logs --help"],
  [["help", "rnu"], 'unknown command "rnu" (did you mean run?); see rookery --help'],
  [["fix", "the", "bug"], 'unknown command "fix"; quote a prompt: rookery "fix the bug"'],
  [["fix"], 'unknown command "fix"; see rookery --help'],
  [["chta"], 'unknown command "chta" (did you mean chat?); see rookery --help'],
  [["task", "fix the bug"], 'unknown command "fix the bug"; see rookery task --help'],
  [["hlep"], 'unknown command "hlep" (did you mean help?)'],
  [["--jsno"], "unknown option --jsno; see rookery chat --help"],
  [["sessions", "-x"], "unknown option -x; see rookery sessions list --help"],
  [["acp", "check", "--json"], "missing argument <command>; see rookery acp check --help"],
  [["acp", "proxy", "--mcp"], "--mcp <file> needs a value; see rookery acp proxy --help"],
])("rejects %j: %s", (words, message) => {
  expect(() => parseArgs(PROGRAM, words)).toThrow(expect.objectContaining({ code: "usage" }));
  expect(() => parseArgs(PROGRAM, words)).toThrow(message);
});

const all = (path: CommandSpec[], commands: readonly CommandSpec[]): CommandSpec[][] =>
  commands.flatMap((spec) => [[...path, spec], ...all([...path, spec], spec.commands ?? [])]);

it.each(all([PROGRAM], COMMANDS).map((path) => [path.map(({ name }) => name).join(" "), path] as const))(
  "the help of %s has a usage line and an example that can be typed",
  (name, path) => {
    const text = formatHelp(path);
    expect(text).toContain(`Usage: ${name}`);
    expect(text).toContain("Examples:\n");
    for (const option of path.at(-1)?.options ?? []) expect(text).toContain(option.flags);
    const [example = ""] = path.at(-1)?.examples ?? [];
    const words = example.replace(/ >.*/, "").match(/"[^"]*"|\S+/g) ?? [];
    expect(parseArgs(PROGRAM, words.slice(1)).kind).toBe("run");
  },
);

it("hides commands for programs from the help", () => {
  const acp = COMMANDS.find(({ name }) => name === "acp") as CommandSpec;
  expect(formatHelp([PROGRAM, acp])).not.toContain("mcp-bridge");
  expect(formatHelp([PROGRAM])).not.toContain("mcp-bridge");
  expect(parseArgs(PROGRAM, ["acp", "mcp-bridge"])).toMatchObject({ kind: "run", command: { name: "mcp-bridge" } });
});

it("shows a forwarded command line after the options, and marks repeatable options", () => {
  const acp = COMMANDS.find(({ name }) => name === "acp") as CommandSpec;
  const proxy = acp.commands?.find(({ name }) => name === "proxy") as CommandSpec;
  const text = formatHelp([PROGRAM, acp, proxy]);
  expect(text).toContain("Usage: rookery acp proxy [options] -- [command…]");
  expect(text).toMatch(/--mcp <file> .*\(repeatable\)/);
});

it("lists the names of all commands in the order of the table", () => {
  expect(COMMANDS.map(({ name }) => name)).toEqual([...COMMAND_NAMES]);
});

it.each(COMMANDS.map(({ name }) => [name]))("suggests npx rookery %s if npx started the process", (name) => {
  expect(withCommandPrefix({ env: { npm_command: "exec" } }, `run: rookery ${name}`)).toBe(`run: npx rookery ${name}`);
});

it.each([
  ["rookery\n", "npx rookery\n"],
  ["rookery -c\n", "npx rookery -c\n"],
  ['rookery "Fix the test"\n', 'npx rookery "Fix the test"\n'],
])("suggests npx for a line with only %j", (typed, expected) => {
  expect(withCommandPrefix({ env: { npm_lifecycle_event: "start" } }, `Talk:\n  ${typed}`)).toBe(
    `Talk:\n  ${expected}`,
  );
});

it("suggests rookery without npx if the shell finds it", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "rookery"), "");
  const inPackage = join(folder.path, "node_modules/.bin");
  const env = { npm_lifecycle_event: "start", PATH: `${inPackage}:${folder.path}` };
  expect(withCommandPrefix({ env }, "run: rookery demo")).toBe("run: rookery demo");
  expect(withCommandPrefix({ env: { ...env, PATH: inPackage } }, "run: rookery demo")).toBe("run: npx rookery demo");
});

it("has no two options with the same short form in one command", () => {
  for (const path of all([PROGRAM], COMMANDS)) {
    const short = (path.at(-1)?.options ?? []).flatMap((option) => shortFlag(option) ?? []);
    expect(new Set(short).size).toBe(short.length);
  }
});

it.each(["--version", "-V", "-v"])("%s is the version", (flag) => {
  expect(parseArgs(PROGRAM, [flag])).toEqual({ kind: "version" });
});
