/** Converts ACP prompts to session input and back. */
import { invalidParams } from "../../acp/errors.ts";
import type * as acp from "../../acp/schema.ts";
import type { InputPart } from "../../domain/events.ts";
import type { SessionStore } from "../../domain/store.ts";

/** Larger than the limit of any model. */
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

/** Stores images as blobs. Throws -32602 (invalid params) for unsupported content. */
export async function promptToInputParts(
  prompt: readonly acp.ContentBlock[],
  store: SessionStore,
): Promise<InputPart[]> {
  const parts: InputPart[] = [];
  for (const block of prompt) parts.push(await toInputPart(block, store));
  return parts;
}

/** The typed text, if the prompt starts with a text block. Otherwise empty. */
export function typedText([first]: readonly acp.ContentBlock[]): string {
  return first?.type === "text" ? first.text.trim() : "";
}

/** Converts the input of a turn back to content blocks. A missing blob becomes a text with its name. */
export async function toAcpContentBlocks(
  input: readonly InputPart[],
  store: SessionStore,
): Promise<acp.ContentBlock[]> {
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

async function toInputPart(block: acp.ContentBlock, store: SessionStore): Promise<InputPart> {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image": {
      if (!isImage(block.mimeType))
        throw invalidParams(`unsupported image type ${block.mimeType}: send an image/* type`);
      return storeImage(store, block.data, block.mimeType, block.uri);
    }
    case "resource_link":
      return { type: "text", text: formatLink(block) };
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return { type: "text", text: formatEmbedded(resource) };
      const { blob: data, mimeType, uri } = resource;
      if (typeof data !== "string")
        throw invalidParams(`the resource ${uri} has neither text nor a blob: send one of them`);
      if (isImage(mimeType ?? "")) return storeImage(store, data, mimeType ?? "", uri);
      return { type: "text", text: formatLink({ uri, name: uri, mimeType }) };
    }
    case "audio":
      throw invalidParams("audio is not supported, as the initialize response says: send text or images");
    default:
      throw invalidParams(
        `unsupported content type ${String((block as { type: unknown }).type)}: send text, images or resources`,
      );
  }
}

async function storeImage(
  store: SessionStore,
  base64: string,
  mediaType: string,
  uri: string | null | undefined,
): Promise<InputPart> {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length === 0) throw invalidParams("the image data is empty or not base64: send the bytes in base64");
  if (bytes.length > MAX_IMAGE_BYTES)
    throw invalidParams(`the image exceeds ${MAX_IMAGE_BYTES / 1024 / 1024} MB: send a smaller one`);
  const { hash } = await store.putBlob(bytes);
  return { type: "blob", hash, mediaType, ...(typeof uri === "string" && { name: uri }) };
}

function formatLink({ uri, name, title, description, mimeType }: Link): string {
  const about = [title, description, mimeType].filter((text) => typeof text === "string" && text !== "").join(", ");
  const label = (name as string | undefined) !== undefined && name !== "" && name !== uri ? `${name}: ` : "";
  return `[${label}${uri}${about === "" ? "" : ` (${about})`}]`;
}

type Link = Pick<acp.ResourceLink, "uri" | "name"> & {
  readonly [Key in "title" | "description" | "mimeType"]?: string | null | undefined;
};

function formatEmbedded({ uri, text }: acp.TextResourceContents): string {
  return `<resource uri=${JSON.stringify(uri)}>\n${text}\n</resource>`;
}

function isImage(mediaType: string): boolean {
  return /^image\/[\w.+-]+$/.test(mediaType);
}
