/** Writes a whole file of the working folder. */
import { constants } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { confined, openPlain } from "./confine.ts";
import { readConfined } from "./read.ts";
import { diffOf } from "./text.ts";
import { defineTool, ok } from "./tool.ts";

export const write = defineTool({
  name: "write",
  description: "Write a file of the working folder, replacing it if it exists. To change a part of a file, use edit.",
  kind: "edit",
  readOnly: false,
  input: z.strictObject({
    path: z.string().min(1).describe("relative to the working folder"),
    content: z.string().describe("the whole new text"),
  }),
  describe: ({ path }) => ({ title: `write ${path}`, locations: [{ path }] }),
  async run({ path, content }, { cwd }) {
    const before = await readConfined(cwd, path).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    });
    await writeConfined(cwd, path, content);
    const what = before === null ? "wrote" : "replaced";
    return ok(`${what} ${path} (${content.length} characters)`, {
      locations: [{ path }],
      diffs: [diffOf(path, before, content)],
    });
  },
});

export async function writeConfined(cwd: string, path: string, content: string): Promise<void> {
  const real = await confined(cwd, path);
  await mkdir(dirname(real), { recursive: true });
  await confined(cwd, path); // a parent that became a link meanwhile is noticed before anything is written
  const file = await openPlain(real, constants.O_WRONLY | constants.O_CREAT);
  try {
    await file.truncate(0);
    await file.writeFile(content);
  } finally {
    await file.close();
  }
}
