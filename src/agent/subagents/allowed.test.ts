import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PermissionPolicy } from "../../domain/index.ts";
import { call, collect, say, temporaryFolder } from "../../testing/index.ts";
import { family, openFamily, toldIn } from "./test-scene.ts";

it("a child reaches the folders that its parent was given", async () => {
  await using beside = await temporaryFolder();
  const path = join(beside.path, "notes");
  await writeFile(path, "found me\n");
  await using w = await openFamily(
    family([{ prompt: "look", title: "Looker" }], ({ toolResults: [told] }) =>
      told === undefined ? call("read", { path }) : say(told.content),
    ),
  );
  await using rookery = await w.open();
  const session = await rookery.openSession({ folders: [beside.path] });
  expect(toldIn(await collect(session.prompt("go")))).toContain("1\tfound me");
});

describe("what a child may do without being asked", () => {
  it.each<[PermissionPolicy, string, PermissionPolicy]>([
    ["all", "", "all"],
    ["ask", "", "ask"],
    ["read", "", "read"],
    ["all", 'permissions = "ask"', "all"], // nobody is asked for what the parent may do
    ["all", 'permissions = "read"', "read"],
    ["all", 'permissions = "none"', "none"],
    ["ask", 'permissions = "all"', "ask"],
    ["ask", 'permissions = "read"', "read"],
    ["read", 'permissions = "all"', "read"],
    ["read", 'permissions = "ask"', "read"],
  ])("is what its parent may (%s), or less where it is configured so (%s): %s", async (its, own, both) => {
    await using w = await openFamily(family([{ prompt: "x", title: "X", agent: "other" }], () => say("ok")));
    await w.configure(`[agents.anthropic]\n[agents.other]\nmodel = "anthropic/claude-x"\n${own}\n`);
    await using rookery = await w.open();
    const session = await rookery.openSession({ agent: "anthropic", permissions: its });
    await collect(session.prompt("go"));
    const [child = ""] = await w.childrenOf(session.id);
    expect((await w.events(child))[0]).toMatchObject({ type: "session.opened", agent: "other", permissions: both });
  });
});
