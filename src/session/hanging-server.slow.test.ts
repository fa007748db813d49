import { expect, it } from "vitest";
import { scriptedServer } from "../mcp/test-servers.ts";
import { collect, say } from "../testing/index.ts";
import { openScene } from "./test-scene.ts";

it("opens at once although a server hangs, and runs its turn without it", async () => {
  const mcpServers = [scriptedServer("s", "silent"), scriptedServer("t")];
  await using s = await openScene([say("Hi")], { mcpServers, permissions: "all" });
  expect(s.session.tools.servers().servers[0]?.status).toBe("connecting");
  const events = await collect(s.session.prompt("go"));
  expect(events.filter(({ type }) => type === "notice")).toMatchObject([
    { code: "mcp_late", message: expect.stringContaining("to s;") as string },
  ]);
  expect(s.model.requests[0]?.toolNames).toContain("t__echo");
});
