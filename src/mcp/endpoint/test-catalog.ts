/** For tests: the tools of a session with a permission gate, served to an MCP client. */
import type { ToolContext, ToolResult, ToolSource, ToolSpec } from "../../domain/index.ts";
import { deferred } from "../../stdx/index.ts";
import { AgentTools, type PreparedCall } from "../../tools/index.ts";
import { type CallOptions, catalogServer } from "./catalog-server.ts";

export const PIXEL = Uint8Array.from([0x89, 0x50, 0x4e, 0x47]);

export function testCatalog() {
  const blobs = new Map<string, Uint8Array>([
    ["h-pixel", PIXEL],
    ["h-report", new TextEncoder().encode("the report")],
    ["h-secret", new TextEncoder().encode("of another session")],
    ["h-large", new Uint8Array(6_000_000)],
  ]);
  const asked: string[] = [];
  const hanging = deferred();
  const stopped = deferred();
  const listeners = new Set<() => void>();
  const extra: ToolSpec[] = [];
  const told = new Set<() => void>();
  let listening = 0;

  const run: Record<string, (context: ToolContext, input: unknown) => ToolResult | Promise<ToolResult>> = {
    echo: (_, input) => ({ outcome: "ok", text: JSON.stringify(input) }),
    steps: (context) => (context.progress("one "), context.progress("two"), said("done")),
    hang: ({ signal }) => {
      hanging.resolve();
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          stopped.resolve();
          reject(new Error("stopped"));
        });
      });
    },
    draw: () => ({ outcome: "ok", text: "", blobs: [blob("h-pixel", "image/png"), blob("h-gone", "audio/wav")] }),
    report: () => ({
      outcome: "ok",
      text: "see there",
      blobs: [blob("h-report", "application/pdf", "report.pdf"), blob("h-large", "image/png")],
    }),
    weigh: () => ({ outcome: "ok", text: "5 kg", structured: { kg: 5 } }),
    weighBadly: () => said("5 kg"),
    fail: () => ({ outcome: "failed", text: "" }),
    erase: () => said("erased"),
    hidden: () => said("you cannot see me"),
  };
  const weight = { type: "object", properties: { kg: { type: "number" } }, required: ["kg"] };
  const source: ToolSource = {
    id: "test",
    list: () => [
      ...Object.keys(run).map((name) => ({
        ...spec(name),
        ...(name.startsWith("weigh") && { outputSchema: weight, title: "Weigh it", readOnly: true }),
        ...(name === "erase" && { hints: { destructive: true, idempotent: true, openWorld: false } }),
      })),
      ...extra,
    ],
    describe: ({ name }) => ({ title: name }),
    call: async ({ name, input }, context) => (await run[name]?.(context, input)) ?? said("nothing"),
    onChange: (listener) => (listeners.add(listener), () => listeners.delete(listener)),
  };
  const tools = new AgentTools({ filter: { deny: ["hidden"] }, deferOver: Infinity });
  tools.add(source);

  /** Behaves like a session: checks the permission and records the call. */
  async function call(prepared: PreparedCall, { signal, progress }: CallOptions): Promise<ToolResult> {
    asked.push(`${prepared.kind} ${prepared.call.name}`);
    if (prepared.kind === "settled") return prepared.result;
    if (prepared.call.name === "erase") return { outcome: "denied", text: "not here" };
    const context = { signal, progress, cwd: "/project", marker: "" } as unknown as ToolContext;
    const result = await prepared.run(context);
    signal.throwIfAborted();
    return result;
  }

  return {
    tools,
    asked,
    hanging: hanging.promise,
    stopped: stopped.promise,
    listening: () => listening,
    /** Adds tools. Without names, reports a change although nothing changed. */
    change(...names: string[]) {
      if (names.length === 0) for (const listener of told) listener();
      extra.push(...names.map(spec));
      for (const listener of listeners) listener();
    },
    server: catalogServer({
      snapshot: () => tools.snapshot(),
      onChange(listener) {
        listening += 1;
        told.add(listener);
        const stop = tools.onChange(listener);
        return () => ((listening -= 1), told.delete(listener), stop());
      },
      call,
      getBlob: (hash) => Promise.resolve(blobs.get(hash)),
    }),
  };
}

function said(text: string): ToolResult {
  return { outcome: "ok", text };
}

function spec(name: string): ToolSpec {
  return { name, description: `Does ${name}.`, inputSchema: { type: "object" }, kind: "other", readOnly: false };
}

function blob(hash: string, mediaType: string, name?: string) {
  return { type: "blob" as const, hash, mediaType, ...(name !== undefined && { name }) };
}
