/** Reads a server's prompts and resources as ours; what cannot be read is passed over. */
import { z } from "zod";
import type { McpPrompt, McpResource } from "../../domain/index.ts";
import { shortened } from "../shortened.ts";

const MAX_WORDS = 2_000;
const words = () =>
  z
    .string()
    .transform((text) => shortened(text, MAX_WORDS))
    .optional()
    .catch(undefined);
const Prompt = z.lazy(() =>
  z.object({
    name: z.string().min(1),
    title: words(),
    description: words(),
    arguments: z
      .array(z.object({ name: z.string(), description: words(), required: z.boolean().catch(false).default(false) }))
      .catch([])
      .default([]),
  }),
);
const Resource = z.lazy(() => z.object({ uri: z.string().min(1), ...resource() }));
const Template = z.lazy(() => z.object({ uriTemplate: z.string().min(1), ...resource() }));
const resource = () => ({ name: words(), description: words(), mimeType: words() });

export function readPrompts(server: string, items: readonly unknown[]): McpPrompt[] {
  return items.flatMap((item) => {
    const read = Prompt.safeParse(item);
    return read.success ? [{ server, ...read.data }] : [];
  });
}

export function readResources(server: string, items: readonly unknown[]): McpResource[] {
  return items.flatMap((item) => {
    const read = Resource.safeParse(item);
    if (!read.success) return [];
    const { uri, name = uri, description, mimeType: mediaType } = read.data;
    return [{ server, uri, isTemplate: false, name, description, mediaType }];
  });
}

export function readTemplates(server: string, items: readonly unknown[]): McpResource[] {
  return items.flatMap((item) => {
    const read = Template.safeParse(item);
    if (!read.success) return [];
    const { uriTemplate: uri, name = uri, description, mimeType: mediaType } = read.data;
    return [{ server, uri, isTemplate: true, name, description, mediaType }];
  });
}
