import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { call, say, temporaryFolder, type Script } from "../../testing/index.ts";
import { openCommandFixture, type CommandFixture } from "../test-command.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

/** Makes one call, and says what came of it. */
const once =
  (name: string, input: object): Script =>
  ({ toolResults: [told] }) =>
    told === undefined ? call(name, input) : say(`Got: ${told.content}`);

describe("--add-dir", () => {
  it("lets the agent's file tools reach the folder, for this run", async () => {
    await using beside = await temporaryFolder();
    const path = join(beside.path, "notes");
    await writeFile(path, "found me\n");
    fixture = await openCommandFixture(once("read", { path }));
    const { stdout, code } = await fixture.rookery(["run", "look", "--add-dir", beside.path]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("Got: 1\tfound me")]);
    expect((await fixture.rookery(["run", "look"])).stdout).toContain("is outside the working folder");
  });

  it("takes nothing but a folder", async () => {
    fixture = await openCommandFixture([]);
    const { stderr, code } = await fixture.rookery(["run", "look", "--add-dir", "nowhere"]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/--add-dir takes a folder, and .*nowhere is none/)]);
    expect(fixture.server.requests).toEqual([]);
  });
});

describe("in the built command", () => {
  it("a search runs in its thread", async () => {
    fixture = await openCommandFixture(once("grep", { pattern: "found" }), { files: { "a.txt": "lost\nfound me\n" } });
    expect((await fixture.rookery(["run", "look"])).stdout).toContain("Got: a.txt:2:found me");
  });

  it("a program of the model runs in its thread, and calls the agent's tools", async () => {
    const code = `(await tools.grep({ pattern: "found" })).text.toUpperCase()`;
    const files = { "a.txt": "found me\n", "rookery.toml": "[agents.anthropic.code]\noutput = 500\n" };
    fixture = await openCommandFixture(once("code", { code }), { files });
    await fixture.rookery(["trust"]);
    expect((await fixture.rookery(["run", "look"])).stdout).toContain('Got: => "A.TXT:1:FOUND ME"');
  });
});
