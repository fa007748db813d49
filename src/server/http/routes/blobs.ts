/** Routes of blobs: attachments of prompts, and images and files that agents produced. */
import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { BlobPart, RookeryError } from "../../../domain/index.ts";
import { detectImageType } from "../../../stdx/image-type.ts";
import { MAX_PROMPT_BODY, readBytes } from "../input.ts";
import { HttpRefusal } from "../problem.ts";
import { jsonResponse, sendBytes } from "../response.ts";
import { route, type HttpRoute } from "../route.ts";
import { boundedText } from "../schema/common.ts";

const UNKNOWN_TYPE = "application/octet-stream";

/**
 * A blob may hold a page or a script that an agent wrote. A browser that opens its address must neither run it nor
 * guess its type.
 */
const BLOB_HEADERS = {
  "cache-control": "private, max-age=31536000, immutable", // the address is the hash of the bytes
  "content-security-policy": "sandbox; default-src 'none'",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
};

export const blobRoutes: readonly HttpRoute[] = [
  route({
    method: "GET",
    path: "/v1/blobs/:hash",
    id: "readBlob",
    summary: "The bytes of a blob. Only PNG, JPEG, GIF and WebP images have their type; browsers download the rest.",
    tag: "sessions",
    params: {
      hash: z.string().regex(/^sha256:[0-9a-f]{64}$/, "expected sha256: and 64 hexadecimal digits"),
    },
    responses: { 200: { description: "The bytes.", type: UNKNOWN_TYPE } },
    errors: ["blob_not_found", "log_corrupt", "config_invalid"],
    async handle({ context, params: { hash }, response }) {
      const bytes = await context.rookery.store.getBlob(hash);
      if (bytes === undefined)
        throw new RookeryError("blob_not_found", `no blob ${hash}: the hashes of blobs are in the events of sessions`);
      const image = detectImageType(bytes);
      return sendBytes(response, bytes, {
        ...BLOB_HEADERS,
        "content-type": image ?? UNKNOWN_TYPE,
        ...(image === undefined && { "content-disposition": "attachment" }),
      });
    },
  }),
  route({
    method: "POST",
    path: "/v1/blobs",
    id: "storeBlob",
    summary: "Store an attachment, and get the part that refers to it in the input of a prompt.",
    tag: "sessions",
    query: { name: boundedText(255).meta({ description: "The name of the file, for the agent." }) },
    upload: {
      description: `The bytes, at most ${MAX_PROMPT_BODY / 1024 / 1024} MB. Content-Type is their media type.`,
    },
    responses: { 201: { description: "A part of the input of a prompt.", schema: BlobPart } },
    errors: ["config_invalid"],
    async handle({ context, query: { name }, request }) {
      refuseIdempotencyKey(request);
      const bytes = await readBytes(request, MAX_PROMPT_BODY, toUploadTooLargeError);
      if (bytes.length === 0) throw new HttpRefusal("malformed", "the body is empty: send the bytes of the attachment");
      const mediaType = toMediaType(request.headers["content-type"], bytes);
      const { hash } = await context.rookery.store.putBlob(bytes);
      return jsonResponse({ type: "blob", hash, mediaType, ...(name !== undefined && { name }) }, 201);
    },
  }),
];

/** A remembered response would belong to other bytes. Uploads need no key: the same bytes are stored once. */
function refuseIdempotencyKey({ headers }: IncomingMessage): void {
  if (headers["idempotency-key"] === undefined) return;
  throw new HttpRefusal("malformed", "uploads do not support Idempotency-Key: repeat them without one, which is safe", {
    at: "Idempotency-Key",
  });
}

function toUploadTooLargeError(limit: number): RookeryError {
  const fix = "make it smaller, or put it into the working directory and name its path in the prompt";
  return new RookeryError("input_too_large", `the attachment exceeds ${limit / 1024 / 1024} MB: ${fix}`);
}

/** Trusts the bytes of an image more than its name. Providers reject images with a wrong type. */
function toMediaType(header: string | undefined, bytes: Uint8Array): string {
  const detected = detectImageType(bytes);
  if (detected !== undefined) return detected;
  const [declared = ""] = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*/i.exec(header ?? "") ?? [];
  const mediaType = declared.toLowerCase();
  if (/^image\/(?:png|jpe?g|gif|webp)$/.test(mediaType)) {
    throw new HttpRefusal("malformed", `the bytes are not ${mediaType}: send the whole image, or its real type`, {
      at: "Content-Type",
    });
  }
  return mediaType === "" || mediaType.length > 100 ? UNKNOWN_TYPE : mediaType;
}
