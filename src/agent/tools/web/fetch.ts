/** The `fetch` tool: gets a web page as text. */
import { z } from "zod";
import { deadline } from "../../../stdx/index.ts";
import { detectImageType } from "../../../stdx/image-type.ts";
import { MAX_IMAGE_BYTES } from "../files/image.ts";
import { truncateMiddle } from "../truncate.ts";
import { ToolRefusal } from "../tool-refusal.ts";
import { defineTool, okResult, textWithoutNul } from "../tool.ts";
import { htmlToText } from "./html-to-text.ts";
import { getPage, parsePageUrl, type FetchedPage } from "./get-page.ts";

const FETCH_MS = 30_000;

export const fetchTool = defineTool({
  name: "fetch",
  description:
    "Get a page by its http or https URL. HTML is converted to readable text with links; JSON and other text is returned unchanged; an image is shown to you.",
  kind: "fetch",
  readOnly: false,
  concurrent: true,
  timeoutMs: 2 * FETCH_MS,
  input: z.strictObject({ url: textWithoutNul() }),
  describe: ({ url }) => ({ title: `fetch ${url.slice(0, 300).toWellFormed()}` }),
  preview({ url }) {
    parsePageUrl(url);
    return {};
  },
  async run({ url }, context) {
    using limit = deadline(FETCH_MS, context.signal);
    const page = await getPage(url, limit.signal).catch((error: unknown) => {
      context.signal.throwIfAborted();
      if (limit.signal.aborted) throw new ToolRefusal(`${url} did not respond within ${FETCH_MS / 1000} seconds`);
      if (error instanceof ToolRefusal) throw error;
      throw new ToolRefusal(`cannot fetch ${url}: ${describeNetworkError(error)}`);
    });
    const { status, bytes } = page;
    const header = `${page.url} · ${status} · ${page.contentType || "no content type"}${page.truncated ? " · truncated" : ""}`;
    const mediaType = detectImageType(bytes);
    if (mediaType !== undefined && status < 400 && bytes.length <= MAX_IMAGE_BYTES) {
      const hash = await context.putBlob(bytes);
      return okResult(header, { blobs: [{ type: "blob", hash, mediaType }] });
    }
    const text = truncateMiddle(`${header}\n\n${formatPage(page)}`);
    return { outcome: status < 400 ? "ok" : "failed", text };
  },
});

function formatPage({ url, contentType, bytes }: FetchedPage): string {
  if (bytes.subarray(0, 8_192).includes(0)) {
    return `[${bytes.length} bytes of binary data: use bash with a program that supports the format]`;
  }
  const text = decodePage(bytes, /charset=["']?([\w-]+)/i.exec(contentType)?.[1] ?? "utf-8");
  const isHtml = /html/i.test(contentType) || (contentType === "" && /^\s*<(!doctype|html)/i.test(text));
  return isHtml ? htmlToText(text, url) : text;
}

function decodePage(bytes: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // unknown charset
  }
}

/** The error of several failed addresses has a code and no message. */
function describeNetworkError(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message === "" ? (code ?? "no response") : message;
}
