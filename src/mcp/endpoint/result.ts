/** Converts a tool result into the format of MCP. */
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/sdk/types.js";
import type { BlobPart, ToolOutcome } from "../../domain/events.ts";
import type { ToolResult, ToolSpec } from "../../domain/tools.ts";
import { hasObjectOutput } from "./pages.ts";

export interface CallResultOptions extends BlobAccess {
  readonly spec: ToolSpec | undefined;
}

interface BlobAccess {
  readonly getBlob: (hash: string) => Promise<Uint8Array | undefined>;
  /** The URIs that this client was given. It can read only those. */
  readonly linked: Set<string>;
}

const SCHEME = "rookery-blob:";
/** Larger blobs are linked instead of embedded. */
const MAX_INLINE_BYTES = 5_242_880;
/** Above this number the oldest links stop working. */
const MAX_LINKED = 1_000;

const OUTCOME_TEXTS: Record<ToolOutcome, string> = {
  ok: "",
  failed: "The call failed.",
  denied: "The call was not allowed.",
  cancelled: "The call was cancelled.",
  timed_out: "The call took too long.",
  unknown: "It is not known whether the call took effect.",
};

export async function toCallToolResult(
  result: ToolResult,
  { spec, ...blobs }: CallResultOptions,
): Promise<CallToolResult> {
  const { outcome, structured, blobs: parts = [] } = result;
  const content: ContentBlock[] = [];
  const text = result.text === "" ? OUTCOME_TEXTS[outcome] : result.text;
  if (text !== "") content.push({ type: "text", text });
  for (const part of parts) content.push(await toContentBlock(part, blobs));
  if (outcome !== "ok") return { content, isError: true };
  if (isPlainObject(structured)) return { content, structuredContent: structured };
  // The MCP SDK's client (1.32) discards such a result unless it is an error.
  if (!hasObjectOutput(spec?.outputSchema)) return { content };
  content.push({
    type: "text",
    text: "(The call succeeded, but without the structured result that the tool's output schema requires.)",
  });
  return { content, isError: true };
}

/** Returns undefined for a URI that this client was not given, and for a missing blob. */
export async function readLinked(uri: string, { getBlob, linked }: BlobAccess) {
  if (!linked.has(uri)) return undefined;
  const bytes = await getBlob(uri.slice(SCHEME.length));
  return bytes === undefined ? undefined : { uri, blob: base64(bytes) };
}

async function toContentBlock(part: BlobPart, { getBlob, linked }: BlobAccess): Promise<ContentBlock> {
  const { hash, mediaType, name = hash } = part;
  const type = /^(image|audio)\//.exec(mediaType)?.[1] as "image" | "audio" | undefined;
  if (type !== undefined) {
    const bytes = await getBlob(hash);
    if (bytes === undefined) return { type: "text", text: `(${name} (${mediaType}) is no longer available)` };
    if (bytes.length <= MAX_INLINE_BYTES) return { type, data: base64(bytes), mimeType: mediaType };
  }
  const uri = `${SCHEME}${hash}`;
  addLink(linked, uri);
  return { type: "resource_link", uri, name, mimeType: mediaType };
}

function addLink(linked: Set<string>, uri: string): void {
  linked.delete(uri);
  linked.add(uri);
  const [oldest] = linked;
  if (linked.size > MAX_LINKED && oldest !== undefined) linked.delete(oldest);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
