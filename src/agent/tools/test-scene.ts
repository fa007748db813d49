/** The coding tools in a temporary directory, with a secret file outside of it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EventBody, ToolContext, ToolResult } from "../../domain/index.ts";
import { temporaryFolder } from "../../testing/index.ts";
import { createCodingTools, type CodingTools, type CodingToolsOptions } from "./index.ts";

export interface Scene extends AsyncDisposable {
  readonly folder: string;
  readonly outside: string;
  readonly tools: CodingTools;
  /** Events recorded during calls and between them. */
  readonly recorded: EventBody[];
  readonly blobs: Map<string, Uint8Array>;
  /** Unique to this scene, so that another run on the same machine does not find its processes. */
  readonly marker: string;
  at(name: string): string;
  run(name: string, input: unknown, more?: Partial<ToolContext>): Promise<ToolResult>;
}

let count = 0;

export async function openScene(options: Partial<CodingToolsOptions> = {}): Promise<Scene> {
  const [folder, outside] = [await temporaryFolder(), await temporaryFolder()];
  writeFileSync(join(outside.path, "secret"), "secret\n");
  const recorded: EventBody[] = [];
  const blobs = new Map<string, Uint8Array>();
  const record = (body: EventBody): void => void recorded.push(body);
  const tools = createCodingTools({ env: { PATH: process.env["PATH"] }, record, ...options });
  const marker = `scene-${process.pid}-${(count += 1)}`;
  const context: ToolContext = {
    cwd: folder.path,
    signal: new AbortController().signal,
    marker,
    progress: () => undefined,
    ask: () => Promise.resolve({ action: "decline" as const }),
    putBlob: (bytes) => {
      const hash = `blob-${blobs.size}`;
      blobs.set(hash, bytes);
      return Promise.resolve(hash);
    },
    getBlob: (hash) => Promise.resolve(blobs.get(hash)),
    record: (body) => Promise.resolve(record(body)),
  };
  return {
    folder: folder.path,
    outside: outside.path,
    tools,
    recorded,
    blobs,
    marker,
    at: (name) => join(folder.path, name),
    run: (name, input, more = {}) => tools.call({ toolId: "t", name, input }, { ...context, ...more }),
    async [Symbol.asyncDispose]() {
      await tools[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
      await outside[Symbol.asyncDispose]();
    },
  };
}
