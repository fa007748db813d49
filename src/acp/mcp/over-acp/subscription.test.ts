import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, it } from "vitest";
import { deferred } from "../../../stdx/index.ts";
import { McpAgent } from "./test-agent.ts";

it("subscribes to resources while someone listens and skips those that the server refuses", async () => {
  await using agent = new McpAgent();
  const [left, acknowledged, updated] = [deferred<string>(), deferred<unknown>(), deferred<unknown>()];
  const capabilities = { resources: { subscribe: true } };
  const { server } = new McpServer({ name: "files", version: "1" }, { capabilities });
  server.setRequestHandler(SubscribeRequestSchema, async ({ params: { uri } }) => {
    if (uri === "file:///secret") throw new Error("not for you");
    await server.sendResourceUpdated({ uri }); // before the acknowledgement
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
    left.resolve(uri);
    return {};
  });
  const { declaration } = agent.overAcp.serve({ name: "files", open: () => server });
  agent.onNotification = ({ params }) => {
    if (params["method"] === "notifications/resources/updated") updated.resolve(params["params"]);
    else acknowledged.resolve(params["params"]);
  };
  const controller = new AbortController();
  const listening = agent.call(
    "subscriptions/listen",
    { notifications: { resourceSubscriptions: ["file:///a", "file:///secret"] } },
    { serverId: (declaration as { serverId: string }).serverId, signal: controller.signal },
  );
  expect(await acknowledged.promise).toMatchObject({ notifications: { resourceSubscriptions: ["file:///a"] } });
  expect(await updated.promise).toMatchObject({ uri: "file:///a" });
  expect(agent.notifications[0]?.params["method"]).toBe("notifications/subscriptions/acknowledged");
  controller.abort();
  await expect(listening).rejects.toMatchObject({ code: -32800 });
  expect(await left.promise).toBe("file:///a");
});
