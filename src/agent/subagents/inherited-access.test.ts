import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PermissionPolicy } from "../../domain/index.ts";
import { call, collect, say, temporaryFolder } from "../../testing/index.ts";
import { delegatingScript, openSubagentScene, lastToolText } from "./test-scene.ts";

it("gives a child access to the extra directories of its parent", async () => {
  await using extra = await temporaryFolder();
  const path = join(extra.path, "notes");
  await writeFile(path, "found me\n");
  await using w = await openSubagentScene(
    delegatingScript([{ prompt: "look", title: "Looker" }], ({ toolResults: [result] }) =>
      result === undefined ? call("read", { path }) : say(result.content),
    ),
  );
  await using rookery = await w.open();
  const session = await rookery.openSession({ folders: [extra.path] });
  expect(lastToolText(await collect(session.prompt("go")))).toContain("1\tfound me");
});

describe("the permission policy of a child", () => {
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
  ])(
    "combines that of its parent (%s) with its configuration (%s): %s",
    async (parentPolicy, childConfig, childPolicy) => {
      await using w = await openSubagentScene(
        delegatingScript([{ prompt: "x", title: "X", agent: "other" }], () => say("ok")),
      );
      await w.configure(`[agents.anthropic]\n[agents.other]\nmodel = "anthropic/claude-x"\n${childConfig}\n`);
      await using rookery = await w.open();
      const session = await rookery.openSession({ agent: "anthropic", permissions: parentPolicy });
      await collect(session.prompt("go"));
      const [child = ""] = await w.childrenOf(session.id);
      expect((await w.events(child))[0]).toMatchObject({
        type: "session.opened",
        agent: "other",
        permissions: childPolicy,
      });
    },
  );
});
