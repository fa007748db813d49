import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { call, say, temporaryFolder, type Script } from "../../testing/index.ts";
import { openCommandFixture, type CommandFixture } from "../test-command.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

/** Makes one call and replies with its result. */
const once =
  (name: string, input: object): Script =>
  ({ toolResults: [told] }) =>
    told === undefined ? call(name, input) : say(`Got: ${told.content}`);

describe("--add-dir", () => {
  it("lets the file tools of the agent access the directory in this run", async () => {
    await using beside = await temporaryFolder();
    const path = join(beside.path, "notes");
    await writeFile(path, "found me\n");
    fixture = await openCommandFixture(once("read", { path }));
    const { stdout, code } = await fixture.rookery(["run", "look", "--add-dir", beside.path]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("Got: 1\tfound me")]);
    expect((await fixture.rookery(["run", "look"])).stdout).toContain("is outside the working folder");
  });

  it("rejects a path that is not a directory", async () => {
    fixture = await openCommandFixture([]);
    const { stderr, code } = await fixture.rookery(["run", "look", "--add-dir", "nowhere"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/--add-dir must be a directory, and .*nowhere is not one/),
    ]);
    expect(fixture.server.requests).toEqual([]);
  });
});

describe("in the built command", () => {
  it("runs a search in its thread", async () => {
    fixture = await openCommandFixture(once("grep", { pattern: "found" }), { files: { "a.txt": "lost\nfound me\n" } });
    expect((await fixture.rookery(["run", "look"])).stdout).toContain("Got: a.txt:2:found me");
  });

  it("runs a program of the model in its thread, which calls tools", async () => {
    const code = `(await tools.grep({ pattern: "found" })).text.toUpperCase()`;
    const files = { "a.txt": "found me\n", "rookery.toml": "[agents.anthropic.code]\noutput = 500\n" };
    fixture = await openCommandFixture(once("code", { code }), { files });
    await fixture.rookery(["trust"]);
    expect((await fixture.rookery(["run", "look"])).stdout).toContain('Got: => "A.TXT:1:FOUND ME"');
  });
});
