/** A server connection as a tool source. */
import type { ToolSource } from "../domain/index.ts";
import type { McpConnection } from "./connection.ts";
import { Listeners } from "./listeners.ts";

export function makeConnectionSource(connection: McpConnection, changes: Listeners): ToolSource {
  const { name } = connection.spec;
  return {
    id: `mcp:${name}`,
    list: () => connection.state.tools,
    describe(call) {
      const title = connection.state.tools.find((tool) => tool.name === call.name)?.title;
      return { title: `${name}: ${title ?? connection.origin(call.name) ?? call.name}` };
    },
    call: (call, context) => connection.call(call.name, call.input, context),
    onChange: (listener) => changes.add(listener),
  };
}
