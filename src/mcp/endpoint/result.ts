/** What came of a call, as MCP has it. */
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/sdk/types.js";
import type { BlobPart, ToolOutcome } from "../../domain/events.ts";
import type { ToolResult, ToolSpec } from "../../domain/tools.ts";
import { promises } from "./pages.ts";

export interface ResultOptions extends Blobs {
  readonly spec: ToolSpec | undefined;
}

interface Blobs {
  readonly getBlob: (hash: string) => Promise<Uint8Array | undefined>;
  /** The URIs that this client was given: it reads those, and no other bytes of the store. */
  readonly linked: Set<string>;
}

const SCHEME = "rookery-blob:";
/** What is larger is linked to instead of being put into the message. */
const MAX_INLINE_BYTES = 5_242_880;
/** Past it the oldest links lead nowhere. */
const MAX_LINKED = 1_000;

const WORDS: Record<ToolOutcome, string> = {
  ok: "",
  failed: "The call failed.",
  denied: "The call was not allowed.",
  cancelled: "The call was cancelled.",
  timed_out: "The call took too long.",
  unknown: "It is not known whether the call did what it was to do.",
};

export async function resultOf(result: ToolResult, { spec, ...blobs }: ResultOptions): Promise<CallToolResult> {
  const { outcome, structured, blobs: parts = [] } = result;
  const content: ContentBlock[] = [];
  const text = result.text === "" ? WORDS[outcome] : result.text;
  if (text !== "") content.push({ type: "text", text });
  for (const part of parts) content.push(await contentOf(part, blobs));
  if (outcome !== "ok") return { content, isError: true };
  if (isTable(structured)) return { content, structuredContent: structured };
  // The MCP SDK's client (1.32) throws such a result away, unless it is an error.
  if (!promises(spec?.outputSchema)) return { content };
  content.push({
    type: "text",
    text: "(The call went well, but without the structured result that the tool promises.)",
  });
  return { content, isError: true };
}

/** Undefined for what this client was given no link to, and for what is gone. */
export async function readLinked(uri: string, { getBlob, linked }: Blobs) {
  if (!linked.has(uri)) return undefined;
  const bytes = await getBlob(uri.slice(SCHEME.length));
  return bytes === undefined ? undefined : { uri, blob: base64(bytes) };
}

async function contentOf(part: BlobPart, { getBlob, linked }: Blobs): Promise<ContentBlock> {
  const { hash, mediaType, name = hash } = part;
  const type = /^(image|audio)\//.exec(mediaType)?.[1] as "image" | "audio" | undefined;
  if (type !== undefined) {
    const bytes = await getBlob(hash);
    if (bytes === undefined) return { type: "text", text: `(${name} (${mediaType}) is not there any more)` };
    if (bytes.length <= MAX_INLINE_BYTES) return { type, data: base64(bytes), mimeType: mediaType };
  }
  const uri = `${SCHEME}${hash}`;
  remember(linked, uri);
  return { type: "resource_link", uri, name, mimeType: mediaType };
}

function remember(linked: Set<string>, uri: string): void {
  linked.delete(uri);
  linked.add(uri);
  const [oldest] = linked;
  if (linked.size > MAX_LINKED && oldest !== undefined) linked.delete(oldest);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
