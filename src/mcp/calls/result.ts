/**
 * Reads the result of a call: text for the model, binary data and long texts as blobs, structured content unchanged.
 */
import { z } from "zod";
import type { BlobPart, ToolResult, ToolSpec } from "../../domain/index.ts";
import { findSchemaMismatch } from "./validate.ts";

export interface ReadResultOptions {
  readonly spec: ToolSpec;
  readonly putBlob: (bytes: Uint8Array) => Promise<string>;
  readonly textChars: number;
}

/** Images and files above this number are dropped, and the result says so. */
const MAX_BLOBS = 100;
/** Maximum length of structured content as JSON, in characters. */
const MAX_STRUCTURED = 100_000;
const MAX_UNKNOWN = 2_000;

const Embedded = z.lazy(() =>
  z.object({
    uri: z.string().catch(""),
    mimeType: z.string().optional(),
    text: z.string().optional(),
    blob: z.string().optional(),
  }),
);
const ResultBlock = z.lazy(() =>
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("text"), text: z.string() }),
    z.object({
      type: z.enum(["image", "audio"]),
      data: z.string(),
      mimeType: z.string().catch("application/octet-stream"),
    }),
    z.object({ type: z.literal("resource"), resource: Embedded }),
    z.object({
      type: z.literal("resource_link"),
      uri: z.string(),
      name: z.string().optional(),
      description: z.string().optional(),
    }),
  ]),
);
export type Block = z.infer<typeof ResultBlock>;

/** Returns undefined for an unknown content type. */
export function readBlock(raw: unknown): Block | undefined {
  return ResultBlock.safeParse(raw).data;
}

export async function readResult(raw: Record<string, unknown>, options: ReadResultOptions): Promise<ToolResult> {
  const { spec, putBlob, textChars } = options;
  const blobs: BlobPart[] = [];
  const keep = async (bytes: Uint8Array, mediaType: string, name?: string): Promise<string> => {
    if (blobs.length >= MAX_BLOBS) return "dropped, because there are too many";
    const hash = await putBlob(bytes);
    blobs.push({ type: "blob", hash, mediaType, ...(name !== undefined && { name }) });
    return `stored as ${hash}`;
  };
  const lines: string[] = [];
  for (const item of Array.isArray(raw["content"]) ? (raw["content"] as unknown[]) : [])
    lines.push(await formatBlock(item, keep));

  const content = raw["structuredContent"];
  const json = content === undefined ? undefined : JSON.stringify(content);
  const isError = raw["isError"] === true;
  if (lines.length === 0 && json !== undefined) lines.push(json);
  const isKept = json === undefined || json.length <= MAX_STRUCTURED;
  if (!isKept)
    lines.push(`[structured content, ${json.length} characters: ${await keep(Buffer.from(json), "application/json")}]`);
  const note =
    isError || spec.outputSchema === undefined ? undefined : await findSchemaMismatch(spec.outputSchema, content);
  if (note !== undefined) lines.push(`[the structured content does not match the tool's output schema: ${note}]`);

  const whole = lines.join("\n");
  const text =
    whole.length <= textChars
      ? whole
      : formatPreview(whole, textChars, await keep(Buffer.from(whole), "text/plain"), blobs.at(-1)?.hash);
  return {
    outcome: isError ? "failed" : "ok",
    text,
    ...(blobs.length > 0 && { blobs }),
    ...(content !== undefined && isKept && { structured: content }),
  };
}

type StoreBlob = (bytes: Uint8Array, mediaType: string, name?: string) => Promise<string>;

async function formatBlock(raw: unknown, keep: StoreBlob): Promise<string> {
  const block = readBlock(raw);
  if (block === undefined) return `[content of an unknown type: ${(JSON.stringify(raw) ?? "").slice(0, MAX_UNKNOWN)}]`;
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio": {
      const bytes = Buffer.from(block.data, "base64");
      return `[${block.type}, ${block.mimeType}, ${bytes.length} bytes: ${await keep(bytes, block.mimeType)}]`;
    }
    case "resource": {
      const { uri, text, blob, mimeType = "application/octet-stream" } = block.resource;
      if (blob === undefined) return `[resource ${uri}]\n${text ?? ""}`;
      const bytes = Buffer.from(blob, "base64");
      return `[resource ${uri}, ${mimeType}, ${bytes.length} bytes: ${await keep(bytes, mimeType, uri.split("/").at(-1))}]`;
    }
    case "resource_link":
      return `[link to the resource ${block.uri}${block.name === undefined ? "" : `: ${block.name}`}${block.description === undefined ? "" : `, ${block.description}`}]`;
  }
}

/** Shows the head and the tail, because the end of a long text is often the conclusion. */
function formatPreview(whole: string, chars: number, kept: string, handle: string | undefined): string {
  const head = whole.slice(0, Math.floor(chars * 0.7));
  const tail = whole.slice(whole.length - Math.floor(chars * 0.2));
  const more = handle === undefined ? "" : `; read it with read_result {"handle":"${handle}"}`;
  return `${head}\n[… ${whole.length - head.length - tail.length} of ${whole.length} characters omitted; the full text is ${kept}${more}]\n${tail}`;
}
