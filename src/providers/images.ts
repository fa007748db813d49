/** The images of a conversation that a model is given: those that its provider takes, while they fit. */
import { RookeryError, type BlobPart } from "../domain/index.ts";
import type { ProviderKind } from "../domain/provider.ts";
import type { Message, ModelRequest } from "./model.ts";

/** What a provider takes. */
export interface ImageLimits {
  readonly mediaTypes: readonly string[];
  /** Of one image. */
  readonly bytes: number;
}

/** By their hashes. */
export type Images = ReadonlyMap<string, Uint8Array>;

const COMMON = ["image/jpeg", "image/jpg", "image/png", "image/gif", "image/webp"];
const MEGABYTE = 1024 * 1024;

/** Cautious numbers: only Anthropic's is known to be what the API takes. */
export const IMAGE_LIMITS: Record<ProviderKind, ImageLimits> = {
  anthropic: { mediaTypes: COMMON, bytes: (5 * MEGABYTE * 3) / 4 }, // counted in base64
  openai: { mediaTypes: COMMON, bytes: 15 * MEGABYTE },
  google: { mediaTypes: ["image/jpeg", "image/jpg", "image/png", "image/webp", "image/heic"], bytes: 7 * MEGABYTE },
  "openai-compatible": { mediaTypes: COMMON, bytes: 15 * MEGABYTE },
};

/** In one request: with more than twenty Anthropic takes smaller ones only, and a request of at most 32 MB in all. */
const MOST = { count: 20, bytes: 16 * MEGABYTE };
/** What is kept where they are too many, so that the beginning of the requests changes seldom, not with each new image. */
const KEPT = { count: MOST.count / 2, bytes: MOST.bytes / 2 };

/**
 * An image that was given stays given until they are too many: then the older half is left out at once. Which are given
 * follows from the messages up to the last image alone, so that a request begins as the one before it did.
 * Throws `input_too_large` where the input of the turn does not fit; what an earlier turn had is left out then.
 */
export async function loadImages(
  { messages, blob }: Pick<ModelRequest, "messages" | "blob">,
  limits: ImageLimits | undefined,
): Promise<Images> {
  const given = new Map<string, Uint8Array>();
  if (limits === undefined) return given;
  const input = messages.findLast(({ role }) => role === "user");
  for (const message of messages) {
    const own = new Map<string, Uint8Array>();
    for (const part of imagesIn(message, limits)) {
      if (own.has(part.hash)) continue;
      const bytes = given.get(part.hash) ?? (await blob(part.hash));
      if (bytes === undefined) continue;
      const problem = problemWith(bytes.byteLength, limits, own);
      if (problem === undefined) own.set(part.hash, bytes);
      else if (message === input) {
        throw new RookeryError("input_too_large", `${nameOf(part)} cannot be given to the model: ${problem}`);
      }
    }
    admit(given, own);
  }
  return given;
}

export function nameOf({ name, mediaType }: BlobPart): string {
  return name ?? mediaType;
}

/** Those of one message are left out together with none of their own. */
function admit(given: Map<string, Uint8Array>, own: Images): void {
  const older = Array.from(given.keys()).filter((hash) => !own.has(hash));
  for (const [hash, bytes] of own) given.set(hash, bytes);
  if (fits(given, MOST)) return;
  for (const hash of older) {
    if (fits(given, KEPT)) return;
    given.delete(hash);
  }
}

function fits(images: Images, most: typeof MOST): boolean {
  return images.size <= most.count && bytesOf(images) <= most.bytes;
}

function bytesOf(images: Images): number {
  let bytes = 0;
  for (const image of images.values()) bytes += image.byteLength;
  return bytes;
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

/** `own` are those that its message has before it. */
function problemWith(size: number, limits: ImageLimits, own: Images): string | undefined {
  if (size > limits.bytes) {
    return `it has ${megabytes(size)} MB, and ${megabytes(limits.bytes)} MB are taken: make it smaller`;
  }
  if (own.size >= MOST.count) return `at most ${MOST.count} images are taken at once: leave some out`;
  if (bytesOf(own) + size > MOST.bytes) {
    return `at most ${megabytes(MOST.bytes)} MB of images are taken at once: leave some out`;
  }
  return undefined;
}

function megabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(1);
}
