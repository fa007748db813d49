import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newId, shortId } from "../../domain/index.ts";
import { openSqliteStore } from "../../store/index.ts";
import { openCommandFixture } from "../test-command.ts";
import { openShell } from "./test-shell.ts";

const words = (text: string) => text.split("\n").map((line) => line.split("\t")[0]);

describe("rookery complete", () => {
  it("lists agents and models of the configuration", async () => {
    await using fixture = await openCommandFixture();
    const agents = await fixture.rookery(["complete", "--", "run", "--agent", "an"]);
    expect(agents).toEqual({ code: 0, stdout: "anthropic\tanthropic/claude-sonnet-5\n", stderr: "" });
    const models = await fixture.rookery(["complete", "--", "run", "-m", "openai/"]);
    expect(models.stdout).toMatch(/^openai\/gpt-/m);
    const inline = await fixture.rookery(["complete", "--", "run", "--agent=an"]);
    expect(words(inline.stdout)).toEqual(["--agent=anthropic", ""]);
  });

  it("lists keys of the configuration, branches and agents of the registry", async () => {
    await using fixture = await openCommandFixture([], { files: { "a.txt": "a" } });
    await fixture.repository.git("branch", "feature/one");
    const complete = async (...typed: string[]) => words((await fixture.rookery(["complete", "--", ...typed])).stdout);
    expect(await complete("config", "get", "merge.")).toEqual(["merge.how", "merge.gate", ""]);
    expect(await complete("config", "set", "agents.codex.mod")).toEqual([
      "agents.codex.model",
      "agents.codex.mode",
      "",
    ]);
    expect(await complete("task", "merge", "last", "--into", "fea")).toEqual(["feature/one", ""]);
    expect(await complete("acp", "registry", "gem")).toEqual(["gemini", ""]);
  });

  it("lists sessions and the open requests of one, newest first and bounded", async () => {
    await using fixture = await openCommandFixture();
    await using store = await openSqliteStore({ path: join(fixture.home, ".rookery", "rookery.db") });
    const at = new Date().toISOString();
    const cwd = fixture.repository.path;
    const opened = { type: "session.opened", agent: "a", backend: "api", cwd, permissions: "ask", at } as const;
    const asked = {
      type: "permission.requested",
      agent: "a",
      at,
      requestId: "req_1",
      toolId: "tol_1",
      kind: "execute",
      tool: "bash",
      title: "ls",
    } as const;
    const ids = Array.from({ length: 120 }, () => newId("ses"));
    for (const sessionId of ids) await store.append({ sessionId, id: newId("app"), expectedHead: 0, events: [opened] });
    const newest = ids.at(-1) ?? "";
    await store.append({ sessionId: newest, id: newId("app"), expectedHead: 1, events: [{ ...asked, input: {} }] });
    const complete = async (...typed: string[]) => words((await fixture.rookery(["complete", "--", ...typed])).stdout);
    const sessions = await complete("sessions", "show", "");
    expect(sessions.slice(0, 2)).toEqual(["last", shortId(newest)]);
    expect(sessions).toHaveLength(101);
    expect((await complete("tell", "last")).filter((word) => word === "last")).toEqual(["last"]);
    expect(await complete("answer", shortId(newest).slice(0, 6))).toEqual([shortId(newest), ""]);
    expect(await complete("answer", shortId(newest), "req")).toEqual(["req_1", ""]);
    expect(await complete("answer", "last", "req")).toEqual(["req_1", ""]);
  });

  it("prints nothing without a log, and creates none", async () => {
    await using fixture = await openCommandFixture([], { codeCache: false });
    for (const typed of [
      ["sessions", "show", ""],
      ["task", "merge", ""],
      ["tell", ""],
      ["answer", "x", "r"],
    ]) {
      expect(await fixture.rookery(["complete", "--", ...typed])).toEqual({ code: 0, stdout: "", stderr: "" });
    }
    expect(existsSync(join(fixture.home, ".rookery"))).toBe(false);
  });

  it("prints nothing for words that a shell would expand", async () => {
    await using fixture = await openCommandFixture();
    await fixture.repository.git("commit", "--allow-empty", "-m", "first");
    await fixture.repository.git("branch", "$(touch pwned)".replace(" ", "${IFS}"));
    const { stdout } = await fixture.rookery(["complete", "--", "task", "start", "--base", "$"]);
    expect(stdout).toBe("");
  });
});

it("bash completes the name of an agent on a terminal", async () => {
  await using fixture = await openCommandFixture();
  await using screen = await openShell(fixture, "bash");
  screen.type("rookery run --agent clau\t");
  await screen.waitFor("$ rookery run --agent claude");
});
