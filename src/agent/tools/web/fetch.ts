/** Gets a page from the web, as text. */
import { z } from "zod";
import { deadline } from "../../../stdx/index.ts";
import { imageTypeOf, MAX_IMAGE_BYTES } from "../files/image.ts";
import { bounded } from "../text.ts";
import { ToolRefusal, defineTool, ok, systemText } from "../tool.ts";
import { readableText } from "./readable.ts";
import { getPage, type Page } from "./request.ts";

const FETCH_MS = 30_000;

export const fetch = defineTool({
  name: "fetch",
  description:
    "Get a page by its http or https URL. HTML is given as readable text with its links; JSON and other texts as they are; an image is shown to you.",
  kind: "fetch",
  readOnly: false,
  concurrent: true,
  timeoutMs: 2 * FETCH_MS,
  input: z.strictObject({ url: systemText() }),
  describe: ({ url }) => ({ title: `fetch ${url.slice(0, 300).toWellFormed()}` }),
  async run({ url }, context) {
    using enough = deadline(FETCH_MS, context.signal);
    const page = await getPage(url, enough.signal).catch((error: unknown) => {
      context.signal.throwIfAborted();
      if (enough.signal.aborted) throw new ToolRefusal(`${url} did not answer within ${FETCH_MS / 1000} seconds`);
      if (error instanceof ToolRefusal) throw error;
      throw new ToolRefusal(`${url} could not be fetched: ${reasonOf(error)}`);
    });
    const { status, bytes } = page;
    const said = `${page.url} · ${status} · ${page.contentType || "no type"}${page.truncated ? " · cut" : ""}`;
    const mediaType = imageTypeOf(bytes);
    if (mediaType !== undefined && status < 400 && bytes.length <= MAX_IMAGE_BYTES) {
      const hash = await context.putBlob(bytes);
      return ok(said, { blobs: [{ type: "blob", hash, mediaType }] });
    }
    const text = bounded(`${said}\n\n${textOf(page)}`);
    return { outcome: status < 400 ? "ok" : "failed", text };
  },
});

function textOf({ url, contentType, bytes }: Page): string {
  if (bytes.subarray(0, 8_192).includes(0)) {
    return `[${bytes.length} bytes that are no text: use bash, with a program that knows them]`;
  }
  const text = decoded(bytes, /charset=["']?([\w-]+)/i.exec(contentType)?.[1] ?? "utf-8");
  const isHtml = /html/i.test(contentType) || (contentType === "" && /^\s*<(!doctype|html)/i.test(text));
  return isHtml ? readableText(text, url) : text;
}

function decoded(bytes: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // a name that nobody knows
  }
}

/** Where several addresses were tried, the error has no words of its own. */
function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message === "" ? (code ?? "no answer") : message;
}
