/** Prompts of the protocol as inputs of a session, and back. */
import { invalidParams } from "../../acp/errors.ts";
import type * as acp from "../../acp/schema.ts";
import type { InputPart } from "../../domain/events.ts";
import type { SessionStore } from "../../domain/store.ts";

/** Larger than any model takes. */
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

/** Throws -32602 where something cannot be taken. */
export async function inputOf(prompt: readonly acp.ContentBlock[], store: SessionStore): Promise<InputPart[]> {
  const parts: InputPart[] = [];
  for (const block of prompt) parts.push(await partOf(block, store));
  return parts;
}

/** The text that was typed, where the prompt begins with one. */
export function typedText([first]: readonly acp.ContentBlock[]): string {
  return first?.type === "text" ? first.text.trim() : "";
}

/** What a turn was begun with, as the client would have sent it. Bytes that are gone are named. */
export async function blocksOf(input: readonly InputPart[], store: SessionStore): Promise<acp.ContentBlock[]> {
  return Promise.all(
    input.map(async (part): Promise<acp.ContentBlock> => {
      if (part.type === "text") return { type: "text", text: part.text };
      const { hash, mediaType, name = mediaType } = part;
      const bytes = isImage(mediaType) ? await store.getBlob(hash) : undefined;
      if (bytes === undefined) return { type: "text", text: `[${name}]` };
      return { type: "image", mimeType: mediaType, data: Buffer.from(bytes).toString("base64") };
    }),
  );
}

async function partOf(block: acp.ContentBlock, store: SessionStore): Promise<InputPart> {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image": {
      if (!isImage(block.mimeType)) throw invalidParams(`an image cannot be of the type ${block.mimeType}`);
      return blob(store, block.data, block.mimeType, block.uri);
    }
    case "resource_link":
      return { type: "text", text: link(block) };
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return { type: "text", text: embedded(resource) };
      const { blob: data, mimeType, uri } = resource;
      if (typeof data !== "string") throw invalidParams(`the resource ${uri} has neither text nor a blob`);
      if (isImage(mimeType ?? "")) return blob(store, data, mimeType ?? "", uri);
      return { type: "text", text: link({ uri, name: uri, mimeType }) };
    }
    case "audio":
      throw invalidParams("audio is not taken here, as the answer to initialize says");
    default:
      throw invalidParams(`content of the type ${String((block as { type: unknown }).type)} is not taken here`);
  }
}

async function blob(
  store: SessionStore,
  base64: string,
  mediaType: string,
  uri: string | null | undefined,
): Promise<InputPart> {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length === 0) throw invalidParams("an image has no data in it, or data that is not base64");
  if (bytes.length > MAX_IMAGE_BYTES) throw invalidParams(`an image has more than ${MAX_IMAGE_BYTES} bytes`);
  const { hash } = await store.putBlob(bytes);
  return { type: "blob", hash, mediaType, ...(typeof uri === "string" && { name: uri }) };
}

function link({ uri, name, title, description, mimeType }: Link): string {
  const about = [title, description, mimeType].filter((text) => typeof text === "string" && text !== "").join(", ");
  const label = (name as string | undefined) !== undefined && name !== "" && name !== uri ? `${name}: ` : "";
  return `[${label}${uri}${about === "" ? "" : ` (${about})`}]`;
}

type Link = Pick<acp.ResourceLink, "uri" | "name"> & {
  readonly [Key in "title" | "description" | "mimeType"]?: string | null | undefined;
};

function embedded({ uri, text }: acp.TextResourceContents): string {
  return `<resource uri=${JSON.stringify(uri)}>\n${text}\n</resource>`;
}

function isImage(mediaType: string): boolean {
  return /^image\/[\w.+-]+$/.test(mediaType);
}
