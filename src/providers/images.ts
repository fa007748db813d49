/** Selects the images of a conversation that fit into a request. */
import { RookeryError, type BlobPart } from "../domain/index.ts";
import type { ProviderKind } from "../domain/provider.ts";
import type { CompletionMessage, CompletionRequest } from "../domain/model.ts";

/** The images that a provider accepts. */
export interface ImageLimits {
  readonly mediaTypes: readonly string[];
  /** Maximum size of one image. */
  readonly bytes: number;
}

/** Bytes of the images by hash. */
export type LoadedImages = ReadonlyMap<string, Uint8Array>;

const COMMON_MEDIA_TYPES = ["image/jpeg", "image/jpg", "image/png", "image/gif", "image/webp"];
const MEGABYTE = 1024 * 1024;

/** Conservative limits. Only Anthropic's is confirmed. */
export const IMAGE_LIMITS: Record<ProviderKind, ImageLimits> = {
  anthropic: { mediaTypes: COMMON_MEDIA_TYPES, bytes: (5 * MEGABYTE * 3) / 4 }, // the API counts base64
  openai: { mediaTypes: COMMON_MEDIA_TYPES, bytes: 15 * MEGABYTE },
  google: { mediaTypes: ["image/jpeg", "image/jpg", "image/png", "image/webp", "image/heic"], bytes: 7 * MEGABYTE },
  "openai-compatible": { mediaTypes: COMMON_MEDIA_TYPES, bytes: 15 * MEGABYTE },
};

/**
 * Limits for one request. Above twenty images, Anthropic accepts only smaller ones; a request may have 32 MB in total.
 */
const MAX_IMAGES = { count: 20, bytes: 16 * MEGABYTE };
/**
 * How many images stay when the limit is exceeded. Dropping half at once keeps the beginning of requests stable for
 * caching.
 */
const KEPT_IMAGES = { count: MAX_IMAGES.count / 2, bytes: MAX_IMAGES.bytes / 2 };

/**
 * Loads the images to send. Images stay until the limit is exceeded; then the older half is dropped at once. The choice
 * depends only on the messages up to the last image, so that each request begins like the previous one. Throws
 * `input_too_large` if the images of the current input do not fit; images of earlier turns are dropped instead.
 */
export async function loadImages(
  { messages, blob }: Pick<CompletionRequest, "messages" | "blob">,
  limits: ImageLimits | undefined,
): Promise<LoadedImages> {
  const included = new Map<string, Uint8Array>();
  if (limits === undefined) return included;
  const input = messages.findLast(({ role }) => role === "user");
  for (const message of messages) {
    const own = new Map<string, Uint8Array>();
    for (const part of findSupportedImages(message, limits)) {
      if (own.has(part.hash)) continue;
      const bytes = included.get(part.hash) ?? (await blob(part.hash));
      if (bytes === undefined) continue;
      const problem = findImageProblem(bytes.byteLength, limits, own);
      if (problem === undefined) own.set(part.hash, bytes);
      else if (message === input) {
        throw new RookeryError("input_too_large", `${attachmentName(part)} cannot be sent to the model: ${problem}`);
      }
    }
    addImages(included, own);
  }
  return included;
}

export function attachmentName({ name, mediaType }: BlobPart): string {
  return name ?? mediaType;
}

/** Adds the images of one message, and drops older ones if the limit is exceeded. Never drops the added ones. */
function addImages(included: Map<string, Uint8Array>, own: LoadedImages): void {
  const older = Array.from(included.keys()).filter((hash) => !own.has(hash));
  for (const [hash, bytes] of own) included.set(hash, bytes);
  if (fits(included, MAX_IMAGES)) return;
  for (const hash of older) {
    if (fits(included, KEPT_IMAGES)) return;
    included.delete(hash);
  }
}

function fits(images: LoadedImages, most: typeof MAX_IMAGES): boolean {
  return images.size <= most.count && totalBytes(images) <= most.bytes;
}

function totalBytes(images: LoadedImages): number {
  let bytes = 0;
  for (const image of images.values()) bytes += image.byteLength;
  return bytes;
}

function findSupportedImages(message: CompletionMessage, { mediaTypes }: ImageLimits): BlobPart[] {
  return listBlobs(message).filter((part) => mediaTypes.includes(part.mediaType));
}

function listBlobs(message: CompletionMessage): readonly BlobPart[] {
  switch (message.role) {
    case "user":
      return message.parts.filter((part) => part.type === "blob");
    case "tool":
      return message.results.flatMap(({ blobs }) => blobs ?? []);
    case "assistant":
      return [];
  }
}

/** `own` holds the earlier images of the same message. */
function findImageProblem(size: number, limits: ImageLimits, own: LoadedImages): string | undefined {
  if (size > limits.bytes) {
    return `it has ${formatMegabytes(size)} MB, but the limit is ${formatMegabytes(limits.bytes)} MB: make it smaller`;
  }
  if (own.size >= MAX_IMAGES.count) return `a message can have at most ${MAX_IMAGES.count} images: remove some`;
  if (totalBytes(own) + size > MAX_IMAGES.bytes) {
    return `a message can have at most ${formatMegabytes(MAX_IMAGES.bytes)} MB of images: remove some`;
  }
  return undefined;
}

function formatMegabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(1);
}
