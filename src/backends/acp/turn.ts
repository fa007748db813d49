/** Runs one turn of an ACP agent: records its updates, answers its requests and returns the outcome. */
import { z } from "zod";
import {
  includeParts,
  newId,
  type EventBody,
  type LimitReached,
  type QuestionAnswer,
  type ToolKind,
  type TurnContext,
  type TurnLog,
  type TurnOutcome,
} from "../../domain/index.ts";
import { peerError, RPC, type ClientSession, type GateRequest, type schema, type UpdateItem } from "../../acp/index.ts";
import type { ReportedCall } from "../offered-tools.ts";
import { isReadOnlyKind } from "../read-only-kinds.ts";
import { storableEvent, storableJson } from "../storable.ts";
import { toFailureOutcome, toStopOutcome } from "./outcome.ts";
import { toPermissionResponse } from "./permission.ts";
import { AcpTranscript, proposeDiffs } from "./transcript.ts";

const MAX_MESSAGE_LENGTH = 64 * 1024;

export interface AcpTurnParts {
  readonly turn: Pick<TurnContext, "signal" | "permit" | "ask"> & { readonly log: Pick<TurnLog, "record" | "ready"> };
  readonly session: ClientSession;
  readonly agent: string;
  /** Cost of the agent's session before this turn, as the agent counts it. */
  readonly costBefore: number;
  /** Returns the Rookery tool that the call means, if any. The tool server decides about those calls. */
  readonly findOfferedTool: (call: ReportedCall) => string | undefined;
  /** Whether the log has the call already, because it reached the tool server first. */
  readonly isKnownCall: (call: ReportedCall) => boolean;
}

export class AcpTurnDriver {
  readonly #parts: AcpTurnParts;
  readonly #transcript: AcpTranscript;
  /** Paths that the user allowed in this turn. The file and terminal handlers do not ask for them again. */
  readonly #allowed = new Set<string>();

  constructor(parts: AcpTurnParts) {
    this.#parts = parts;
    this.#transcript = new AcpTranscript((call) => parts.isKnownCall(call));
  }

  get cost(): number {
    return this.#transcript.usage?.cost?.amount ?? this.#parts.costBefore;
  }

