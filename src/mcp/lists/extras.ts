/** Reads a server's prompts and resources. Invalid entries are ignored. */
import { z } from "zod";
import type { McpPrompt, McpResource } from "../../domain/index.ts";
import { truncateWithCount } from "../truncate.ts";

const MAX_TEXT_CHARACTERS = 2_000;
const optionalText = () =>
  z
    .string()
    .transform((text) => truncateWithCount(text, MAX_TEXT_CHARACTERS))
    .optional()
    .catch(undefined);
const Prompt = z.lazy(() =>
  z.object({
    name: z.string().min(1),
    title: optionalText(),
    description: optionalText(),
    arguments: z
      .array(
        z.object({ name: z.string(), description: optionalText(), required: z.boolean().catch(false).default(false) }),
      )
      .catch([])
      .default([]),
  }),
);
const Resource = z.lazy(() => z.object({ uri: z.string().min(1), ...resource() }));
const Template = z.lazy(() => z.object({ uriTemplate: z.string().min(1), ...resource() }));
const resource = () => ({ name: optionalText(), description: optionalText(), mimeType: optionalText() });

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
