/** Stores the images of a program's history. */
import type { InputPart } from "../../domain/index.ts";
import { detectImageType } from "../../stdx/image-type.ts";

const NOT_IMPORTED: InputPart = { type: "text", text: "[an image that could not be imported]" };

/** Returns a note in its place if the text is not an image in Base64. The bytes decide on the type, not the history. */
export async function toImportedImage(
  base64: string | undefined,
  putBlob: (bytes: Uint8Array) => Promise<string>,
): Promise<InputPart> {
  const bytes = Buffer.from(base64 ?? "", "base64");
  const mediaType = detectImageType(bytes);
  if (mediaType === undefined) return NOT_IMPORTED;
  return { type: "blob", hash: await putBlob(bytes), mediaType };
}