  async run(prompt: readonly schema.ContentBlock[]): Promise<TurnOutcome | LimitReached> {
    const { turn, session, agent } = this.#parts;
    const prompted = session.prompt(prompt, { signal: turn.signal });
    try {
      const response = await prompted.response;
      this.record(...this.#transcript.end(), ...this.#usage(response));
      return toStopOutcome(response);
    } catch (error) {
      this.record(...this.#transcript.end());
      return turn.signal.aborted ? { status: "cancelled" } : toFailureOutcome(error, agent);
    }
  }

  /** Returns the id of a running call that matches. Returns each call at most once. */
  takeCall(isWanted: (call: ReportedCall) => boolean): string | undefined {
    return this.#transcript.takeCall(isWanted);
  }

  /** Resolves when the log has room again, which holds the agent back. */
  update({ update, line }: UpdateItem): void | Promise<void> {
    const events = this.#transcript.update(update, line);
    if (events.length === 0) return undefined;
    this.record(...events);
    return this.#parts.turn.log.ready();
  }

  /** Throws -32602 if the tool call is invalid. */
  async permission(request: schema.RequestPermissionRequest): Promise<schema.RequestPermissionResponse> {
    const { turn } = this.#parts;
    const { toolCall } = request;
    const options = request.options.filter(isPermissionOption);
    const asked = this.#transcript.addRequestedCall(toolCall);
    if (asked === undefined)
      throw peerError(RPC.invalidParams, "toolCall of session/request_permission is not a valid tool call");
    const { events, tool } = asked;
    this.record(...events);
    const { id: toolId, name, title, kind, input } = tool;
    const { findOfferedTool } = this.#parts;
    if (findOfferedTool(tool) !== undefined) return toPermissionResponse({ allowed: true }, options);
    const said = title === "" ? name : title;
    const decision = await turn.permit({
      toolId,
      tool: name === "other" ? said : name, // permissions for the whole session are stored by this name
      title: said,
      kind,
      readOnly: isReadOnlyKind(kind),
      input: input ?? toRequestInput(kind, said, storableJson(removeDiffs(toolCall.content))),
      preview: async () => ({ diffs: proposeDiffs(tool) }),
    });
    if (decision.allowed) {
      for (const { path } of [...tool.locations, ...tool.diffs]) this.#allowed.add(path);
    } else {
      this.record(...this.#transcript.endRefusedCall(toolId, decision.outcome, decision.message));
    }
    return toPermissionResponse(decision, options);
  }

  async elicitation(request: schema.CreateElicitationRequest): Promise<schema.CreateElicitationResponse> {
    const { turn, agent } = this.#parts;
    const message = request.message.slice(0, MAX_MESSAGE_LENGTH);
    const { requestedSchema, url: page } = request as { requestedSchema?: unknown; url?: unknown };
    const schema = request.mode === "form" ? requireFormSchema(requestedSchema) : undefined;
    const url = request.mode === "url" ? requireUrl(page) : undefined;
    return toElicitationResponse(await turn.ask({ message, from: agent, schema, url }));
  }

  /** Decides about a file or terminal request that this process serves for the agent. */
  async gate({
    kind,
    title,
    path,
    params,
  }: GateRequest): Promise<{ allowed: true } | { allowed: false; message: string }> {
    const { turn } = this.#parts;
    if (path !== undefined && this.#allowed.has(path)) return { allowed: true };
    const toolId = newId("tool", Date.now());
    const tool = kind === "execute" ? "terminal" : `fs_${kind}`;
    const started: EventBody = { type: "tool.started", toolId, name: tool, title, kind, input: params };
    if (kind !== "read") this.record(started);
    const decision = await turn.permit({ toolId, tool, title, kind, readOnly: kind === "read", input: params });
    if (kind !== "read") {
      const [outcome, text] = decision.allowed
        ? (["ok", ""] as const)
        : ([decision.outcome, decision.message] as const);
      this.record({ type: "tool.ended", toolId, outcome, text });
    }
    return decision.allowed ? decision : { allowed: false, message: decision.message };
  }

  /** Records events. Does nothing once the turn has ended. */
  record(...bodies: EventBody[]): void {
    try {
      const { turn, agent } = this.#parts;
      if (bodies.length > 0) turn.log.record(...bodies.map((body) => storableEvent(body, agent)));
    } catch {
      // The turn has ended, or its log is broken; the turn reports that itself.
    }
  }

  /** Reports token counts if the agent sends them, and the cost since the previous report. */
  #usage(response: schema.PromptResponse): EventBody[] {
    const { usage: context } = this.#transcript;
    const usage = readTokenCounts(response);
    if (usage === undefined && context === undefined) return [];
    const cost = context?.cost?.currency === "USD" ? context.cost.amount - this.#parts.costBefore : undefined;
    return [
      includeParts({
        type: "usage.reported" as const,
        inputTokens: usage?.inputTokens ?? 0,
        outputTokens: usage?.outputTokens ?? 0,
        ...(usage?.cachedReadTokens != null && { cacheReadTokens: usage.cachedReadTokens }),
        ...(usage?.cachedWriteTokens != null && { cacheWriteTokens: usage.cachedWriteTokens }),
        ...(usage?.thoughtTokens != null && { reasoningTokens: usage.thoughtTokens }),
        ...(cost !== undefined && { costUsd: Math.max(0, cost), costBy: "reported" as const }),
        ...(context !== undefined && { contextUsed: context.used, contextSize: context.size }),
      }),
    ];
  }
}

/** Input for an agent that sends none. The title may be all there is. */
function toRequestInput(kind: ToolKind, title: string, content: unknown): unknown {
  const cwd = kind === "execute" && title.length < MAX_COMMAND_TITLE ? readDirectoryNote(content) : undefined;
  if (cwd !== undefined) return { command: title, cwd };
  return content == null ? { title } : { title, content };
}

/** A longer title may be cut, so it does not count as a command. */
const MAX_COMMAND_TITLE = 2_000;
const DirectoryNote = z.tuple([
  z.object({ type: z.literal("content"), content: z.object({ type: z.literal("text"), text: z.string() }) }),
]);

/** In Gemini CLI 0.61, the title of a shell command is the command, and its only content is the working directory. */
function readDirectoryNote(content: unknown): string | undefined {
  const [note] = DirectoryNote.safeParse(content).data ?? [];
  return /^\[current working directory (\/[^\n]*)\]$/.exec(note?.content.text ?? "")?.[1];
}

/** The diffs have their own field in the request. Returns undefined if nothing is left. */
function removeDiffs(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  const others = content.filter((block) => (block as { type?: unknown } | null)?.type !== "diff") as unknown[];
  return others.length === 0 ? undefined : others;
}

function isPermissionOption(option: unknown): option is schema.PermissionOption {
  return typeof (option as { optionId?: unknown } | null)?.optionId === "string";
}

/** Throws -32602 if the schema cannot be shown as a form. */
function requireFormSchema(schema: unknown): unknown {
  if (typeof schema === "object" && schema !== null && storableJson(schema) === schema) return schema;
  throw peerError(
    RPC.invalidParams,
    "requestedSchema of elicitation/create must be an object that is not nested too deeply",
  );
}

function requireUrl(url: unknown): string {
  if (typeof url === "string" && url !== "" && url.length <= MAX_MESSAGE_LENGTH) return url;
  throw peerError(RPC.invalidParams, "url of elicitation/create must be a nonempty string");
}

/** An invalid count is left out. */
const count = z.number().nonnegative().transform(Math.round).pipe(z.int()).optional().catch(undefined);
/** The unstable `usage` field of a prompt response. */
const Tokens = z.object({
  inputTokens: count,
  outputTokens: count,
  cachedReadTokens: count,
  cachedWriteTokens: count,
  thoughtTokens: count,
  totalTokens: count,
});
type Tokens = z.infer<typeof Tokens>;
/** The `_meta` field of Gemini CLI 0.61. */
const Quota = z.object({
  quota: z.object({
    token_count: z.object({ input_tokens: z.int().nonnegative(), output_tokens: z.int().nonnegative() }),
  }),
});

function readTokenCounts({ _meta, ...response }: schema.PromptResponse): Tokens | undefined {
  const usage = Tokens.safeParse((response as { usage?: unknown }).usage).data;
  if (usage !== undefined) return includeCachedTokens(usage);
  const tokens = Quota.safeParse(_meta).data?.quota.token_count;
  return tokens && includeCachedTokens({ inputTokens: tokens.input_tokens, outputTokens: tokens.output_tokens });
}

/** Adds cached tokens to the input if the total shows that the agent counts them separately (opencode 1.18). */
function includeCachedTokens(usage: Tokens): Tokens {
  const { inputTokens = 0, outputTokens = 0, cachedReadTokens, cachedWriteTokens, totalTokens } = usage;
  const cached = (cachedReadTokens ?? 0) + (cachedWriteTokens ?? 0);
  const isBeside = (totalTokens ?? 0) >= inputTokens + outputTokens + cached;
  return isBeside ? { ...usage, inputTokens: inputTokens + cached } : usage;
}

function toElicitationResponse({ action, content }: QuestionAnswer): schema.CreateElicitationResponse {
  if (action !== "accept") return { action };
  return { action, content: (content ?? {}) as Record<string, schema.ElicitationContentValue> };
}
