/** Most tests run the command in their own process. These start the built one, once for each command that it has. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { say } from "../testing/index.ts";
import { PROGRAM } from "./commands.ts";
import { openCommandFixture, type CommandFixture } from "./test-command.ts";

/** In order, in one home: the first one makes the session that later ones use. */
const CALLS: readonly { readonly args: readonly string[]; readonly code?: number; readonly output: RegExp }[] = [
  { args: ["run", "Say hello"], output: /Hello\.\ndone/ },
  { args: ["chat", "--permissions", "x"], code: 2, output: /^rookery: --permissions / },
  { args: ["task", "list"], output: /./ },
  { args: ["serve", "--port", "x"], code: 2, output: /^rookery: --port / },
  { args: ["worker", "--max-running", "x"], code: 2, output: /^rookery: --max-running / },
  { args: ["workers"], output: /./ },
  { args: ["open"], code: 1, output: /no server is running/ },
  { args: ["sessions", "show", "last"], output: /^session +\w{8} \(ses_/ },
  { args: ["search", "hello"], output: /Hello/ },
  { args: ["usage"], output: /anthropic/ },
  { args: ["acp", "conductor", "--agent", "nobody"], code: 2, output: /^rookery: / },
  { args: ["mcp", "list"], output: /./ },
  { args: ["tell", "nobody", "more"], code: 1, output: /^rookery: / },
  { args: ["inbox"], output: /nothing is waiting/ },
  { args: ["answer", "last", "req_none", "allow"], code: 1, output: /^rookery: / },
  { args: ["agents"], output: /anthropic/ },
  { args: ["config"], output: /rookery\.toml/ },
  { args: ["trust"], output: /./ },
  { args: ["init"], output: /^wrote / },
  { args: ["doctor"], output: /node/i },
  { args: ["migrate"], output: /schema version/ },
  { args: ["store", "copy", "none.db", "copy.db"], code: 1, output: /none\.db does not exist/ },
  { args: ["demo"], output: /done/ },
  { args: ["completion", "bash"], output: /_rookery\(\)/ },
  { args: ["help", "run"], output: /Usage: rookery run/ },
];

let fixture: CommandFixture;
beforeAll(async () => {
  fixture = await openCommandFixture([say("Hello.")]);
});
afterAll(() => fixture[Symbol.asyncDispose]());

it("has a call of every command below", () => {
  const commands = (PROGRAM.commands ?? []).filter(({ hidden }) => hidden !== true).map(({ name }) => name);
  expect(new Set(CALLS.map(({ args }) => args[0]))).toEqual(new Set([...commands, "help"]));
});

it.each(CALLS.map((call) => [call.args.join(" "), call] as const))("rookery %s", async (_, call) => {
  const { args, code = 0, output } = call;
  const ended = await fixture.start(args).ended;
  expect(ended.stdout + ended.stderr).toMatch(output);
  expect(ended.code).toBe(code);
});
