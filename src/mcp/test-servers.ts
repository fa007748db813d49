/** A session's servers with a recording session and tool context. */
import { createHash, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import type {
  AskOptions,
  EventBody,
  McpServerSpec,
  McpServerState,
  Question,
  QuestionAnswer,
  BetweenTurnsContext,
  StdioServerSpec,
  ToolContext,
  ToolResult,
} from "../domain/index.ts";
import { processesMarked } from "../stdx/index.ts";
import { openServers, type McpServers, type ServersOptions } from "./index.ts";

const SCRIPTED = fileURLToPath(new URL("./test-server.mjs", import.meta.url));
export const EVERYTHING = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);

type Answer = (question: Question, options?: AskOptions) => Promise<QuestionAnswer>;

export interface TestServers extends AsyncDisposable {
  readonly servers: McpServers;
  readonly events: EventBody[];
  readonly questions: Question[];
  readonly blobs: Map<string, Uint8Array>;
  readonly marker: string;
  readonly folder: string;
  attach(): void;
  state(name?: string): McpServerState;
  ready(name?: string): Promise<void>;
  call(name: string, input?: unknown, context?: Partial<ToolContext>): Promise<ToolResult>;
  statuses(name?: string): string[];
}

export interface TestServersOptions extends Partial<Omit<ServersOptions, "servers">> {
  readonly answer?: Answer;
  readonly attended?: boolean;
  readonly isAttached?: boolean;
}

export function scriptedServer(name = "s", ...behaviours: string[]): StdioServerSpec {
  return { type: "stdio", name, command: process.execPath, args: [SCRIPTED, ...behaviours], env: {} };
}

export function openTestServers(specs: readonly McpServerSpec[], options: TestServersOptions = {}): TestServers {
  const folder = mkdtempSync(join(tmpdir(), "rookery-mcp-"));
  const marker = `test-${randomUUID()}`;
  const events: EventBody[] = [];
  const questions: Question[] = [];
  const blobs = new Map<string, Uint8Array>();
  const {
    answer = () => Promise.resolve({ action: "decline" }),
    attended = true,
    isAttached = true,
    ...rest
  } = options;
  const ask: Answer = (question, how) => {
    questions.push(question);
    return answer(question, how);
  };
  const env = { PATH: process.env["PATH"], HOME: folder };
  const servers = openServers({ servers: specs, cwd: folder, env, marker, ...rest });
  const shelf = {
    putBlob(bytes: Uint8Array): Promise<string> {
      const hash = createHash("sha256").update(bytes).digest("hex");
      blobs.set(hash, bytes);
      return Promise.resolve(hash);
    },
    getBlob: (hash: string) => Promise.resolve(blobs.get(hash)),
  };
  const betweenTurns: BetweenTurnsContext = {
    ...shelf,
    record: (...bodies) => void events.push(...bodies),
    ask,
    permit: () => Promise.resolve({ allowed: true }),
    attended,
  };
  const attach = (): void => servers.attach(betweenTurns);
  if (isAttached) attach();
  const first = specs[0]?.name ?? "";
  const state = (name = first): McpServerState => {
    const found = servers.snapshot().servers.find((server) => server.name === name);
    if (found === undefined) throw new Error(`there is no server ${name}`);
    return found;
  };
  return {
    ...{ servers, events, questions, blobs, marker, folder, state, attach },
    ready: (name = first) =>
      vi.waitFor(() => {
        if (state(name).status !== "ready") throw new Error(JSON.stringify({ ...state(name), tools: [] }));
      }, 20_000),
    call(name, input = {}, context = {}) {
      const source = servers.sources.find(({ id }) => name.startsWith(`${id.slice("mcp:".length)}__`));
      if (source === undefined) throw new Error(`there is no source of ${name}`);
      return source.call(
        { toolId: "t", name, input },
        {
          ...{ cwd: folder, marker, ask, signal: new AbortController().signal },
          record: () => Promise.resolve(),
          progress: () => undefined,
          ...shelf,
          ...context,
        },
      );
    },
    statuses: (name = first) =>
      events.flatMap((event) => (event.type === "mcp.status" && event.server === name ? [event.status] : [])),
    async [Symbol.asyncDispose]() {
      await servers[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
      const left = processesMarked(marker);
      if (left.length > 0) throw new Error(`left behind: ${JSON.stringify(left)}`);
    },
  };
}
