/** A tool source for tests: its list can be changed, and it records its calls. */
import type { ToolCall, ToolContext, ToolSource, ToolSpec } from "../domain/index.ts";

export interface TestSource extends ToolSource {
  readonly calls: ToolCall[];
  set(...tools: readonly (string | ToolSpec)[]): void;
}

export function testSpec(name: string, more: Partial<ToolSpec> = {}): ToolSpec {
  const inputSchema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
  return { name, description: `does ${name}`, inputSchema, kind: "other", readOnly: false, ...more };
}

export function testSource(id: string, ...tools: readonly (string | ToolSpec)[]): TestSource {
  const specs = (given: readonly (string | ToolSpec)[]) =>
    given.map((tool) => (typeof tool === "string" ? testSpec(tool) : tool));
  const listeners = new Set<() => void>();
  const calls: ToolCall[] = [];
  let list = specs(tools);
  return {
    id,
    calls,
    list: () => list,
    describe: ({ name }) => ({ title: `${id} does ${name}` }),
    call: (call) => {
      calls.push(call);
      const there = list.some(({ name }) => name === call.name);
      return Promise.resolve({
        outcome: there ? "ok" : "failed",
        text: `${id} ${there ? "did" : "lost"} ${call.name}`,
      });
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    set: (...next) => {
      list = specs(next);
      for (const listener of listeners) listener();
    },
  };
}

export function testContext(more: Partial<ToolContext> = {}): ToolContext {
  return {
    cwd: "/project",
    signal: new AbortController().signal,
    marker: "marker",
    record: () => Promise.resolve(),
    progress: () => undefined,
    ask: () => Promise.resolve({ action: "decline" }),
    putBlob: () => Promise.reject(new Error("this context stores no blobs")),
    getBlob: () => Promise.resolve(undefined),
    ...more,
  };
}
