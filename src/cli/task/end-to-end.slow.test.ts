/** Runs the task commands in one process on a real repository, with a shell as the agent. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DisposeStack } from "../../stdx/dispose-stack.ts";
import {
  builtEnvironment,
  call,
  say,
  startModelServer,
  temporaryFolder,
  type TemporaryRepository,
  temporaryRepository,
} from "../../testing/index.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import type { Io } from "../io.ts";
import { executeCommand } from "../execute.ts";
import { collectingIo } from "../test-io.ts";

/** An agent that runs the last line of its prompt in a shell. */
const CONFIG = `
[defaults]
agent = "shell"
[agents.shell]
backend = "command"
command = ["sh", "-c", "eval \\"$(printf %s \\"$0\\" | tail -n 1)\\"", "{prompt}"]
permissions = "all"
`;

let owned: DisposeStack;
let home: string;
let repository: TemporaryRepository;
beforeEach(async () => {
  owned = new DisposeStack();
  ({ path: home } = owned.use(await temporaryFolder()));
  repository = owned.use(await temporaryRepository({ "a.txt": "one\n" }));
  await mkdir(join(home, ".config", "rookery"), { recursive: true });
  await writeFile(join(home, ".config", "rookery", "rookery.toml"), CONFIG);
});
afterEach(() => owned[Symbol.asyncDispose]());

function ioHere(cwd = repository.path): Io & { text(): string } {
  const env = { ...builtEnvironment({ home }), GIT_CONFIG_GLOBAL: "/dev/null" };
  return Object.assign(collectingIo(home), { env, cwd: () => cwd, version: "0.0.0" });
}

async function rookery(...words: string[]): Promise<[ExitCode, string]> {
  const io = ioHere();
  return [await executeCommand(io, words), io.text()];
}

describe("the life of a task", () => {
  it("starts, shows, diffs, merges and removes a task", async () => {
    const [started, shown] = await rookery("task", "start", "echo two >> a.txt; echo changed it", "--id", "change-a");
    expect([started, shown]).toEqual([EXIT.done, expect.stringContaining("task change-a is done")]);
    expect(shown).toContain("changed it");
    expect(shown).toContain(join(repository.path, ".rookery", "worktrees", "change-a"));

    expect((await rookery("task"))[1]).toMatch(/^change-a +done +shell /m);
    expect((await rookery("task", "show", "ch"))[1]).toMatch(/^status +done/m);
    expect((await rookery("task", "logs", "last", "--events"))[1]).toMatch(
      /task\.created[^]*worktree\.made[^]*turn\.ended[^]*task\.ended +done/,
    );
    expect((await rookery("task", "diff", "last"))[1]).toContain("\n+two\n");
    expect((await rookery("task", "diff", "last", "--stat"))[1]).toMatch(/^modified +a\.txt +\+1 +-0$/m);
    expect(await rookery("task", "merge", "last", "--dry-run")).toEqual([
      EXIT.done,
      expect.stringContaining("change-a would merge into main without conflicts"),
    ]);
    expect(await rookery("task", "remove", "last")).toEqual([
      EXIT.undecided,
      expect.stringMatching(/^rookery: .*--force/),
    ]);
    expect(await rookery("task", "merge", "last")).toEqual([
      EXIT.done,
      expect.stringContaining("merged change-a into main"),
    ]);
    expect(await repository.read("a.txt")).toBe("one\ntwo\n");
    expect((await rookery("task", "gc", "--dry-run"))[1]).toMatch(/^change-a +would be removed /m);
    expect(await rookery("task", "remove", "last")).toEqual([EXIT.done, expect.stringContaining("removed change-a")]);
    expect((await rookery("task"))[1]).toContain("no tasks");
  });

  it("prints why a task failed, and resumes it in its worktree", async () => {
    const [failed, words] = await rookery("task", "start", "echo x > new.txt; exit 3", "--id", "f");
    expect([failed, words]).toEqual([
      EXIT.failed,
      expect.stringMatching(/rookery: task f failed: [^\n]+ continue it with: rookery task resume f\n$/),
    ]);
    const [resumed, more] = await rookery("task", "resume", "f", "cat new.txt");
    expect([resumed, more]).toEqual([EXIT.done, expect.stringContaining("task f is done")]);
  });

  it("answers a request by the name of the task from another process", async () => {
    const model = owned.use(await startModelServer([call("bash", { command: "echo hi > new.txt" }), say("Made it.")]));
    const io = ioHere();
    Object.assign(io.env, { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "none" });
    const running = executeCommand(io, ["task", "start", "make it", "--id", "asking", "--agent", "anthropic"]);
    await vi.waitFor(() => expect(io.text()).toMatch(/rookery answer \w{8} r1/), { timeout: 20_000 });
    expect(await rookery("answer", "asking", "r7", "allow")).toEqual([
      EXIT.failed,
      "rookery: asking has no open request r7; list the open requests: rookery inbox\n",
    ]);
    expect(await rookery("answer", "ask", "r1", "allow")).toEqual([
      EXIT.done,
      expect.stringMatching(/^answered r1 of /),
    ]);
    expect(await running).toBe(EXIT.done);
    expect(await rookery("answer", "nothing", "r1", "allow")).toEqual([
      EXIT.failed,
      "rookery: no session or task nothing; list them: rookery sessions, rookery task\n",
    ]);
  });

  it("exits with 1 on conflicts and lists the files", async () => {
    await rookery("task", "start", "echo mine > a.txt", "--id", "mine");
    await repository.write("a.txt", "theirs\n");
    await repository.git("commit", "-qam", "theirs");
    for (const how of [["--dry-run"], []]) {
      const [code, text] = await rookery("task", "merge", "mine", ...how);
      expect([code, text]).toEqual([
        EXIT.failed,
        expect.stringMatching(/conflicts? with main in 1 file; nothing was changed:\n {2}a\.txt\n/),
      ]);
    }
    expect(await repository.read("a.txt")).toBe("theirs\n");
  });

  it("queues a task until the tasks it needs are done", async () => {
    await rookery("task", "start", "true", "--id", "first", "--detach");
    const [code, text] = await rookery("task", "start", "true", "--id", "second", "--needs", "first");
    expect([code, text]).toEqual([
      EXIT.done,
      expect.stringContaining("task second is queued and waits for first; start a server"),
    ]);
    expect((await rookery("task", "list", "--status", "queued", "--json"))[1].trimEnd().split("\n")).toHaveLength(2);
    expect(await rookery("task", "stop", "second")).toEqual([EXIT.done, expect.stringContaining("stopped second")]);
  });
});

