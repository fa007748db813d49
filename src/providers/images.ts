/** The images of a conversation that a model is given: those that its provider takes, the newest first, while they fit. */
import { RookeryError, type BlobPart } from "../domain/index.ts";
import type { Message, ModelRequest } from "./model.ts";

/** What a provider takes. */
export interface ImageLimits {
  readonly mediaTypes: readonly string[];
  /** Of one image. */
  readonly bytes: number;
}

/** By their hashes. */
export type Images = ReadonlyMap<string, Uint8Array>;

/** In one request: with more than twenty Anthropic takes smaller ones only, and a request of at most 32 MB in all. */
const MOST = 20;
const MOST_BYTES = 16 * 1024 * 1024;

/** Throws `input_too_large` where the input of the turn does not fit; what an earlier turn had is left out then. */
export async function loadImages(
  { messages, blob }: Pick<ModelRequest, "messages" | "blob">,
  limits: ImageLimits | undefined,
): Promise<Images> {
  const images = new Map<string, Uint8Array>();
  if (limits === undefined) return images;
  const input = messages.findLast(({ role }) => role === "user");
  let left = MOST_BYTES;
  for (const message of messages.toReversed()) {
    for (const part of imagesIn(message, limits)) {
      if (images.has(part.hash)) continue;
      const bytes = await blob(part.hash);
      if (bytes === undefined) continue;
      const size = bytes.byteLength;
      const problem = problemWith(size, { limits, left, count: images.size });
      if (problem === undefined) {
        images.set(part.hash, bytes);
        left -= size;
      } else if (message === input) {
        throw new RookeryError("input_too_large", `${nameOf(part)} cannot be given to the model: ${problem}`);
      }
    }
  }
  return images;
}

export function nameOf({ name, mediaType }: BlobPart): string {
  return name ?? mediaType;
}

function imagesIn(message: Message, { mediaTypes }: ImageLimits): BlobPart[] {
  return blobsIn(message).filter((part) => mediaTypes.includes(part.mediaType));
}

function blobsIn(message: Message): readonly BlobPart[] {
  switch (message.role) {
    case "user":
      return message.parts.filter((part) => part.type === "blob");
    case "tool":
      return message.results.flatMap(({ blobs }) => blobs ?? []);
    case "assistant":
      return [];
  }
}

function problemWith(
  size: number,
  { limits, left, count }: { readonly limits: ImageLimits; readonly left: number; readonly count: number },
): string | undefined {
  if (size > limits.bytes) {
    return `it has ${megabytes(size)} MB, and ${megabytes(limits.bytes)} MB are taken: make it smaller`;
  }
  if (count >= MOST) return `at most ${MOST} images are taken at once: leave some out`;
  if (size > left) return `at most ${megabytes(MOST_BYTES)} MB of images are taken at once: leave some out`;
  return undefined;
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
