/** Detects image types that models and browsers accept by the first bytes, regardless of the file name. */

const IMAGE_TYPES: readonly (readonly [mediaType: string, begins: (head: string) => boolean])[] = [
  ["image/png", (head) => head.startsWith("\x89PNG\r\n\x1a\n")],
  ["image/jpeg", (head) => head.startsWith("\xff\xd8\xff")],
  ["image/gif", (head) => head.startsWith("GIF87a") || head.startsWith("GIF89a")],
  ["image/webp", (head) => head.startsWith("RIFF") && head.slice(8, 12) === "WEBP"],
];

export function detectImageType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  return IMAGE_TYPES.find(([, begins]) => begins(head))?.[0];
}