describe("prints one line for an invalid task command", () => {
  it.each<[string[], number, RegExp]>([
    [["task", "show", "nothing"], 1, /no task nothing; list all tasks: rookery task list --all/],
    [["task", "start", "x", "--base", "nowhere"], 2, /nowhere/],
    [["task", "start", "x", "--agent", "shel"], 2, /no agent "shel" \(did you mean shell\?\)/],
    [["task", "start", "x", "--needs", "ghost"], 1, /ghost/],
    [["task", "start", "x", "--pipeline", "none"], 2, /none/],
    [["task", "start", "x", "--id", "x/../y"], 2, /not a task id/],
    [["task", "start", "x", "--cwd", "/"], 1, /\/.*git/],
    [["task", "start", "x", "--permissions", "some"], 2, /--permissions must be one of ask, read, all, none/],
    [["task", "list", "--status", "busy"], 2, /--status must be one of queued, preparing/],
    [["task", "merge", "x", "--how", "octopus"], 2, /--how must be one of merge, squash, rebase/],
    [["task", "shwo", "x"], 2, /unknown command "shwo" \(did you mean show\?\)/],
    [["task", "list", "--server", "localhost"], 2, /"localhost" is not a server URL: write http:\/\/HOST:PORT/],
    [["task", "list", "--server", "http://127.0.0.1:9"], 1, /requires a token: set ROOKERY_TOKEN/],
  ])("%j", async (words, code, says) => {
    const [exit, text] = await rookery(...words);
    expect(text).toMatch(/^rookery: [^\n]+\n$/);
    expect(text).toMatch(says);
    expect(exit).toBe(code);
  });

  it("rejects a start outside a repository, in an empty one and in an untrusted one", async () => {
    const started = async (cwd: string) => {
      const io = ioHere(cwd);
      return [await executeCommand(io, ["task", "start", "x"]), io.text()];
    };
    await using bare = await temporaryFolder();
    expect(await started(bare.path)).toEqual([EXIT.failed, expect.stringMatching(/^rookery: [^\n]*git init[^\n]*\n$/)]);
    await using empty = await temporaryRepository({}, { commit: false });
    expect(await started(empty.path)).toEqual([EXIT.failed, expect.stringMatching(/^rookery: [^\n]*commit[^\n]*\n$/)]);
    await using strange = await temporaryRepository({ "rookery.toml": "" });
    expect(await started(strange.path)).toEqual([
      EXIT.undecided,
      expect.stringMatching(/^rookery: [^\n]*rookery trust[^\n]*\n$/),
    ]);
  });
});
